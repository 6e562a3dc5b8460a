#!/usr/bin/env python3
"""Probabilities, intervals and the leave-one-out estimate as a user meets them.

Usage: cli_proba.py PATH_OF_BROAD. Measures are computed again here from what predict prints.
"""
import csv
import io
import json
import math
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs  # noqa: E402

SMALL = ["--features", "2x10", "--enhance", "30x1", "--effort", "fast", "-q"]


def overlapping(rows, seed):
    """Two classes that overlap: the chance of "yes" is a logistic function of one input."""
    rng = random.Random(seed)
    lines = ["a,b,answer"]
    for _ in range(rows):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        lines.append("%.5f,%.5f,%s" % (a, b, "yes" if rng.random() < 1 / (1 + math.exp(-2 * a)) else "no"))
    return "\n".join(lines) + "\n"


def noisy(rows, seed):
    """A smooth function with normal noise of 0.5, and a second target of another size."""
    rng = random.Random(seed)
    lines = ["u,v,y,big"]
    for _ in range(rows):
        u, v = rng.uniform(-2, 2), rng.uniform(-2, 2)
        lines.append("%.6f,%.6f,%.6f,%.4f" % (u, v, math.sin(u) + v + rng.gauss(0, 0.5), 1000 * u + rng.gauss(0, 100)))
    return "\n".join(lines) + "\n"


def tensors(path):
    """{name: values} of the numbers in a model file."""
    with open(path, "rb") as f:
        content = f.read()
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    found = {}
    for name, of in json.loads(content[8:begin]).items():
        if of.get("dtype") == "F64":
            first, last = of["data_offsets"]
            found[name] = struct.unpack("<%dd" % ((last - first) // 8), content[begin + first:begin + last])
    return found


def log_density(freedom, scale, x):
    if math.isinf(freedom):
        return -(x / scale) ** 2 / 2 - math.log(scale * math.sqrt(2 * math.pi))
    top = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return top - math.log(scale) - (freedom + 1) / 2 * math.log1p((x / scale) ** 2 / freedom)


def fitted_law(sizes):
    """(freedom, scale) of the largest likelihood, by golden section over the logarithm of the scale."""
    mean = math.sqrt(sum(x * x for x in sizes) / len(sizes))
    best = (-math.inf,)
    for freedom in (2, 2.5, 3, 4, 6, 8, 12, 20, 40, math.inf):
        def likelihood(log_scale, freedom=freedom):
            return sum(log_density(freedom, mean * math.exp(log_scale), x) for x in sizes)
        low, high, part = math.log(0.01), 1.0, (math.sqrt(5) - 1) / 2
        while high - low > 1e-7:
            a, b = high - part * (high - low), low + part * (high - low)
            low, high = (low, b) if likelihood(a) > likelihood(b) else (a, high)
        best = max(best, (likelihood(low), freedom, mean * math.exp(low)))
    return best[1:]


def scale_at(spread, value):
    """Linear between the knots, constant beyond; spread: the knots, then the scale at each."""
    knots, scales = spread[:len(spread) // 2], spread[len(spread) // 2:]
    if value <= knots[0] or value >= knots[-1]:
        return scales[0] if value <= knots[0] else scales[-1]
    k = next(k for k, knot in enumerate(knots) if value < knot)
    return scales[k - 1] + (scales[k] - scales[k - 1]) * (value - knots[k - 1]) / (knots[k] - knots[k - 1])


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class Fitted(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.answers, cls.fresh_answers = case.write("a.csv", overlapping(600, 1)), case.write("b.csv", overlapping(3000, 2))
        cls.numbers, cls.fresh_numbers = case.write("n.csv", noisy(500, 3)), case.write("m.csv", noisy(3000, 4))
        cls.classes, cls.values = case.path("classes.broad"), case.path("values.broad")
        cls.plain = case.path("plain.broad")
        case.ok("fit", cls.answers, "-o", cls.classes, "--loo", "yes", *SMALL)
        case.ok("fit", cls.numbers, "-o", cls.values, "--target", "y,big", "--loo", "yes", *SMALL)
        case.ok("fit", cls.answers, "-o", cls.plain, "--loo", "no", *SMALL)


class Probabilities(Fitted):
    def test_columns(self):
        text = self.ok("predict", self.classes, self.fresh_answers, "--proba").out
        self.assertEqual(text.splitlines()[0], "row,label,proba_no,proba_yes,score_no,score_yes")
        without = table(self.ok("predict", self.classes, self.fresh_answers).out)
        for row, plain in zip(table(text), without, strict=True):
            no, yes = float(row.pop("proba_no")), float(row.pop("proba_yes"))
            self.assertEqual(row, plain)
            self.assertAlmostEqual(no + yes, 1, places=14)
            self.assertEqual(row["label"], "yes" if yes > no else "no")

    def test_they_are_calibrated(self):
        rows = table(self.ok("predict", self.classes, self.fresh_answers, "--proba").out)
        for row, true in zip(rows, table(self.read("b.csv").decode()), strict=True):
            row["right"], row["a"] = true["answer"] == "yes", float(true["a"])
        # The chance that made the rows; a network of this size misses it by a few hundredths on average.
        miss = sum(abs(float(r["proba_yes"]) - 1 / (1 + math.exp(-2 * r["a"]))) for r in rows) / len(rows)
        self.assertLess(miss, 0.08)
        sure = [r for r in rows if 0.7 < float(r["proba_yes"]) < 0.9]
        self.assertAlmostEqual(sum(r["right"] for r in sure) / len(sure), 0.8, delta=0.08)

    def test_forms_agree(self):
        rows = table(self.ok("predict", self.classes, self.answers, "--proba").out)
        lines = self.ok("predict", self.classes, self.answers, "--proba", "--format", "jsonl").out.splitlines()
        lines = [json.loads(x) for x in lines]
        self.assertEqual(self.ok("predict", self.classes, self.answers, "--proba", "--json").json["predictions"], lines)
        for row, line in zip(rows, lines, strict=True):
            self.assertEqual(line["probabilities"], {"no": float(row["proba_no"]), "yes": float(row["proba_yes"])})
            self.assertEqual(line["scores"], {"no": float(row["score_no"]), "yes": float(row["score_yes"])})

    def test_eval(self):
        test = self.ok("eval", self.classes, self.fresh_answers, "--json").json["test"]
        rows = table(self.ok("predict", self.classes, self.fresh_answers, "--proba").out)
        truth = [r["answer"] for r in table(self.read("b.csv").decode())]
        brier = sum(2 * (1 - float(r["proba_" + t])) ** 2 for r, t in zip(rows, truth)) / len(rows)
        loss = -sum(math.log(float(r["proba_" + t])) for r, t in zip(rows, truth)) / len(rows)
        bins = {}
        for r, t in zip(rows, truth):
            p = max(float(r["proba_no"]), float(r["proba_yes"]))
            some = bins.setdefault(min(int(p * 15), 14), [0, 0])
            some[0] += p
            some[1] += r["label"] == t
        error = sum(abs(p - right) for p, right in bins.values()) / len(rows)
        self.assertAlmostEqual(test["brier"], brier, places=12)
        self.assertAlmostEqual(test["log_loss"], loss, places=12)
        self.assertAlmostEqual(test["calibration_error"], error, places=12)
        self.assertLess(error, 0.06)
        text = self.ok("eval", self.classes, self.fresh_answers).out
        for line in ("Brier score     %.6f" % brier, "log loss        %.6f" % loss, "calibration     %.6f error" % error):
            self.assertIn(line, text)

    def test_three_classes(self):
        data = self.write("c.csv", blobs(300))
        self.ok("fit", data, "-o", self.path("c.broad"), "--loo", "yes", *SMALL)
        for row in table(self.ok("predict", self.path("c.broad"), data, "--proba").out):
            p = {name: float(row["proba_" + name]) for name in ("ant", "bee", "cat")}
            self.assertAlmostEqual(sum(p.values()), 1, places=14)
            self.assertEqual(max(p, key=p.get), row["label"])

    def test_default_fit(self):
        """The README's way: nothing is said about leave-one-out."""
        self.ok("fit", self.answers, "-o", self.path("d.broad"), *SMALL)
        self.ok("predict", self.path("d.broad"), self.answers, "--proba")


class Intervals(Fitted):
    def test_columns(self):
        text = self.ok("predict", self.values, self.fresh_numbers, "--interval", "0.9").out
        self.assertEqual(text.splitlines()[0], "row,y,y_low,y_high,big,big_low,big_high")
        without = table(self.ok("predict", self.values, self.fresh_numbers).out)
        reach = {}
        for row, plain in zip(table(text), without, strict=True):
            for name in ("y", "big"):
                self.assertEqual(row[name], plain[name])
                value, low, high = (float(row[name + end]) for end in ("", "_low", "_high"))
                self.assertAlmostEqual(high - value, value - low, places=9)
                self.assertAlmostEqual(reach.setdefault(name, high - value), high - value, places=9)
        # 1.645 times the noise of 0.5 and 100, and somewhat more for what the network misses.
        self.assertTrue(0.75 < reach["y"] < 1.1, reach)
        self.assertTrue(150 < reach["big"] < 220, reach)

    def test_eval(self):
        truth = table(self.read("m.csv").decode())
        for words, level in (([], 0.9), (["--interval", "0.9"], 0.9), (["--interval", "0.5"], 0.5)):
            test = self.ok("eval", self.values, self.fresh_numbers, "--json", *words).json["test"]
            rows = table(self.ok("predict", self.values, self.fresh_numbers, "--interval", str(level)).out)
            inside, width = 0, 0
            for row, true in zip(rows, truth, strict=True):
                for name in ("y", "big"):
                    low, high = float(row[name + "_low"]), float(row[name + "_high"])
                    inside += low <= float(true[name]) <= high
                    width += high - low
            self.assertEqual(test["level"], level)
            self.assertAlmostEqual(test["coverage"], inside / (2 * len(rows)), delta=1e-3)
            self.assertAlmostEqual(test["coverage"], level, delta=0.04)
            self.assertAlmostEqual(test["interval_width"], width / (2 * len(rows)), delta=1e-6)
        text = self.ok("eval", self.values, self.fresh_numbers, "--interval", "0.5").out
        self.assertIn("of the intervals of level 0.5", text)
        self.assertIn("mean width      %.9g" % test["interval_width"], text)

    def test_width_and_limits(self):
        """Noise that grows with a fraction from 0 to 1: wider intervals, never beyond 0 and 1, after a save too."""
        rng = random.Random(7)
        lines = ["u,v,part"]
        for _ in range(1500):
            u, v = rng.random(), rng.random()
            part = 0.05 + 0.8 * u + (0.01 + 0.2 * u) * rng.gauss(0, 1)
            lines.append("%.5f,%.5f,%.5f" % (u, v, min(max(part, 0), 1)))
        lines[1] = "0.0,0.5,0"
        train, fresh = (self.write(name, "\n".join([lines[0]] + some) + "\n")
                        for name, some in (("t.csv", lines[1:701]), ("f.csv", lines[701:])))
        model = self.path("part.broad")
        self.ok("fit", train, "-o", model, "--loo", "yes", *SMALL)
        thirds = [[], [], []]
        for row, line in zip(table(self.ok("predict", model, fresh, "--interval", "0.9").out), lines[701:], strict=True):
            u, _, true = map(float, line.split(","))
            low, high = float(row["part_low"]), float(row["part_high"])
            self.assertTrue(0 <= low <= high <= 1, row)
            thirds[int(3 * u)].append((low <= true <= high, high - low))
        for third in thirds:
            self.assertAlmostEqual(sum(x[0] for x in third) / len(third), 0.9, delta=0.07)
        widths = [sum(x[1] for x in third) / len(third) for third in thirds]
        self.assertGreater(widths[1], 1.6 * widths[0], widths)
        test = self.ok("eval", model, fresh, "--json").json["test"]
        self.assertAlmostEqual(test["coverage"], sum(x[0] for t in thirds for x in t) / 800, delta=2e-3)
        self.assertAlmostEqual(test["interval_width"], sum(x[1] for t in thirds for x in t) / 800, delta=1e-9)
        self.ok("verify", model, train)

        self.check_likelihood(model, fresh, ["part"])

    def check_likelihood(self, model, data, targets):
        kept = tensors(model)
        residuals, spread = kept["estimate.residuals"], kept.get("estimate.spread")
        count, total = len(residuals) // len(targets), 0
        with open(data, encoding="utf-8") as f:
            truth = table(f.read())
        rows = table(self.ok("predict", model, data).out)
        for j, name in enumerate(targets):
            law = fitted_law(residuals[j * count:][:count])
            knots = len(spread) // len(targets) if spread else 0
            for row, true in zip(rows, truth, strict=True):
                value = float(row[name])
                scale = scale_at(spread[j * knots:][:knots], value) if spread else 1
                total += log_density(*law, (float(true[name]) - value) / scale) - math.log(scale)
        measured = self.ok("eval", model, data, "--json").json["test"]["log_likelihood"]
        self.assertAlmostEqual(measured, total / len(rows) / len(targets), delta=1e-6)
        self.assertIn("log-likelihood  %.6f" % measured, self.ok("eval", model, data).out)

    def test_log_likelihood(self):
        """Of two targets with one width each: noise of 0.5 and 100 is normal, so that is about the best to be had."""
        self.check_likelihood(self.values, self.fresh_numbers, ["y", "big"])
        best = -0.5 - math.log(2 * math.pi) / 2 - math.log(0.5 * 100) / 2
        measured = self.ok("eval", self.values, self.fresh_numbers, "--json").json["test"]["log_likelihood"]
        self.assertTrue(best - 0.1 < measured < best + 0.05, (measured, best))

    def test_forms_agree(self):
        rows = table(self.ok("predict", self.values, self.numbers, "--interval", "0.8").out)
        whole = self.ok("predict", self.values, self.numbers, "--interval", "0.8", "--json").json
        self.assertEqual(whole["level"], 0.8)
        lines = self.ok("predict", self.values, self.numbers, "--interval", "0.8", "--format", "jsonl").out.splitlines()
        self.assertEqual(whole["predictions"], [json.loads(x) for x in lines])
        for row, line in zip(rows, whole["predictions"], strict=True):
            for name in ("y", "big"):
                self.assertEqual(line["values"][name], float(row[name]))
                self.assertEqual(line["intervals"][name], [float(row[name + "_low"]), float(row[name + "_high"])])


class Estimate(Fitted):
    def test_fit_reports_it(self):
        for data, words, names in ((self.answers, [], {"rows", "accuracy", "brier", "calibration_error"}),
                                   (self.numbers, ["--target", "y"], {"rows", "rmse", "mae", "r2"})):
            words = ["fit", data, "-o", self.path("e.broad"), *words, *SMALL]
            loo = self.ok(*words, "--loo", "yes", "--json").json["loo"]
            self.assertLessEqual(names, set(loo))
            text = self.ok(*[word for word in words if word != "-q"], "--loo", "yes").out
            lines = [line for line in text.splitlines() if line.startswith("estimate ")]
            self.assertEqual(len(lines), 1)
            self.assertIn("(leave-one-out on %d rows)" % loo["rows"], lines[0])
            info = self.ok("info", self.path("e.broad"), "--json").json
            self.assertEqual(info["loo"], loo)
            self.assertEqual(info["stored"]["estimate"]["rows"], loo["rows"])
            self.assertIn(lines[0], self.ok("info", self.path("e.broad")).out)
            self.assertIsNone(self.ok(*words, "--loo", "no", "--json").json["loo"])
            self.assertNotIn("estimate ", self.ok("info", self.path("e.broad")).out)

    def test_it_is_near_the_truth(self):
        loo = self.ok("info", self.classes, "--json").json["loo"]
        test = self.ok("eval", self.classes, self.fresh_answers, "--json").json["test"]
        self.assertAlmostEqual(loo["accuracy"], test["accuracy"], delta=0.06)
        self.assertAlmostEqual(loo["brier"], test["brier"], delta=0.06)
        loo = self.ok("info", self.values, "--json").json["loo"]
        test = self.ok("eval", self.values, self.fresh_numbers, "--json").json["test"]
        self.assertAlmostEqual(loo["rmse"] / test["rmse"], 1, delta=0.1)

    def test_no_increment_keeps_an_old_one(self):
        """What changes the network makes the estimate anew or drops it."""
        more = self.write("more.csv", overlapping(300, 9))
        for kind in ("brls", "bls", "rvfl", "scn"):
            words = ["--kind", kind, "--preset", "paper", "--lambda", "0.01", "--weights", "joint", *SMALL]
            self.ok("fit", self.answers, "-o", self.path("o.broad"), "--loo", "yes", *words)
            old = self.ok("info", self.path("o.broad"), "--json").json["loo"]
            self.ok("grow", self.path("o.broad"), self.answers, "--enhance", "10", "-o", self.path("g.broad"), "-q")
            self.ok("learn", self.path("o.broad"), more, "--with", self.answers, "-o", self.path("l.broad"),
                    "-q")
            rows = {"o.broad": old["rows"]}
            for name in ("g.broad", "l.broad"):
                loo = self.ok("info", self.path(name), "--json").json["loo"]
                self.assertNotEqual(loo["brier"], old["brier"], kind)
                rows[name] = loo["rows"]
            self.assertEqual(rows, {"o.broad": 600, "g.broad": 600, "l.broad": 900})

    def test_compact_keeps_it(self):
        self.ok("fit", self.answers, "-o", self.path("k.broad"), "--loo", "yes", "--compact", *SMALL)
        self.assertEqual(self.ok("predict", self.path("k.broad"), self.answers, "--proba").out,
                         self.ok("predict", self.classes, self.answers, "--proba").out)


class Refusals(Fitted):
    def test_without_an_estimate(self):
        needle = "this model has no estimate of its error: fit it with --loo yes"
        self.fails(2, needle, "predict", self.plain, self.answers, "--proba")
        self.ok("fit", self.numbers, "-o", self.path("p.broad"), "--target", "y", "--loo", "no", *SMALL)
        self.fails(2, needle, "predict", self.path("p.broad"), self.numbers, "--interval", "0.9")
        self.fails(2, needle, "eval", self.path("p.broad"), self.numbers, "--interval", "0.9")
        test = self.ok("eval", self.plain, self.answers, "--json").json["test"]
        self.assertEqual((test["brier"], test["log_loss"], test["calibration_error"]), (None, None, None))
        test = self.ok("eval", self.path("p.broad"), self.numbers, "--json").json["test"]
        self.assertEqual([test[name] for name in ("level", "coverage", "interval_width", "log_likelihood")], [None] * 4)
        self.assertNotIn("Brier", self.ok("eval", self.plain, self.answers).out)
        self.assertNotIn("coverage", self.ok("eval", self.path("p.broad"), self.numbers).out)

    def test_of_a_chain(self):
        for words in (["--preset", "paper"], ["--kind", "scn", "--weights", "sc1"], ["--kind", "scn", "--weights", "sc2"]):
            self.fails(2, "leave-one-out has no closed form", "fit", self.answers, "-o", self.path("x.broad"), *words,
                       "--loo", "yes", "--enhance", "2x2", "-q")
        self.assertIsNone(self.ok("fit", self.answers, "-o", self.path("x.broad"), "--preset", "paper", "--json",
                                  *SMALL).json["loo"])

    def test_of_the_other_task(self):
        self.fails(2, "this model predicts numbers", "predict", self.values, self.numbers, "--proba")
        self.fails(2, "this model predicts classes", "predict", self.classes, self.answers, "--interval", "0.9")
        self.fails(2, "this model predicts classes", "eval", self.classes, self.answers, "--interval", "0.9")

    def test_without_a_layer(self):
        """What was done is not advised again: the inputs never change, so that no layer was kept."""
        for words, targets in (["--proba"], "ab"), (["--interval", "0.9"], ["1.5", "2.5", "4"]):
            rows = self.write("same.csv", "a,b,y\n" + "".join("1,2,%s\n" % targets[i % len(targets)] for i in range(60)))
            fitted = self.ok("fit", rows, "--loo", "yes", "-o", self.path("s.broad"), "--json").json
            self.assertEqual(fitted["layers"], [])
            result = self.fails(2, "this model has no layer, as none explained the targets, and so no estimate of its error (layer 1: "
                                "no draw", "predict", self.path("s.broad"), rows, *words)
            self.assertNotIn("--loo", result.err)

    def test_levels(self):
        for level in ("0", "1", "90", "-0.5", "nan", "", "x", "0.9x"):
            for command in ("predict", "eval"):
                self.fails(2, "--interval: '%s' is not a level" % level, command, self.values, self.numbers,
                           "--interval", level)
        result = self.fails(2, "the highest level they allow is ", "predict", self.values, self.numbers,
                            "--interval", "0.999999")
        named = result.err.split("they allow is ")[1].split()[0]
        self.ok("predict", self.values, self.numbers, "--interval", named)

    def test_before_the_rows_are_read(self):
        self.fails(2, "no estimate of its error", "predict", self.plain, self.path("nowhere.csv"), "--proba")
        self.fails(2, "no estimate of its error", "predict", self.plain, self.answers, "--proba", "-o",
                   self.path("out.csv"))
        self.assertFalse(os.path.exists(self.path("out.csv")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
