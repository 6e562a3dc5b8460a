#!/usr/bin/env python3
"""Files as users have them: columns of categories, missing values and row weights, from fit to predict.

Usage: cli_data.py PATH_OF_BROAD. What the tool makes of a column of categories is compared with a file in which this
script has written the levels as columns of zeros and ones.
"""
import csv
import gzip
import io
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, npy  # noqa: E402

SETTINGS = ["--preset", "paper", "--features", "2x5", "--enhance", "10x4", "--seed", "9", "-q"]
COLOURS, SHAPES = ("red", "green", "blue"), ("round", "square", "long, thin")
EFFECT = {"red": 1.0, "green": 3.0, "blue": -2.0, "round": 1.0, "square": 0.5, "long, thin": 2.0}


def cars(rows, seed=1, hole=0.0):
    """Rows as dictionaries; None is missing. The price depends on both categories."""
    rng = random.Random(seed)
    table = []
    for _ in range(rows):
        row = {"size": round(rng.uniform(0, 3), 4), "colour": rng.choice(COLOURS), "age": round(rng.uniform(0, 9), 3),
               "shape": rng.choice(SHAPES), "count": round(rng.uniform(0.5, 4), 2)}
        row["price"] = round(2 * row["size"] + EFFECT[row["colour"]] * EFFECT[row["shape"]] - row["age"] / 3, 4)
        for name in ("size", "colour", "shape"):
            if rng.random() < hole:
                row[name] = None
        table.append(row)
    return table


def text(table, names, header=True):
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    if header:
        lines.writerow(names)
    for row in table:
        lines.writerow(["" if row[name] is None else row[name] for name in names])
    return out.getvalue()


RAW = ["size", "colour", "age", "shape", "price"]


def one_hot(table, names=RAW):
    """The same rows with a column for each level, sorted by their bytes."""
    columns, out, levels = [], [], {"colour": sorted(COLOURS), "shape": sorted(SHAPES)}
    for name in names:
        columns += ["%s=%s" % (name, level) for level in levels[name]] if name in levels else [name]
    for row in table:
        new = {}
        for column in columns:
            name, _, level = column.partition("=")
            new[column] = row[name] if not level else None if row[name] is None else int(row[name] == level)
        out.append(new)
    return out, columns


class Data(Case):
    def fit(self, name, data, *words):
        return self.ok("fit", data, "-o", self.path(name), *SETTINGS, *words)

    def numbers(self, model, data, column="price"):
        out = self.ok("predict", model, data).out
        return [float(row[column]) for row in csv.DictReader(io.StringIO(out))]


class Categories(Data):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.table = cars(160)
        cls.raw = case.write("raw.csv", text(cls.table, RAW))
        rows, columns = one_hot(cls.table)
        cls.hot = case.write("hot.csv", text(rows, columns))
        cls.model, cls.by_hand = case.path("model"), case.path("by_hand")
        case.fit("model", cls.raw, "--categorical", "colour,shape")
        case.fit("by_hand", cls.hot)

    def test_equals_one_hot_by_hand(self):
        self.assertEqual(self.numbers(self.model, self.raw), self.numbers(self.by_hand, self.hot))
        self.assertEqual(self.ok("info", self.model, "--json").json["inputs"],
                         self.ok("info", self.by_hand, "--json").json["inputs"])
        self.assertEqual(self.ok("eval", self.model, self.raw, "--json").json["test"],
                         self.ok("eval", self.by_hand, self.hot, "--json").json["test"])

    def test_auto_and_numbers_find_the_same(self):
        for columns in ("auto", "2,4", "shape,colour", "auto,2"):
            self.fit("again", self.raw, "--categorical", columns)
            self.assertEqual(self.read("again"), self.read("model"), columns)

    def test_other_order_of_columns(self):
        other = self.write("other.csv", text([{**row, "extra": "x"} for row in self.table],
                                             ["shape", "extra", "age", "colour", "size"]))
        self.assertEqual(self.numbers(self.model, other), self.numbers(self.model, self.raw))
        bare = self.write("bare.csv", text(self.table, RAW[:-1], header=False))
        self.assertEqual(self.numbers(self.model, bare), self.numbers(self.model, self.raw))
        piped = self.ok("predict", self.model, "-", stdin=text(self.table, RAW)).out
        self.assertEqual(piped, self.ok("predict", self.model, self.raw).out)

    def test_rows_one_by_one(self):
        """A file without some of the levels has all their inputs none the less."""
        whole = self.numbers(self.model, self.raw)
        for i in (0, 7, 31):
            one = self.write("one.csv", text(self.table[i:i + 1], RAW[:-1]))
            self.assertAlmostEqual(self.numbers(self.model, one)[0], whole[i], delta=1e-9)

    def test_undeclared_text(self):
        self.fails(65, "raw.csv:2:2: '%s' is not a number (column 'colour'); give --categorical 'colour' if "
                   "the column holds categories" % self.table[0]["colour"], "fit", self.raw, *SETTINGS,
                   "--categorical", "none")
        self.assertFalse(os.path.exists(self.path("model.broad")))
        result = self.ok("fit", self.raw, *SETTINGS[:-1], "-o", self.path("undeclared"))
        self.assertIn("text became categories: columns 'colour' (3), 'shape' (3)\n", result.err)
        self.assertEqual(self.read("undeclared"), self.read("model"))

    def test_unknown_level(self):
        self.ok("predict", self.model, self.raw)
        self.fit("strict", self.raw, "--missing", "error")
        strict = self.path("strict")
        rows = [dict(row) for row in self.table[:3]]
        rows[1]["colour"] = "mauve"
        for name, words in (("price", ("eval", strict)), ("shape", ("predict", strict)),
                            ("price", ("learn", strict, "--with", self.raw, "-o", self.path("refused")))):
            order = ["size", "age", "colour", "shape", "price"]
            data = self.write("unknown.csv", text(rows, order[:order.index(name) + 1]))
            result = self.fails(65, "unknown.csv:3:3: 'mauve' is not a level of column 'colour'; the model has 3: 'blue', "
                                "'green', 'red'; correct it, or fit again", *words[:2], data, *words[2:])
            self.assertEqual(result.out, "")
            self.assertNotIn("--new-classes", result.err)
        self.assertFalse(os.path.exists(self.path("refused")))

    def test_empty_level(self):
        rows = [dict(row) for row in self.table[:3]]
        rows[2]["shape"] = None
        data = self.write("empty.csv", text(rows, RAW))
        self.ok("predict", self.model, data)
        self.fails(65, "empty.csv:4:4: missing value (column 'shape'); fill it in", "fit", data, *SETTINGS,
                   "--categorical", "auto", "--missing", "error")

    def test_info(self):
        shown = self.ok("info", self.model).out
        self.assertRegex(shown, r"(?m)^columns  colour: 3 categories \(blue, green, red\)$")
        self.assertRegex(shown, r"(?m)^         shape: 3 categories \(long, thin, round, square\)$")
        self.assertIn("inputs   8 (size, colour=blue, ", shown)
        self.assertNotIn("weights  column", shown)
        info = self.ok("info", self.model, "--json").json
        expected = [{"name": "colour", "first": 1, "levels": ["blue", "green", "red"]},
                    {"name": "shape", "first": 5, "levels": ["long, thin", "round", "square"]}]
        self.assertEqual(info["categories"], expected)
        self.assertEqual(info["stored"]["categories"], expected)
        self.assertIsNone(info["weight"])
        self.assertEqual(self.ok("info", self.by_hand, "--json").json["categories"], [])
        self.assertNotIn("categories", self.ok("info", self.by_hand).out)

    def test_grow_and_verify(self):
        for name, data in (("model", self.raw), ("by_hand", self.hot)):
            self.ok("verify", self.path(name), data)
            self.ok("grow", self.path(name), data, "--enhance", "10x2", "-o", self.path("grown_" + name), "-q")
            self.ok("verify", self.path("grown_" + name), data)
        self.assertEqual(self.numbers(self.path("grown_model"), self.raw),
                         self.numbers(self.path("grown_by_hand"), self.hot))
        self.assertEqual(self.ok("info", self.path("grown_model"), "--json").json["categories"],
                         self.ok("info", self.model, "--json").json["categories"])
        swapped = [dict(row) for row in self.table]
        swapped[5]["colour"] = next(c for c in COLOURS if c != swapped[5]["colour"])
        other = self.write("swapped.csv", text(swapped, RAW))
        self.assertEqual(self.ok("info", self.model, "--json").json["rows"], len(swapped))
        result = self.fails(1, "", "verify", self.model, other)
        self.assertIn("other values", result.out + result.err)
        self.fails(65, "other values", "grow", self.model, other, "--enhance", "10x1", "-o", self.path("no"))

    def test_learn(self):
        more = cars(60, seed=5)
        fresh, fresh_hot = self.write("more.csv", text(more, RAW)), self.write("more_hot.csv", text(*one_hot(more)))
        self.ok("learn", self.model, fresh, "--with", self.raw, "-o", self.path("learned"), "-q")
        self.ok("learn", self.by_hand, fresh_hot, "--with", self.hot, "-o", self.path("learned_hot"), "-q")
        self.assertEqual(self.numbers(self.path("learned"), self.raw), self.numbers(self.path("learned_hot"), self.hot))
        self.ok("verify", self.path("learned"), self.raw, fresh)

    def test_holdout_and_compact(self):
        words = ["--holdout", "0.3", "--compact", "--categorical", "auto", "--json"]
        found = self.fit("part", self.raw, *words).json
        by_hand = self.fit("part_hot", self.hot, "--holdout", "0.3", "--compact", "--json").json
        self.assertEqual((found["train"], found["test"]), (by_hand["train"], by_hand["test"]))
        self.assertEqual(self.numbers(self.path("part"), self.raw), self.numbers(self.path("part_hot"), self.hot))
        self.ok("verify", self.path("part"), self.raw)

    def test_test_file(self):
        other = self.write("test.csv", text(cars(50, seed=8), list(reversed(RAW))))
        found = self.fit("tested", self.raw, "--categorical", "auto", "--test", other, "--json").json
        self.assertEqual(found["test"], self.ok("eval", self.model, other, "--json").json["test"])

    def test_classes_beside_categories(self):
        rows = [{**row, "kind": "dear" if row["price"] > 3 else "cheap"} for row in self.table]
        names = ["size", "colour", "shape", "kind"]
        data = self.write("kinds.csv", text(rows, names))
        hot, columns = one_hot(rows, names)
        self.fit("kinds", data, "--categorical", "auto")
        self.fit("kinds_hot", self.write("kinds_hot.csv", text(hot, columns)))
        self.assertEqual(self.ok("predict", self.path("kinds"), data).out,
                         self.ok("predict", self.path("kinds_hot"), self.path("kinds_hot.csv")).out)


class Missing(Data):
    def test_own_level_and_mean(self):
        table = cars(150, hole=0.1)
        raw = self.write("raw.csv", text(table, RAW))
        result = self.ok("fit", raw, "-o", self.path("model"), *SETTINGS[:-1])
        counts = {name: sum(row[name] is None for row in table) for name in ("size", "colour", "shape")}
        self.assertIn("broad: %d missing values in columns 'size' (%d), 'colour' (%d), 'shape' (%d): numbers use the "
                      "column's mean, categories have a level for them" % (sum(counts.values()), *counts.values()),
                      result.err)
        # The same as a level that is written out, and the mean of the numbers.
        mean = math.fsum(row["size"] for row in table if row["size"] is not None) / (len(table) - counts["size"])
        filled = [{**row, "colour": row["colour"] or "(missing)", "shape": row["shape"] or "(missing)"} for row in table]
        self.fit("filled", self.write("filled.csv", text(filled, RAW)))
        found = self.numbers(self.path("model"), raw)
        self.assertEqual(self.numbers(self.path("filled"), self.path("filled.csv")), found)
        whole = [{**row, "size": mean if row["size"] is None else row["size"]} for row in filled]
        for one, other in zip(found, self.numbers(self.path("model"), self.write("whole.csv", text(whole, RAW)))):
            self.assertAlmostEqual(one, other, delta=1e-9)
        self.assertEqual(self.ok("info", self.path("model"), "--json").json["stored"]["missing"], "mean")
        self.ok("verify", self.path("model"), raw)
        self.ok("grow", self.path("model"), raw, "--enhance", "10x1", "-q", "-o", self.path("grown"))
        self.ok("verify", self.path("grown"), raw)

    def test_every_format_stores_and_applies_it(self):
        rng = random.Random(4)
        rows = [[rng.gauss(0, 1), rng.gauss(5, 2), 0] for _ in range(80)]
        for i, row in enumerate(rows):
            row[2] = row[0] - row[1] / 2
            if i % 9 == 0:
                row[i % 2] = math.nan
        lines = "".join(",".join("" if math.isnan(x) else repr(x) for x in row) + "\n" for row in rows)
        sparse = "".join("%r 1:%r 2:%r\n" % (row[2], row[0], row[1]) for row in rows)
        files = {"csv": self.write("data.csv", lines), "npy": self.write("data.npy", npy(rows)),
                 "libsvm": self.write("data.libsvm", sparse)}
        found = {}
        for name, data in files.items():
            self.fails(65, "--missing mean", "fit", data, "-o", self.path("none"), *SETTINGS, "--missing", "error")
            self.fit(name, data, "--missing", "mean", "--task", "regress")
            self.assertEqual(self.ok("info", self.path(name), "--json").json["stored"]["missing"], "mean")
            for other, rows_there in files.items():
                found[name, other] = self.numbers(self.path(name), rows_there, "target")
            self.ok("verify", self.path(name), data)
        self.assertEqual(len(found), 9)
        for pair, numbers in found.items():
            self.assertEqual(numbers, found["csv", "csv"], pair)
        # A model of whole rows takes rows with holes, too.
        whole = self.write("whole.npy", npy([row for row in rows if not math.isnan(sum(row))]))
        self.fit("whole", whole)
        for data in files.values():
            self.assertEqual(len(self.numbers(self.path("whole"), data, "target")), len(rows))

    def test_numbers_that_are_packed_or_piped(self):
        """Inputs that are doubles stay in a file, and not where the bytes go as soon as they are read."""
        rng = random.Random(5)
        rows = [[rng.gauss(0, 1) for _ in range(40)] for _ in range(2000)]
        data, labels = npy(rows), self.write("y.npy", npy([[row[0] - row[1]] for row in rows]))
        words = ["--labels", labels, "--no-names"]
        self.fit("plain", self.write("x.npy", data), *words)
        self.fit("packed", self.write("x.npy.gz", gzip.compress(data)), *words)
        self.ok("fit", "-", *SETTINGS, *words, "-o", self.path("piped"), stdin=data, text=False)
        for name in "packed", "piped":
            self.assertEqual(self.read(name), self.read("plain"), name)


class Weights(Data):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.table = cars(120)
        cls.names = ["size", "count", "age", "price"]
        cls.rows = case.write("rows.csv", text(cls.table, cls.names))
        cls.bare = case.write("bare.csv", text(cls.table, ["age", "size", "price"]))
        cls.model = case.path("model")
        case.fit("model", cls.rows, "--weight", "count")

    def test_it_is_no_input(self):
        info = self.ok("info", self.model, "--json").json
        self.assertEqual((info["inputs"], info["weight"]), (["size", "age"], "count"))
        self.assertRegex(self.ok("info", self.model).out, r"(?m)^weights  column count$")

    def test_predict_and_eval_do_without(self):
        self.assertEqual(self.numbers(self.model, self.bare), self.numbers(self.model, self.rows))
        self.ok("eval", self.model, self.bare)
        zero = self.write("zero.csv", text([{**row, "count": 0} for row in self.table], self.names))
        self.assertEqual(self.numbers(self.model, zero), self.numbers(self.model, self.rows))

    def test_a_test_file_does_without(self):
        found = self.fit("tested", self.rows, "--weight", "count", "--test", self.bare, "--json").json
        self.assertEqual(found["test"], self.ok("eval", self.model, self.bare, "--json").json["test"])

    def test_training_needs_it(self):
        missing = "bare.csv: the column of weights 'count' that the model was trained with is missing; add it"
        self.ok("verify", self.model, self.rows)
        self.fails(65, missing, "verify", self.model, self.bare)
        self.fails(65, missing, "grow", self.model, self.bare, "--enhance", "10x1", "-o", self.path("no"))
        self.fails(65, missing, "learn", self.model, self.bare, "--with", self.rows, "-o", self.path("no"))
        self.fails(65, missing, "learn", self.model, self.rows, "--with", self.bare, "-o", self.path("no"))
        self.assertFalse(os.path.exists(self.path("no")))
        self.ok("grow", self.model, self.rows, "--enhance", "10x1", "-o", self.path("grown"), "-q")
        self.assertEqual(self.ok("info", self.path("grown"), "--json").json["weight"], "count")
        self.ok("verify", self.path("grown"), self.rows)

    def test_other_weights_are_other_rows(self):
        other = [dict(row) for row in self.table]
        other[3]["count"] += 1
        data = self.write("other.csv", text(other, self.names))
        self.fails(65, "other values", "grow", self.model, data, "--enhance", "10x1", "-o", self.path("no"))

    def test_bad_weights(self):
        for value, message in ((-1, "rows.csv:4:2: the weight '-1' is not a finite number of 0 or more (column 'count')"),
                               (-1.5, "the weight '-1.5' is not"), ("much", "the weight 'much' is not"),
                               (None, "rows.csv:4:2: the weight is missing (column 'count')")):
            rows = [dict(row) for row in self.table]
            rows[2]["count"] = value
            os.makedirs(self.path("bad"), exist_ok=True)
            data = self.write("bad/rows.csv", text(rows, self.names))
            self.fails(65, message, "fit", data, "--weight", "count", "-o", self.path("no"), *SETTINGS)
            self.assertFalse(os.path.exists(self.path("no")))

    def test_by_number(self):
        plain = self.write("plain.csv", text(self.table, self.names, header=False))
        self.fit("plain", plain, "--weight", "2")
        self.assertEqual(self.ok("info", self.path("plain"), "--json").json["weight"], "2")
        self.ok("verify", self.path("plain"), plain)
        short = self.write("short.csv", text(self.table, ["size", "age"], header=False))
        self.assertEqual(self.numbers(self.path("plain"), short, "target"),
                         self.numbers(self.path("plain"), plain, "target"))


class Places(Data):
    """Files without names, of which not all columns are inputs in front of the target."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(6)
        cls.rows = []
        for i in range(80):
            a, b = round(rng.random(), 5), round(rng.random(), 5)
            cls.rows.append({"id": i + 100, "key": "k%04d" % i, "a": a, "b": b, "y": round(10 + a + 2 * b, 5)})

    def table(self, name, names, header=False, rows=None):
        return self.write(name, text(rows or self.rows, names.split(), header))

    def check(self, model, named, alike):
        """Predictions, measures, growth and learning are as from the file with names, or the one that was trained on."""
        for data in alike:
            self.assertEqual(self.numbers(model, data, None), self.numbers(model, named, None), data)
            self.assertEqual(self.measures(model, data), self.measures(model, named), data)
            self.ok("verify", model, data)
            self.ok("grow", model, data, "--enhance", "5x1", "-o", self.path("grown"), "-q")
            self.ok("verify", self.path("grown"), data)

    def numbers(self, model, data, column=None):
        return self.ok("predict", model, data).out

    def measures(self, model, data):
        return self.ok("eval", model, data, "--json").json["test"]

    def test_target_in_front(self):
        named, bare = self.table("named.csv", "y a b", header=True), self.table("bare.csv", "y a b")
        self.fit("front", named, "--target", "y")
        self.check(self.path("front"), named, [bare])
        self.assertLess(self.measures(self.path("front"), bare)["rmse"], 0.1)
        inputs = self.table("inputs.csv", "a b")
        self.assertEqual(self.numbers(self.path("front"), inputs), self.numbers(self.path("front"), bare))

    def test_text_left_out_by_itself(self):
        bare = self.table("keys.csv", "key a b y")
        self.fit("keys", bare)
        self.assertEqual(len(self.ok("info", self.path("keys"), "--json").json["inputs"]), 2)
        self.check(self.path("keys"), bare, [bare])
        self.assertEqual(self.numbers(self.path("keys"), self.table("inputs.csv", "a b")), self.numbers(self.path("keys"), bare))
        empty = self.table("empty.csv", "key a b y", rows=[{**row, "y": None} for row in self.rows])
        self.assertEqual(self.numbers(self.path("keys"), empty), self.numbers(self.path("keys"), bare))
        for names in ("id a b", "a b y"):
            self.fails(65, "give all 4 columns of the training file (the target may be empty), or the 2 inputs alone",
                       "predict", self.path("keys"), self.table("either.csv", names))

    def test_named_file_with_more_columns(self):
        named, bare = self.table("named.csv", "id a y key b", header=True), self.table("bare.csv", "id a y key b")
        self.fit("more", named, "--target", "y")
        self.check(self.path("more"), named, [bare])
        self.fails(65, "or the 5 columns of its training file; remove the others, or add the header", "predict",
                   self.path("more"), self.table("wide.csv", "id id a y key b"))

    def test_arrays(self):
        rows = [[row["id"], row["y"], row["a"], row["b"]] for row in self.rows]
        data, memory = self.write("rows.npy", npy(rows)), ["--memory", "64M"]
        self.fit("array", data, "--ignore", "1", "--target", "2")
        self.check(self.path("array"), data, [data, self.table("rows.csv", "id y a b")])
        self.assertEqual(self.ok("predict", self.path("array"), data, *memory).out, self.numbers(self.path("array"), data))

    def test_later_models_know_it(self):
        half, rest = self.rows[:50], self.rows[50:]
        bare, more = self.table("half.csv", "key y a b", rows=half), self.table("rest.csv", "key y a b", rows=rest)
        self.fit("half", bare, "--target", "2")
        self.ok("learn", self.path("half"), more, "--with", bare, "-o", self.path("learned"), "-q")
        both = self.table("both.csv", "key y a b", rows=half + rest)
        self.ok("verify", self.path("learned"), bare, more)
        self.assertLess(self.measures(self.path("learned"), both)["rmse"], 0.1)
        for threads in "1", "3":
            self.fit("t" + threads, bare, "--target", "2", "--threads", threads)
        self.assertEqual(self.read("t1"), self.read("t3"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
