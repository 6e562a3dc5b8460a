#!/usr/bin/env python3
"""Interrupts at some moments of fit, learn, grow, cv and tune, and --max-seconds. lab/interrupts.py tries many more of them.

Usage: cli_interrupts.py PATH_OF_BROAD. Whatever the moment: the exit code, something said, the old model or one that loads, and
no other file. How soon is not judged tightly: the machine may be busy.
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SANITIZED, Case, blobs  # noqa: E402

MOST_SECONDS = 120 if SANITIZED else 30


class Interrupted(Case):
    def setUp(self):
        super().setUp()
        self.table = self.write("rows.csv", blobs(300))
        self.more = self.write("more.csv", blobs(40, seed=5))
        self.model = self.path("m.broad")
        self.first = self.path("first.broad")
        self.ok("fit", self.table, "--features", "4x20", "-o", self.first)

    def cut(self, words, after):
        """Runs, interrupts after so many seconds, and returns code, text and seconds."""
        process = subprocess.Popen([BROAD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        time.sleep(after)
        began = time.time()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=MOST_SECONDS)
        self.assertIn(process.returncode, (0, 130, -signal.SIGINT), err)  # the last: it had not begun on a busy machine
        self.assertTrue(err.strip() or process.returncode != 130, (words, after))
        self.assertNotIn("Traceback", err)
        return process.returncode, out + err, time.time() - began

    def check_files(self):
        others = {"rows.csv", "more.csv", "first.broad", "m.broad", "m.broad~"}
        self.assertEqual(set(os.listdir(self.folder)) - others, set())
        if os.path.exists(self.model):
            self.ok("info", self.model)

    def test_fit(self):
        for after in (0.03, 0.05, 0.1, 0.3, 1.0):
            code, text, _ = self.cut(["fit", self.table, "-o", self.model], after)
            if code == 130 and not os.path.exists(self.model):
                self.assertRegex(text, "interrupted; nothing was (saved|written)")
            self.check_files()
            if os.path.exists(self.model):
                os.remove(self.model)

    def test_shortened_file(self):
        """A file of numbers is read where it lies, and is cut off while it is."""
        rows, inputs = 4000, 40
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {inputs}), }}".ljust(117) + "\n"
        data, labels = self.path("x.npy"), self.path("labels")
        with open(data, "wb") as file:
            file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(8 * rows * inputs))
        os.mkfifo(labels)
        process = subprocess.Popen([BROAD, "fit", data, "--labels", labels, "-o", self.model], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        with open(labels, "w") as file:  # the numbers have been looked at
            os.truncate(data, 4096)
            file.write("0\n1\n" * (rows // 2))
        _, err = process.communicate(timeout=MOST_SECONDS)
        self.assertEqual(process.returncode, 74, err)
        self.assertIn("a file was shortened, or its disk failed, while it was being read", err)

    def test_old_model(self):
        for words in (["learn", self.model, self.more, "--with", self.table], ["grow", self.model, self.table, "--enhance", "50x3"],
                      ["fit", self.table, "-o", self.model]):
            for after in (0.03, 0.06, 0.2):
                shutil.copy(self.first, self.model)
                code, text, _ = self.cut(words, after)
                with open(self.model, "rb") as new, open(self.first, "rb") as old:
                    intact = new.read() == old.read()
                if code == 130 and not intact:
                    self.assertIn("saved", text)
                elif code == 130:
                    self.assertRegex(text, "m.broad is unchanged|nothing was written")
                self.check_files()

    def test_others(self):
        for words in (["cv", self.table, "--folds", "3"], ["tune", self.table, "--trials", "2", "-o", self.model]):
            for after in (0.04, 0.3):
                code, text, _ = self.cut(words, after)
                if code == 130:
                    self.assertIn("interrupted", text)
                self.check_files()


class Time(Case):
    def test_too_short(self):
        table = self.write("rows.csv", blobs(300))
        self.fails(1, "max-seconds", "fit", table, "-o", self.path("short.broad"), "--max-seconds", "0.001")
        self.assertFalse(os.path.exists(self.path("short.broad")))

    def test_sizes_follow(self):
        table = self.write("rows.csv", blobs(2000))
        report = self.ok("fit", table, "-o", self.path("m.broad"), "--max-seconds", "4" if not SANITIZED else "60", "--json",
                         "--features", "20x300").json
        self.assertIn(report["status"], ("time_limit", "complete"))
        self.assertEqual(len(report["layers"]), 1)
        self.assertGreater(report["train"]["accuracy"], 0.8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
