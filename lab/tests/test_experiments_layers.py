#!/usr/bin/env python3
"""The experiments 'figure' and 'increments' in their short form: their figures against networks trained and measured
apart, their text against the stored figures, their words against results made up to be clear.

Usage: test_experiments_layers.py PATH_OF_BROAD.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

from lab.experiments import figure, increments, paper, problems, words  # noqa: E402
from lab.experiments.lab import Failure, Lab  # noqa: E402
from lab.experiments.plot import draw  # noqa: E402
from bench.tool import Tool  # noqa: E402


def cells(text, begin):
    """Of the first row of a table that begins with these words."""
    row = next(line for line in text.splitlines() if line.startswith("| " + begin))
    return [cell.strip() for cell in row.strip("|").split("|")]


def rows_below(text, title):
    """The rows of the first table after a line with this title, without head and rule."""
    lines = iter(text[text.index(title):].splitlines())
    table = []
    for line in lines:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split("|")])
        elif table:
            break
    return table[2:]


class Short(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="broad-layers-test-")
        os.environ["XDG_CACHE_HOME"] = cls.scratch.name
        cls.lab = Lab(Tool(BROAD), cls.scratch.name, quick=True, threads=1)
        cls.lab.lines = False
        machine = {"machine": cls.lab.tool.describe()}
        cls.figure, cls.increments = {**figure.run(cls.lab), **machine}, {**increments.run(cls.lab), **machine}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def fit(self, train, *more):
        path = pathlib.Path(self.scratch.name) / "apart.broad"
        return path, self.lab.tool.run("fit", train, "--preset", "paper", *more, "-o", path)

    def test_curves_are_those_of_shorter_networks(self):
        problem = self.figure["problems"][1]
        train, test = self.lab.split(1)
        for method, options in (("brls", ["--kind", "brls"]), ("tight", ["--gamma", problem["tight"]])):
            run = next(r for r in problem["runs"] if (r["method"], r["split"]) == (method, 1))
            for layers in range(1, run["layers"] + 1):
                path, report = self.fit(train, "--augment", 1, "--side", 16, "--features", "3x4", "--enhance",
                                        f"10x{layers}", *options)
                accuracy = self.lab.tool.run("eval", path, test)["test"]["accuracy"]
                self.assertAlmostEqual(float(run["accuracy"].split()[layers - 1]), accuracy, places=5)
                self.assertAlmostEqual(float(run["train"].split()[layers - 1]) / report["layers"][-1]["norm_after"], 1,
                                       places=5)
            self.assertEqual(run["draws"], sum(layer["tries"] for layer in report["layers"]))

    def test_figure_has_pairs_of_every_method(self):
        for problem in self.figure["problems"]:
            pairs = {(r["split"], r["seed"]) for r in problem["runs"]}
            self.assertEqual(len(problem["runs"]), len(pairs) * len(figure.methods("")))
            for run in problem["runs"]:
                self.assertEqual({len(run[measure].split()) for measure in figure.MEASURES}, {run["layers"]})
                if run["method"] == "brls":
                    self.assertEqual(run["draws"], run["layers"])

    def test_text_of_the_figure(self):
        text, problem = figure.text(self.figure), self.figure["problems"][0]
        brls = [r for r in problem["runs"] if r["method"] == "brls"]
        first = [float(r["train"].split()[0]) for r in brls]
        self.assertEqual(cells(text, "training error")[1:3],
                         ["1", f"{statistics.mean(first):.2f} ± {statistics.stdev(first):.2f}"])
        last = [float(r["accuracy"].split()[-1]) for r in brls]
        self.assertEqual(cells(text, "BRLS ")[5], f"{statistics.mean(last):.3f} ± {statistics.stdev(last):.3f}")

    def test_growing_by_layers_is_the_network_trained_at_once(self):
        run = next(r for r in self.increments["problems"][1]["runs"] if r["table"] == "4" and r["method"] == "best")
        self.assertTrue(run["whole"]["same"])
        train, test = problems.TableRows(self.lab, 100).split(0)
        for i, step in enumerate(run["steps"]):
            path, report = self.fit(train, "--features", "4x4", "--enhance", f"10x{i + 1}", "--select", "best")
            self.assertEqual(step["accuracy"], self.lab.tool.run("eval", path, test)["test"]["accuracy"])
            self.assertEqual((step["norm"], step["rows"]), (report["layers"][-1]["norm_after"], 100))

    def test_rows_are_added_and_none_is_tested(self):
        for problem in self.increments["problems"]:
            for run in problem["runs"]:
                rows = [step["rows"] for step in run["steps"]]
                self.assertEqual(rows == sorted(set(rows)), run["table"] == "6")
                self.assertEqual(run["whole"]["rows"], rows[-1])
        photos = self.lab.photos
        portions, so_far = problems.PhotoRows(self.lab, 0).portions(0)
        names = [{path.resolve() for path in folder.glob("*/*")} for folder in portions]
        test = {photos.path(number) for number in photos.split(0)[1]}
        self.assertEqual(sum(map(len, names)), len(set.union(*names)))
        self.assertEqual(set.union(*names), {path.resolve() for path in so_far[-1].glob("*/*")})
        self.assertEqual(set.union(*names) | test, {photos.path(number) for number in range(len(photos.files))})
        self.assertFalse(set.union(*names) & test)

    def test_seconds_so_far_are_sums(self):
        text = increments.text(self.increments)
        for number, (_, printed) in increments.TABLES.items():
            rows = rows_below(text, f"The seconds of table {number}")
            total = [0.0] * 4
            for row, known in zip(rows, printed):
                self.assertEqual([float(cell) for cell in row[1:5]], list(known[-4:]))
                total = [a + float(b) for a, b in zip(total, row[5:9])]
                for told, summed in zip(row[9:13], total):
                    self.assertAlmostEqual(float(told), summed, delta=0.0021)
            self.assertEqual(len(rows), 2)

    def test_words_about_seconds(self):
        growth = increments.Growth(self.increments["problems"][0], "4")
        runs = [r["steps"] for r in self.increments["problems"][0]["runs"]
                if (r["table"], r["method"]) == ("4", "best")]
        later = statistics.mean(steps[1]["layer_seconds"] for steps in runs)
        told = increments.time_words(growth, increments.printed_figures("4", paper.ADD_ENHANCEMENT, -1))
        self.assertTrue(told.startswith("Paper: 1.38 in all for BRLS, 1.20 times as much for BSCRLS. "), told)
        self.assertIn(f"{later:.3f} for the best of 10, ", told)

    def test_accuracies_stand_beside_the_papers(self):
        text = increments.text(self.increments)
        for number, (name, printed) in increments.TABLES.items():
            rows = rows_below(text, f"**Table {number}, adding {name}**")
            for i, row in enumerate(rows):
                left = 3 if number == "6" else 2
                self.assertEqual([float(cell) for cell in row[left:left + 2]], list(printed[i][-6:-4]))
                own = [r["steps"][i]["accuracy"] for r in self.increments["problems"][1]["runs"]
                       if (r["table"], r["method"]) == (number, "brls")]
                self.assertEqual(row[left + 6], f"{statistics.mean(own):.3f} ± {statistics.stdev(own):.3f}")

    def test_pictures(self):
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed")
        for module, result, panels in ((figure, self.figure, 9), (increments, self.increments, 6)):
            for name, script in module.pictures(result).items():
                path = pathlib.Path(self.scratch.name) / name
                draw(script, path, module.TITLE)
                self.assertEqual(script.count("\nplot "), panels)
                self.assertIn("BSCRLS, default", path.read_text(encoding="utf-8"))


def made_up(train, accuracy, layers=4):
    """A problem with five splits: what BSCRLS with a tight schedule has more than BRLS at the end is given."""
    runs = []
    for split in range(5):
        for method in figure.methods("harmonic:1"):
            other = method == "tight"
            runs.append({"split": split, "seed": 0, "method": method, "rows": 50, "test_rows": 25, "layers": layers,
                         "status": "complete", "draws": 90 if other else layers, "seconds": 0.1,
                         "train": " ".join(["2"] * (layers - 1) + [f"{1 + 0.01 * split + other * train:g}"]),
                         "test": " ".join(f"{3 + i}" for i in range(layers)),
                         "accuracy": " ".join(["0.5"] * (layers - 1) + [f"{0.6 + 0.01 * split + other * accuracy:g}"])})
    return {"shape": {"features": "3x4", "nodes": 10, "layers": layers}, "splits": 5, "machine": "one", "problems": [
        {"name": "photos", "title": "photos", "seeds": 1, "tight": "harmonic:1", "runs": runs}]}


class Words(unittest.TestCase):
    def test_claims(self):
        good, bad = figure.text(made_up(-0.5, 0.1)), figure.text(made_up(0.5, -0.1))
        self.assertIn("BSCRLS, `harmonic:1`: 4 layers, 90 draws. Convergence is stronger: the training error ends at "
                      "0.51 times that of BRLS, lower in 5 of 5 pairs. The test error ends at 1.00 times that of BRLS. "
                      "Test accuracy is better: +0.100 ± 0.000.", good)
        self.assertIn("Convergence is weaker", bad)
        self.assertIn("Test accuracy is worse: -0.100", bad)
        self.assertIn("in all 5 pairs BSCRLS has the figures of BRLS", good)
        self.assertIn("its test error grows from 3.00 to 6.00", good)
        self.assertIn("Always predicting 0 gives a test error of 5.00.", good)

    def test_the_course_of_an_error(self):
        for errors, told in (([400, 401, 402], "stays at 400"), ([9, 7, 5], "falls from 9.00 to 5.00"),
                             ([1234, 1500], "grows from 1,234 to 1,500"),
                             ([9, 5, 7], "goes from 9.00 to 7.00 and is least, 5.00, after layer 2")):
            self.assertEqual(figure.course(errors), told)

    def test_a_network_that_ended_early_keeps_its_figures(self):
        result = made_up(-0.5, 0.1)
        for run in result["problems"][0]["runs"]:
            if run["method"] == "tight":
                run.update(layers=2, train="2 1.5", accuracy="0.5 0.9", test="3 3")
        self.assertIn("1.50 ± 0.00", figure.text(result))
        self.assertEqual(figure.Curves(result["problems"][0], 4).after("tight", "accuracy", 4), [0.9] * 5)

    def test_intervals(self):
        mean, half = words.interval([0.1, 0.2, 0.3])
        self.assertAlmostEqual(mean, 0.2)
        self.assertAlmostEqual(half, 4.303 * 0.1 / 3 ** 0.5, places=4)
        self.assertEqual(words.judged([0.1, 0.2, 0.3], "more", "less"), "no more than chance")
        self.assertEqual(words.judged([0.19, 0.2, 0.21], "more", "less"), "more")
        self.assertEqual(words.judged([-0.19, -0.2, -0.21], "more", "less"), "less")
        self.assertEqual(words.judged([0.0, 0.0], "more", "less"), "the same")

    def test_the_papers_figures(self):
        self.assertEqual([len(rows) for _, rows in increments.TABLES.values()], [10, 5, 5])
        for rows in (paper.ADD_ENHANCEMENT, paper.ADD_FEATURES, paper.ADD_DATA):
            for column in (0, 1):
                self.assertAlmostEqual(sum(row[-4 + column] for row in rows), rows[-1][-2 + column], delta=0.005)


class Tables(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-layers-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def lab(self, tables):
        lab = Lab.__new__(Lab)
        lab.tables, lab.work, lab.quick, lab.made = tables, self.root, True, 0
        return lab

    def test_a_file_or_a_folder(self):
        file = problems.write_waves(self.root / "mine.csv", 200)
        folder = self.root / "all" / "classification"
        folder.mkdir(parents=True)
        named = problems.write_waves(folder / f"{problems.TABLE}.csv", 300)
        self.assertEqual(self.lab(file).table(problems.TABLE), file)
        self.assertEqual(self.lab(self.root / "all").table(problems.TABLE), named)
        self.assertIsNone(self.lab(self.root / "all").table("other"))
        self.assertEqual(problems.TableRows(self.lab(file), 1000).count, 140)

    def test_too_few_rows(self):
        file = problems.write_waves(self.root / "mine.csv", 90)
        with self.assertRaisesRegex(Failure, "mine.csv has 90 rows; at least"):
            problems.TableRows(self.lab(file), 1000)

    def test_no_such_table(self):
        done = subprocess.run([sys.executable, ROOT / "lab" / "run_experiments", "increments", "--quick", "--broad",
                               BROAD, "--tables", self.root / "none.csv"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.csv: no such folder or file", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
