#!/usr/bin/env python3
"""Which columns matter: noise does not, a column of categories counts as one, and one that gives the answer away is named.

Usage: cli_importance.py PATH_OF_BROAD.
"""
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case  # noqa: E402

SMALL = ["--features", "5x5", "--enhance", "20x1"]


def table(names, rows):
    return "\n".join([",".join(names)] + [",".join(row) for row in rows]) + "\n"


class Importance(Case):
    def fitted(self, data, *words):
        self.ok("fit", data, "-o", self.path("m.broad"), "-q", *SMALL, *words)
        info = self.ok("info", self.path("m.broad"), "--json").json
        return {one["column"]: one for one in info["importance"] or []}

    def test_noise_has_none(self):
        """y = 10 a + sin(9 b), and six columns of noise; without noise in y, nothing explains it but a and b."""
        rng = random.Random(1)
        rows = []
        for _ in range(600):
            x = [rng.random() for _ in range(8)]
            rows.append(["%.5f" % v for v in (*x, 10 * x[0] + math.sin(9 * x[1]))])
        names = ["a", "b", "n1", "n2", "n3", "n4", "n5", "n6", "y"]
        data = self.write("noise.csv", table(names, rows))
        found = self.fitted(data)
        # Shuffling a column that the target is a sum with adds its variance twice: var(10 a) = 100 / 12, var(sin) about 0.5
        self.assertAlmostEqual(found["a"]["importance"], 2 * (100 / 12) / (100 / 12 + 0.5), delta=0.25)
        self.assertGreater(found["b"]["importance"], 0.05)
        for name in names[2:-1]:
            self.assertLess(abs(found[name]["importance"]), 0.01, found[name])
            self.assertLess(found[name]["spread"], 0.02)
        out = self.ok("fit", data, "-o", self.path("m.broad"), *SMALL)
        self.assertRegex(out.out, r"(?m)^columns  a 1\.\d+ ± 0\.\d+, b 0\.\d+ ± 0\.\d+ \(how much R2 falls")
        self.assertIn("columns  a 1.", self.ok("info", self.path("m.broad")).out)
        self.assertNotIn("explains the target", out.err)
        self.assertIsNone(self.ok("fit", data, "-o", self.path("n.broad"), "--importance", "no", "--json", *SMALL).json["importance"])

    def test_categories_count_as_one_column(self):
        rng = random.Random(2)
        rows = []
        for _ in range(300):
            colour, a, b = rng.choice(["red", "green", "blue"]), rng.gauss(0, 1), rng.gauss(0, 1)
            rows.append([colour, "%.4f" % a, "%.4f" % b, "%.4f" % (a + 3 * (colour == "red"))])
        data = self.write("colour.csv", table(["colour", "a", "b", "y"], rows))
        found = self.fitted(data, "--categorical", "colour")
        self.assertEqual(set(found), {"colour", "a", "b"})
        self.assertGreater(found["colour"]["importance"], found["a"]["importance"])
        self.assertGreater(found["a"]["importance"], 0.3)
        self.assertLess(abs(found["b"]["importance"]), 0.05)

    def test_a_leak_is_named(self):
        rng = random.Random(3)
        rows = []
        for _ in range(200):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            kind = "yes" if a + rng.gauss(0, 1) > 0 else "no"
            rows.append(["%.4f" % a, "%.4f" % b, "%d" % (7 if kind == "yes" else 2), kind])
        data = self.write("leak.csv", table(["a", "b", "code", "kind"], rows))
        page = self.path("leak.html")
        done = self.ok("fit", data, "-o", self.path("l.broad"), "--report", page, *SMALL)
        self.assertIn("column code alone explains the target almost perfectly", done.err)
        self.assertIn("--ignore code", done.err)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        self.assertIn("Which columns matter", html)
        self.assertIn("code alone explains the target", html)
        honest = self.write("honest.csv", table(["a", "b", "kind"], [row[:2] + row[3:] for row in rows]))
        self.assertNotIn("explains the target", self.ok("fit", honest, "-o", self.path("h.broad"), *SMALL).err)

    def test_a_target_that_never_changes(self):
        """Nothing explains it: no column is suspected, and a note says what it is. 0.1 is no binary fraction: means are rounded."""
        rng = random.Random(5)
        for value in ("5.5", "0.1", "0"):
            data = self.write("same.csv", table(["a", "b", "y"], [["%.4f" % rng.random(), "%.4f" % rng.random(), value]
                                                                  for _ in range(100)]))
            done = self.ok("fit", data, "-o", self.path("s.broad"), *SMALL)
            self.assertNotIn("explains the target", done.err)
            self.assertNotIn("--ignore", done.err)
            self.assertIn("the same target in every row, so that there is nothing to learn about it: 'y' (%s)" % value, done.err)
            self.assertIn("the same target", self.ok("data", data, "--json").json["notes"][0])
            self.assertNotIn("the same target", self.ok("eval", self.path("s.broad"), data).err)

    def test_same_for_any_number_of_threads(self):
        rng = random.Random(4)
        rows = [["%.4f" % v for v in (a, b, a * b)] for a, b in ((rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(150))]
        data, seen = self.write("t.csv", table(["a", "b", "y"], rows)), set()
        for threads in ("1", "3"):
            self.ok("fit", data, "-o", self.path("t.broad"), "--threads", threads, "-q", *SMALL)
            seen.add(self.read("t.broad"))
        self.assertEqual(len(seen), 1)

    def test_few_rows_have_none(self):
        data = self.write("few.csv", table(["a", "b", "y"], [[str(i), str(i * i % 7), str(i % 5)] for i in range(30)]))
        self.assertEqual(self.fitted(data), {})
        self.assertNotIn("columns  ", self.ok("info", self.path("m.broad")).out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
