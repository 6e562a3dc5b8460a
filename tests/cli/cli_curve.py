#!/usr/bin/env python3
"""Figures after each layer, 'broad eval --curve': of tables and of photos, on rows that were trained on and others.

Usage: cli_curve.py PATH_OF_BROAD. They are compared with models that were fitted with fewer layers, and with certificates.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs, curve  # noqa: E402

CHAIN = ["--preset", "paper", "--features", "2x5", "--lambda", "0.001", "--seed", "4", "-q"]


class Curve(Case):
    def fit(self, data, layers, *words, name="m.broad"):
        fitted = self.ok("fit", data, *CHAIN[:-1], "--enhance", "6x%d" % layers, "-o", self.path(name), "--json", *words).json
        return self.path(name), fitted

    def certified(self, points, fitted):
        """On the training rows the norms are those of the certificate."""
        self.assertEqual(len(points), len(fitted["layers"]))
        for point, layer in zip(points, fitted["layers"]):
            self.assertAlmostEqual(point["norm"] / layer["norm_after"], 1, places=9)

    def test_a_cut_is_a_shorter_chain(self):
        for data, what in ((self.write("blobs.csv", blobs(90)), "accuracy"), (self.write("y.csv", curve(90)), "rmse")):
            other = self.write("other.csv", blobs(300, seed=5) if what == "accuracy" else curve(300, seed=5))
            model, fitted = self.fit(data, 5)
            points = self.ok("eval", model, other, "--curve", "--json").json["curve"]
            self.assertEqual([point["layer"] for point in points], [1, 2, 3, 4, 5])
            self.assertEqual([point["nodes"] for point in points], [16, 22, 28, 34, 40])
            self.certified(self.ok("eval", model, data, "--curve", "--json").json["curve"], fitted)
            for point in points:
                self.assertEqual(set(point), {"layer", "nodes", "norm", what, "loo"})
                self.assertIsNone(point["loo"])
                cut, _ = self.fit(data, point["layer"], name="cut.broad")
                measured = self.ok("eval", cut, other, "--json").json
                self.assertAlmostEqual(point[what], measured["test"][what], places=12)
                self.assertIsNone(measured["curve"])

    def test_parts_of_a_split(self):
        data = self.write("blobs.csv", blobs(120))
        model, fitted = self.fit(data, 4, "--holdout", "0.3")
        train = self.ok("eval", model, data, "--part", "train", "--curve", "--loo", "--json").json
        test = self.ok("eval", model, data, "--part", "test", "--curve", "--json").json
        self.assertEqual((train["rows"], test["rows"]), (fitted["rows"], fitted["test"]["rows"]))
        self.assertEqual(test["test"], fitted["test"])
        self.assertEqual(test["curve"][-1]["accuracy"], fitted["test"]["accuracy"])
        self.certified(train["curve"], fitted)
        for point in train["curve"]:
            self.assertGreater(point["loo"], point["norm"])

    def test_the_table_is_thinned_as_that_of_layers(self):
        data = self.write("blobs.csv", blobs(60))
        model, _ = self.fit(data, 30)
        shown = [line.split() for line in self.ok("eval", model, data, "--curve").out.splitlines()]
        head = shown.index(["layer", "nodes", "||E||", "accuracy"])
        listed = [line.split() for line in self.ok("fit", data, *CHAIN[:-1], "--enhance", "6x30", "-o", self.path("t.broad"), "--verbose")
                  .out.splitlines()]
        layers = next(i for i, line in enumerate(listed) if line[:2] == ["layer", "width"])
        rows = [line[0] for line in shown[head + 1:]]
        self.assertEqual(rows, [line[0] for line in listed[layers + 1:layers + 1 + len(rows)]])
        self.assertIn("...", rows)
        self.assertEqual(rows[-1], "30")

    def test_joint_weights_have_no_cuts(self):
        data = self.write("blobs.csv", blobs(90))
        self.ok("fit", data, "--kind", "brls", *CHAIN, "--weights", "joint", "--enhance", "6x3", "-o", self.path("j.broad"))
        found = self.ok("eval", self.path("j.broad"), data, "--curve", "--json").json
        self.assertEqual([point["norm"] for point in found["curve"][:2]], [None, None])
        self.assertEqual([point["accuracy"] for point in found["curve"][:2]], [None, None])
        self.assertEqual(found["curve"][2]["accuracy"], found["test"]["accuracy"])
        self.assertIn("only for the whole network", self.ok("eval", self.path("j.broad"), data, "--curve").out)

    def test_photos(self):
        panels = self.path("panels")
        cache = ["--cache", self.path("cache")]
        self.ok("render", panels, "--count", "30", "--size", "32", "--seed", "3", "-q")
        model, fitted = self.fit(panels, 3, "--side", "8", "--augment", "1", "--holdout", "0.3", *cache)
        train = self.ok("eval", model, panels, "--part", "train", "--curve", "--json", *cache).json
        test = self.ok("eval", model, panels, "--part", "test", "--curve", "--json", *cache).json
        self.assertEqual(train["rows"] + 2 * test["rows"], 60)
        self.certified(train["curve"], fitted)
        self.assertEqual(test["test"], fitted["test"])
        self.assertEqual(len(self.ok("eval", model, panels, "--curve", "--json", *cache).json["curve"]), 3)

    def test_wrong_usage(self):
        data, other = self.write("blobs.csv", blobs(90)), self.write("other.csv", blobs(90, seed=2))
        model, _ = self.fit(data, 2)
        self.fails(2, "--curve", "eval", model, data, "--loo")
        self.fails(2, "part", "eval", model, data, "--part", "some")
        self.fails(65, "the 90 rows that the model was trained on", "eval", model, other, "--curve", "--loo")
        self.fails(65, "held out no rows", "eval", model, data, "--part", "test")
        self.fails(65, "target", "eval", model, self.write("bare.csv", "a,b\n1,2\n"), "--curve")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
