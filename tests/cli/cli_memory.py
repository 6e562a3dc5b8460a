#!/usr/bin/env python3
"""Training, testing and predicting under a limit on memory: the same bytes, a bounded process, and clear refusals.

Usage: cli_memory.py PATH_OF_BROAD
"""
import array
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SANITIZED, Case, Result, run, wait_for_work  # noqa: E402

ROWS, INPUTS, LIMIT = 40_000, 10, "48M"
PAPER = ["--preset", "paper", "--kind", "brls"]
AGAIN = [*PAPER, "--features", "4x10", "--enhance", "150x2"]  # few inputs: feature nodes are recomputed
KEPT = [*PAPER, "--features", "1x2", "--enhance", "190x2"]  # fewer nodes than inputs: they are kept in files
MEGABYTE = 1 << 20


def measured(*words):
    """The result, and the peak resident size in megabytes, of a process that begins small."""
    code = ("import os, sys\npid = os.fork()\nif pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n"
            "_, status, usage = os.wait4(pid, 0)\nprint(usage.ru_maxrss, file=sys.stderr)\n"
            "sys.exit(os.waitstatus_to_exitcode(status))")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, BROAD, *words], capture_output=True, text=True, timeout=240)
    lines = done.stderr.splitlines()
    done.stderr = "\n".join(lines[:-1])
    return Result(done), int(lines[-1]) * 1024 / MEGABYTE


def columns(seed):
    rng = random.Random(seed)
    return [array.array("d", [round(rng.gauss(0, 1), 4) for _ in range(ROWS)]) for _ in range(INPUTS)]


class Memory(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case, x = cls(), columns(5)
        cls.classes = ["yes" if x[0][i] * x[1][i] > 0.2 * x[2][i] else "no" for i in range(ROWS)]
        head = ",".join("x%d" % j for j in range(INPUTS))
        lines = [",".join("%g" % c[i] for c in x) for i in range(ROWS)]
        cls.csv = case.write("rows.csv", head + ",y\n" + "".join("%s,%s\n" % p for p in zip(lines, cls.classes)))
        extra = ["%s,%d,%g,%g\n" % (lines[i], i % 997, 0.5 + i % 5, x[3][i] + abs(x[4][i])) for i in range(ROWS)]
        cls.extra = case.write("extra.csv", head + ",g,w,y\n" + "".join(extra))
        flat = array.array("d", [c[i] for i in range(ROWS) for c in x]).tobytes()
        labels = bytes(c == "yes" for c in cls.classes)
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (ROWS, INPUTS)
        text += " " * (-(len(text) + 11) % 64) + "\n"
        cls.npy = case.write("rows.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + flat)
        swapped = array.array("d", flat)
        swapped.byteswap()
        cls.idx = case.write("rows.idx", struct.pack(">BBBBII", 0, 0, 14, 2, ROWS, INPUTS) + swapped.tobytes())
        cls.labels = case.write("labels.idx", struct.pack(">BBBBI", 0, 0, 8, 1, ROWS) + labels)

    def same(self, *words, limit=LIMIT, spilled=True):
        """The plan spills, and the models are the same, bytes and measures."""
        plan = self.ok("fit", *words, "--memory", limit, "--plan", "--json").json["plan"]
        self.assertEqual(plan["limit"]["spilled"], spilled, plan)
        plain = self.ok("fit", *words, "-o", self.path("plain"), "-q", "--json").json
        bounded = self.ok("fit", *words, "-o", self.path("bounded"), "-q", "--json", "--memory", limit).json
        self.assertEqual(self.read("plain"), self.read("bounded"), words)
        self.assertEqual((plain["train"], plain["test"]), (bounded["train"], bounded["test"]))
        return plan["limit"]

    def test_wide_tables_are_planned_for(self):
        """What a column takes, however few the rows are: its knots, its names, its scaled values, and the file."""
        wide = 30_000
        text = ",".join("x%d" % j for j in range(wide)) + ",y\n"
        text += "".join(",".join(str(i * j % 7) for j in range(wide)) + ",%d.5\n" % i for i in range(3))
        data, small = self.write("wide.csv", text), ["--features", "2x3", "--enhance", "3x1"]
        plan = self.ok("fit", data, *small, "--plan", "--json").json["plan"]
        self.assertTrue(plan["limit"]["automatic"] and plan["fits"], plan)
        result, peak = measured("fit", data, *small, "-q", "-o", self.path("wide"))
        self.assertEqual(result.code, 0, result.err)
        self.assertLess(abs(plan["bytes_peak"] / MEGABYTE / peak - 1), 0.25, (plan, peak))
        self.fails(71, "memory", "fit", data, *small, "--memory", "80M")

    def test_formats_and_ways(self):
        self.assertEqual(self.same(self.csv, *AGAIN)["features"], "made" " again")
        self.assertEqual(self.same(self.csv, *KEPT)["features"], "kept")
        for data in self.npy, self.idx:
            self.same(data, "--labels", self.labels, "--task", "classify", *AGAIN)

    def test_settings(self):
        self.same(self.extra, "--group", "g", "--weight", "w", *AGAIN, "--holdout", "0.3", "--threads", "1", limit="40M")
        self.same(self.csv, *AGAIN, "--kind", "bscrls", "--gamma", "harmonic:0.9", "--tries", "2", "--threads", "2")
        self.same(self.csv, "--preset", "paper", "--kind", "bls", "--features", "10x20", "--enhance", "100x1", limit="64M")

    def test_growing(self):
        limit = ["--memory", LIMIT]
        self.ok("fit", self.csv, "-o", self.path("base"), "-q", *AGAIN)
        for name, more in ("plain", []), ("bounded", limit):
            shutil.copy(self.path("base"), self.path(name))
            self.ok("grow", self.path(name), self.csv, "--enhance", "120x1", "-q", *more)
            self.ok("grow", self.path(name), self.csv, "--features", "1x5", "--enhance", "100", "-q", *more)
            new = self.write("new.csv", b"".join(self.read("rows.csv").splitlines(True)[:400]))
            self.ok("learn", self.path(name), new, "--with", self.csv, "--enhance", "100x1", "-q", *more)
        self.assertEqual(self.read("plain"), self.read("bounded"))
        for words in ("eval", self.path("plain"), self.csv), ("predict", self.path("plain"), self.csv):
            self.assertEqual(self.ok(*words).out, self.ok(*words, "--memory", "24M").out)
        self.ok("verify", self.path("plain"), self.csv, new, *limit)

    def test_resident_size(self):
        """A file several times the limit, read, trained on, tested and predicted."""
        big = self.write("big.csv", self.read("rows.csv") + self.read("rows.csv").split(b"\n", 1)[1] * 7)
        words = ["fit", big, "-o", self.path("big"), *AGAIN, "--holdout", "0.2", "-q"]
        result, peak = measured(*words, "--memory", LIMIT)
        self.assertEqual(result.code, 0, result.err)
        self.assertLess(peak, 1.15 * 48)
        plain, peak_plain = measured(*words)
        self.assertEqual(plain.code, 0, plain.err)
        self.assertGreater(peak_plain, 1.4 * 48)  # so that the limit is one
        for command in "eval", "predict":
            result, peak = measured(command, self.path("big"), big, "--memory", "24M", "-q")
            self.assertEqual(result.code, 0, result.err)
            self.assertLess(peak, 1.15 * 24, command)

    def test_measures(self):
        """Those of the training rows stay within the limit too: the areas under the curves of three classes and many rows."""
        rows, inputs, rng = 800_000, 2, random.Random(6)
        flat = array.array("d", [rng.random() for _ in range(rows * inputs)])
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, inputs)
        text += " " * (-(len(text) + 11) % 64) + "\n"
        data = self.write("many.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + flat.tobytes())
        labels = self.write("many.idx", struct.pack(">BBBBI", 0, 0, 8, 1, rows) + bytes(int(3 * x) for x in flat[::inputs]))
        words = ["fit", data, "--labels", labels, "--task", "classify", "--preset", "paper", "--features", "1x2", "--enhance", "12x2", "-q", "--json"]
        result, peak = measured(*words, "-o", self.path("many"), "--memory", "20M", "--threads", "2")
        self.assertEqual(result.code, 0, result.err)
        self.assertGreater(result.json["train"]["roc_auc"], 0.5)
        self.assertLess(peak, 1.15 * 20)

    def test_too_little(self):
        folder = sorted(os.listdir(self.folder))
        result = self.fails(71, "give at least", "fit", self.csv, "-o", self.path("never"), *AGAIN, "--memory", "12M")
        least = result.err.split("give at least ")[1].split(",")[0]
        self.ok("fit", self.csv, "-o", self.path("least"), *AGAIN, "-q", "--memory", str(int(least[:-1]) + 8) + "M")
        os.remove(self.path("least"))
        self.fails(71, "--weights chain", "fit", self.csv, "-o", self.path("never"), "--kind", "scn", "--memory", LIMIT)
        for value in "x", "-1", "12Q", "":
            self.fails(2, "--memory", "fit", self.csv, "-o", self.path("never"), *AGAIN, "--memory", value)
        self.assertEqual(run("cv", self.csv, "--memory", "1G").code, 2)
        self.assertEqual(sorted(os.listdir(self.folder)), folder)

    def test_no_place(self):
        model, folder = self.write("old", b"an old model"), self.path("tmp")
        os.makedirs(folder, exist_ok=True)
        env = {**os.environ, "TMPDIR": folder}
        # As a full disk would: no file of more than a quarter of a megabyte. Python ignores the signal, and so does the child.
        done = subprocess.run([BROAD, "fit", self.csv, "-o", model, *AGAIN, "--memory", "32M", "-q"], env=env, text=True,
                              capture_output=True, timeout=240, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE // 4, MEGABYTE // 4)))
        self.assertEqual(done.returncode, 71, done.stderr)
        self.assertIn(folder, done.stderr)
        self.assertIn("TMPDIR", done.stderr)
        self.assertEqual(self.read("old"), b"an old model")
        self.assertEqual(os.listdir(folder), [])
        self.fails(73, "TMPDIR", "fit", self.csv, "-o", model, *AGAIN, "--memory", "32M", env={"TMPDIR": self.path("none")})

    @unittest.skipIf(SANITIZED, "a sanitizer needs all addresses there are")
    def test_forced(self):
        """--force tries what does not fit, without a limit, and ends as memory does; it was refused as an option out of range."""
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (600 * MEGABYTE, before[1]))
        try:
            for words in (["fit", self.csv, "-o", self.path("forced")], ["cv", self.csv, "--folds", "2"]):
                words += [*PAPER, "--features", "1x10", "--enhance", "30000x1"]
                self.fails(71, "or give --force to try anyway", *words)
                self.fails(71, "out of memory: could not allocate", *words, "--force")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)

    def test_interrupt(self):
        words = [BROAD, "fit", self.csv, "-o", self.path("part"), *PAPER, "--features", "4x10", "--enhance", "60x2000",
                 "--memory", "96M", "--json"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for_work(process, 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        layers = len(self.ok("info", self.path("part"), "--json").json["layers"])
        for name, more in ("one", ["--memory", "96M"]), ("two", []):
            shutil.copy(self.path("part"), self.path(name))
            self.ok("grow", self.path(name), self.csv, "--enhance", "60x2", "-q", *more)
        self.assertEqual(self.read("one"), self.read("two"))
        self.assertEqual(len(self.ok("info", self.path("one"), "--json").json["layers"]), layers + 2)


if __name__ == "__main__":
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("an instrumented process holds more than the limits that are tried here; tests/model/test_memory.c has no such limits")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
