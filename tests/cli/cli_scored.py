#!/usr/bin/env python3
"""Chains judged by their own score, '--supervise gcv' and '--preset chain', from fit to report.

Usage: cli_scored.py PATH_OF_BROAD. Scores are computed here again from the figures that the certificate prints.
"""
import csv
import io
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs, curve  # noqa: E402

SCORED = ["--preset", "paper", "--supervise", "gcv", "--features", "2x5", "--enhance", "10x12", "--range-steps", "1,3,0.3",
          "--seed", "3"]
CHAIN = ["--preset", "chain", "--features", "4x10", "--enhance", "10x12", "--seed", "3"]
BY_SCORE = "from the chain's cross-validation score on "


def noise(rows, labels=None, seed=6):
    """Inputs that have nothing to do with the target, whose mean is 5, or whose labels are drawn from those given."""
    rng = random.Random(seed)
    lines = ["a,b,c,y"]
    for _ in range(rows):
        target = rng.choice(labels) if labels else "%.4f" % rng.gauss(5, 1)
        lines.append("%.4f,%.4f,%.4f,%s" % (rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1), target))
    return "\n".join(lines) + "\n"


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class Scored(Case):
    def certified(self, layers, penalty=1.4):
        """Scores fall by their bounds, and so do norms; each follows from the norm and the degrees of freedom."""
        for i, layer in enumerate(layers):
            left = 1 - penalty * layer["df"] / layer["rows"]
            self.assertEqual((layer["test"], layer["penalty"], layer["passed"]), ("gcv", penalty, True))
            self.assertAlmostEqual(layer["score"] * left / layer["norm_after"], 1, places=9)
            before = 1 - penalty * layer["df_before"] / layer["rows"]
            self.assertAlmostEqual(layer["score"] / (layer["norm_before"] / before) / layer["tested"], 1, places=9)
            self.assertLessEqual(max(layer["tested"], layer["ratio"]), layer["bound"])
            if i and layer["rows"] == layers[i - 1]["rows"]:
                self.assertAlmostEqual(layer["df_before"], layers[i - 1]["df"], places=6)
        self.assertLess(layers[-1]["df"], layers[-1]["rows"])


class Walk(Scored):
    """Fit, look, predict, measure, check, report: each twice, with the same result."""

    def fit(self, data, name, *words):
        twice = [self.ok("fit", data, "-o", self.path(name), "--json", *words).json for _ in range(2)]
        for fitted in twice: del fitted["seconds"]
        self.assertEqual(*twice)
        return self.path(name), twice[0]

    def test_values(self):
        data = self.write("y.csv", curve(160))
        for words in (SCORED, CHAIN):
            model, fitted = self.fit(data, "y.broad", *words)
            self.assertEqual((fitted["fitting"], fitted["loo"]["method"]), ("chain", "gcv"))
            self.certified(fitted["layers"], 1.2 if words is CHAIN else 1.4)
            self.assertTrue(all(layer["df_error"] == 0 for layer in fitted["layers"]))  # 160 rows: unit vectors
            self.assertGreater(fitted["loo"]["rmse"], fitted["train"]["rmse"])
            info = self.ok("info", model, "--json").json
            self.assertEqual((info["layers"], info["loo"], info["status"]), (fitted["layers"], fitted["loo"], fitted["status"]))
            self.assertTrue(self.ok("verify", model, data, "--json").json["holds"])
            for row in table(self.ok("predict", model, data, "--interval", "0.9").out):
                self.assertLess(float(row["y_low"]), float(row["y_high"]))
            measured = self.ok("eval", model, data, "--json").json["test"]
            self.assertGreater(measured["coverage"], 0.9)

    def test_probabilities(self):
        data = self.write("kinds.csv", blobs(150))
        for words in (SCORED, CHAIN):
            model, fitted = self.fit(data, "k.broad", *words)
            self.certified(fitted["layers"], 1.2 if words is CHAIN else 1.4)
            rows = table(self.ok("predict", model, data, "--proba").out)
            for row in rows:
                p = [float(row["proba_" + name]) for name in ("ant", "bee", "cat")]
                self.assertAlmostEqual(sum(p), 1, places=9)
                self.assertEqual(("ant", "bee", "cat")[p.index(max(p))], row["label"])
            self.assertIsNotNone(self.ok("eval", model, data, "--json").json["test"]["brier"])

    def test_text(self):
        data = self.write("y.csv", curve(160))
        fit = self.ok("fit", data, *SCORED, "-o", self.path("t.broad")).out
        self.assertRegex(fit, r"(?m)^score    fell to 0\.\d+ of what it was, in \d+ layers?; the chain has \d+ degrees? of "
                              r"freedom on 160 rows; ")
        self.assertIn(BY_SCORE + "160 rows)", fit)
        info = self.ok("info", self.path("t.broad")).out
        self.assertIn(BY_SCORE + "160 rows)", info)
        self.assertRegex(info, r"\n  layer +width +gamma +bound +tested +\|\|E\|\| +df +score +lambda +range +tries\n")
        self.assertNotIn("leave-one-out", fit + info)

    def test_many_rows_have_signs(self):
        data = self.write("many.csv", curve(400))
        for penalty in ("1", "2.5"):
            fitted = self.ok("fit", data, *SCORED, "--penalty", penalty, "-o", self.path("m.broad"), "--json").json
            self.certified(fitted["layers"], float(penalty))
            columns = math.ceil(2 / (0.005 ** 2 * 400))
            for layer in fitted["layers"]:
                self.assertAlmostEqual(layer["df_error"], math.sqrt(2 * layer["df"] / columns), places=9)
        self.assertIn("the chain has about ", self.ok("info", self.path("m.broad")).out)

    def test_cross_validation(self):
        data = self.write("kinds.csv", blobs(90))
        cv = self.ok("cv", data, *SCORED, "--folds", "3", "--json").json
        self.assertIsNotNone(cv["test"]["brier"]["mean"])

    def test_page(self):
        data = self.write("y.csv", curve(160))
        self.ok("fit", data, *SCORED, "--penalty", "1", "--gamma", "harmonic:0.0001", "--holdout", "0.25", "-o",
                self.path("p.broad"), "--report", self.path("p.html"))
        page = self.read("p.html").decode()
        for text in ("What is expected of new rows", "Degrees of freedom, as a part of the rows",
                     "expected of new rows by the score", ">score</th>", ">df</th>", ">cross-validation score</th>"):
            self.assertTrue(text in page, text)
        self.assertFalse("eave-one-out" in page.split("All settings")[0])
        self.ok("report", "--training", self.path("p.broad"), data, "-o", self.path("q.html"))


class Growth(Scored):
    def setUp(self):
        self.data, self.more = self.write("y.csv", curve(120)), self.write("more.csv", curve(60, seed=8))
        self.model = self.path("g.broad")
        self.ok("fit", self.data, *SCORED[:-4], "--range-steps", "1,3,0.3", "--enhance", "10x2", "--seed", "3", "-o", self.model)

    def test_grow(self):
        grown = self.ok("grow", self.model, self.data, "--enhance", "10x3", "--json").json
        self.assertEqual((grown["layers_before"], grown["loo"]["method"]), (2, "gcv"))
        self.certified(grown["layers"])
        self.assertTrue(self.ok("verify", self.model, self.data, "--json").json["holds"])

    def test_learn(self):
        learned = self.ok("learn", self.model, self.more, "--with", self.data, "--json").json
        self.assertEqual((learned["loo"]["method"], learned["loo"]["rows"]), ("gcv", 180))
        self.certified(learned["layers"])
        self.assertTrue(self.ok("verify", self.model, self.data, self.more, "--json").json["holds"])
        if learned["worse"]: self.assertEqual(learned["worse"]["rows"], "gcv")

    def test_sums_keep_no_score(self):
        """Solved again from sums, without the rows: nothing is known of degrees of freedom, and nothing is said of them."""
        self.ok("grow", self.model, self.data, "--keep-stats")
        learned = self.ok("learn", self.model, self.more, "--json").json
        self.assertTrue(learned["solved_again"])
        self.assertIsNone(learned["loo"])
        self.assertTrue(all("score" not in layer for layer in learned["layers"]))
        self.assertTrue(self.ok("verify", self.model, self.data, self.more, "--json").json["holds"])
        self.assertNotIn("score", self.ok("info", self.model).out)

    def test_groups_are_needed_again(self):
        rows = [line + ",%d" % (i // 4) for i, line in enumerate(curve(80).splitlines()[1:])]
        grouped = self.write("grouped.csv", "u,v,y,of\n" + "\n".join(rows) + "\n")
        model = self.path("of.broad")
        words = ["--target", "y", "-o", model]
        fitted = self.ok("fit", grouped, *SCORED, *words, "--group", "of", "--json").json
        self.certified(fitted["layers"])
        self.fails(65, "the model was trained with groups of rows (column 'of')", "grow", model, self.write("c.csv", curve(80)),
                   "--enhance", "10x1")
        self.ok("grow", model, grouped, "--enhance", "10x1")

    def test_it_ends_by_itself(self):
        data, model = self.write("n.csv", curve(60)), self.path("e.broad")
        words = [*SCORED[:4], "--features", "2x5", "--enhance", "30x60", "--range-steps", "1,3", "--tries", "1"]
        fitted = self.ok("fit", data, *words, "-o", model, "--json").json
        self.assertEqual(fitted["status"], "stalled")
        self.assertRegex(fitted["reason"], r"^no further layer lowered the score")
        self.assertLess(len(fitted["layers"]), 60)
        text = self.ok("fit", data, *words, "-o", model).out + self.ok("info", model).out
        self.assertIn("; growth ended by itself: no further layer lowered it\n", text)
        self.assertIn("; ended by itself: no further layer lowered the score", text)
        self.assertNotIn("stalled", text)


    def test_fewer_layers_than_asked_for_have_a_reason(self):
        """Also where another draw of the features was tried, and its layer 1 was worse."""
        data, ends = self.write("few.csv", noise(60)), set()
        words = ["--preset", "paper", "--supervise", "gcv", "--penalty", "8", "--features", "2x5", "--enhance", "20x2",
                 "--tries", "1", "--range-steps", "1,3,0.3"]
        for seed in range(6):
            fitted = self.ok("fit", data, *words, "--seed", str(seed), "-o", self.path("f.broad"), "--json").json
            ends.add((len(fitted["layers"]), fitted["status"], fitted["reason"][:33]))
        self.assertIn((1, "stalled", "no further layer lowered the scor"), ends)
        self.assertTrue(ends <= {(1, "stalled", "no further layer lowered the scor"), (2, "complete", "")}, ends)


class Noise(Scored):
    """Nothing in the inputs explains the target: a network without layers, which is saved and usable."""

    def look(self, data, what):
        model = self.path("n.broad")
        fitted = self.ok("fit", data, *CHAIN, "-o", model, "--json").json
        self.assertEqual((fitted["layers"], fitted["status"]), ([], "stalled"))
        self.assertEqual(fitted["reason"], "nothing in the inputs explains the targets: no layer lowered the score, and the "
                                           "network predicts " + what)
        self.assertIn("score    " + fitted["reason"], self.ok("fit", data, *CHAIN, "-o", model).out)
        self.assertTrue(self.ok("verify", model, data, "--json").json["holds"])
        self.ok("info", model)
        self.ok("eval", model, data)
        self.ok("report", "--training", model, data, "-o", self.path("n.html"))
        self.assertTrue("Growth ended by itself" in self.read("n.html").decode())
        self.ok("grow", model, data, "--enhance", "10x1", "-o", self.path("g.broad"))
        return model

    def test_values(self):
        data = self.write("noise.csv", noise(120))
        model = self.look(data, "the mean of the targets")
        rows = table(self.ok("predict", model, data, "--interval", "0.9").out)
        mean = sum(float(row["y"]) for row in table(noise(120))) / 120
        inside = 0
        for row, truth in zip(rows, table(noise(120))):
            self.assertAlmostEqual(float(row["y"]), mean, places=9)
            inside += float(row["y_low"]) <= float(truth["y"]) <= float(row["y_high"])
        self.assertAlmostEqual(inside / 120, 0.9, delta=0.02)

    def test_classes(self):
        data = self.write("labels.csv", noise(120, labels="aab", seed=11))
        model = self.look(data, "the frequencies of the classes")
        part = sum(row["y"] == "a" for row in table(noise(120, labels="aab", seed=11))) / 120
        for row in table(self.ok("predict", model, data).out):
            self.assertEqual(row["label"], "a")
            self.assertAlmostEqual(float(row["score_a"]), part, places=9)


class Mistakes(Case):
    def test_refused(self):
        data = self.write("y.csv", curve(60))
        judge = "--supervise gcv judges a chain, in which each layer is fitted to the residual of those before it; give --weights chain"
        for words, needle in (
                (["--kind", "scn", "--weights", "joint", "--supervise", "gcv"], judge),
                (["--kind", "scn", "--weights", "window", "--supervise", "gcv"], judge),
                (["--kind", "bls", "--supervise", "gcv"], "--kind bls does not go with --supervise gcv; give --supervise none"),
                (["--kind", "rvfl", "--supervise", "gcv"], "--kind rvfl does not go with --supervise gcv"),
                ([*SCORED, "--penalty", "0.5"], "--penalty: '0.5' is not in range; give a number from 1 to 100"),
                ([*SCORED, "--penalty", "much"], "--penalty: 'much' is not a number; give a number from 1 to 100"),
                (["--preset", "chains"], "--preset")):
            self.fails(2, needle, "fit", data, *words, "-o", self.path("x.broad"))
        self.assertFalse(os.path.exists(self.path("x.broad")))

    def test_without_an_estimate(self):
        """What the message of predict advises is what helps."""
        data, model = self.write("y.csv", curve(60)), self.path("e.broad")
        words = ["fit", data, "--preset", "paper", "--features", "2x5", "--enhance", "10x2", "-o", model]
        self.ok(*words)
        self.fails(2, "or a chain with --supervise gcv", "predict", model, data, "--interval", "0.8")
        self.ok(*words, "--supervise", "gcv")
        self.ok("predict", model, data, "--interval", "0.8")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
