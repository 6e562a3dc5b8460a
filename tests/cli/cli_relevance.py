#!/usr/bin/env python3
"""What a network looks at and what was chosen for it: broad info --relevance, fit's line, the page, JSON, and how long it takes.

Usage: cli_relevance.py PATH_OF_BROAD.
"""
import math
import os
import pty
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SANITIZED, SOURCE, Case, read_terminal, run  # noqa: E402

GOLDEN = os.path.join(SOURCE, "tests", "store", "golden-0.1")
SIZE = ["--features", "4x40", "--enhance", "10x1", "--importance", "no"]


def ridge(rows, seed=1):
    """y depends on 2 a - 1.5 b and, weakly, on a colour; c, d and e are noise."""
    rng = random.Random(seed)
    lines = ["a,b,c,d,e,colour,y"]
    for _ in range(rows):
        x = [rng.gauss(0, 1) for _ in range(5)]
        colour = rng.choice(["red", "green", "blue"])
        y = math.sin(2 * x[0] - 1.5 * x[1]) + 0.4 * (colour == "red")
        lines.append(",".join("%.5f" % v for v in x) + ",%s,%.5f" % (colour, y))
    return "\n".join(lines) + "\n"


def terminal_errors(*words):
    """Standard error as a terminal gets it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([BROAD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    seen = read_terminal(leader)
    return process.wait(), seen


class Relevance(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data, cls.model = case.write("ridge.csv", ridge(400)), case.path("ridge.broad")
        cls.page = case.path("ridge.html")
        cls.fit = case.ok("fit", cls.data, "--target", "y", "--categorical", "colour", "--learned-metric", "yes", "--effort", "fast",
                          "-o", cls.model, "--report", cls.page, *SIZE)
        cls.info = case.ok("info", cls.model, "--json").json
        cls.shown = case.ok("info", cls.model, "--relevance").out

    def test_shares(self):
        """Of all columns, the three levels of the colour as one; noise has next to nothing."""
        metric = self.info["metric"]
        self.assertEqual(metric["form"], "full")
        shares = {part["part"]: part["share"] for part in metric["parts"]}
        self.assertEqual(set(shares), {"a", "b", "c", "d", "e", "colour"})
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertEqual(list(shares.values()), sorted(shares.values(), reverse=True))
        self.assertGreater(shares["a"] + shares["b"], 0.5)
        self.assertGreater(shares["a"], shares["b"])
        for noise in "cde":
            self.assertLess(shares[noise], shares["b"] / 2, shares)
        # The share of a column is that of its inputs' squares.
        names, squares = self.info["inputs"], [r * r for r in self.info["relevance"]]
        self.assertAlmostEqual(sum(squares) / len(squares), 1)
        self.assertAlmostEqual(shares["a"], squares[names.index("a")] / sum(squares))

    def test_directions(self):
        """The first one is that of 2 a - 1.5 b, whose length is 2.5."""
        first = self.info["metric"]["directions"][0]
        weights = dict(zip(self.info["inputs"], first["weights"]))
        self.assertAlmostEqual(sum(w * w for w in weights.values()), 1)
        self.assertAlmostEqual(weights["a"], 0.8, delta=0.15)
        self.assertAlmostEqual(weights["b"], -0.6, delta=0.15)
        self.assertGreater(first["share"], 0.5)
        words = re.search(r"(?m)^ +(\d+\.\d) %  (\d\.\d\d) a - (\d\.\d\d) b", self.shown)
        self.assertTrue(words, self.shown)
        self.assertEqual((words[1], words[2], words[3]),
                         ("%.1f" % (100 * first["share"]), "%.2f" % weights["a"], "%.2f" % -weights["b"]))

    def test_text(self):
        bars = re.findall(r"(?m)^  (\S+) +(\d+\.\d) %  (#+)$", self.shown)
        self.assertEqual(bars[0][0], "a")
        self.assertEqual(len(bars[0][2]), 30)
        self.assertAlmostEqual(len(bars[1][2]) / 30, float(bars[1][1]) / float(bars[0][1]), delta=0.03)
        self.assertIn("--learned-metric yes asked for it", self.shown)
        self.assertIn("importance", self.shown)
        self.assertIn("metric   learned, --learned-metric yes; --relevance shows it", self.ok("info", self.model).out)

    def test_fit_says_what_was_chosen(self):
        style = self.info["stored"]["style"]
        self.assertRegex(self.fit.out, r"(?m)^chosen   %s nodes of range [\d.]+, drawn with a learned metric \(--learned-metric yes\)"
                                       r", lambda \S+; effort fast$" % style)
        chosen = self.info["chosen"]
        self.assertEqual((chosen["style"], chosen["metric"], chosen["effort"]), (style, "full", "fast"))
        self.assertEqual(chosen["lambda"], self.info["joint"]["lambda"])
        self.assertEqual(chosen["range"], self.info["feature_range"])
        self.assertEqual(chosen["style_errors"]["mix"], self.info["stored"]["pilot_mix"])

    def test_page(self):
        with open(self.page, encoding="utf-8") as file:
            page = file.read()
        self.assertIn('<section id="choices">', page)
        self.assertIn("<strong>with a learned metric</strong>, since --learned-metric yes asked for it.", page)
        rows = re.findall(r'<tr><th scope="row">([^<]+)</th><td class="n">.*?</td><td class="bar">.*?width="([\d.]+)"', page)
        self.assertEqual([row[0] for row in rows], [part["part"] for part in self.info["metric"]["parts"]])
        self.assertEqual(rows[0][1], "100.0")
        self.assertRegex(page, r'<table class="small" id="directions">(?s:.)*?<td>\d\.\d\d a - \d\.\d\d b')

    def test_without_a_metric(self):
        model = self.path("plain.broad")
        out = self.ok("fit", self.data, "--target", "y", "--learned-metric", "no", "-o", model, "--report", self.path("plain.html"),
                      *SIZE).out
        self.assertRegex(out, r"(?m)^chosen   .*, without a learned metric \(none was wanted\)")
        shown = self.ok("info", model, "--relevance").out
        self.assertIn("relevance  not known", shown)
        self.assertIn("--learned-metric no", shown)
        found = self.ok("info", model, "--json").json
        self.assertEqual((found["metric"]["form"], found["metric"]["parts"], found["metric"]["directions"]), ("none", [], None))
        self.assertEqual(set(found["relevance"]), {1})
        page = self.read("plain.html").decode()
        self.assertIn("without a learned metric", page)
        self.assertNotIn('id="directions"', page)
        self.assertNotIn('<section id="importance">', page)

    def test_a_group_that_no_layer_takes_leaves_no_metric(self):
        """The network is the one it was, and so is what its nodes were drawn with."""
        rng, model = random.Random(1), self.path("noisy.broad")
        rows = [[rng.gauss(0, 1) for _ in range(5)] for _ in range(300)]
        data = self.write("noisy.csv", "a,b,c,d,y\n" + "".join("%.4f,%.4f,%.4f,%.4f,%.4f\n" % (*row[:4], row[0] + 2 * row[4]) for row in rows))
        self.ok("fit", data, "--preset", "chain", "--learned-metric", "yes", "--features", "2x5", "--enhance", "20x10", "--seed", "3", "-o", model)
        before = self.ok("info", model, "--json").json
        self.assertEqual(before["metric"]["form"], "full")
        self.ok("grow", model, data, "--features", "3x5", "--enhance", "10")
        after = self.ok("info", model, "--json").json
        self.assertEqual(len(after["layers"]), len(before["layers"]), "no layer passes here")
        self.assertEqual((after["metric"], after["relevance"]), (before["metric"], before["relevance"]))

    def test_few_rows_show_nothing(self):
        data, model = self.write("few.csv", ridge(30)), self.path("few.broad")
        out = self.ok("fit", data, "--target", "y", "-o", model, "--effort", "fast", *SIZE).out
        self.assertRegex(out, r"(?m)^chosen   .*, without a learned metric \(none proved better on rows it had not seen\)")
        self.assertIn("none can be told from chance", self.ok("info", model, "--relevance").out)

    def test_files_of_0_1(self):
        """Those of preset auto weigh inputs, without directions; others do not."""
        weighed = self.ok("info", os.path.join(GOLDEN, "bscrls.broad"), "--relevance").out
        self.assertIn("the pilot of version 0.1 weighed the inputs", weighed)
        self.assertNotIn("directions", weighed)
        metric = self.ok("info", os.path.join(GOLDEN, "bscrls.broad"), "--json").json["metric"]
        self.assertEqual((metric["form"], metric["directions"], metric["optimism"]), ("diagonal", None, 1))
        for name in ("brls", "scn", "photos"):
            self.assertIn("relevance  not known", self.ok("info", os.path.join(GOLDEN, name + ".broad"), "--relevance").out)

    def test_kinds_of_descriptors(self):
        photos, model = self.path("photos"), self.path("photos.broad")
        self.ok("render", photos, "--count", "40", "--size", "48", "--seed", "3", "-q")
        self.ok("fit", photos, "-o", model, "--map", "descriptors", "--learned-metric", "yes", "--effort", "fast", "-q", *SIZE)
        shown = self.ok("info", model, "--relevance").out
        self.assertIn("what is seen in the photos", shown)
        parts = {part["part"]: part["share"] for part in self.ok("info", model, "--json").json["metric"]["parts"]}
        self.assertLessEqual({"saturation", "texture of the haze", "contrast", "red"}, set(parts))
        self.assertAlmostEqual(sum(parts.values()), 1)
        self.assertNotIn("component", shown)


class Time(Case):
    def test_told_beforehand(self):
        """On a terminal, of a run that takes long; nowhere else. It is stopped as soon as it has said so."""
        rng = random.Random(6)
        data = self.write("large.csv", "a,b,c,y\n" + "".join(
            "%.3f,%.3f,%.3f,%.3f\n" % tuple(rng.gauss(0, 1) for _ in range(4)) for _ in range(3000)))
        words = ["fit", data, "-o", self.path("large.broad"), "--features", "20x500", "--enhance", "10x1"]
        code, seen = terminal_errors(*words, "--max-seconds", "1" if not SANITIZED else "5")
        self.assertRegex(seen, r"broad: this takes about \d+\.\d s if nothing else runs on this machine, to which --max-seconds")
        self.assertIn(code, (0, 1))
        self.assertNotIn("this takes", terminal_errors(*words, "--max-seconds", "1", "--quiet")[1])
        self.assertNotIn("this takes", run(*words, "--max-seconds", "1").err)

    def test_plan(self):
        data = self.write("ridge.csv", ridge(300))
        words = ["fit", data, "-o", self.path("m.broad"), "--target", "y", "--plan"]
        plans = {effort: self.ok(*words, "--effort", effort, "--json").json["plan"] for effort in ("fast", "normal", "thorough")}
        self.assertLess(plans["fast"]["flops_trials"], plans["normal"]["flops_trials"])
        self.assertLess(plans["normal"]["flops_trials"], plans["thorough"]["flops_trials"])
        self.assertEqual({name: plan["effort"] for name, plan in plans.items()}, {name: name for name in plans})
        self.assertRegex(self.ok(*words).out, r"(?m)^trials   [\d.]+ GFLOP before that, to choose the nodes at effort normal$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
