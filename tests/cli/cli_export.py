#!/usr/bin/env python3
"""Models as C source, 'broad export': what the compiled file computes is what 'broad predict' prints.

Usage: cli_export.py PATH_OF_BROAD. The files are compiled with all warnings as errors and called by ctypes.
"""
import csv
import ctypes
import datetime
import io
import math
import os
import random
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import SANITIZED, Case  # noqa: E402

CC = os.environ.get("CC", "cc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
SMALL = ["--features", "3x4", "--enhance", "8x3", "--seed", "7", "-q"]
ODD = 'b "\\?/*'  # a label that C must escape


def mixed(rows, seed, target):
    """Numbers, some missing, categories with a level for missing ones, truth values, dates."""
    rng = random.Random(seed)
    lines = ["size,colour,ripe,day,weight,%s" % ("kind" if target == "class" else "price,left")]
    for i in range(rows):
        size, colour, weight = rng.gauss(3, 2), rng.choice(["red", "green", "deep blue"]), rng.lognormvariate(0, 1)
        ripe, day = rng.choice(["yes", "no"]), "2024-%02d-%02d" % (rng.randint(1, 12), rng.randint(1, 28))
        value = size + 3 * (colour == "red") - weight + (ripe == "yes")
        row = [("" if i % 11 == 3 else "%.4f" % size), ("" if i % 13 == 5 else colour), ripe, day, "%.5f" % weight]
        kind = '"%s"' % ODD.replace('"', '""') if value > 3 else "a" if value > 0 else "c"
        row += [kind] if target == "class" else ["%.4f" % max(value, 0), "%.4f" % (weight * size)]
        lines.append(",".join(row))
    return "\n".join(lines) + "\n"


class Compiled:
    """The functions of an exported file, by ctypes."""

    def __init__(self, path, name, real=ctypes.c_double):
        library = path[:-2] + ".so"
        done = subprocess.run([CC, *STRICT, "-O1", "-shared", "-fPIC", "-o", library, path, "-lm"], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stderr)
        self.code, self.name, self.real = ctypes.CDLL(library), name, real
        with open(path) as file:
            self.text = file.read()
        self.columns, self.outputs = self.count("COLUMNS"), self.count("OUTPUTS")

    def count(self, what):
        return int(self.text.split("enum { %s_%s = " % (self.name.upper(), what))[1].split()[0])

    def call(self, what, *arguments):
        function = getattr(self.code, self.name + "_" + what)
        function.restype = ctypes.c_int
        return function(*arguments)

    def predict(self, row):
        scores = (self.real * self.outputs)()
        return self.call("predict", (self.real * self.columns)(*row), scores), scores

    def after(self, what, scores, parts=1):
        out = [(self.real * self.outputs)() for _ in range(parts)]
        self.call(what, scores, *out)
        return [list(part) for part in out]

    def names(self, what, count):
        return [text.decode() for text in (ctypes.c_char_p * count).in_dll(self.code, self.name + "_" + what)]


class ExportC(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, target in (("class", "class"), ("value", "value")):
            with open(os.path.join(cls.folder, name + ".csv"), "w") as file:
                file.write(mixed(150, 5, target))
            with open(os.path.join(cls.folder, name + "_new.csv"), "w") as file:
                text = mixed(40, 6, target)
                file.write(text.replace("green", "pink", 1))  # a level that the model does not know
        with open(os.path.join(cls.folder, "plain.csv"), "w") as file:
            rng = random.Random(9)
            file.write("u,v,w,y\n")
            for _ in range(80):
                u, v, w = (rng.uniform(-1, 1) for _ in range(3))
                file.write("%r,%r,%r,%s\n" % (u, v, w, "in" if u * u + v * v < 0.5 else "out"))

    def fit(self, table, *words):
        self.ok("fit", self.path(table), "-o", self.path("m.broad"), *SMALL, *words)
        return self.path("m.broad")

    def predicted(self, model, table, *words):
        return list(csv.DictReader(io.StringIO(self.ok("predict", model, self.path(table), *words).out)))

    def rows_of(self, compiled, table):
        """The rows of a table as the file takes them; dates and truth values as docs/export.md says."""
        names = compiled.names("columns", compiled.columns)
        for row in csv.DictReader(io.StringIO(self.read(table).decode())):
            numbers = []
            for c, name in enumerate(names):
                cell = row[name]
                if name == "colour" and cell:
                    numbers.append(compiled.call("level", c, cell.encode()))
                elif name == "day":
                    numbers.append((datetime.date.fromisoformat(cell) - datetime.date(1970, 1, 1)).days)
                else:
                    numbers.append({"": math.nan, "yes": 1, "no": 0}[cell] if cell in ("", "yes", "no") else float(cell))
            yield numbers

    def compare(self, compiled, model, table, tolerance, classes):
        labels = compiled.names("outputs", compiled.outputs)
        proba = classes == "proba"
        words = ["--proba"] if proba else ["--interval", "0.9"] if classes is None else []
        for row, expected in zip(self.rows_of(compiled, table), self.predicted(model, table, *words)):
            fault, scores = compiled.predict(row)
            self.assertEqual(fault, 0)
            for label, score in zip(labels, scores):
                self.near(score, float(expected[("score_" if classes else "") + label]), tolerance)
            if classes and tolerance < 1e-6:
                self.assertEqual(labels[compiled.call("class", scores)], expected["label"])
            if proba:
                for label, p in zip(labels, compiled.after("probabilities", scores)[0]):
                    self.near(p, float(expected["proba_" + label]), 10 * tolerance)
            if classes is None:
                low, high = compiled.after("interval", scores, 2)
                for j, label in enumerate(labels):
                    self.near(low[j], float(expected[label + "_low"]), tolerance)
                    self.near(high[j], float(expected[label + "_high"]), tolerance)

    def near(self, got, expected, tolerance):
        self.assertLessEqual(abs(got - expected), tolerance * max(1, abs(expected)), (got, expected))

    def export(self, model, name, *words, real=ctypes.c_double):
        self.ok("export", model, "--c", self.path(name + ".c"), "-q", *words)
        return Compiled(self.path(name + ".c"), name, real)

    def test_classes(self):
        """Categories, missing values, dates, a label with quotes; probabilities and codes of levels."""
        model = self.fit("class.csv")
        c = self.export(model, "classes")
        self.assertEqual(c.names("outputs", 3), ["a", ODD, "c"])
        self.assertEqual(c.names("columns", 5), ["size", "colour", "ripe", "day", "weight"])
        self.compare(c, model, "class_new.csv", 1e-9, "proba")
        self.assertEqual([c.call("level", 1, t) for t in (b"(missing)", b"deep blue", b"green", b"red", b"pink", b"")],
                         [0, 1, 2, 3, -1, -1])
        self.assertEqual([c.call("level", n, b"red") for n in (-1, 0, 5)], [-1] * 3)
        row = next(self.rows_of(c, "class.csv"))
        self.assertEqual(c.predict(row[:4] + [math.inf])[0], 5)
        self.assertEqual(c.predict([1e308] + row[1:])[0], 0)  # scaled values have a limit
        unknown = [c.predict([row[0], code] + row[2:])[1][:] for code in (-1, 0.5, 4)]
        self.assertEqual(unknown, [unknown[0]] * 3)

    def test_values(self):
        model = self.fit("value.csv", "--target", "price,left")
        self.compare(self.export(model, "values"), model, "value_new.csv", 1e-9, None)

    def test_kinds(self):
        """Every kind of network, activation and scaling, each at least once; chains and joint weights."""
        cases = [
            ["--kind", "bscrls", "--preset", "paper", "--lambda", "0.001"],
            ["--kind", "brls", "--activation", "tanh", "--scale", "minmax", "--lambda", "0.01"],
            ["--kind", "bls", "--feature-weights", "autoencoder", "--activation", "relu", "--scale", "none"],
            ["--kind", "scn", "--enhance", "1x6", "--activation", "gaussian", "--scale", "rank"],
            ["--kind", "rvfl", "--enhance", "12x1", "--activation", "sine", "--scale", "whole"],
            ["--preset", "chain", "--feature-activation", "identity", "--scale", "standard"],
            ["--learned-metric", "yes", "--features", "3x40", "--missing", "error"],
        ]
        for number, words in enumerate([cases[0], cases[-1]] if SANITIZED else cases):
            with self.subTest(words=words):
                model = self.fit("plain.csv", *words)
                name = "kind%d" % number
                full = self.export(model, name)
                self.compare(full, model, "plain.csv", 1e-9, "scores")
                compact = self.export(model, name + "_compact", "--compact")
                for row in list(self.rows_of(full, "plain.csv"))[:20]:
                    self.assertEqual(full.predict(row)[1][:], compact.predict(row)[1][:])
        self.assertEqual(full.predict([1, math.nan, 1])[0], 2)

    def test_grown(self):
        """Layers that were added later read more feature nodes than the first ones."""
        model = self.fit("plain.csv", "--preset", "chain")
        self.ok("grow", model, self.path("plain.csv"), "--features", "2x5", "--enhance", "6", "-q")
        self.ok("grow", model, self.path("plain.csv"), "--enhance", "7x2", "-q")
        self.compare(self.export(model, "grown"), model, "plain.csv", 1e-9, "scores")
        self.compare(self.export(model, "grown_compact", "--compact"), model, "plain.csv", 1e-9, "scores")

    def test_precisions(self):
        model = self.fit("class.csv", "--lambda", "1")
        self.compare(self.export(model, "single", "--precision", "float", real=ctypes.c_float), model, "class_new.csv", 1e-4, "proba")
        small = self.export(model, "bytes", "--precision", "int8", "--compact", real=ctypes.c_float)
        self.compare(small, model, "class_new.csv", 0.1, "scores")
        self.assertIn("int8_t bytes_feature_weight", small.text)

    def test_check(self):
        """--check compiles and compares before anything is written."""
        model, table = self.fit("class.csv"), self.path("class_new.csv")
        out = self.path("checked.c")
        result = self.ok("export", model, "--c", out, "--check", table, "--json").json
        self.assertEqual((result["format"], result["name"], result["output"]), ("c", "checked", out))
        self.assertEqual(result["check"]["rows"], 40)
        self.assertLess(result["check"]["difference"], 1e-12)
        self.assertLess(result["check"]["confidence_difference"], 1e-11)
        self.assertEqual(result["check"]["other_labels"], 0)
        self.assertEqual(result["bytes"], os.path.getsize(out))
        text = self.ok("export", model, "--c", out, "--check", table, "--precision", "float").out
        self.assertRegex(text, r"checked on 40 rows: scores differ by \d\.\de-0\d at most, all labels are equal")
        self.ok("export", model, "--c", self.path("twice.c"), "--name", "checked", "-q")
        self.ok("export", model, "--c", out, "-q")
        self.assertEqual(self.read("twice.c"), self.read("checked.c"))
        gone = self.path("gone.c")
        self.fails(1, "could not be compiled", "export", model, "--c", gone, "--check", table, env={"CC": "no-such-compiler"})
        self.fails(66, "nowhere.csv", "export", model, "--c", gone, "--check", self.path("nowhere.csv"))
        self.assertFalse(os.path.exists(gone))

    def test_refused(self):
        model = self.fit("class.csv")
        before, out = self.read("m.broad"), self.path("refused.c")
        self.fails(2, "say what to write", "export", model)
        self.fails(2, "cannot begin names of C", "export", model, "--c", out, "--name", "7up")
        self.fails(2, "m.broad", "export", model, "--c", model)
        self.fails(2, "intervals are for numbers", "export", model, "--c", out, "--interval", "0.9")
        self.fails(73, "no/such", "export", model, "--c", self.path("no/such/folder.c"))
        self.fails(76, "", "export", self.path("class.csv"), "--c", out)
        self.fails(2, "precision", "export", model, "--c", out, "--precision", "int4")
        self.assertFalse(os.path.exists(out))
        self.assertEqual(self.read("m.broad"), before)
        self.assertEqual(self.ok("export", model, "--c", "-").out, self.ok("export", model, "--c", "-", "--name", "model").out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
