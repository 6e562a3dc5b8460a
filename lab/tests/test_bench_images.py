#!/usr/bin/env python3
"""scripts/bench_images in its quick form, on photos it renders: its figures against the tool's own and against plain
formulas, parts that keep groups together, reuse of results, and what it does about failures.

Usage: test_bench_images.py PATH_OF_BROAD. Rows of scikit-learn are left out where it is not installed.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SCRIPT = ROOT / "scripts" / "bench_images"
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

from bench.images import report  # noqa: E402
from bench.images.photos import Photos  # noqa: E402

try:
    import PIL  # noqa: F401
    import sklearn  # noqa: F401
    HAVE_RIVALS = True
except ImportError:
    print("scikit-learn or PIL is not installed (Debian: python3-sklearn, python3-pil): their rows are not tested")
    HAVE_RIVALS = False

NETWORKS = ["auto", "pixels", "bscrls, paper", "brls, paper"]
RIVALS = ["svm, histograms", "forest, histograms", "ridge, 32x32"]
BENCH = """#!/bin/sh
echo "$1 rendered photos; one thread"
echo "file to                    photos/s      least       most  of decoding"
echo "decoded                       311.2      306.7      314.3       100.0%"
echo "descriptors and windows       195.7      190.1      198.0        62.9%"
"""


def load_script():
    loader = importlib.machinery.SourceFileLoader("bench_images", str(SCRIPT))
    spec = importlib.util.spec_from_loader("bench_images", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def tool(*words):
    done = subprocess.run([BROAD, *map(str, words), "--json", "-q"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def cells(text, title, method):
    """Of a method's row in the first table below a title."""
    part = text[text.index(f"## {title}"):]
    row = re.search(r"(?m)^\| %s +\|.*$" % re.escape(method), part)
    return [cell.strip() for cell in row[0].strip("|").split("|")][1:]


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-images-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def bench(self, *words, code=0, environment=None):
        words = ["--broad", BROAD, "--quick", "--threads", 1, *words]
        done = subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def lines(self, path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Whole(Scratch):
    def test_quick(self):
        results, facts = self.root / "lines", self.root / "facts.json"
        words = ["--results", results, "--json", facts, "--bench", self.write("bench", BENCH, 0o755)]
        text = self.bench(*words).stdout
        found, facts = self.lines(results), json.loads(facts.read_text(encoding="utf-8"))
        self.assertEqual(text, report.make(facts))
        methods = [*NETWORKS, *(RIVALS if HAVE_RIVALS else [])]
        self.assertEqual(list(facts["panels"]["results"]), methods)
        self.assertEqual("## Not measured" in text, not HAVE_RIVALS)
        self.check_verdicts(text, found, methods)
        self.check_numbers(text, facts["soiling"])
        self.assertIn("2 rendered photos; one thread.", text)
        self.assertEqual(cells(text, "Speed", "descriptors and windows"), ["196", "190 to 198", "63 %"])
        cold, warm = facts["speed"]["fits"]
        self.assertEqual(cold["loo"], warm["loo"])
        self.check_correction(facts["correction"])

        before = results.read_bytes()
        again = self.bench("--results", results, "--parts", "panels,soiling")
        self.assertEqual(results.read_bytes(), before)
        self.assertEqual(cells(again.stdout, "Clean or dusty", "auto"), cells(text, "Clean or dusty", "auto"))

    def check_verdicts(self, text, found, methods):
        names = ["accuracy", "precision", "recall", "f1", "false_positive", "false_negative"]
        values = {m: [r for r in found if r["method"] == m and "accuracy" in r] for m in methods}
        best = max(statistics.fmean(r["accuracy"] for r in results) for results in values.values())
        for method, results in values.items():
            self.assertEqual(len(results), 2)
            row = cells(text, "Clean or dusty", method)
            for cell, name in zip(row, names):
                figures = [r[name] for r in results]
                expected = "%.3f ± %.3f" % (statistics.fmean(figures), statistics.stdev(figures))
                is_best = name == "accuracy" and abs(statistics.fmean(figures) - best) < 1e-12
                self.assertEqual(cell, f"**{expected}**" if is_best else expected, (method, name))

    def check_numbers(self, text, part):
        """The mean does not explain anything; what does better has a positive R², and less RMSE."""
        mean = part["results"]["mean"][0]
        self.assertLessEqual(mean["r2"], 0)
        for results in part["results"].values():
            self.assertEqual(results[0]["r2"] > mean["r2"], results[0]["rmse"] < mean["rmse"])
        coverage = part["results"]["auto"][0]["coverage"]
        self.assertEqual(cells(text, "Power loss", "auto")[3], "%.3f" % coverage)

    def check_correction(self, part):
        for run in part["runs"]:
            self.assertLessEqual(run["right_after"], run["wrong"])
            self.assertLessEqual(run["wrong"], 10)
            self.assertEqual(run["wrong"] + run["others"] + run["unseen"], 36)

    def test_the_tool_says_the_same_on_the_same_split(self):
        folder, results = self.root / "panels", self.root / "lines"
        tool("render", folder, "--count", 40, "--size", 64, "--seed", 3)
        self.bench("--panels", folder, "--parts", "panels", "--methods", "pixels", "--results", results)
        photos = Photos.in_classes(folder, type("Tool", (), {"run": staticmethod(tool)}))
        for number, part in enumerate(photos.split(1)):
            for i in part:
                path = self.root / f"part{number}" / photos.files[i]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes((folder / photos.files[i]).read_bytes())
        done = tool("fit", self.root / "part0", "--test", self.root / "part1", "--map", "pixels", "--seed", 1,
                    "--cache", "no", "-o", self.root / "model.broad")
        result = next(r for r in self.lines(results) if r["split"] == 1)
        self.assertEqual([result[name] for name in report.VERDICTS], [done["test"][name] for name in report.VERDICTS])

    def test_without_scikit_learn_its_rows_are_left_out_and_named(self):
        self.write("empty/sklearn.py", "raise ImportError('not here', name='sklearn')\n")
        done = self.bench("--parts", "panels", "--methods", "pixels;ridge, 32x32", "--splits", 1,
                          environment={"PYTHONPATH": str(self.root / "empty")})
        self.assertIn("- ridge, 32x32: sklearn is not installed (Debian: python3-sklearn, python3-pil)\n", done.stdout)
        self.assertNotRegex(done.stdout, r"(?m)^\| ridge")
        self.assertRegex(done.stdout, r"(?m)^\| pixels")

    def test_a_method_that_fails_is_named_and_the_others_go_on(self):
        broken = self.write("tool", '#!/bin/sh\ncase "$*" in *brls*) echo "broad: not today" >&2; exit 2;; esac\n'
                            'exec "%s" "$@"\n' % BROAD, 0o755)
        done = self.bench("--parts", "panels", "--methods", "pixels;brls, paper", "--splits", 1, "--broad", broken)
        self.assertIn("- brls, paper: broad: not today\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^\| pixels")

    def test_messages(self):
        self.assertIn("none is no folder", self.bench("--panels", self.root / "none", code=1).stderr)
        empty = self.root / "empty"
        empty.mkdir()
        done = self.bench("--panels", empty, "--parts", "panels", code=1)
        self.assertIn("no photos in sub-folders of", done.stderr)
        self.write("days/labels.csv", "file,day\na.jpg,1\n")
        done = self.bench("--soiling", self.root / "days", "--parts", "soiling", code=1)
        self.assertIn("has no rows with columns file, power_loss and date", done.stderr)
        self.assertIn("no 'pixel'; there are", self.bench("--methods", "pixel", code=2).stderr)
        self.assertIn("build it first", self.bench("--broad", self.root / "none", code=1).stderr)


class Parts(Scratch):
    def photos(self, targets, groups):
        files = [f"{i}.jpg" for i in range(len(targets))]
        for file in files:
            self.write(file, file)
        return Photos(self.root, files, targets, groups)

    def test_groups_stay_together_and_classes_keep_their_part(self):
        targets = ["Clean"] * 40 + ["Dusty"] * 60
        photos = self.photos(targets, [str(i // 3) for i in range(100)])
        seen = set()
        for seed in range(5):
            train, test = photos.split(seed)
            self.assertEqual(sorted(train + test), list(range(100)))
            self.assertFalse({photos.groups[i] for i in train} & {photos.groups[i] for i in test})
            self.assertLessEqual(abs(sum(targets[i] == "Clean" for i in test) - 12), 2)
            self.assertLessEqual(abs(len(test) - 30), 3)
            self.assertEqual(photos.split(seed), (train, test))
            seen.add(tuple(test))
            inner = photos.split(seed, 0.5, train)
            self.assertEqual(sorted(inner[0] + inner[1]), train)
        self.assertEqual(len(seen), 5)

    def test_numbers_are_split_by_group(self):
        photos = self.photos([i / 50 for i in range(50)], [f"day{i // 5}" for i in range(50)])
        train, test = photos.split(0)
        self.assertEqual((len(train), len(test)), (35, 15))
        self.assertFalse({photos.groups[i] for i in train} & {photos.groups[i] for i in test})


class Measures(unittest.TestCase):
    def test_verdicts(self):
        truth = ["d"] * 10 + ["c"] * 5
        predicted = ["d"] * 8 + ["c"] * 2 + ["d"] * 1 + ["c"] * 4
        found = load_script().verdict_measures(predicted, truth, "d")
        expected = {"accuracy": 12 / 15, "precision": 8 / 9, "recall": 0.8, "f1": 2 * (8 / 9) * 0.8 / (8 / 9 + 0.8),
                    "false_positive": 0.2, "false_negative": 0.2}
        self.assertEqual(set(found), set(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, places=12)

    def test_numbers(self):
        found = load_script().number_measures([1, 2, 5], [1, 3, 3])
        self.assertAlmostEqual(found["rmse"], (5 / 3) ** 0.5, places=12)
        self.assertAlmostEqual(found["mae"], 1, places=12)
        self.assertAlmostEqual(found["r2"], 1 - 5 / (8 / 3), places=12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
