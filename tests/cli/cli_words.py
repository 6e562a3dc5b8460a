#!/usr/bin/env python3
"""Names and labels of unknown origin: what a terminal, a spreadsheet and a shell get to see of them. And the order of MODEL.

Usage: cli_words.py PATH_OF_BROAD.
"""
import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, SMALL, Case, blobs, run  # noqa: E402

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NASTY = ("\x1b]0;title\x07", "good", "Straße")


class Terminal(Case):
    def setUp(self):
        self.data = self.write("nasty.csv", blobs(60, classes=NASTY).replace("a,b,kind", "a\x1b[31m,b,kind"))
        self.model = self.path("m\x1b[2J.broad")

    def assert_plain(self, text):
        self.assertIsNone(CONTROL.search(text), ascii(text))

    def test_results_and_messages(self):
        for words in (["fit", self.data, "-o", self.model, "--verbose", "--holdout", "0.3", *SMALL], ["info", self.model],
                      ["eval", self.model, self.data], ["data", self.data], ["verify", self.model, self.data],
                      ["grow", self.model, self.data, "--enhance", "5"], ["cv", self.data, *SMALL, "--folds", "2"]):
            done = self.ok(*words)
            self.assert_plain(done.out + done.err)
            if words[0] in ("fit", "info", "data"):
                self.assertIn("\\x1b]0;title\\x07", done.out)
                self.assertIn("Straße", done.out)
        for words in (["info", "no\x1b[31m.broad"], ["fit", self.data, "--kind", "\x1b[31m"], ["\x1b[31m"],
                      ["fit", self.data, "--target", "\x1b[31m"], ["fit", self.data, "--\x1b[31m"], ["info", b"\xff\x9b"]):
            done = run(*words)
            self.assertNotEqual(done.code, 0)
            self.assert_plain(done.err)

    def test_predictions_on_a_terminal(self):
        self.ok("fit", self.data, "-o", self.model, *SMALL)
        end, screen = pty.openpty()
        process = subprocess.Popen([BROAD, "predict", self.model, self.data], stdout=screen, stderr=screen)
        os.close(screen)
        shown = b""
        try:
            while block := os.read(end, 65536):
                shown += block
        except OSError:  # the other end is closed
            pass
        os.close(end)
        self.assertEqual(process.wait(), 0)
        self.assert_plain(shown.decode().replace("\r\n", "\n"))
        self.assertIn("\x1b]0;title\x07", self.ok("predict", self.model, self.data).out)  # a file gets what is there


class Spreadsheet(Case):
    LABELS = ("=1+2", "+49 30", "-1", "@SUM(A1)", "-cmd", "plain")

    def test_labels_are_no_formulas(self):
        data, model = self.write("f.csv", blobs(120, classes=self.LABELS)), self.path("f.broad")
        self.ok("fit", data, "-o", model, *SMALL)
        shown = {row["label"] for row in csv.DictReader(io.StringIO(self.ok("predict", model, data).out))}
        told = {json.loads(line)["label"] for line in self.ok("predict", model, data, "--format", "jsonl").out.splitlines()}
        self.assertLessEqual(told, set(self.LABELS))
        self.assertGreater(len(told), 3)
        self.assertEqual(shown, {label if label in ("-1", "plain") else "'" + label for label in told})

    def test_columns_are_no_formulas(self):
        rows = "".join("%d,%d,%d\n" % (i, i % 7, 3 * i) for i in range(40))
        data, model = self.write("c.csv", "a,b,=y\n" + rows), self.path("c.broad")
        self.ok("fit", data, "-o", model, *SMALL)
        self.assertEqual(self.ok("predict", model, data).out.splitlines()[0], "row,'=y")


class Words(Case):
    def setUp(self):
        self.data = self.write("it's a table.csv", blobs(60))
        self.model = self.path("m.broad")

    def test_next_steps_can_be_typed(self):
        text = self.ok("fit", self.data, "-o", self.model, *SMALL).out
        steps = [shlex.split(line) for line in re.findall(r"(?m)^(?:next)? +(broad .*)$", text)]
        self.assertEqual([step[1] for step in steps], ["predict", "verify"])
        self.ok("predict", self.model, self.data)
        self.ok(*steps[1][1:])

    def test_what_was_learned_with_labels_can_be_verified_or_is_not_offered(self):
        def apart(name, seed):
            cells = [line.rpartition(",") for line in blobs(60, seed).splitlines()]
            return [self.write(f"{name}-{part}.csv", "".join(cell[at] + "\n" for cell in cells))
                    for part, at in (("inputs", 0), ("labels", 2))]

        old, old_labels = apart("old", 2)
        new, new_labels = apart("new", 3)
        self.ok("fit", self.data, "-o", self.model, "--no-names", *SMALL)
        mixed = self.ok("learn", self.model, new, "--labels", new_labels, "--with", self.data).out
        self.assertIn("broad info", mixed)
        self.assertNotIn("broad verify", mixed)
        self.ok("fit", old, "--labels", old_labels, "-o", self.model, *SMALL)
        text = self.ok("learn", self.model, new, "--labels", new_labels, "--with", old, "--with-labels", old_labels).out
        self.ok(*shlex.split(re.search(r"(?m)^ +broad (verify .*)$", text)[1]))

    def test_model_comes_first(self):
        self.ok("fit", self.data, "-o", self.model, *SMALL)
        for command in ("predict", "eval", "verify", "grow", "learn"):
            words = [command, self.data, self.model] + (["--enhance", "5"] if command == "grow" else [])
            err = self.fails(76, "MODEL comes first", *words).err
            self.assertIn(f"'{self.model}' is", err)
        self.assertNotIn("MODEL comes first", run("predict", self.data, self.data).err)

    def test_counts_agree_with_their_nouns(self):
        one = self.write("one.csv", "a,kind\n" + "".join("%d,%s\n" % (i, "xy"[i % 2]) for i in range(20)))
        for words in (["fit", one, "-o", self.model, *SMALL], ["data", one], ["cv", one, *SMALL]):
            self.assertNotRegex(self.ok(*words).out, r"\b1 \w+s\b")

    def test_help_fits_a_terminal(self):
        self.assertLessEqual(max(len(line) for line in self.ok("help").out.splitlines()), 80)
        for command in run("help", "--json").json["commands"]:
            text = self.ok("help", command["name"]).out
            body = text.partition("\nExamples\n")[0]
            self.assertLessEqual(max(len(line) for line in body.splitlines()), 80, command["name"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
