#!/usr/bin/env python3
"""The kinds without a chain, and those with joint weights, as a user meets them: fit, grow, learn, info, verify, plan.

Usage: cli_kinds.py PATH_OF_BROAD.
"""
import csv
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs, curve  # noqa: E402

PAPER = ["--preset", "paper", "--features", "2x5", "--lambda", "0.01", "--seed", "3"]
AT_ONCE = {"bls": ["--kind", "bls"], "rvfl": ["--kind", "rvfl"]}
JOINT = {"brls": ["--kind", "brls", "--weights", "joint"], "bscrls": ["--weights", "joint"]}
STEPWISE = {"scn": ["--kind", "scn", "--tries", "5"], "loo": ["--weights", "joint", "--supervise", "loo"]}
FITTINGS = (("at_once", AT_ONCE), ("joint", JOINT), ("stepwise", STEPWISE))


class Kinds(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data, cls.more = case.write("data.csv", blobs(120)), case.write("more.csv", blobs(60, seed=7))
        cls.both = case.write("both.csv", blobs(120) + blobs(60, seed=7).split("\n", 1)[1])
        cls.numbers = case.write("numbers.csv", curve(150))

    def fit(self, name, *words, data=None):
        return self.ok("fit", data or self.data, "-o", self.path(name), "--json", *PAPER, *words).json

    def scores(self, model, data):
        rows = csv.DictReader(io.StringIO(self.ok("predict", self.path(model), data).out))
        return [[float(v) for k, v in row.items() if k.startswith("score_")] for row in rows]

    def apart(self, one, other, data):
        a, b = self.scores(one, data), self.scores(other, data)
        largest = max(abs(x) for row in b for x in row)
        return max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) / largest


class Blocks(Kinds):
    def test_words(self):
        """Layers mean nothing where one ridge makes all weights; the reports say so."""
        for kind, words in AT_ONCE.items():
            nodes = 40 + (10 if kind == "bls" else 0)
            text = self.ok("fit", self.data, "-o", self.path("m"), *PAPER, *words, "--enhance", "20x2", "--verbose").out
            self.assertRegex(text, r"(?m)^network  %s, %d nodes in one block, \d" % (kind, nodes))
            self.assertRegex(text, r"(?m)^joint    one ridge regression over all nodes: lambda 0\.01, \|\|E\|\| ")
            self.assertNotIn("layer", text)
            self.assertNotIn("gamma", text)
            text = self.ok("grow", self.path("m"), self.data, "--enhance", "100").out
            self.assertRegex(text, r"(?m)^network  %s, %d nodes in 2 blocks, 1 of them new, " % (kind, nodes + 100))
            text = self.ok("learn", self.path("m"), self.more, "--with", self.data).out
            self.assertRegex(text, r"(?m)^network  %s, %d nodes in 2 blocks, all solved again on 180 rows, " % (kind, nodes + 100))
            text = self.ok("info", self.path("m")).out
            self.assertIn("%s, %d nodes in 2 blocks, seed 3" % (kind, nodes + 100), text)
            self.assertIn("stages   block 1: initial, on rows 1-180", text)
            self.ok("verify", self.path("m"), self.data, self.more)

    def test_grow_equals_fit(self):
        """Blocks added later are other draws, but the weights of what is there are one ridge: by the joint norm."""
        for kind, words in AT_ONCE.items():
            self.fit("m", *words, "--enhance", "15x1")
            grown = self.ok("grow", self.path("m"), self.data, "--enhance", "10x2", "--json").json
            self.assertEqual((grown["layers_before"], grown["layers_added"], grown["fitting"]), (1, 1, "at_once"))
            self.assertEqual([layer["width"] for layer in grown["layers"]][1], 20)
            self.assertEqual({layer["lambda"] for layer in grown["layers"]}, {0.01})
            self.assertEqual({layer["norm_after"] for layer in grown["layers"]}, {grown["joint"]["norm"]})

    def test_features_and_refusals(self):
        self.fit("m", *AT_ONCE["bls"], "--enhance", "15x1")
        grown = self.ok("grow", self.path("m"), self.data, "--features", "2x3", "--enhance", "4", "--json").json
        self.assertEqual([layer["width"] for layer in grown["layers"]], [25, 7, 7])
        self.fit("r", *AT_ONCE["rvfl"], "--enhance", "15x1")
        self.fails(2, "this kind of network has no feature nodes", "grow", self.path("r"), self.data, "--features", "1x3",
                   "--enhance", "4")
        self.fails(2, "--kind bls does not go with --weights chain", "fit", self.data, "--kind", "bls", "--weights", "chain",
                   "-o", self.path("x"))
        self.fails(2, "this kind has no feature nodes", "fit", self.data, "--kind", "rvfl", "--feature-weights",
                   "autoencoder", "-o", self.path("x"))


class Learning(Kinds):
    def test_rows_alone(self):
        """Where one ridge makes all weights, new rows need no new nodes, and the result is that of all rows at once."""
        for fitting, kinds in FITTINGS[:2]:
            for kind, words in kinds.items():
                words = [*words, "--scale", "none", "--enhance", "12x3"]
                self.fit("whole", *words, data=self.both)
                self.fit("part", *words)
                report = self.ok("learn", self.path("part"), self.more, "--with", self.data, "--json").json
                self.assertEqual((report["layers_added"], report["rows"], report["solved_again"], report["fitting"]),
                                 (0, 180, True, fitting))
                if kind != "bscrls":  # whose test may keep other draws on other rows
                    self.assertLess(self.apart("part", "whole", self.both), 1e-8, kind)
                self.ok("verify", self.path("part"), self.data, self.more)

    def test_with_nodes(self):
        for fitting, kinds in FITTINGS:
            for words in kinds.values():
                self.fit("m", *words, "--enhance", "6x2", "--relax-count", "9")
                report = self.ok("learn", self.path("m"), self.more, "--with", self.data, "--enhance", "5", "--json").json
                if report["status"] == "complete":
                    self.assertEqual((report["layers_added"], report["layers"][-1]["width"]), (1, 5))
                self.assertEqual(report["solved_again"], report["layers_added"] == 0 and fitting != "stepwise")
                self.ok("verify", self.path("m"), self.data, self.more)

    def test_stepwise_needs_a_layer(self):
        """As a chain does: unless told otherwise, one like those of fit."""
        self.fit("m", *STEPWISE["scn"], "--enhance", "3x2", "--relax-count", "9")
        report = self.ok("learn", self.path("m"), self.more, "--with", self.data, "--json").json
        self.assertEqual((report["layers_added"], report["layers"][-1]["width"], report["solved_again"]), (1, 3, False))
        self.assertEqual({layer["test"] for layer in report["layers"]}, {"output"})

    def test_not_without_the_old_rows(self):
        for words in (*AT_ONCE.values(), *JOINT.values(), *STEPWISE.values()):
            self.fit("m", *words, "--enhance", "6x2")
            self.fails(2, "joint weights are solved on all rows", "learn", self.path("m"), self.more, "--forgetful")
        self.fails(2, "sums of the training rows serve bscrls and brls with chain weights alone", "fit", self.data, "-o",
                   self.path("m"), *PAPER, *AT_ONCE["bls"], "--keep-stats")


class Info(Kinds):
    def test_how_it_was_made(self):
        for fitting, kinds in FITTINGS:
            for words in kinds.values():
                report = self.fit("m", *words, "--enhance", "6x2")
                info = self.ok("info", self.path("m"), "--json").json
                self.assertEqual((info["fitting"], info["joint"]), (report["fitting"], report["joint"]))
                self.assertEqual((info["fitting"], info["joint"]["lambda"]), (fitting, 0.01))
                self.assertIn("joint    one ridge regression over all nodes: lambda 0.01", self.ok("info", self.path("m")).out)
                self.assertIsNotNone(info["loo"])
        for words, text in ((["--kind", "scn", "--weights", "sc2", "--enhance", "1x5"], "window"),
                            (["--enhance", "5x2"], "chain")):
            self.assertIsNone(self.fit("m", *words)["joint"])
            self.assertRegex(self.ok("info", self.path("m")).out, r"(?m)^outputs  .*\(%s\)$" % text)

    def test_nodes_scale_and_class_weights(self):
        cases = ((["--kind", "bls", "--feature-weights", "autoencoder", "--scale", "both"], "autoencoder", "both"),
                 (["--kind", "bls", "--feature-weights", "sampled", "--scale", "rank"], "sampled", "rank"),
                 (["--kind", "rvfl"], "direct", "minmax"), (["--kind", "brls"], "drawn", "minmax"))
        for words, features, scale in cases:
            self.fit("m", *words, "--class-weight", "ant:2,cat:0.5", "--enhance", "6x2")
            info = self.ok("info", self.path("m"), "--json").json
            self.assertEqual((info["features"], info["scale"]), (features, scale))
            self.assertEqual(info["class_weights"], {"ant": 2, "bee": 1, "cat": 0.5})
            text = self.ok("info", self.path("m")).out
            self.assertIn("weights  by class: ant 2, bee 1, cat 0.5\n", text)
            self.assertIn("inputs scaled: %s\n" % scale, text)
            self.assertIn("the inputs themselves" if features == "direct" else "2 groups of nodes, %s" % features, text)
        self.fit("m", "--enhance", "6x2")
        self.assertIsNone(self.ok("info", self.path("m"), "--json").json["class_weights"])

    def test_bad_class_weights(self):
        for text, needle in (("ant", "is not a class and a weight"), ("dog:2", "'dog' is not a class of the data"),
                             ("ant:1,ant:2", "'ant' is given twice")):
            self.fails(2, needle, "fit", self.data, "-o", self.path("x"), "--class-weight", text)
        self.fails(2, "a regression has no classes", "fit", self.numbers, "-o", self.path("x"), "--class-weight", "balanced")


class Operator(Kinds):
    def test_a_certificate_holds_on_its_own_rows(self):
        """The smallest eigenvalue of a nearly singular layer has few correct digits; verify allows for them."""
        rows = self.write("few.csv", curve(50))
        for seed in range(6):
            self.ok("fit", rows, "--preset", "paper", "--supervise", "operator", "--features", "3x5", "--enhance", "60x2",
                    "--lambda", "1e-10", "--seed", str(seed), "-o", self.path("m"), "-q")
            self.ok("verify", self.path("m"), rows)


class Plan(Kinds):
    def test_every_kind_has_one(self):
        for kinds in (AT_ONCE, JOINT, STEPWISE):
            for words in kinds.values():
                plan = self.fit("never", *words, "--enhance", "30x4", "--plan")["plan"]
                nodes = 120 + (0 if set(words) & {"rvfl", "scn"} else 10)
                self.assertEqual((plan["rows"], plan["nodes"], plan["fits"]), (120, nodes, True))
                self.assertFalse(os.path.exists(self.path("never")))
                wide = self.fit("never", *words, "--enhance", "300x4", "--plan")["plan"]
                self.assertGreater(wide["bytes_training"], plan["bytes_training"] + 1e6)
                self.assertGreater(wide["flops_total"], 3 * plan["flops_total"])

    def test_too_large(self):
        for words in (*AT_ONCE.values(), *STEPWISE.values()):
            words = ["fit", self.data, "-o", self.path("never"), *PAPER, *words, "--enhance", "1000000x4000"]
            self.fails(71, "training needs", *words)
            self.fails(71, "", *words, "--plan")
            self.assertFalse(os.path.exists(self.path("never")))

    def test_growth(self):
        self.fit("m", *AT_ONCE["bls"], "--enhance", "15x1")
        plan = self.ok("grow", self.path("m"), self.data, "--enhance", "10x2", "--plan", "--json").json["plan"]
        self.assertEqual(plan["nodes"], 45)
        plan = self.ok("learn", self.path("m"), self.more, "--with", self.data, "--plan", "--json").json["plan"]
        self.assertEqual((plan["nodes"], plan["rows"]), (25, 180))
        self.assertGreater(plan["flops_total"], plan["flops_features"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
