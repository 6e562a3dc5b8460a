#!/usr/bin/env python3
"""Growing as a user meets it: grow, learn, checkpoints, stop rules, sums, plans, interrupts and kills.

Usage: cli_grow.py PATH_OF_BROAD. A model that was grown is compared, byte by byte, with one that was made at once.
"""
import csv
import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SANITIZED, Case, blobs, curve, npy, run, wait_for_work  # noqa: E402

PAPER = ["--preset", "paper", "--features", "2x5", "--seed", "9"]
CHAIN = ["--kind", "brls", "--weights", "chain", "--feature-weights", "random", "--features", "2x5"]
KINDS = ("brls", "bscrls")


def body(text):
    """A CSV text without its header."""
    return text.split("\n", 1)[1]


def shifted(rows, seed, classes=("ant", "bee", "cat")):
    return blobs(rows, seed=seed, classes=classes)


class Grown(Case):
    """Two files of rows, and ways to make models of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data, cls.more = case.write("data.csv", blobs(120)), case.write("more.csv", shifted(60, 7))
        cls.both = case.write("both.csv", blobs(120) + body(shifted(60, 7)))
        cls.numbers = case.write("numbers.csv", curve(150))

    def fit(self, name, *words, data=None):
        self.ok("fit", data or self.data, "-o", self.path(name), "-q", *words)
        return self.path(name)

    def grow(self, model, *words, data=None):
        return self.ok("grow", model, *(data or [self.data]), "-q", *words)

    def same(self, one, other):
        self.assertEqual(self.read(os.path.basename(one)), self.read(os.path.basename(other)), (one, other))

    def copy(self, model, name):
        shutil.copy(model, self.path(name))
        return self.path(name)

    def refused(self, code, needle, model, *words):
        """The command fails with this message and leaves model and sums as they were."""
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        result = self.fails(code, needle, *words)
        after = {name: self.read(name) for name in os.listdir(self.folder)}
        self.assertEqual(before, after, (model, words))
        return result


class Identity(Grown):
    def test_five_processes_equal_one(self):
        for kind in KINDS:
            words = ["--kind", kind, *PAPER]
            each = 2 if SANITIZED else 8
            whole = self.fit("whole", "--enhance", "10x%d" % (10 + 5 * each), *words)
            for threads in ("1", "2"):
                part = self.fit("part", "--enhance", "10x10", "--threads", threads, *words)
                for _ in range(5):
                    self.grow(part, "--enhance", "10x%d" % each, "--threads", threads)
                self.same(whole, part)
            self.assertEqual(len(self.ok("info", whole, "--json").json["layers"]), 10 + 5 * each)

    def test_other_data_and_settings(self):
        for data, words in ((self.numbers, CHAIN), (self.numbers, PAPER), (self.data, CHAIN),
                            (self.data, ["--holdout", "0.3", *PAPER]),
                            (self.data, ["--select", "best", "--supervise", "loo", *PAPER])):
            whole = self.fit("whole", "--enhance", "10x6", *words, data=data)
            part = self.fit("part", "--enhance", "10x1", *words, data=data)
            self.grow(part, "--enhance", "10x3", data=[data])
            self.grow(part, "--enhance", "10x2", data=[data])
            self.same(whole, part)

    def test_compact_stays_compact(self):
        whole = self.fit("whole", "--enhance", "10x6", "--compact", *PAPER)
        part = self.fit("part", "--enhance", "10x3", "--compact", *PAPER)
        self.grow(part, "--enhance", "10x3")
        self.same(whole, part)
        self.grow(part, "--features", "1x4", "--enhance", "8")
        full = self.fit("full", "--enhance", "10x6", *PAPER)
        self.grow(full, "--features", "1x4", "--enhance", "8")
        self.assertLess(len(self.read("part")), len(self.read("full")))
        self.assertEqual(self.ok("predict", part, self.data).out, self.ok("predict", full, self.data).out)
        self.ok("verify", part, self.data)

    def test_features_in_parts(self):
        base = self.fit("base", "--enhance", "10x3", *PAPER)
        whole, part = self.copy(base, "whole"), self.copy(base, "part")
        self.grow(whole, "--features", "3x4", "--enhance", "12")
        for _ in range(3):
            self.grow(part, "--features", "1x4", "--enhance", "12x1")
        self.same(whole, part)
        layers = self.ok("info", whole, "--json").json["layers"]
        self.assertEqual([layer["origin"] for layer in layers], ["initial"] + ["enhance"] * 2 + ["features"] * 3)
        self.assertEqual([layer["width"] for layer in layers], [20, 10, 10, 16, 16, 16])
        self.ok("verify", whole, self.data)

    def test_output_elsewhere(self):
        base = self.fit("base", "--enhance", "10x2", *PAPER)
        before = self.read("base")
        self.grow(base, "--enhance", "10x2", "-o", self.path("grown"))
        self.assertEqual(self.read("base"), before)
        self.grow(base, "--enhance", "10x2", "-o", base)
        self.same(base, "grown")
        piped = run("grow", self.path("grown"), self.data, "--enhance", "10", "-o", "-", "-q", text=False)
        self.grow(base, "--enhance", "10")
        self.assertEqual((piped.code, piped.out), (0, self.read("base")))


class Checkpoint(Grown):
    def test_bytes_do_not_change(self):
        for kind in KINDS:
            words = ["--kind", kind, *PAPER]
            plain = self.fit("plain", "--enhance", "10x7", *words)
            for every in ("1", "3", "7", "100"):
                self.same(plain, self.fit("often", "--enhance", "10x7", "--checkpoint", every, *words))
            part = self.fit("part", "--enhance", "10x3", *words)
            self.grow(part, "--enhance", "10x4", "--checkpoint", "1")
            self.same(plain, part)
            self.grow(plain, "--features", "3x4", "--enhance", "6")
            self.grow(part, "--features", "3x4", "--enhance", "6", "--checkpoint", "2")
            self.same(plain, part)

    def test_with_stop_rules(self):
        for rule in (["--max-layers", "5"], ["--until", "60%"], ["--max-nodes", "65"]):
            plain = self.fit("plain", "--enhance", "10x20", *rule, *PAPER)
            self.same(plain, self.fit("often", "--enhance", "10x20", "--checkpoint", "1", *rule, *PAPER))

    def test_killed_many_times(self):
        """Killed at random moments, again and again, and started anew by the same line until it is done."""
        rng = random.Random(5)
        data = self.write("few.csv", blobs(45))
        base = self.fit("base", "--enhance", "5x1", "--threads", "1", *PAPER, data=data)
        words = ["--enhance", "5x1000", "--max-layers", "25", "--checkpoint", "1", "--threads", "1", "-q"]
        whole = self.copy(base, "whole")
        started = time.time()
        self.ok("grow", whole, data, *words)
        seconds = time.time() - started
        kills, part = 0, None
        while kills < (15 if SANITIZED else 100):
            part = part or self.copy(base, "part")
            process = subprocess.Popen([BROAD, "grow", part, data, *words], stdout=subprocess.DEVNULL)
            try:
                process.wait(timeout=rng.uniform(0, 0.7 * seconds))
            except subprocess.TimeoutExpired:
                process.kill()
            if process.wait() != 0:
                self.assertEqual(process.returncode, -signal.SIGKILL)
                kills += 1
            else:
                self.same(whole, part)
                part = None
        self.ok("grow", part or whole, data, *words)
        self.same(whole, part or whole)

    def test_usage(self):
        base = self.fit("base", "--enhance", "10x2", *PAPER)
        for value in ("0", "-1", "x", "1.5", ""):
            self.refused(2, "--checkpoint", base, "grow", base, self.data, "--enhance", "10", "--checkpoint", value)
        self.fails(2, "need a file", "fit", self.data, "-o", "-", "--checkpoint", "1")


class Interrupted(Grown):
    def check(self, number, code, command):
        data, base = self.write("many.csv", blobs(1500)), self.path("base")
        self.ok("fit", data, "-o", base, "--kind", "brls", "--enhance", "40x2", "-q", *PAPER)
        part = self.copy(base, "part")
        words = [BROAD, command, part, self.more if command == "learn" else data, "--enhance", "40x100000", "--json"]
        if command == "learn":
            words += ["--with", data]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for_work(process, 1 if SANITIZED else 0.3)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, err)
        self.assertIn("saved", err)
        report = json.loads(out)
        self.assertEqual((report["command"], report["status"]), (command, "stopped"))
        return data, base, part, len(report["layers"])

    def test_resumed_after_sigint(self):
        data, base, part, layers = self.check(signal.SIGINT, 130, "grow")
        self.assertGreater(layers, 2)
        for model in (base, part):
            self.grow(model, "--enhance", "40x100000", "--max-layers", str(layers + 3), data=[data])
        self.same(base, part)

    def test_resumed_after_sigterm(self):
        data, base, part, layers = self.check(signal.SIGTERM, 143, "grow")
        for model in (base, part):
            self.grow(model, "--enhance", "40x100000", "--max-layers", str(layers + 1), data=[data])
        self.same(base, part)

    def test_learn(self):
        data, _, part, layers = self.check(signal.SIGINT, 130, "learn")
        self.ok("verify", part, data, self.more)
        self.grow(part, "--enhance", "40x2", data=[data, self.more])
        self.assertEqual(len(self.ok("info", part, "--json").json["layers"]), layers + 2)


class Report(Grown):
    def test_grow(self):
        base = self.fit("base", "--enhance", "10x2", "--holdout", "0.25", *PAPER)
        at_once = self.ok("fit", self.data, "-o", self.path("x"), "--json", "--enhance", "10x5", "--holdout", "0.25",
                          *PAPER).json
        report = self.ok("grow", base, self.data, "--enhance", "10x3", "--json").json
        self.assertEqual((report["command"], report["layers_before"], report["layers_added"]), ("grow", 2, 3))
        for name in "kind task rows inputs outputs nodes seed layers status reason train test".split():
            self.assertEqual(report[name], at_once[name], name)
        self.assertEqual((report["model"], report["grown_from"], report["stats"]), (base, base, None))
        text = self.ok("grow", base, self.data, "--enhance", "10x1", "--verbose").out
        for needle in ("6 layers, 1 of them new", "status   complete", "test     accuracy", "broad verify"):
            self.assertIn(needle, text)
        other = self.ok("grow", base, self.data, "--enhance", "10", "--test", self.more, "--json").json
        self.assertEqual(other["test"], self.ok("eval", base, self.more, "--json").json["test"])

    def test_stages(self):
        base = self.fit("base", "--enhance", "10x3", *PAPER)
        self.grow(base, "--features", "1x4", "--enhance", "8")
        self.ok("learn", base, self.more, "--with", self.data, "--enhance", "10x2", "-q")
        found = self.ok("info", base, "--json").json
        stages = [(s["first_layer"], s["layers"], s["origin"], s["first_row"], s["rows"]) for s in found["stages"]]
        self.assertEqual(stages, [(1, 1, "initial", 0, 120), (2, 2, "enhance", 0, 120), (4, 1, "features", 0, 120),
                                  (5, 1, "data", 0, 180), (6, 1, "enhance", 0, 180)])
        for layer in found["layers"]:
            self.assertIn(layer["rows"], (120, 180))
        text = self.ok("info", base).out
        self.assertIn("layers 2-3: enhance, on rows 1-120", text)
        self.assertIn("layer 5: data, on rows 1-180", text)


class Since(Grown):
    """What the norm is compared with, once the rows have changed: the norm before the first layer on the last rows."""

    def check(self, model, data, since):
        layers = self.ok("info", model, "--json").json["layers"]
        reached = layers[-1]["norm_after"] / layers[since - 1]["norm_before"]
        bound = math.prod(layer["bound"] for layer in layers[since - 1:])
        found = self.ok("verify", model, *data, "--json").json
        self.assertEqual(found["since_layer"], since)
        self.assertAlmostEqual(found["reached"], reached, places=9)
        self.assertAlmostEqual(found["product_bound"], bound, places=12)
        words = "the norm when the rows last changed, before layer %d\n" % since if since > 1 else "the initial norm\n"
        self.assertIn("%.6f of %s" % (found["reached"], words), self.ok("verify", model, *data).out)
        self.assertIn("%.6g -> %.6g, %.4f of %s" % (layers[since - 1]["norm_before"], layers[-1]["norm_after"], reached, words),
                      self.ok("info", model).out)

    def test_learn_and_grow(self):
        model = self.fit("learned", "--enhance", "10x3", *PAPER)
        self.check(model, [self.data], 1)
        self.ok("learn", model, self.more, "--with", self.data, "--enhance", "10x2", "-q")
        self.check(model, [self.data, self.more], 4)
        self.grow(model, "--enhance", "20", data=[self.data, self.more])
        self.check(model, [self.data, self.more], 4)

    def test_forgetful(self):
        model = self.fit("forgetful", "--enhance", "10x3", *PAPER)
        self.ok("learn", model, self.more, "--forgetful", "-q")
        self.check(model, [self.data, self.more], 4)
        self.grow(model, "--enhance", "20", data=[self.data, self.more])
        self.check(model, [self.data, self.more], 5)

    def test_new_classes(self):
        model, more = self.fit("classes", "--enhance", "10x3", *PAPER), self.write("dog.csv", shifted(60, 7, ("ant", "dog")))
        self.ok("learn", model, more, "--with", self.data, "--new-classes", "-q")
        self.grow(model, "--enhance", "20", data=[self.data, more])
        layers = self.ok("info", model, "--json").json["layers"]
        rows = [(layer["first_row"], layer["rows"]) for layer in layers]
        self.check(model, [self.data, more], rows.index(rows[-1]) + 1)

    def test_page(self):
        model = self.fit("paged", "--enhance", "10x3", *PAPER)
        self.ok("learn", model, self.more, "--with", self.data, "-q")
        html = self.path("paged.html")
        found = self.ok("report", model, self.data, self.more, "--training", "-o", html, "--json").json
        self.assertEqual(found["verify"]["since_layer"], 4)
        self.assertIn("as a part of the norm when the rows last changed, before layer 4<", self.read("paged.html").decode())


class StopRules(Grown):
    def run_until(self, *rule, words=(), data=None):
        report = self.ok("fit", data or self.data, "-o", self.path("m"), "--enhance", "10x30", "--json", *PAPER, *words,
                         *rule).json
        again = self.ok("info", self.path("m"), "--json").json
        self.assertEqual((report["status"], report["reason"]), (again["status"], again["reason"]))
        return report

    def check_stopped(self, report):
        self.assertEqual(report["status"], "target_reached")
        self.assertTrue(report["reason"])
        self.assertTrue(0 < len(report["layers"]) < 30, len(report["layers"]))

    def test_norm(self):
        full = self.run_until()["layers"]
        for target, text in ((full[4]["norm_after"] * 1.0001, "%.17g"), (0.8, "%g%%")):
            relative = text.endswith("%%")
            limit = target * full[0]["norm_before"] if relative else target
            report = self.run_until("--until", text % (100 * target if relative else target))
            self.check_stopped(report)
            self.assertLessEqual(report["layers"][-1]["norm_after"], limit)
            for layer in report["layers"][:-1]:
                self.assertGreater(layer["norm_after"], limit)

    def test_accuracy(self):
        report = self.run_until("--until-accuracy", "0.7")
        self.check_stopped(report)
        self.assertGreaterEqual(report["train"]["accuracy"], 0.7)
        report = self.run_until("--until-accuracy", "0.7", "--holdout", "0.4")
        self.check_stopped(report)
        self.assertGreaterEqual(report["test"]["accuracy"], 0.7)
        report = self.run_until("--until-accuracy", "0.7", "--test", self.more)
        self.assertGreaterEqual(report["test"]["accuracy"], 0.7)
        self.fails(2, "accuracy", "fit", self.numbers, "-o", self.path("m"), "--until-accuracy", "0.9")

    def test_sizes(self):
        report = self.run_until("--max-layers", "4")
        self.assertEqual(len(report["layers"]), 4)
        report = self.run_until("--max-nodes", "45")
        self.check_stopped(report)
        self.assertEqual((report["nodes"], len(report["layers"])), (40, 3))
        base = self.path("m")
        grown = self.ok("grow", base, self.data, "--enhance", "5x9", "--max-nodes", "55", "--json").json
        self.assertEqual((grown["nodes"], grown["layers_added"], grown["status"]), (55, 3, "target_reached"))
        none = self.ok("grow", base, self.data, "--enhance", "5x9", "--max-layers", "3", "--json").json
        self.assertEqual(none["layers_added"], 0)

    def test_seconds(self):
        started = time.time()
        report = self.ok("fit", self.data, "-o", self.path("m"), "--enhance", "50x100000", "--kind", "brls",
                         "--max-seconds", "0.5", "--json", *PAPER).json
        self.assertEqual(report["status"], "time_limit")
        self.assertTrue(report["layers"])
        self.assertLess(time.time() - started, 10)
        self.assertIn("time", report["reason"])

    def test_patience(self):
        noise = random.Random(1)
        lines = ["a,b,kind"] + ["%.3f,%.3f,%s" % (noise.random(), noise.random(), noise.choice("xy"))
                                for _ in range(150)]
        data = self.write("noise.csv", "\n".join(lines) + "\n")
        words = ["--kind", "brls", "--lambda", "1e-6"]
        report = self.run_until("--patience", "3", "--holdout", "0.4", words=words, data=data)
        self.check_stopped(report)
        full = self.ok("fit", data, "-o", self.path("full"), "--holdout", "0.4", "--json", *PAPER, *words, "--enhance",
                       "10x%d" % len(report["layers"])).json
        self.assertEqual(report["layers"], full["layers"])
        self.assertIn("decided when to stop", self.ok("fit", data, "-o", self.path("m"), "--patience", "3", "--holdout",
                                                      "0.4", *PAPER, *words, "--enhance", "10x30").out)
        self.ok("grow", self.path("m"), data, "--enhance", "10x30", "--patience", "2", "-q")
        base = self.fit("base", "--enhance", "10x2", *PAPER)
        self.fails(2, "--patience needs rows", "fit", self.data, "-o", self.path("m"), "--patience", "2")
        self.refused(2, "--patience needs rows", base, "grow", base, self.data, "--enhance", "10", "--patience", "2")


class Plan(Grown):
    def test_plan(self):
        words = ["fit", self.data, "-o", self.path("never"), "--plan", *PAPER]
        found = self.ok(*words, "--json").json
        plan = found["plan"]
        self.assertEqual((found["command"], plan["rows"], plan["inputs"], plan["outputs"]), ("fit", 120, 2, 3))
        self.assertEqual((plan["nodes"], plan["fits"]), (10 + 100 * 50, True))
        for name in "bytes_data bytes_training bytes_available flops_features flops_layer flops_total".split():
            self.assertGreater(plan[name], 0, name)
        text = self.ok(*words).out
        for needle in ("memory", "work", "fits in memory"):
            self.assertIn(needle, text)
        twice = self.ok(*words, "--enhance", "100x100", "--json").json["plan"]
        self.assertAlmostEqual((twice["flops_total"] - twice["flops_features"]) /
                               (plan["flops_total"] - plan["flops_features"]), 2, delta=0.1)
        self.assertFalse(os.path.exists(self.path("never")))
        base = self.fit("base", "--enhance", "10x2", *PAPER)
        before = self.read("base")
        found = self.ok("grow", base, self.data, "--enhance", "10x3", "--plan", "--json").json
        self.assertEqual((found["command"], found["plan"]["nodes"]), ("grow", 60))
        found = self.ok("learn", base, self.more, "--with", self.data, "--plan", "--json").json
        self.assertEqual((found["command"], found["plan"]["rows"]), ("learn", 180))
        self.assertEqual(self.read("base"), before)

    def test_too_large(self):
        words = ["fit", self.data, "-o", self.path("never"), "--features", "1000x1000", "--enhance", "100000x1"]
        result = run(*words, "--plan", "--json")
        self.assertEqual((result.code, result.json["plan"]["fits"]), (71, False))
        self.assertIn("NOT fit", run(*words, "--plan").out)
        self.assertRegex(self.fails(71, "available", *words).err, r"needs [0-9.]+ [GT]B")
        self.assertFalse(os.path.exists(self.path("never")))
        for rule in (["--max-layers", "3"], ["--max-nodes", "349"]):
            words = ["fit", self.data, "-o", self.path("m"), "--enhance", "100x100000", "--features", "7x7"]
            plan = self.ok(*words, *rule, "--plan", "--json").json["plan"]
            self.assertEqual(plan["nodes"], 349)
        base = self.fit("base", "--enhance", "10x2", *PAPER)
        self.refused(71, "--force", base, "grow", base, self.data, "--features", "1x1000000", "--enhance", "1000000")


class Learn(Grown):
    def test_with_old_rows(self):
        for kind in KINDS:
            for threads in ("1", "2"):
                base = self.fit("base" + threads, "--kind", kind, "--enhance", "10x3", *PAPER)
                report = self.ok("learn", base, self.more, "--with", self.data, "--enhance", "20x2", "--threads",
                                 threads, "--json").json
                self.assertEqual((report["rows"], report["layers_added"], report["solved_again"]), (180, 2, False))
                self.assertEqual((report["train"]["rows"], report["new"]["rows"]), (180, 60))
                self.ok("verify", base, self.data, self.more)
                self.assertEqual(run("verify", base, self.more, self.data).code, 1)
                self.assertEqual(run("verify", base, self.data).code, 1)
            self.same("base1", "base2")

    def test_default_nodes_and_next_files(self):
        base = self.fit("base", "--enhance", "10x3", *PAPER)
        third = self.write("third.csv", shifted(30, 11))
        self.assertEqual(self.ok("learn", base, self.more, "--with", self.data, "--json").json["layers"][-1]["width"],
                         10)
        self.ok("learn", base, third, "--with", self.data, "--with", self.more, "-q")
        self.ok("verify", base, self.data, self.more, third)
        self.grow(base, "--enhance", "10x2", data=[self.data, self.more, third])
        self.ok("verify", base, self.data, self.more, third)
        self.assertEqual(self.ok("info", base, "--json").json["rows"], 210)
        self.refused(65, "", base, "grow", base, self.data, third, self.more, "--enhance", "10")

    def test_holdout_of_the_first_file(self):
        """70 rows of 100 and 30 more are 100 again: the cut must not be mistaken for the whole."""
        first, second = self.write("first.csv", blobs(100)), self.write("second.csv", shifted(30, 3))
        base = self.fit("base", "--enhance", "10x3", "--holdout", "0.3", *PAPER, data=first)
        self.assertEqual(self.ok("info", base, "--json").json["rows"], 70)
        report = self.ok("learn", base, second, "--with", first, "--json").json
        self.assertEqual((report["rows"], report["test"]["rows"]), (100, 30))
        self.ok("verify", base, first, second)
        self.grow(base, "--enhance", "10x2", data=[first, second])
        self.ok("verify", base, first, second)

    def test_new_classes(self):
        base = self.fit("base", "--enhance", "10x3", *PAPER)
        odd = self.write("odd.csv", shifted(60, 5, classes=("ant", "eel", "cat", "dog", "bee")))
        err = self.refused(65, "--new-classes", base, "learn", base, odd, "--with", self.data).err
        self.assertIn("dog", err)
        self.assertIn("eel", err)
        report = self.ok("learn", base, odd, "--with", self.data, "--new-classes", "--enhance", "30x4", "--json").json
        self.assertEqual(report["outputs"], 5)
        self.assertEqual(report["train"]["classes"][:3], ["ant", "bee", "cat"])
        self.assertEqual(set(report["train"]["classes"][3:]), {"dog", "eel"})
        self.ok("verify", base, self.data, odd)
        labels = {row["label"] for row in csv.DictReader(io.StringIO(self.ok("predict", base, odd).out))}
        self.assertTrue(labels & {"dog", "eel"}, labels)
        self.grow(base, "--enhance", "10x2", data=[self.data, odd])
        self.ok("learn", base, self.more, "--with", self.data, "--with", odd, "-q")
        self.ok("verify", base, self.data, odd, self.more)

    def test_without_old_rows(self):
        base = self.fit("base", "--enhance", "10x3", "--no-names", *PAPER)
        err = self.refused(2, "--forgetful", base, "learn", base, self.more).err
        self.assertIn("--with OLD", err)
        self.assertIn("--keep-stats", err)
        self.refused(2, "choose one", base, "learn", base, self.more, "--with", self.data, "--forgetful")
        result = self.ok("learn", base, self.more, "--forgetful", "--json")
        self.assertIn("60 new rows alone", result.err)
        last = result.json["layers"][-1]
        self.assertEqual((last["origin"], last["first_row"], last["rows"]), ("forgetful", 120, 60))
        self.assertIsNone(result.json["train"])
        self.assertEqual(result.json["new"]["rows"], 60)
        self.ok("verify", base, self.data, self.more)

    def test_regression_and_labels_apart(self):
        rng = random.Random(3)
        def table(name, rows):
            inputs = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(rows)]
            return (self.write(name + ".npy", npy(inputs)),
                    self.write(name + "-y.npy", npy([[math.sin(a) + b * b] for a, b in inputs])))
        (x, y), (x2, y2) = table("one", 90), table("two", 40)
        base = self.fit("base", "--labels", y, "--enhance", "10x3", *PAPER, data=x)
        self.grow(base, "--enhance", "10x1", "--labels", y, data=[x])
        self.ok("learn", base, x2, "--labels", y2, "--with", x, "--with-labels", y, "-q")
        self.ok("verify", base, x, x2, "--labels", y, "--labels", y2)
        self.grow(base, "--enhance", "10x1", "--labels", y, "--labels", y2, data=[x, x2])
        self.refused(2, "once per file", base, "grow", base, x, x2, "--labels", y, "--enhance", "10")


class Groups(Grown):
    """Rows of one group are left out together, also when a model is taken up again."""

    JOINT = ["--preset", "paper", "--kind", "brls", "--weights", "joint", "--features", "2x5", "--lambda", "auto", "--seed",
             "9"]

    def table(self, name, seed, named=True):
        """Two classes that overlap, each row four times."""
        rng, lines = random.Random(seed), []
        for i in range(60):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            label = "yes" if a + rng.gauss(0, 1) > 0 else "no"
            lines += ["%r,%r,%sp%d,%s" % (a, b, name, i, label) if named else "%r,%r,%s" % (a, b, label)] * 4
        rng.shuffle(lines)
        return self.write(name + ".csv", "a,b,photo,label\n" * named + "a,b,label\n" * (not named) + "\n".join(lines) + "\n")

    def loo(self, model):
        return self.ok("info", model, "--json").json["loo"]

    def near(self, one, other):
        for name, value in self.loo(one).items():
            if isinstance(value, float):
                self.assertAlmostEqual(value, self.loo(other)[name], places=6, msg=name)

    def test_taken_up_again(self):
        data = self.table("one", 1)
        words = ["--group", "photo", *self.JOINT]
        whole, part = self.fit("whole", "--enhance", "10x4", *words, data=data), self.fit("part", "--enhance", "10x2", *words,
                                                                                         data=data)
        self.grow(part, "--enhance", "10x2", data=[data])
        self.near(whole, part)
        bare = self.table("bare", 1, named=False)
        copies = self.fit("copies", "--enhance", "10x4", *self.JOINT, data=bare)
        self.near(whole, copies)  # equal rows are found without being told
        rows = self.fit("rows", "--enhance", "10x4", "--no-groups", *self.JOINT, data=bare)
        self.assertGreater(self.loo(rows)["accuracy"], self.loo(whole)["accuracy"] + 0.03)
        self.refused(65, "the model was trained with groups of rows (column 'photo')", part, "grow", part, bare, "--enhance",
                     "10")
        self.grow(part, "--enhance", "10x1", "--force", data=[bare])
        self.ok("verify", whole, data)

    def test_learned_rows(self):
        data, more, bare = self.table("one", 1), self.table("two", 2), self.table("bare", 3, named=False)
        model = self.fit("model", "--enhance", "10x2", "--group", "photo", *self.JOINT, data=data)
        self.ok("learn", model, more, "--with", data, "--enhance", "10x1", "-q")
        self.ok("learn", model, bare, "--with", data, "--with", more, "--enhance", "10x1", "-q")
        self.ok("verify", model, data, more, bare)
        self.grow(model, "--enhance", "10x1", data=[data, more, bare])
        self.refused(65, "and the data has none", model, "grow", model, bare, bare, bare, "--enhance", "10")


class Sums(Grown):
    # Nodes that do not depend on the rows.
    WORDS = [*CHAIN, "--learned-metric", "no", "--scale", "none", "--scale-target", "none", "--lambda", "0.01",
             "--range", "1", "--features", "3x4", "--enhance", "12x5", "--seed", "4"]

    def scores(self, model, data):
        rows = csv.DictReader(io.StringIO(self.ok("predict", model, data).out))
        return [[float(v) for k, v in row.items() if k not in ("row", "label")] for row in rows]

    def close(self, one, other, data):
        a, b = self.scores(one, data), self.scores(other, data)
        largest = max(abs(x) for row in b for x in row)
        worst = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))
        self.assertLess(worst, 1e-8 * largest)

    def test_equals_training_on_all_rows(self):
        whole = self.fit("whole", *self.WORDS, data=self.both)
        part = self.fit("part", "--keep-stats", *self.WORDS)
        alone = self.copy(part, "alone")
        report = self.ok("learn", part, self.more, "--json").json
        self.assertEqual((report["rows"], report["layers_added"], report["solved_again"]), (180, 0, True))
        self.assertEqual(report["stats"], part + ".stats")
        self.close(part, whole, self.both)
        with self.assertRaises(AssertionError):
            self.close(alone, whole, self.both)
        pieces = self.fit("pieces", "--keep-stats", *self.WORDS)
        lines = body(shifted(60, 7)).splitlines()
        for i in range(0, 60, 15):
            piece = self.write("piece.csv", "a,b,kind\n" + "\n".join(lines[i:i + 15]) + "\n")
            self.ok("learn", pieces, piece, "-q")
        self.close(pieces, whole, self.both)

    def test_regression(self):
        lines = curve(150).splitlines()
        one, two = (self.write(n, "\n".join(lines[:1] + part) + "\n") for n, part in
                    (("one.csv", lines[1:101]), ("two.csv", lines[101:])))
        words = [*self.WORDS, "--scale-target", "none"]
        whole, part = self.fit("whole", *words, data=self.numbers), self.fit("part", "--keep-stats", *words, data=one)
        self.ok("learn", part, two, "-q")
        self.close(part, whole, self.numbers)

    def test_elsewhere(self):
        base = self.fit("base", "--keep-stats", *self.WORDS)
        before = self.read("base"), self.read("base.stats")
        self.ok("learn", base, self.more, "-o", self.path("other"), "-q")
        self.assertEqual((self.read("base"), self.read("base.stats")), before)
        self.ok("learn", base, self.more, "-q")
        self.assertEqual((self.read("base"), self.read("base.stats")), (self.read("other"), self.read("other.stats")))
        self.refused(2, "--enhance", base, "learn", base, self.more, "--enhance", "10")

    def test_grow_keeps_them(self):
        base = self.fit("base", "--keep-stats", *self.WORDS)
        whole = self.fit("whole", *self.WORDS[:-4], "--enhance", "12x7", "--seed", "4", data=self.both)
        self.grow(base, "--enhance", "12x2")
        self.ok("learn", base, self.more, "-q")
        self.close(base, whole, self.both)
        bare = self.fit("bare", *self.WORDS)
        self.assertFalse(os.path.exists(bare + ".stats"))
        self.ok("grow", bare, self.data, "--keep-stats", "-q")
        self.ok("learn", bare, self.more, "-q")
        self.close(bare, self.fit("whole", *self.WORDS, data=self.both), self.both)

    def test_of_another_model(self):
        base = self.fit("base", "--keep-stats", *self.WORDS)
        other = self.fit("other", *self.WORDS[:-1], "5")
        self.copy(base + ".stats", "other.stats")
        self.refused(76, "other.stats", other, "learn", other, self.more)
        self.write("base.stats", self.read("base.stats")[:-9])
        self.refused(76, "base.stats", base, "learn", base, self.more)

    def test_cut_off_between_the_two_files(self):
        base = self.fit("base", "--keep-stats", *self.WORDS)
        old = self.read("base"), self.read("base.stats")
        self.ok("learn", base, self.more, "-q")
        new = self.read("base"), self.read("base.stats")
        third = self.write("third.csv", shifted(30, 11))
        self.ok("learn", base, third, "-q")
        want = self.read("base"), self.read("base.stats")
        for model, words in ((old[0], [self.more, third]), (new[0], [third])):
            self.write("base", model)
            self.write("base.stats", old[1])
            self.write("base.stats.new", new[1])
            for data in words:
                self.ok("learn", base, data, "-q")
            self.assertEqual((self.read("base"), self.read("base.stats")), want)
            self.assertFalse(os.path.exists(base + ".stats.new"))


class BadUse(Grown):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = cls().fit("base", "--enhance", "10x3", *PAPER)
        cls.line = cls().fit("line", "--enhance", "10x3", *PAPER, data=cls.numbers)

    def check_data(self, name, text, code, needle):
        data = self.write(name, text)
        self.refused(code, needle, self.base, "grow", self.base, data, "--enhance", "10")
        self.refused(code, needle, self.base, "learn", self.base, self.more, "--with", data)

    def test_other_columns(self):
        rows = [line.split(",") for line in blobs(120).splitlines()]
        self.check_data("named.csv", "\n".join(",".join([a, b, c]) for a, b, c in [["a", "z", "kind"]] + rows[1:]),
                        65, "'b'")
        self.check_data("fewer.csv", "\n".join(",".join([a, c]) for a, _, c in rows), 65, "'b'")

    def test_other_types(self):
        text = blobs(120).replace("\n0.", "\nzero.", 1)
        self.check_data("words.csv", text, 65, "words.csv")
        rows = [line.rsplit(",", 1)[0] for line in blobs(120).splitlines()[1:]]
        self.check_data("target.csv", "a,b,kind\n" + "\n".join("%s,%d.5" % (r, i) for i, r in enumerate(rows)), 65,
                        "does not know")
        lines = curve(150).splitlines()
        text = "\n".join([lines[0]] + [line.rsplit(",", 1)[0] + ",high" for line in lines[1:]])
        data = self.write("text.csv", text)
        self.refused(65, "text.csv", self.line, "grow", self.line, data, "--enhance", "10")

    def test_other_target(self):
        rows = [line.split(",") for line in blobs(120).splitlines()]
        self.check_data("nokind.csv", "\n".join(",".join([a, b]) for a, b, _ in rows), 65, "kind")
        self.check_data("renamed.csv", blobs(120).replace("kind", "sort"), 65, "kind")

    def test_other_rows(self):
        lines = blobs(120).splitlines()
        changed = lines[:50] + ["0.5,0.5,bee"] + lines[51:]
        swapped = lines[:10] + [lines[11], lines[10]] + lines[12:]
        for name, text in (("changed.csv", changed), ("swapped.csv", swapped), ("fewer.csv", lines[:-1]),
                           ("more-rows.csv", lines + lines[-1:]), ("other.csv", blobs(120, seed=3).splitlines())):
            data = self.write(name, "\n".join(text) + "\n")
            err = self.refused(65, "rows", self.base, "grow", self.base, data, "--enhance", "10").err
            self.assertIn("--force", err)
            forced = self.copy(self.base, "forced")
            self.grow(forced, "--enhance", "10", "--force", data=[data])
            self.assertNotEqual(self.read("forced"), self.read("base"))
            os.remove(forced)
        self.refused(65, "rows", self.base, "learn", self.base, self.more, "--with", self.path("changed.csv"))

    def test_words(self):
        base, data = self.base, self.data
        self.refused(2, "missing argument; usage: broad grow MODEL [DATA...]", base, "grow")
        self.refused(2, "--enhance", base, "grow", base, data)
        self.refused(2, "--enhance", base, "grow", base, data, "--features", "1x5")
        self.refused(2, "each new group", base, "grow", base, data, "--features", "1x5", "--enhance", "10x2")
        for value in ("0", "x", "10x", "10x0", "-3", "1.5", ""):
            self.refused(2, "--enhance", base, "grow", base, data, "--enhance", value)
        self.refused(2, "did you mean '--enhance'", base, "grow", base, data, "--enhanc", "10")
        self.refused(2, "no option '--lambda'", base, "grow", base, data, "--enhance", "10", "--lambda", "1")
        self.refused(2, "would overwrite the input", base, "grow", base, data, "--enhance", "10", "-o", data)
        self.refused(2, "would overwrite the input", base, "learn", base, self.more, "--with", data, "-o", self.more)
        self.refused(66, "nowhere.csv", base, "grow", base, self.path("nowhere.csv"), "--enhance", "10")
        self.refused(66, "nowhere.csv", base, "learn", base, self.path("nowhere.csv"), "--with", data)
        self.refused(66, "nowhere", base, "grow", self.path("nowhere"), data, "--enhance", "10")
        self.refused(76, "data.csv", base, "grow", data, self.more, "--enhance", "10")
        self.refused(73, "no/such", base, "grow", base, data, "--enhance", "10", "-o", self.path("no/such/m"))
        self.refused(2, "unexpected argument", base, "learn", base, self.more, data)

    def test_error_as_json(self):
        other = self.write("other.csv", blobs(120, seed=3))
        result = self.refused(65, "rows", self.base, "grow", self.base, other, "--enhance", "10", "--json")
        self.assertEqual((result.json["command"], result.json["error"]["status"]), ("grow", "bad_data"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
