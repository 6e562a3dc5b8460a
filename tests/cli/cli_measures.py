#!/usr/bin/env python3
"""Measures that people expect, computed again from what predict prints; baselines, targets one by one, rare classes.

Usage: cli_measures.py PATH_OF_BROAD.
"""
import csv
import io
import math
import os
import random
import sys
import unittest
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs  # noqa: E402
from cli_proba import overlapping  # noqa: E402

SMALL = ["--features", "2x10", "--enhance", "30x1", "--loo", "yes"]


def frauds(rows, rare, seed):
    """A rare class that its inputs hardly tell from the others."""
    rng = random.Random(seed)
    lines = ["a,b,verdict"]
    for i in range(rows):
        fraud = i < rare
        lines.append("%.4f,%.4f,%s" % (rng.gauss(0.8 * fraud, 1), rng.gauss(0, 1), "fraud" if fraud else "ok"))
    return "\n".join(lines) + "\n"


def two_targets(rows, seed):
    rng = random.Random(seed)
    lines = ["a,b,small,big"]
    for _ in range(rows):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        lines.append("%.5f,%.5f,%.8f,%.2f" % (a, b, 1e-3 * (a + rng.gauss(0, 0.1)), 1e6 * (b + rng.gauss(0, 0.5))))
    return "\n".join(lines) + "\n"


def roc_auc(values, members):
    """By counting pairs, equal ones as half."""
    inside = [v for v, m in zip(values, members) if m]
    outside = [v for v, m in zip(values, members) if not m]
    return sum((x > y) + (x == y) / 2 for x in inside for y in outside) / (len(inside) * len(outside))


def average_precision(values, members):
    """The sum over falling thresholds of the gain in recall times the precision there."""
    area, before = 0, 0
    for threshold in sorted(set(values), reverse=True):
        taken = [m for v, m in zip(values, members) if v >= threshold]
        recall = sum(taken) / sum(members)
        area += (recall - before) * sum(taken) / len(taken)
        before = recall
    return area


def rmse(values, others):
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(values, others)) / len(values))


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class Classes(Case):
    def predicted(self, data, *words):
        model = self.path("m.broad")
        self.ok("fit", data, "-o", model, "-q", *SMALL)
        rows = table(self.ok("predict", model, data, "--proba", "-o", "-", *words).out)
        truth = [row[-1] for row in csv.reader(io.StringIO(self.read(os.path.basename(data)).decode()))][1:]
        return model, rows, truth

    def check(self, data, classes):
        model, rows, truth = self.predicted(data)
        test = self.ok("eval", model, data, "--json").json["test"]
        areas = []
        for name, of in zip(classes, test["by_class"]):
            values, members = [float(row["proba_" + name]) for row in rows], [t == name for t in truth]
            verdicts = [row["label"] == name for row in rows]
            hits = sum(v and m for v, m in zip(verdicts, members))
            self.assertEqual((of["class"], of["rows"]), (name, sum(members)))
            self.assertAlmostEqual(of["recall"], hits / sum(members), places=12)
            self.assertAlmostEqual(of["precision"], hits / sum(verdicts), places=12)
            self.assertAlmostEqual(of["roc_auc"], roc_auc(values, members), places=9)
            self.assertAlmostEqual(of["pr_auc"], average_precision(values, members), places=9)
            areas.append((of["roc_auc"], of["pr_auc"]))
        self.assertAlmostEqual(test["balanced_accuracy"], sum(c["recall"] for c in test["by_class"]) / len(classes))
        self.assertAlmostEqual(test["baseline"], max(truth.count(c) for c in classes) / len(truth))
        self.assertTrue(test["interval"][0] < test["accuracy"] < test["interval"][1])
        return test, areas

    def test_two(self):
        test, areas = self.check(self.write("two.csv", overlapping(300, 5)), ["no", "yes"])
        positive = ["no", "yes"].index(test["positive"])
        self.assertEqual((test["roc_auc"], test["pr_auc"]), areas[positive])

    def test_three(self):
        test, areas = self.check(self.write("three.csv", blobs(240, 6)), ["ant", "bee", "cat"])
        self.assertAlmostEqual(test["roc_auc"], sum(a for a, _ in areas) / 3)
        self.assertAlmostEqual(test["pr_auc"], sum(a for _, a in areas) / 3)

    def test_class_without_rows(self):
        """It is not tested, rather than never recognised: as scikit-learn has it."""
        lines = blobs(240, 6).splitlines()
        # Every tenth of the other rows lies where the missing class does.
        moved = [line for line in lines[1:] if line.endswith("cat")]
        kept = [line for line in lines[1:] if not line.endswith("cat")]
        kept[::10] = [moved[i].rsplit(",", 1)[0] + "," + line.rsplit(",", 1)[1] for i, line in enumerate(kept[::10])]
        model, some = self.path("three.broad"), self.write("some.csv", "\n".join([lines[0], *kept]) + "\n")
        self.ok("fit", self.write("three.csv", "\n".join(lines) + "\n"), "-o", model, "-q", *SMALL)
        done = self.ok("eval", model, some, "--json")
        test = done.json["test"]
        ant, bee, cat = test["by_class"]
        self.assertEqual((cat["rows"], cat["recall"], cat["roc_auc"]), (0, None, None))
        self.assertGreater(sum(row[2] for row in test["confusion"]), 0)
        self.assertEqual((cat["precision"], cat["f1"]), (0, 0))  # it is a verdict, though an incorrect one
        self.assertAlmostEqual(test["recall"], (ant["recall"] + bee["recall"]) / 2)
        self.assertEqual(test["recall"], test["balanced_accuracy"])
        self.assertIn("class cat has none of the %d test rows: how well it is recognised was not measured" % test["rows"], done.err)
        self.assertRegex(self.ok("eval", model, some).out, r"(?m)^cat +0 +0\.0000 +- +0\.0000 +- +-$")
        try:
            from sklearn import metrics
        except ImportError:
            self.skipTest("scikit-learn is not installed")
        truth = [row[-1] for row in csv.reader(io.StringIO(self.read("some.csv").decode()))][1:]
        verdicts = [row["label"] for row in table(self.ok("predict", model, some, "-o", "-").out)]
        self.assertAlmostEqual(test["precision"], metrics.precision_score(truth, verdicts, average="macro", zero_division=0), places=12)
        self.assertAlmostEqual(test["f1"], metrics.f1_score(truth, verdicts, average="macro", zero_division=0), places=12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the verdict that no row has
            self.assertAlmostEqual(test["recall"], metrics.balanced_accuracy_score(truth, verdicts), places=12)

    def test_threshold(self):
        data = self.write("t.csv", overlapping(300, 7))
        model, rows, truth = self.predicted(data)
        loose = self.ok("eval", model, data, "--threshold", "0.2", "--json").json["test"]
        verdicts = [float(row["proba_" + loose["positive"]]) >= 0.2 for row in rows]
        members = [t == loose["positive"] for t in truth]
        self.assertAlmostEqual(loose["recall"], sum(v and m for v, m in zip(verdicts, members)) / sum(members))
        labels = [row["label"] for row in table(self.ok("predict", model, data, "--threshold", "0.2").out)]
        self.assertEqual([label == loose["positive"] for label in labels], verdicts)
        self.fails(2, "above 0 and below 1", "eval", model, data, "--threshold", "1.5")
        three = self.write("three.csv", blobs(120))
        self.ok("fit", three, "-o", self.path("k.broad"), "-q", *SMALL)
        for command in ("eval", "predict"):
            self.fails(2, "two classes", command, self.path("k.broad"), three, "--threshold", "0.3")

    def test_leave_one_out_has_all_of_them(self):
        fitted = self.ok("fit", self.write("a.csv", overlapping(300, 8)), "-o", self.path("a.broad"), "--json", *SMALL).json
        names = {"balanced_accuracy", "mcc", "roc_auc", "pr_auc", "log_loss", "precision", "recall", "f1", "baseline"}
        self.assertTrue(all(0 < fitted["loo"][name] < 1 for name in names), fitted["loo"])
        self.assertEqual(fitted["loo"], self.ok("info", self.path("a.broad"), "--json").json["loo"])

    def test_fit_says_what_matters(self):
        """The figure with its interval and what always the same answer would reach, and a rare class that is missed."""
        data = self.write("f.csv", frauds(300, 6, 3))
        done = self.ok("fit", data, "-o", self.path("f.broad"), *SMALL)
        self.assertRegex(done.out, r"(?m)^estimate accuracy 0\.9\d+ \(95 % interval [\d.]+ to [\d.]+; always ok: 0\.9800\)")
        self.assertIn("balanced accuracy 0.", done.out)
        self.assertIn("class fraud is rare (6 of 300 rows) and mostly missed", done.err)
        self.assertIn("--class-weight balanced", done.err)
        weighed = self.ok("fit", data, "-o", self.path("f.broad"), "--class-weight", "balanced", *SMALL)
        self.assertNotIn("mostly missed", weighed.err)
        self.assertEqual(self.ok("fit", data, "-o", self.path("f.broad"), "-q", *SMALL).out, "")

    def test_cv_and_tune(self):
        data = self.write("c.csv", overlapping(200, 9))
        cv = self.ok("cv", data, "--json", "-q", *SMALL).json["test"]
        for name in ("balanced_accuracy", "roc_auc", "pr_auc", "mcc", "log_loss", "baseline"):
            self.assertTrue(0 < cv[name]["mean"] < 1, (name, cv[name]))
        for by in ("cv", "loo"):
            tuned = self.ok("tune", data, "--trials", "1", "--by", by, "--folds", "2", "--metric", "roc_auc", "--json", "-q").json
            self.assertEqual(tuned["metric"], "roc_auc")


class Targets(Case):
    def test_one_by_one(self):
        data, model = self.write("y.csv", two_targets(300, 4)), self.path("y.broad")
        out = self.ok("fit", data, "--target", "small,big", "-o", model, *SMALL).out
        self.assertRegex(out, r"(?m)^         small: RMSE 0\.000\d+ \(always the mean: 0\.00[01]\d*\), R2 0\.9")
        test = self.ok("eval", model, data, "--json").json["test"]
        rows = table(self.ok("predict", model, data, "--interval", "0.9", "-o", "-").out)
        truth = table(self.read("y.csv").decode())
        for of in test["targets"]:
            name = of["target"]
            y, p = [float(row[name]) for row in truth], [float(row[name]) for row in rows]
            mean = sum(y) / len(y)
            self.assertAlmostEqual(of["rmse"] / rmse(y, p), 1, places=9)
            self.assertAlmostEqual(of["baseline"] / rmse(y, [mean] * len(y)), 1, places=9)
            self.assertAlmostEqual(of["r2"], 1 - (rmse(y, p) / of["baseline"]) ** 2, places=9)
            inside = [float(row[name + "_low"]) <= v <= float(row[name + "_high"]) for row, v in zip(rows, y)]
            self.assertAlmostEqual(of["coverage"], sum(inside) / len(y), places=12)
            widths = [float(row[name + "_high"]) - float(row[name + "_low"]) for row in rows]
            self.assertAlmostEqual(of["interval_width"] / (sum(widths) / len(widths)), 1, places=9)
        self.assertTrue(test["interval"][0] < test["rmse"] < test["interval"][1])
        self.assertIn("big: RMSE", self.ok("eval", model, data).out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
