#!/usr/bin/env python3
"""--precision as a user meets it: float gives what double gives, its certificate holds, and it is refused where lambda is
too small for it.

Usage: cli_precision.py PATH_OF_BROAD.
"""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs, curve, run  # noqa: E402

PAPER = ["--preset", "paper", "--features", "4x10", "--enhance", "60x8", "--lambda", "0.05"]


class Precision(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.classes = case.write("classes.csv", blobs(3000))
        cls.numbers = case.write("numbers.csv", curve(2500))

    def fit(self, name, data, *words, precision="float", **more):
        return self.ok("fit", data, "-o", self.path(name), "--json", "-q", "--precision", precision, *words, **more).json

    def both(self, data, *words):
        """The reports of both precisions: trained on the same rows, with the same nodes but for rounding."""
        double, single = (self.fit("both.broad", data, "--holdout", "0.4", *words, precision=p) for p in ("double", "float"))
        self.assertEqual((double["precision"], single["precision"]), ("double", "float"))
        self.assertEqual(len(double["layers"]), len(single["layers"]))
        for a, b in zip(double["layers"], single["layers"]):
            self.assertAlmostEqual(b["norm_after"] / a["norm_after"], 1, delta=1e-4)
        return double, single

    def test_float_gives_what_double_gives(self):
        double, single = self.both(self.classes, *PAPER)
        self.assertNotEqual(double["layers"][-1]["norm_after"], single["layers"][-1]["norm_after"])
        self.assertGreater(single["test"]["accuracy"], 0.9)
        self.assertAlmostEqual(double["test"]["accuracy"], single["test"]["accuracy"], delta=1e-3)
        double, single = self.both(self.numbers, *PAPER)
        self.assertGreater(single["test"]["r2"], 0.9)
        self.assertAlmostEqual(single["test"]["rmse"] / double["test"]["rmse"], 1, delta=1e-3)

    def test_every_kind_and_test_verifies(self):
        for words in (["--kind", "brls"], ["--lambda", "20"], ["--supervise", "loo"], ["--lambda", "auto"], ["--weights", "joint"],
                      ["--kind", "bls"], ["--kind", "rvfl", "--enhance", "60x1"], ["--kind", "scn", "--enhance", "5x6"],
                      ["--kind", "scn", "--weights", "sc1", "--enhance", "5x6"], ["--activation", "relu", "--lambda", "1"],
                      ["--activation", "sine"], ["--activation", "gaussian"], ["--class-weight", "balanced"],
                      ["--kind", "brls", "--enhance", "600x1"]):
            with self.subTest(words):
                self.fit("kind.broad", self.classes, *PAPER, *words)
                self.ok("verify", self.path("kind.broad"), self.classes)
        self.fit("auto.broad", self.numbers, "--features", "20x5")
        self.ok("verify", self.path("auto.broad"), self.numbers)

    def test_info(self):
        self.fit("single.broad", self.classes, *PAPER)
        stored = self.ok("info", "--json", self.path("single.broad")).json
        self.assertEqual((stored["precision"], stored["stored"]["settings"]["precision"]), ("float", "float"))
        self.assertIn("in single precision", self.ok("info", self.path("single.broad")).out)
        self.fit("double.broad", self.classes, *PAPER, precision="double")
        self.assertNotIn("single precision", self.ok("info", self.path("double.broad")).out)

    def test_refused_where_lambda_is_too_small(self):
        words = ["fit", self.classes, "-o", self.path("none.broad"), "--preset", "paper", "--precision", "float"]
        result = self.fails(2, "--precision float: lambda 1e-08 is too small for it", *words)
        for remedy in ("larger --lambda", "--lambda auto", "--precision double"):
            self.assertIn(remedy, result.err)
        self.assertFalse(os.path.exists(self.path("none.broad")))
        least = float(re.search(r"at least ([0-9.e+-]+) here", result.err).group(1))
        self.assertTrue(1e-4 < least < 1, least)
        small = [*words, "--features", "10x10", "--enhance", "100x1"]
        self.fails(2, "is too small", *small, "--lambda", str(least * 0.9))
        self.ok(*small, "-q", "--lambda", str(least))
        for enough in (["--lambda", "auto"], ["--precision", "double"]):
            self.ok(*small, "-q", *enough)
        self.fails(2, "unknown value 'half'; give double or float", "fit", self.classes, "--precision", "half")

    def test_bytes_do_not_depend_on_threads_or_vectors(self):
        self.fit("one.broad", self.classes, *PAPER, "--threads", "1")
        for threads in "2345678":
            self.fit("more.broad", self.classes, *PAPER, "--threads", threads)
            self.assertEqual(self.read("one.broad"), self.read("more.broad"), threads)
        for kernels in ("avx2", "avx512"):
            self.fit("more.broad", self.classes, *PAPER, env={"BROAD_KERNELS": kernels})
            self.assertEqual(self.read("one.broad"), self.read("more.broad"), kernels)

    def test_a_saved_model_grows_and_predicts(self):
        self.fit("whole.broad", self.classes, *PAPER)
        self.fit("part.broad", self.classes, *PAPER, "--enhance", "60x5")
        self.ok("grow", self.path("part.broad"), self.classes, "--enhance", "60x3", "-q")
        self.assertEqual(self.read("whole.broad"), self.read("part.broad"))
        self.ok("grow", self.path("part.broad"), self.classes, "--features", "1x10", "--enhance", "20", "-q")
        self.ok("verify", self.path("part.broad"), self.classes)
        self.fit("apart.broad", self.classes, *PAPER, "--holdout", "0.4")
        judged = self.ok("eval", self.path("apart.broad"), self.classes, "--json").json
        self.assertGreater(judged["test"]["accuracy"], 0.9)
        lines = self.ok("predict", self.path("whole.broad"), self.classes).out.splitlines()
        single = self.write("row.csv", "a,b\n%s\n" % ",".join(blobs(1).splitlines()[1].split(",")[:2]))
        self.assertEqual(self.ok("predict", self.path("whole.broad"), single).out.splitlines()[1], lines[1])

    def test_grow_cannot_change_it(self):
        self.fit("kept.broad", self.classes, *PAPER)
        self.assertEqual(run("grow", self.path("kept.broad"), self.classes, "--enhance", "5x1", "--precision",
                             "double").code, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
