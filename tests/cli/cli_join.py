#!/usr/bin/env python3
"""Predictions that go on: columns of the input beside them, a short table on a terminal, unknown categories, no rows.

Usage: cli_join.py PATH_OF_BROAD.
"""
import csv
import io
import json
import os
import pty
import random
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import BROAD, Case, read_terminal  # noqa: E402

SMALL = ["--features", "2x5", "--enhance", "20x1", "--loo", "yes", "-q"]


def rows(count, seed):
    """An id with quotes and commas in it, a colour, two numbers, a class and a value that follow from them."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        a, b, colour = rng.gauss(0, 1), rng.gauss(0, 1), rng.choice(["red", "green", "blue"])
        out.append({"id": 'no "%d", b' % i, "a": "%.4f" % a, "b": "%.4f" % b, "colour": colour,
                    "y": "%.4f" % (a + 2 * (colour == "red")), "kind": "high" if a + (colour == "red") > 0.4 else "low"})
    return out


def text(table, names):
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def parse(printed):
    return list(csv.DictReader(io.StringIO(printed)))


def on_terminal(*words):
    """Standard output as a terminal gets it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([BROAD, *words], stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.PIPE)
    os.close(follower)
    read = read_terminal(leader)
    error = process.stderr.read()
    process.stderr.close()
    return process.wait(), read, error.decode()


class Join(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        table = rows(200, 1)
        cls.kinds, cls.values = case.path("kinds.broad"), case.path("values.broad")
        reading = ["--categorical", "colour", "--missing", "mean"]
        case.ok("fit", case.write("k.csv", text(table, ["a", "b", "colour", "kind"])), "-o", cls.kinds, *reading, *SMALL)
        case.ok("fit", case.write("v.csv", text(table, ["a", "b", "colour", "y"])), "-o", cls.values, *reading, *SMALL)
        cls.fresh = rows(50, 2)
        cls.table = case.write("new.csv", text(cls.fresh, ["id", "a", "b", "colour", "y"]))

    def test_columns_beside_predictions(self):
        plain = parse(self.ok("predict", self.kinds, self.table).out)
        joined = parse(self.ok("predict", self.kinds, self.table, "--keep", "id,colour").out)
        self.assertEqual(list(joined[0]), ["row", "id", "colour", *list(plain[0])[1:]])
        for row, alone, given in zip(joined, plain, self.fresh):
            self.assertEqual((row["id"], row["colour"]), (given["id"], given["colour"]))
            self.assertEqual({**row, "id": 0, "colour": 0}, {**alone, "id": 0, "colour": 0})
        by_number = self.ok("predict", self.kinds, self.table, "--keep", "1,4").out
        self.assertEqual(by_number, self.ok("predict", self.kinds, self.table, "--keep", "id,colour").out)

    def test_all_and_names_that_meet(self):
        joined = parse(self.ok("predict", self.values, self.table, "--keep", "all", "--interval", "0.8").out)
        self.assertEqual(list(joined[0]), ["row", "id", "a", "b", "colour", "y", "predicted_y", "y_low", "y_high"])
        for row, given in zip(joined, self.fresh):
            self.assertEqual([row[name] for name in ("id", "a", "b", "colour", "y")],
                             [given[name] for name in ("id", "a", "b", "colour", "y")])
        lines = self.ok("predict", self.values, self.table, "--keep", "id", "--format", "jsonl").out.splitlines()
        self.assertEqual([json.loads(line)["kept"]["id"] for line in lines], [given["id"] for given in self.fresh])
        piped = self.ok("predict", self.values, "-", "--keep", "id", stdin=self.read("new.csv").decode()).out
        self.assertEqual([row["id"] for row in parse(piped)], [given["id"] for given in self.fresh])
        self.fails(65, "there is no column 'who'", "predict", self.values, self.table, "--keep", "who")

    def test_unknown_categories_are_counted(self):
        odd = [dict(row) for row in self.fresh]
        odd[3]["colour"] = odd[7]["colour"] = "purple"
        odd[9]["colour"] = ""
        path = self.write("odd.csv", text(odd, ["a", "b", "colour"]))
        done = self.ok("predict", self.kinds, path)
        self.assertIn("column colour: 2 rows have a category that the model does not know, such as 'purple'", done.err)
        self.assertEqual(self.ok("predict", self.kinds, path, "--json").json["unknown"], {"colour": {"rows": 2, "first": "purple"}})
        self.assertEqual(self.ok("predict", self.kinds, self.table, "--json").json["unknown"], {})
        self.assertNotIn("category", self.ok("predict", self.kinds, self.table).err)

    def test_no_rows(self):
        empty = self.write("empty.csv", "id,a,b,colour\n")
        for words, head in (([], "row,label,score_high,score_low\n"), (["--keep", "id", "--proba"],
                            "row,id,label,proba_high,proba_low,score_high,score_low\n")):
            self.assertEqual(self.ok("predict", self.kinds, empty, *words).out, head)
        found = self.ok("predict", self.kinds, empty, "--json").json
        self.assertEqual((found["rows"], found["predictions"]), (0, []))
        self.assertEqual(self.ok("predict", self.kinds, empty, "--format", "jsonl").out, "")
        self.fails(65, "no rows", "fit", empty, "-o", self.path("x.broad"))
        self.fails(65, "no rows", "eval", self.kinds, self.write("e.csv", "a,b,colour,kind\n"))

    def test_a_terminal_gets_a_short_table(self):
        code, out, _ = on_terminal("predict", self.kinds, self.table, "--keep", "id")
        lines = out.splitlines()
        self.assertEqual(code, 0)
        self.assertEqual(lines[0].split(), ["row", "id", "verdict", "probability"])
        self.assertEqual(len([line for line in lines if "%" in line]), 20)
        self.assertRegex(out, r"\.\.\. 20 of 50 rows are shown: \d+ high, \d+ low")
        self.assertTrue(all(len(line) <= 80 for line in lines))
        self.assertNotRegex(out, r"\d\.\d{6}")
        _, values, _ = on_terminal("predict", self.values, self.table, "--interval", "0.9")
        self.assertEqual(values.splitlines()[0].split(), ["row", "y", "from", "to"])
        _, asked, _ = on_terminal("predict", self.kinds, self.table, "--format", "csv")
        self.assertEqual(asked, self.ok("predict", self.kinds, self.table).out)


class Photos(Case):
    def test_one_wrong_name_among_several(self):
        """The others get their verdicts, and the wrong one is named."""
        folder, model = self.path("p"), self.path("p.broad")
        self.ok("render", folder, "--count", "16", "--size", "32", "--seed", "1", "-q")
        self.ok("fit", folder, "-o", model, *SMALL)
        names = [os.path.join(at, name) for at, _, files in os.walk(folder) for name in sorted(files) if name.endswith(".jpg")][:2]
        wrong = os.path.join(folder, "nope.jpg")
        done = self.ok("predict", model, "-", stdin="\n".join([names[0], wrong, names[1]]) + "\n")
        self.assertEqual([row["file"] for row in parse(done.out)], names)
        self.assertIn("nope.jpg", done.err)
        self.fails(65, "nope.jpg", "predict", model, "-", "--strict", stdin="\n".join([names[0], wrong]) + "\n")
        self.fails(66, "nope.jpg", "predict", model, wrong)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
