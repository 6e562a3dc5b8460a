#!/usr/bin/env python3
"""Every command that a result prints under 'next' works when it is pasted; --refit; and what learning made worse is said.

Usage: cli_next.py PATH_OF_BROAD.
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, Case, blobs, curve  # noqa: E402

CHAIN = ["--kind", "brls", "--weights", "chain", "--feature-weights", "random", "--features", "2x5", "--enhance", "5x2"]


def parts(text):
    """A table without its last column, and that column as a table."""
    rows = [line.rsplit(",", 1) for line in text.splitlines()]
    return "".join(a + "\n" for a, _ in rows), "".join(b + "\n" for _, b in rows)


class Next(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ["XDG_CACHE_HOME"] = os.path.join(cls.folder, "cache")
        os.mkdir(os.path.join(cls.folder, "bin"))
        os.symlink(BROAD, os.path.join(cls.folder, "bin", "broad"))
        os.chdir(cls.folder)
        cls.addClassCleanup(os.chdir, "/")

    def paste(self, out):
        """Runs the lines under 'next'; those for new rows with some of the rows there are."""
        block = re.search(r"(?m)^next     (.*\n(?:         .*\n)*)", out)
        self.assertTrue(block, out)
        lines = [line.strip() for line in block.group(1).splitlines()]
        for line in lines:
            line = re.sub(r"(?<= )NEW/", "some/", re.sub(r"(?<= )NEW\.csv", "some.csv", line))
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, (line, done.stderr))
        return lines

    def do(self, *words, check="verify"):
        lines = self.paste(self.ok(*words).out)
        self.assertIn("broad %s " % check, lines[1], lines)
        return lines

    def test_tables(self):
        self.write("some.csv", blobs(9, seed=3))
        for name in ("a b.csv", "it's \"odd\" $HOME.csv", "-x.csv", "semi;colon.csv"):
            path = "./" + name
            self.write(name, blobs(60))
            self.do("fit", path, "-o", "m.broad", *CHAIN)
            self.write("more " + name, blobs(30, seed=7))
            self.do("learn", "m.broad", "./more " + name, "--with", path)
            self.do("grow", "m.broad", path, "./more " + name, "--enhance", "5x1")
            self.do("grow", "m.broad", "--enhance", "5x1", check="verify")
        os.makedirs("else where", exist_ok=True)
        self.do("learn", "m.broad", self.write("third.csv", blobs(20, seed=8)), "-o", "else where/o'ther.broad")
        self.do("learn", "m.broad", self.path("third.csv"), "--forgetful", check="info")
        self.write("bars.csv", blobs(60).replace(",", "|"))
        self.do("fit", "bars.csv", "--separator", "|", "-o", "m.broad", *CHAIN)
        self.do("fit", "a b.csv", "--holdout", "0.3", "-o", "m.broad", *CHAIN)
        self.do("fit", "a b.csv", "--keep-stats", "-o", "m.broad", *CHAIN)
        self.do("learn", "m.broad", "third.csv", check="info")
        self.write("some.csv", curve(9, seed=3))
        self.do("fit", self.write("c.csv", curve(60)), "--holdout", "0.25", "-o", "m.broad", *CHAIN)

    def test_tables_with_lists(self):
        names = {}
        for name, seed in (("one", 1), ("two", 2)):
            names[name], names[name + " list"] = (
                self.write("%s %s.csv" % (name, kind), text)
                for kind, text in zip(("x", "y"), parts(blobs(40, seed=seed))))
        self.write("some.csv", parts(blobs(9, seed=5))[0])
        self.do("fit", names["one"], "--labels", names["one list"], "-o", "m.broad", *CHAIN)
        shutil.copy("m.broad", "n.broad")
        self.do("learn", "m.broad", names["two"], "--labels", names["two list"], "--with", names["one"], "--with-labels",
                names["one list"])
        self.do("learn", "n.broad", names["two"], "--labels", names["two list"])

    def test_tune(self):
        self.write("t t.csv", blobs(60))
        self.paste(self.ok("tune", "t t.csv", "--trials", "2", "--kinds", "bls", "-o", "best.broad").out)

    def test_photos(self):
        self.ok("render", "ph otos", "--count", "24", "--size", "32", "--seed", "5", "-q")
        self.ok("render", "some", "--count", "8", "--size", "32", "--seed", "6", "-q")
        photos = sorted("some/" + kind + "/" + name for kind in ("Clean", "Dusty") for name in os.listdir("some/" + kind))
        lines = self.do("fit", "ph otos", "--holdout", "0.3", "-o", "p.broad")
        self.assertRegex(lines[2], r"^broad fit 'ph otos' --holdout 0.3 .*--refit$")
        self.do("fit", "ph otos", "--holdout", "0.3", "-o", "p.broad")
        os.makedirs("flat", exist_ok=True)
        with open("list.csv", "w", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["file", "label"])
            for photo in photos[:3]:
                shutil.copy(photo, "flat/" + photo.replace("/", "_"))
                writer.writerow([photo.replace("/", "_"), "Clean"])
        self.do("learn", "p.broad", "flat", "--labels", "list.csv", "--with", "ph otos")
        self.write("c.csv", "file,correction\n%s,Dusty\n" % photos[5])
        self.do("learn", "p.broad", "--corrections", "c.csv")
        self.do("grow", "p.broad", "ph otos", "flat", "--enhance", "10x1", "-o", "q.broad")
        self.do("fit", "ph otos", "-o", "p.broad", "--no-names", "--map", "pixels", "--side", "8")

    def test_photos_with_values(self):
        for name, count, seed in (("soil", "16", "5"), ("more soil", "8", "6")):
            self.ok("render", name, "--severity", "--count", count, "--size", "32", "--seed", seed, "-q")
        shutil.copytree("soil/photos", "some", dirs_exist_ok=True)
        words = ["--labels", "soil/labels.csv", "--map", "descriptors"]
        self.do("fit", "soil/photos", *words, "--holdout", "0.3", "-o", "s.broad")
        self.do("fit", "soil/photos", *words, "-o", "s.broad")
        shutil.copy("s.broad", "t.broad")
        self.do("learn", "s.broad", "more soil/photos", "--labels", "more soil/labels.csv", "--with", "soil/photos",
                "--with-labels", "soil/labels.csv")
        self.do("learn", "t.broad", "more soil/photos", "--labels", "more soil/labels.csv")


class Refit(Case):
    def test_test_by_one_model_and_all_rows_in_the_other(self):
        data = self.write("data.csv", blobs(100))
        for name, words in (("held", ["--holdout", "0.3"]), ("again", ["--holdout", "0.3", "--refit"]), ("all", [])):
            out = self.ok("fit", data, *words, "-o", self.path(name + ".broad"), *CHAIN)
            told = self.ok("fit", data, *words, "-o", self.path(name + ".broad"), *CHAIN, "--json").json
            if name == "held":
                held = told["test"]
                self.assertIn("--refit trains on these too", out.out)
            if name == "again":
                self.assertEqual((told["rows"], told["tested_rows"], told["test"]), (100, held_rows(told), held))
                self.assertIn("held-out rows, by a model of the other %d" % told["tested_rows"], out.out)
                self.assertIn("100 rows, 2 inputs; the model saved is trained on all of them", out.out)
        self.assertEqual(self.read("again.broad"), self.read("all.broad"))
        self.fails(65, "trained on them in the end (--refit)", "eval", self.path("again.broad"), data, "--part", "test")
        self.ok("eval", self.path("held.broad"), data, "--part", "test")

    def test_bad_use(self):
        data = self.write("data.csv", blobs(60))
        self.fails(2, "give --holdout FRACTION too", "fit", data, "--refit", "-o", self.path("m"))
        self.fails(2, "omit --patience", "fit", data, "--refit", "--holdout", "0.3", "--patience", "3", "-o",
                   self.path("m"))


def held_rows(told):
    return told["rows"] - told["test"]["rows"]


class Worse(Case):
    def test_what_got_worse_is_said(self):
        """Rows with the wrong labels, learned with great weight."""
        data, model = self.write("data.csv", blobs(150)), self.path("m.broad")
        wrong = self.write("wrong.csv", blobs(30, seed=3, classes=("cat", "ant", "bee")))
        words = [model, wrong, "--with", data, "--weight", "50"]
        for holdout, rows in ((["--holdout", "0.3"], "held-out"), ([], "leave-one-out")):
            self.ok("fit", data, *holdout, "-o", model, "-q", "--features", "2x5")
            out = self.ok("learn", *words, "-o", self.path("n.broad")).out
            self.assertRegex(out, r"(?m)^worse    accuracy .* was [01]\S* before and is [01]\S* now.*still in \S+m.broad$")
            told = self.ok("learn", *words, "--json").json["worse"]
            self.assertEqual((told["rows"], told["measure"]), (rows, "accuracy"))
            self.assertLess(told["after"], told["before"])
            self.ok("undo", model, "-q")
            self.assertIn("'broad undo %s'" % model, self.ok("learn", *words).out)
        good = self.write("good.csv", blobs(30, seed=3))
        self.ok("fit", data, "--holdout", "0.3", "-o", model, "-q", "--features", "2x5")
        self.assertNotIn("\nworse", self.ok("learn", model, good, "--with", data).out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
