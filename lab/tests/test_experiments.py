#!/usr/bin/env python3
"""lab/run_experiments in its short form: its figures against the tool's own predictions and plain formulas, splits
that do not leak, rows that are missing and said to be, documentation that is compared with stored results, messages.

Usage: test_experiments.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import contextlib
import csv
import gzip
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SCRIPT = ROOT / "lab" / "run_experiments"
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

from bench import marks  # noqa: E402
from lab.experiments import ENTRIES, deep, lab, paired, paper, prepared, summary, tables, tables_run  # noqa: E402
from bench.tool import Failure, Tool  # noqa: E402

HAVE_GNUPLOT = shutil.which("gnuplot") is not None
# The scripts are the same whatever the tool was built with: under instruments one experiment is enough.
NAMES = ["tables"] if os.environ.get("BROAD_INSTRUMENTS") else ENTRIES
NO_TORCH = "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n"


def load_script():
    loader = importlib.machinery.SourceFileLoader("run_experiments", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_experiments", loader))
    loader.exec_module(module)
    return module


def script(*words, env=None):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, check=False,
                          env=env)


def tool(*words):
    done = subprocess.run([BROAD, *map(str, words), "--json", "-q"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5


def plain_measures(truth, predicted, positive):
    hits = sum(t == positive == p for t, p in zip(truth, predicted))
    false = sum(p == positive != t for t, p in zip(truth, predicted))
    missed = sum(t == positive != p for t, p in zip(truth, predicted))
    passed = len(truth) - hits - false - missed
    return {"accuracy": (hits + passed) / len(truth), "precision": hits / (hits + false) if hits + false else 0.0,
            "recall": hits / (hits + missed), "f1": 2 * hits / (2 * hits + missed + false),
            "false_positive": false / (false + passed), "false_negative": missed / (hits + missed)}


def row_of(text, method):
    """Cells of the first row of a method."""
    found = re.search(rf"^\| {re.escape(method)} +\|(.*)\|$", text, re.MULTILINE)
    return [cell.strip() for cell in found.group(1).split("|")] if found else None


def rival(name, split, rule="paper", **more):
    """A line of lab/rivals."""
    measures = dict.fromkeys(paper.MEASURES, 0.5 + split / 10)
    return {"rival": name, "split": split, "rate_rule": rule, "fingerprint": "f00d", "device": "Some GPU", "threads": 1,
            "jobs": 1, "torch": "2.0", "epochs": 50, "seconds": 12.0, "trained": True, **measures, **more}


def made_result(found, missing, why):
    """Of 'tables', with these rivals and the same figures everywhere else."""
    split = {**dict.fromkeys(paper.MEASURES, 0.6), "train_accuracy": 0.9, "layers": 2, "draws": 2, "seconds": 1.0,
             "command_seconds": 2.0}
    methods = [{"name": row.name, "table": row.table, "paper": row.paper, "rows": row.rows,
                "options": " ".join(row.words), "splits": [{"seed": seed, **split} for seed in (0, 1)]}
               for row in tables_run.ROWS]
    return {"data": "photos", "photos": 10, "classes": {"Clean": 4, "Dusty": 6}, "groups": 9, "quick": False,
            "copies": 4, "positive": "Dusty", "machine": "a machine", "methods": methods,
            "rivals": found, "missing": missing, "why": why,
            "splits": [{"seed": seed, "train": 7, "test": 3, "class": "Dusty", "share": 0.6} for seed in (0, 1)]}


class Short(unittest.TestCase):
    """One run of all of it without PyTorch, looked at from several sides."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="broad-experiments-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "without").mkdir()
        (cls.folder / "without" / "torch.py").write_text(NO_TORCH, encoding="utf-8")
        cls.environment = {**os.environ, "PYTHONPATH": str(cls.folder / "without")}
        cls.done = script(*NAMES, "--quick", "--broad", BROAD, "--results", cls.folder / "results", "--threads", 2,
                          env=cls.environment)
        cls.results = cls.folder / "results" / "rendered"
        path = cls.results / "tables.json"
        cls.tables = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        tool("render", cls.folder / "photos", "--count", 60, "--size", 64, "--seed", 0)

    def setUp(self):
        self.assertIsNotNone(self.tables, self.done.stderr)

    def test_everything_runs(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        module = load_script()
        for name in NAMES:
            result = json.loads((self.results / f"{name}.json").read_text(encoding="utf-8"))
            self.assertTrue(result["quick"])
            self.assertEqual(result["photos"], 60)
            text = module.entry(name).text(result)
            self.assertTrue(text.strip())
            self.assertIn(f"## {module.entry(name).TITLE}\n\n{text}", self.done.stdout)
            for file in module.picture_files(name, result, ""):
                self.assertTrue(file.startswith(f"experiments-{name}"), file)
                if HAVE_GNUPLOT:
                    self.assertIn("<svg", (self.results / file).read_text(encoding="utf-8"))

    def test_every_method_has_a_row_and_missing_ones_are_named(self):
        text = tables.text(self.tables)
        for name in [*paper.METHODS, "auto"]:
            self.assertIsNotNone(row_of(text, name), name)
        self.assertEqual(self.tables["missing"], paper.DEEP)
        missing = re.search(r"^Missing: (.*)", text, re.MULTILINE).group(1)
        for name in paper.DEEP:
            self.assertIn(name, missing)
            self.assertEqual(row_of(text, name)[0], "–")
        self.assertIn("scripts/setup --rivals", missing)
        self.assertIn("GPU", missing)
        self.assertIn("mean nothing", text)

    def test_means_and_deviations(self):
        text = tables.text(self.tables)
        for method in self.tables["methods"]:
            if method["table"] == "paper":
                values = [split["accuracy"] for split in method["splits"]]
                self.assertEqual(row_of(text, method["name"])[0], "{:.3f} ± {:.3f}".format(*mean_and_deviation(values)))
        self.assertEqual(row_of(text, "BSCRLS")[1], "0.900 ± 0.008")

    def test_figures_against_predictions(self):
        """A network of the tables trained again by hand, and its predictions counted."""
        photos, out = self.folder / "photos", self.folder / "again"
        tool("data", photos, "--export", out, "--map", "pixels", "--side", self.tables["side"], "--augment", 4)
        done = script("tables", "--quick", "--broad", BROAD, "--export", self.folder / "arrays", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        about = json.loads((self.folder / "arrays" / "photos.json").read_text(encoding="utf-8"))
        split = about["splits"][1]
        sides = {about["photos"][number]["file"]: part for part in ("train", "test") for number in split[part]}
        pixels, chosen = np.load(out / "inputs.npy"), {"train": [], "test": []}
        with open(out / "rows.csv", encoding="utf-8", newline="") as f:
            for line in csv.DictReader(f):
                if sides[line["file"]] == "train" or line["copy"] == "0":
                    chosen[sides[line["file"]]].append((int(line["row"]) - 1, line["label"]))
        for part, rows in chosen.items():
            np.save(out / f"{part}.npy", pixels[[row for row, _ in rows]].reshape(len(rows), -1))
            (out / f"{part}.csv").write_text("label\n" + "".join(f"{label}\n" for _, label in rows), encoding="utf-8")
        for name in ("BSCRLS", "BLS"):
            method = [one for one in self.tables["methods"] if one["name"] == name][0]
            tool("fit", out / "train.npy", "--labels", out / "train.csv", *method["options"].split(), "--seed", 1, "-o",
                 out / "model.broad")
            found = subprocess.run([BROAD, "predict", out / "model.broad", out / "test.npy", "-q"], capture_output=True,
                                   text=True, check=True)
            predicted = [line["label"] for line in csv.DictReader(found.stdout.splitlines())]
            expected = plain_measures([label for _, label in chosen["test"]], predicted, "Dusty")
            for measure, value in expected.items():
                self.assertAlmostEqual(method["splits"][1][measure], value, 9, f"{name} {measure}")
            self.assertEqual(method["splits"][1]["train_rows"], len(chosen["train"]))

    @unittest.skipUnless("tests" in NAMES, "one experiment is enough")
    def test_added(self):
        """What an earlier result has is kept as it is, the rest is measured; other photos are refused."""
        whole = json.loads((self.results / "tests.json").read_text(encoding="utf-8"))
        earlier = json.loads(json.dumps(whole))
        for one in earlier["sets"]:
            one["tests"].pop("gcv")
            one["tests"]["none"]["result"] = "0.25 0.75"
        path = self.folder / "earlier" / "rendered" / "tests.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(earlier), encoding="utf-8")
        words = ["tests", "--quick", "--broad", BROAD, "--add", self.folder / "earlier", "--results", self.folder / "both"]
        done = script(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        both = json.loads((self.folder / "both" / "rendered" / "tests.json").read_text(encoding="utf-8"))
        for before, after in zip(whole["sets"], both["sets"]):
            self.assertEqual(list(after["tests"]), list(before["tests"]))
            self.assertEqual(after["tests"]["none"]["result"], "0.25 0.75")
            self.assertEqual(after["tests"]["gcv"]["layers"], before["tests"]["gcv"]["layers"])
        self.assertEqual(len(both["added"]), 1)
        path.write_text(json.dumps({**earlier, "fingerprint": "beef"}), encoding="utf-8")
        done = script(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn("its fingerprint is beef", done.stderr)

    def test_export(self):
        folder = self.folder / "exported"
        done = script("tables", "--quick", "--broad", BROAD, "--export", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        about = json.loads((folder / "photos.json").read_text(encoding="utf-8"))
        self.assertEqual((about["classes"], about["positive"], about["copies"]), (["Clean", "Dusty"], "Dusty", 4))
        self.assertEqual(about["fingerprint"], self.tables["fingerprint"])
        for side in (64, 128):
            pixels = np.load(folder / f"pixels-{side}.npy")
            self.assertEqual((pixels.shape, pixels.dtype), ((60, 5, side, side, 3), np.uint8))
            self.assertFalse(np.array_equal(pixels[:, 0], pixels[:, 1]))
        for split in about["splits"]:
            self.assertEqual(sorted(split["train"] + split["test"]), list(range(60)))


class Splits(unittest.TestCase):
    """On photos of which some are copies of others, under other names."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="broad-experiments-test-")
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        tool("render", folder / "photos", "--count", 24, "--size", 64, "--seed", 3)
        for kind in ("Clean", "Dusty"):
            for path in sorted((folder / "photos" / kind).iterdir())[:4]:
                shutil.copy(path, path.with_name("z" + path.name))
        (folder / "work").mkdir()
        cls.lab = lab.Lab(Tool(BROAD), folder / "work", folder / "photos", quick=False)

    def test_groups_stay_together(self):
        groups = self.lab.photos.groups
        self.assertEqual(len(groups) - len(set(groups)), 8)
        splits = prepared.splits(self.lab)
        self.assertEqual(len(splits), 10)
        for split in splits:
            self.assertFalse({groups[i] for i in split["train"]} & {groups[i] for i in split["test"]})
        self.assertGreater(len({tuple(split["test"]) for split in splits}), 5)

    def test_no_copy_of_a_test_photo_is_trained_on(self):
        count = len(self.lab.photos.files)
        for split in prepared.splits(self.lab):
            for rows in ("copies", "alone", "ungrouped", "mixed"):
                train, test = tables_run.rows_of(rows, split, count, prepared.COPIES)
                self.assertFalse(set(train) & set(test), rows)
                shared = {photo for photo, _ in train} & {photo for photo, _ in test}
                self.assertEqual(bool(shared), rows == "mixed", rows)
                if rows != "mixed":
                    self.assertEqual({copy for _, copy in test}, {0})
                self.assertEqual({copy for _, copy in train}, {0} if rows == "alone" else {0, 1, 2, 3, 4})


class Words(unittest.TestCase):
    """Sentences from figures, without a run."""

    @staticmethod
    def shown(name, values):
        return tables.Shown(name, {seed: {"accuracy": value} for seed, value in enumerate(values)}, "BSCRLS")

    def test_compared(self):
        a = self.shown("A", [0.7, 0.8, 0.6])
        self.assertIn("the same accuracy on every one of 3", tables.compared(a, self.shown("B", [0.7, 0.8, 0.6])))
        self.assertIn("0.200 ± 0.010", tables.compared(a, self.shown("B", [0.5, 0.61, 0.39])))
        self.assertIn("by more than the spread", tables.compared(a, self.shown("B", [0.5, 0.61, 0.39])))
        self.assertIn("by no more than the spread", tables.compared(a, self.shown("B", [0.5, 0.9, 0.6])))
        self.assertIn("no split in common", tables.compared(a, self.shown("B", [None])))

    def test_against_the_paper(self):
        self.assertIn("the same within", tables.against_paper(self.shown("A", [0.88, 0.90])))
        self.assertIn("not reproduced, 0.300 below", tables.against_paper(self.shown("A", [0.59, 0.61])))

    def test_rank_correlation(self):
        self.assertAlmostEqual(tables.rank_correlation([1, 2, 3], [10, 20, 90]), 1)
        self.assertAlmostEqual(tables.rank_correlation([1, 2, 3], [3, 2, 1]), -1)
        self.assertAlmostEqual(tables.rank_correlation([1, 2, 2, 3], [1, 2, 2, 3]), 1)

    def test_the_paper_is_copied_rightly(self):
        """Recall and the rate of false negatives are one in sum, and sums of seconds are sums, but for rounding."""
        for name in paper.METHODS:
            row = {measure: mean for measure, (mean, _) in paper.figures(name).items()}
            self.assertAlmostEqual(row["recall"] + row["false_negative"], 1, delta=0.0021, msg=name)
            self.assertIn(name, paper.SECONDS)
        for rows in (paper.ADD_ENHANCEMENT, paper.ADD_FEATURES, paper.ADD_DATA):
            for column in (-2, -1):
                total = 0
                for row in rows:
                    total += row[column - 2]
                    self.assertAlmostEqual(row[column], total, delta=0.006)

    def test_shares(self):
        """With a share that a row allows, precision comes out as printed, but for rounding."""
        found = tables.shares()
        for name in paper.METHODS:
            row = {measure: mean for measure, (mean, _) in paper.figures(name).items()}
            low, high = map(float, row_of(found, name)[-2:])
            of_precision = [1 / (1 + row["recall"] * (1 - precision) / (row["false_positive"] * precision))
                            for precision in (row["precision"] - 0.006, row["precision"] + 0.006)]
            self.assertTrue(low - 0.01 <= of_precision[1] and of_precision[0] <= high + 0.01, name)


class Summary(unittest.TestCase):
    """The table of claims, from the stored results and from the same with some figures changed."""

    def setUp(self):
        self.results = {}
        for name in ENTRIES:
            found = [ROOT / "docs" / "experiments" / data / f"{name}.json" for data in ("photos", "rendered")]
            self.results[name] = json.loads(next(p for p in found if p.is_file()).read_text(encoding="utf-8"))

    def verdict(self, claim):
        lines = [line for line in summary.text(self.results).splitlines() if claim in line]
        self.assertEqual(len(lines), 1, claim)
        return lines[0].split("|")[3].strip()

    def method(self, name):
        return next(one for one in self.results["tables"]["methods"] if one["name"] == name)

    def test_more_accurate(self):
        for accuracy, verdict in ((0.95, "yes"), (0.1, "no")):
            for split in self.method("BSCRLS")["splits"]:
                split["accuracy"] = accuracy
            self.assertEqual(self.verdict("more accurate than BRLS"), verdict)
            self.assertEqual(self.verdict("more accurate than SAE"), verdict)

    def test_settings_of_the_paper(self):
        for name, accuracy in (("BLS", 0.794), ("BRLS", 0.864), ("BSCRLS", 0.9)):
            self.assertEqual(self.verdict("With its settings"), "no")
            for split in self.method(name)["splits"]:
                split["accuracy"] = accuracy
        self.assertEqual(self.verdict("With its settings"), "yes")

    def test_theorem(self):
        self.assertEqual(self.verdict("stays above an error"), "yes, with such a list")
        for run in self.results["theorem"]["narrow"]["bscrls"]["usable ones at once"]:
            run["norm"] = 1.0
        self.assertEqual(self.verdict("stays above an error"), "no")

    def test_same_file(self):
        self.assertEqual(self.verdict("without retraining"), "yes")
        next(run for run in self.results["increments"]["problems"][0]["runs"]
             if run["table"] == "4" and run["method"] == "brls")["whole"]["same"] = False
        self.assertEqual(self.verdict("without retraining"), "no")


    def scored(self, claim):
        line = next(line for line in summary.text(self.results).splitlines() if claim in line)
        return line.split("|")[5].strip()

    def test_ranges_with_gcv(self):
        for bad, verdict in ((0, "yes"), (1, "in part")):
            for one in self.results["sensitivity"]["sets"]:
                accuracy = one["frequent"] if bad else 1
                one["networks"]["gcv"] = [{**at, "accuracy": f"{accuracy} {accuracy}", "norm": "0.1 0.1"}
                                          for at in one["networks"]["brls"]]
            self.assertEqual(self.scored("highly sensitive"), verdict)
            self.assertEqual(self.verdict("highly sensitive"), "no")


def paired_result(*pairs):
    """Of sets of errors of BRLS and of BSCRLS, the first of them photos."""
    rest = {"rows": 2000, "layers": "5 5 5", "seconds": "1 1 1", "coverage": "0.9 0.9 0.9", "calibration": "nan nan nan"}
    return {"sets": [{"name": f"table{i}" if i else "photos", "task": "regress" if i else "classify",
                      "methods": {"brls": {**rest, "error": before}, "gcv": {**rest, "error": after}}}
                     for i, (before, after) in enumerate(pairs)]}


class Paired(unittest.TestCase):
    def test_counts(self):
        result = paired_result(("0.4 0.5 0.3", "0.2 0.31 0.1"), ("1 1 1", "2 2.1 2"), ("5 6 7", "5.5 5 6"))
        self.assertEqual(paired.better(result), ["photos", "table2"])
        self.assertEqual(paired.verdicts(result), ["better", "worse", "no more than chance"])
        said = paired.summary_words(result)
        self.assertIn("on 2 of 3 data sets, beyond chance on 1; the larger one beyond chance on 1 (not smaller: table1)",
                      said)
        self.assertIn("higher by 0.197 ±", said)
        self.assertIn("between 0.87 and 0.93 on 2 of 2", paired.coverage_words(result))

    def test_given_splits(self):
        """A row is tested with where its split has a 1, and trained on elsewhere."""
        with tempfile.TemporaryDirectory(prefix="broad-experiments-test-") as scratch:
            folder = pathlib.Path(scratch)
            for name, text in (("arm.csv.gz", "x,target\n1,2\n3,4\n5,6\n"), ("arm.splits.csv.gz", "a,b\n0,1\n1,0\n0,0\n")):
                (folder / name).write_bytes(gzip.compress(text.encode()))
            trial = paired.given_table(types.SimpleNamespace(new_folder=lambda: folder), folder / "arm.csv.gz")
            found = [[path.read_text(encoding="utf-8") for path in split] for split in trial.splits]
        self.assertEqual(found, [["x,target\n1,2\n5,6\n", "x,target\n3,4\n"], ["x,target\n3,4\n5,6\n", "x,target\n1,2\n"]])


class Rivals(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-experiments-test-")
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name) / "rivals.jsonl"
        photos = types.SimpleNamespace(fingerprint="f00d")
        self.lab = types.SimpleNamespace(rivals=[self.path], photos=photos)

    def find(self, *found):
        self.path.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
        return deep.find(self.lab)

    def test_all_there(self):
        every = [rival(name, split) for name in paper.DEEP for split in (0, 1)]
        every += [rival("VGG", 0, trained=False), rival("VGG", 0, rule="fair", accuracy=0.9),
                  rival("VGG", 1, rule="fair"), rival("VGG", 0, timing=True, seconds=77.0),
                  rival("MLP", 0, extrapolated=True, device="CPU", seconds=4321.0, steps=3)]
        found, missing, why = self.find(*every)
        self.assertEqual((missing, why), ([], ""))
        self.assertEqual(len(found), 2 * 11 + 4)
        text = tables.text(made_result(found, missing, why))
        self.assertNotIn("Missing", text)
        self.assertEqual(row_of(text, "SAE")[0], "{:.3f} ± {:.3f}".format(*mean_and_deviation([0.5, 0.6])))
        self.assertEqual(row_of(text, "VGG, rate chosen")[0], "{:.3f} ± {:.3f}".format(*mean_and_deviation([0.9, 0.6])))
        times = text.split("Seconds of training")[1]
        self.assertEqual(row_of(times, "VGG")[:2], ["77.0", "–"])
        self.assertEqual(row_of(times, "MLP")[:2], ["12.0", "4,321"])
        self.assertIn("The best deep rival is VGG, rate chosen.", text)
        self.assertIn("VGG (1 of 2)", text)
        self.assertIn("extrapolated from 3 steps on CPU", text)
        short = tables.short(made_result(found, missing, why))
        self.assertEqual(row_of(short, "BSCRLS"), ["0.600 ± 0.000", "0.600 ± 0.000", "2.00", "0.900 ± 0.008"])
        self.assertEqual(row_of(short, "VGG")[2], "77.0")

    def test_some_there(self):
        found, missing, why = self.find(rival("MLP", 0), rival("SAE", 0, extrapolated=True))
        self.assertEqual(missing, [name for name in paper.DEEP if name != "MLP"])
        self.assertIn("--rivals FILE", why)
        self.assertIsNone(row_of(tables.short(made_result(found, missing, why)), "SAE"))

    def test_bad_files(self):
        with self.assertRaisesRegex(Failure, "rivals.jsonl:2: a result of other photos"):
            self.find(rival("MLP", 0), rival("MLP", 1, fingerprint="beef"))
        with self.assertRaisesRegex(Failure, "rivals.jsonl:1: not a result"):
            self.find({"rival": "MLP"})


class Documentation(unittest.TestCase):
    """A copy of the pages with results of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-experiments-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for folder in ("docs/images", "docs/experiments/photos"):
            (self.root / folder).mkdir(parents=True)
        self.page = self.root / "docs" / "experiments" / "tables.md"
        self.summary = self.root / "docs" / "experiments.md"
        self.page.write_text("Prose.\n\n" + "".join(marks.marks("tables photos")), encoding="utf-8")
        self.summary.write_text("Top.\n" + "".join(marks.marks(load_script().SHORT)) + "End.\n", encoding="utf-8")
        found = [{**dict.fromkeys(deep.KEPT), **rival("MLP", 0)}]
        result = made_result(found, paper.DEEP[:4], "of the weather")
        (self.root / "docs" / "experiments" / "photos" / "tables.json").write_text(json.dumps(result), encoding="utf-8")

    def check(self):
        done = script("--check", "--root", self.root)
        return done.returncode, done.stdout

    @unittest.skipUnless(HAVE_GNUPLOT, "gnuplot is not installed")
    def test_figures_changed_by_hand(self):
        self.assertEqual(self.check()[0], 1)
        done = script("--docs", "--root", self.root)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.check()[0], 0, self.check()[1])
        for file in (self.page, self.summary):
            text = file.read_text(encoding="utf-8")
            self.assertIn("0.900 ± 0.008", text)
            file.write_text(text.replace("0.900 ± 0.008", "0.901 ± 0.008", 1), encoding="utf-8")
            code, said = self.check()
            self.assertEqual(code, 1)
            self.assertIn(f"{file.relative_to(self.root)}: a marked part is not", said)
            file.write_text(text.replace("Prose", "Other prose").replace("Top", "Bottom"), encoding="utf-8")
            self.assertEqual(self.check()[0], 0)
        (self.root / "docs" / "images" / "experiments-tables.svg").unlink()
        self.assertIn("docs/images/experiments-tables.svg is missing", self.check()[1])

    def test_marks(self):
        self.summary.write_text("No marks.\n", encoding="utf-8")
        for word in ("--docs", "--check"):
            done = script(word, "--root", self.root)
            self.assertEqual(done.returncode, 1)
            self.assertIn("docs/experiments.md does not have these two marks", done.stderr)
        self.assertNotIn("0.900", self.page.read_text(encoding="utf-8"))
        (self.root / "docs" / "experiments" / "photos" / "tables.json").unlink()
        self.assertEqual(self.check()[0], 0)

    def test_what_the_paper_says(self):
        """Is compared where there are no results of ours."""
        (self.root / "docs" / "experiments" / "photos" / "tables.json").unlink()
        self.page.write_text("".join(marks.marks(load_script().SHARES)), encoding="utf-8")
        self.assertEqual(self.check()[0], 1)
        self.assertEqual(script("--docs", "--root", self.root).returncode, 0)
        self.assertEqual(self.check()[0], 0)
        self.page.write_text(self.page.read_text(encoding="utf-8").replace("0.900", "0.800"), encoding="utf-8")
        self.assertEqual(self.check()[0], 1)

    @unittest.skipUnless(HAVE_GNUPLOT, "gnuplot is not installed")
    def test_short_forms_are_no_results(self):
        path = self.root / "docs" / "experiments" / "photos" / "tables.json"
        path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "quick": True}), encoding="utf-8")
        self.assertEqual(script("--docs", "--root", self.root).returncode, 0)
        code, said = self.check()
        self.assertEqual(code, 1)
        self.assertIn("short form", said)


class Driver(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-experiments-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_messages(self):
        one = self.folder / "photos"
        (one / "Clean").mkdir(parents=True)
        results = self.folder / "results"
        for words, code, said in (
                (["--data", self.folder / "nowhere"], 1, "nowhere: no such folder"),
                (["--data", one], 1, "has 1 sub-folder; there must be one for each class"),
                (["tables", "figures"], 2, "there is no experiment 'figures'; there are tables, figure"),
                (["figure", "--export", one], 2, "--export is for the experiment 'tables' alone"),
                (["--tables", self.folder / "nowhere"], 1, "nowhere: no such"),
                (["--rivals", self.folder / "nowhere"], 1, "nowhere: no such file; --rivals takes")):
            done = script(*words, "--broad", BROAD, "--results", results, "--quick")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        self.assertFalse(results.exists())
        done = script("--broad", self.folder / "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("build it first", done.stderr)
        (one / "Dusty").mkdir()
        self.assertIn("no photos in sub-folders", script("--data", one, "--broad", BROAD).stderr)
        self.assertIn("sensitivity, theorem, tests", script("--help").stdout)

    def test_one_failure_does_not_take_the_others_along(self):
        module, said = load_script(), []

        def entry(name):
            def run(*_):
                if name == "figure":
                    raise Failure("the sky fell")
                if name == "theorem":
                    raise ZeroDivisionError("by nothing")
                return {"figure": name}
            return types.SimpleNamespace(TITLE=name.upper(), run=run, text=lambda _: "said", pictures=lambda _: {})

        module.entry = entry
        stub = types.SimpleNamespace(data="rendered", say=said.append, describe=lambda: {"quick": True},
                                     tool=types.SimpleNamespace(describe=lambda: "a machine"))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(module.measure_all(ENTRIES, stub, self.folder, None), 1)
        self.assertIn("failed: figure, theorem", said[-1])
        kept = sorted(path.stem for path in (self.folder / "rendered").iterdir())
        self.assertEqual(kept, sorted(set(ENTRIES) - {"figure", "theorem"}))
        self.assertTrue(any("the sky fell" in line for line in said))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
