#!/usr/bin/env python3
"""A model that several runs want to change, and what a run replaced: nothing is lost, everything can be undone.

Usage: cli_undo.py PATH_OF_BROAD.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SANITIZED, Case, blobs  # noqa: E402

CHAIN = ["--kind", "brls", "--weights", "chain", "--feature-weights", "random", "--features", "2x5", "--enhance", "5x2",
         "--loo", "no"]


def body(text):
    """A CSV text without its header."""
    return text.split("\n", 1)[1]


class Changed(Case):
    def setUp(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        self.first = self.write("first.csv", blobs(60))
        self.parts = [self.write("part%d.csv" % i, blobs(30, seed=10 + i)) for i in range(4)]

    def fit(self, name, *words, data=None):
        self.ok("fit", data or self.first, "-o", self.path(name), "-q", *CHAIN, *words)
        return self.path(name)

    def rows(self, model):
        return self.ok("info", model, "--json").json["rows"]

    def names(self):
        return sorted(name for name in os.listdir(self.folder) if not name.endswith(".csv"))


class Together(Changed):
    def start(self, *words):
        return subprocess.Popen([BROAD, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_rows_are_those_of_the_runs_that_succeeded(self):
        for trial in range(3 if SANITIZED else 12):
            model = self.fit("m.broad", "--keep-stats")
            runs = [self.start("learn", model, part) for part in self.parts[:2 + trial % 3]]
            ends = [(run.wait(), run.stderr.read()) for run in runs]
            for run in runs:
                run.stderr.close()
            done = sum(code == 0 for code, _ in ends)
            self.assertTrue(all(code == 0 or (code == 73 and "another run" in err) for code, err in ends), ends)
            self.assertGreater(done, 0)
            self.assertEqual(self.rows(model), 60 + 30 * done)
            self.ok("learn", model, self.write("after.csv", blobs(20, seed=90)), "-q")
            self.assertEqual(self.rows(model), 80 + 30 * done)
            self.assertEqual(self.names(), ["m.broad", "m.broad.stats", "m.broad.stats~", "m.broad~"])

    def test_who_comes_second_is_told_before_the_work(self):
        model = self.fit("m.broad")
        before = self.read("m.broad")
        waits = self.start_waiting(model)
        for words in (["learn", model, self.parts[1], "--with", self.first], ["undo", model],
                      ["grow", model, self.first, "--enhance", "5"], ["fit", self.first, "-o", model, *CHAIN]):
            self.fails(73, "m.broad is being changed by another run", *words)
        self.ok("predict", model, self.first)
        self.ok("learn", model, self.parts[1], "--with", self.first, "-o", self.path("other.broad"), "-q")
        waits.stdin.write(body(blobs(30, seed=3)))
        waits.communicate()
        self.assertEqual(waits.returncode, 0)
        self.assertNotEqual(self.read("m.broad"), before)
        self.assertEqual(self.read("m.broad~"), before)

    def start_waiting(self, model):
        """A run that has begun and waits for its rows."""
        waits = subprocess.Popen([BROAD, "learn", model, "-", "--with", self.first, "-q"], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, text=True)
        waits.stdin.write("a,b,kind\n")
        waits.stdin.flush()
        until = time.monotonic() + 60
        while time.monotonic() < until and self.is_free(model):
            time.sleep(0.01)
        return waits

    def is_free(self, model):
        with open(model, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def test_a_killed_run_holds_nothing(self):
        model = self.fit("m.broad")
        before = self.read("m.broad")
        waits = self.start_waiting(model)
        waits.send_signal(signal.SIGKILL)
        waits.wait()
        waits.stdin.close()
        self.assertEqual(self.read("m.broad"), before)
        self.ok("learn", model, self.parts[0], "--with", self.first, "-q")
        self.assertEqual(self.names(), ["m.broad", "m.broad~"])

    def test_a_program_that_knows_no_lock_loses_nothing(self):
        model = self.fit("m.broad")
        waits = self.start_waiting(model)
        other = self.fit("other.broad", "--seed", "8")
        shutil.copy(other, self.path("copy"))
        os.rename(self.path("copy"), model)
        waits.stdin.write(body(blobs(30, seed=3)))
        waits.stdin.close()
        self.assertEqual(waits.wait(), 73)
        self.assertEqual(self.read("m.broad"), self.read("other.broad"))
        apart = [name for name in self.names() if name.startswith("m.broad.")]
        self.assertEqual(len(apart), 1)
        self.assertEqual(self.rows(self.path(apart[0])), 90)


class Undo(Changed):
    def test_every_way_to_replace_a_model(self):
        model = self.fit("m.broad")
        self.assertEqual(self.names(), ["m.broad"])
        for words in (["fit", self.parts[0], "-o", model, *CHAIN], ["grow", model, self.parts[0], "--enhance", "5x1"],
                      ["learn", model, self.parts[1], "--with", self.parts[0]],
                      ["learn", model, self.parts[2], "--forgetful"],
                      ["tune", self.first, "--trials", "1", "--kinds", "bls", "-o", model]):
            before = self.read("m.broad")
            self.ok(*words, "-q")
            after = self.read("m.broad")
            self.assertNotEqual(after, before, words)
            self.assertEqual(self.read("m.broad~"), before, words)
            self.ok("undo", model)
            self.assertEqual((self.read("m.broad"), self.read("m.broad~")), (before, after), words)
            self.ok("undo", model)
            self.assertEqual((self.read("m.broad"), self.read("m.broad~")), (after, before), words)

    def test_sums_go_with_their_model(self):
        model = self.fit("m.broad", "--keep-stats")
        self.ok("learn", model, self.parts[0], "-q")
        self.ok("undo", model, "-q")
        self.ok("learn", model, self.parts[1], "-q")
        self.assertEqual(self.rows(model), 90)
        self.ok("learn", model, self.parts[2], "--forgetful", "-q")
        self.assertEqual(self.names(), ["m.broad", "m.broad.stats~", "m.broad~"])
        os.remove(self.first)
        self.fails(2, "the old rows are needed", "learn", model, self.parts[3])
        self.assertTrue(self.ok("undo", model, "--json").json["stats"])
        self.ok("learn", model, self.parts[3], "-q")
        self.assertEqual(self.rows(model), 120)

    def test_cut_off_between_the_files(self):
        """A crash after the model was swapped, before its sums were."""
        model = self.fit("m.broad", "--keep-stats")
        self.ok("learn", model, self.parts[0], "-q")
        os.rename(self.path("m.broad"), self.path("new"))
        os.rename(self.path("m.broad~"), model)
        os.rename(self.path("new"), self.path("m.broad~"))
        self.ok("learn", model, self.parts[1], "-q")
        self.assertEqual(self.rows(model), 90)

    def test_what_it_says(self):
        model = self.fit("m.broad")
        self.ok("learn", model, self.parts[0], "--with", self.first, "-q")
        out = self.ok("undo", model).out
        self.assertRegex(out, r"restored \S+m.broad: saved \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, trained on 60 rows")
        self.assertRegex(out, r"replaced \S+m.broad~: saved .*, trained on 90 rows")
        told = self.ok("undo", model, "--json").json
        self.assertEqual((told["command"], told["restored"]["rows"], told["replaced"]["rows"], told["stats"]),
                         ("undo", 90, 60, False))
        with open(model, "wb") as file:
            file.write(b"broken")
        self.assertIsNone(self.ok("undo", model, "--json").json["replaced"])
        self.assertEqual(self.rows(model), 60)

    def test_nothing_to_undo(self):
        model = self.fit("m.broad")
        error = self.fails(66, "there is nothing to undo: ", "undo", model, "--json")
        self.assertEqual(json.loads(error.out)["error"]["code"], 66)
        self.fit("m.broad")
        self.assertEqual(self.names(), ["m.broad"])
        shutil.copy(model, model + "~")
        self.fails(1, "are the same", "undo", model)
        self.fails(66, "nothing to undo", "undo", self.path("none.broad"))
        self.write("m.broad~", "no model")
        self.fails(76, "m.broad~", "undo", model)

    def test_checkpoints_keep_what_was_there_before_the_run(self):
        model = self.fit("m.broad")
        before = self.read("m.broad")
        self.ok("grow", model, self.first, "--enhance", "5x3", "--checkpoint", "1", "-q")
        self.assertEqual(self.read("m.broad~"), before)

    def test_links_stay(self):
        os.mkdir(self.path("store"))
        real = self.fit("store/m.broad")
        os.symlink(real, self.path("link.broad"))
        self.fit("link.broad", data=self.parts[0])
        self.assertTrue(os.path.islink(self.path("link.broad")))
        self.ok("undo", self.path("link.broad"))
        self.assertEqual(self.rows(real), 60)


class Refused(Changed):
    def test_sums_that_cannot_be_kept_are_refused_before_training(self):
        for words in (["fit", self.first], ["fit", self.first, *CHAIN, "--class-weight", "balanced"]):
            self.fails(2, "--keep-stats: sums of the training rows", *words, "-o", self.path("n.broad"), "--keep-stats")
            self.assertEqual(self.names(), [])
        self.ok("fit", self.first, "-o", self.path("m.broad"), "-q", "--no-names")
        for words in (["grow", "--enhance", "5"], ["learn", self.parts[0], "--with"]):
            self.fails(2, "--keep-stats: sums of the training rows", words[0], self.path("m.broad"), *words[1:],
                       self.first, "--keep-stats")
        err = self.fails(2, "give --with OLD", "learn", self.path("m.broad"), self.parts[0]).err
        self.assertNotIn("--keep-stats", err)
        self.assertNotIn("--forgetful", err)
        self.fails(2, "joint weights", "learn", self.path("m.broad"), self.parts[0], "--forgetful")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
