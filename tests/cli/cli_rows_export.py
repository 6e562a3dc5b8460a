#!/usr/bin/env python3
"""Inputs for other programs, 'broad data --export': what is written is what fit trains on.

Usage: cli_rows_export.py PATH_OF_BROAD. Networks that are fitted to the exported numbers are compared with those that fit makes of
the photos and tables themselves.
"""
import ast
import csv
import math
import os
import shutil
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, npy  # noqa: E402

NETWORK = ["--preset", "paper", "--features", "2x5", "--enhance", "10x3", "--lambda", "0.001", "--seed", "6", "--json"]
CODES = {"|u1": "B", "<f4": "f", "<f8": "d"}


def load(path):
    """Type, shape and rows of an NPY file."""
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    end = 10 + struct.unpack("<H", content[8:10])[0]
    assert end % 64 == 0 and content[end - 1:end] == b"\n"
    header = ast.literal_eval(content[10:end].decode())
    assert not header["fortran_order"]
    shape, code = header["shape"], CODES[header["descr"]]
    values = struct.unpack("<%d%s" % (math.prod(shape), code), content[end:])
    width = math.prod(shape[1:])
    return header["descr"], shape, [values[i * width:(i + 1) * width] for i in range(shape[0])]


def lines_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def halved(row, side):
    """A square of pixels with half the side: the mean of four."""
    half = side // 2
    return [sum(row[((2 * y + dy) * side + 2 * x + dx) * 3 + c] for dy in (0, 1) for dx in (0, 1)) / 4
            for y in range(half) for x in range(half) for c in range(3)]


def distance(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)


class Export(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.panels, cls.soiled = case.path("panels"), case.path("soiled")
        cls.cache = ["--cache", case.path("cache")]
        case.ok("render", cls.panels, "--count", "30", "--size", "48", "--seed", "3", "-q")
        case.ok("render", cls.soiled, "--count", "12", "--size", "32", "--seed", "3", "--severity", "-q")

    def export(self, data, name, *words):
        folder = self.path(name)
        more = self.cache if os.path.isdir(data) else []
        self.made = self.ok("data", data, "--export", folder, "--json", *words, *more).json
        self.assertEqual(sorted(os.listdir(folder)), ["columns.csv", "inputs.npy", "rows.csv"])
        described = self.made["export"]
        self.assertEqual([described[what] for what in ("folder", "inputs", "rows", "columns")],
                         [folder] + [os.path.join(folder, what) for what in ("inputs.npy", "rows.csv", "columns.csv")])
        descr, shape, rows = load(described["inputs"])
        self.assertEqual({"uint8": "|u1", "float32": "<f4", "float64": "<f8"}[described["type"]], descr)
        self.assertEqual(list(shape), described["shape"])
        names = [line["name"] for line in lines_of(described["columns"])]
        lines = lines_of(described["rows"])
        self.assertEqual((len(lines), len(names)), (len(rows), len(rows[0])))
        self.assertEqual([line["row"] for line in lines], [str(i + 1) for i in range(len(rows))])
        return descr, shape, rows, lines, names

    def fit(self, data, *words):
        fitted = self.ok("fit", data, *NETWORK, "-o", self.path("m.broad"), *words).json
        return fitted, [layer["norm_after"] for layer in fitted["layers"]]

    def labels(self, name):
        return ["--labels", os.path.join(self.path(name), "rows.csv"), "--target", "label"]

    def as_fit_has_them(self, rows, name):
        """Bytes divided by 255 in single precision."""
        return self.write(name, npy([[value / 255 for value in row] for row in rows], "<f4", "f"))

    def test_pixels_are_those_of_fit(self):
        descr, shape, rows, lines, names = self.export(self.panels, "plain", "--map", "pixels", "--side", "8")
        self.assertEqual((descr, shape), ("|u1", (30, 8, 8, 3)))
        self.assertEqual(names[:4], ["pixel 1,1 red", "pixel 1,1 green", "pixel 1,1 blue", "pixel 2,1 red"])
        self.assertEqual({line["label"] for line in lines}, {"Clean", "Dusty"})
        self.assertTrue(all(line["file"].startswith(line["label"] + "/") and line["copy"] == "0" for line in lines))
        self.assertEqual(len({line["group"] for line in lines}), 30)
        photos, norms = self.fit(self.panels, "--side", "8", "--holdout", "0.3", *self.cache)
        same, same_norms = self.fit(self.as_fit_has_them(rows, "same.npy"), "--holdout", "0.3", *self.labels("plain"))
        self.assertEqual((norms, photos["test"]), (same_norms, same["test"]))
        raw, raw_norms = self.fit(self.path("plain/inputs.npy"), "--holdout", "0.3", *self.labels("plain"))
        self.assertEqual(raw["test"]["confusion"], photos["test"]["confusion"])
        for one, other in zip(raw_norms, norms):
            self.assertAlmostEqual(one / other, 1, places=4)

    def test_copies_are_those_of_fit(self):
        words = ["--side", "8", "--augment", "2", "--seed", "6"]
        _, _, rows, lines, _ = self.export(self.panels, "copies", "--map", "pixels", *words)
        self.assertEqual([line["copy"] for line in lines], ["0", "1", "2"] * 30)
        self.assertEqual(len({(line["group"], line["file"]) for line in lines}), 30)
        self.assertEqual((self.made["rows"], self.made["photos"]["copies"]), (90, 60))
        _, norms = self.fit(self.panels, *words, *self.cache)
        self.assertEqual(norms, self.fit(self.as_fit_has_them(rows, "c.npy"), *self.labels("copies"))[1])
        other = self.export(self.panels, "other", "--map", "pixels", *words[:-1], "7")[2]
        self.assertEqual([row == now for row, now in zip(rows, other)], [True, False, False] * 30)

    def test_a_copy_has_the_same_change_at_any_side(self):
        words = ["--map", "pixels", "--augment", "3", "--seed", "5"]
        small = self.export(self.panels, "small", *words, "--side", "8")[2]
        large = self.export(self.panels, "large", *words, "--side", "16")[2]
        for at in range(0, 120, 4):
            for k in range(4):
                shrunk = halved(large[at + k], 16)
                self.assertLess(max(abs(a - b) for a, b in zip(shrunk, small[at + k])), 2)
                # Another change, or none, is far away.
                for other in range(4):
                    if other != k:
                        self.assertGreater(distance(shrunk, small[at + other]), 2)

    def test_other_maps(self):
        descr, shape, _, _, names = self.export(self.panels, "both")
        self.assertEqual((descr, shape[0], self.made["photos"]["maps"]), ("<f4", 30, ["descriptors", "windows"]))
        self.assertTrue(names[0].startswith("descriptor ") and names[-1].startswith("window "))
        self.export(self.panels, "described", "--map", "descriptors")
        _, norms = self.fit(self.panels, "--map", "descriptors", *self.cache)
        self.assertEqual(norms, self.fit(self.path("described/inputs.npy"), *self.labels("described"))[1])
        self.assertEqual(self.export(self.panels, "mixed", "--map", "pixels,descriptors", "--side", "4")[0], "<f4")

    def test_near_duplicates_share_a_group(self):
        twins = self.path("twins")
        shutil.copytree(self.panels, twins)
        first = sorted(os.listdir(twins + "/Clean"))[0]
        shutil.copy(twins + "/Clean/" + first, twins + "/Clean/zz.jpg")
        lines = self.export(twins, "grouped", "--map", "pixels", "--side", "4")[3]
        groups = {line["file"]: line["group"] for line in lines}
        self.assertEqual(groups["Clean/" + first], groups["Clean/zz.jpg"])
        self.assertEqual(len(set(groups.values())), 30)
        apart = self.export(twins, "ungrouped", "--map", "pixels", "--side", "4", "--no-groups")[3]
        self.assertEqual(len({line["group"] for line in apart}), 31)

    def test_targets_that_are_numbers(self):
        words = ["--labels", self.soiled + "/labels.csv", "--map", "pixels", "--side", "4"]
        lines = self.export(self.soiled + "/photos", "severity", *words)[3]
        given = {os.path.basename(line["file"]): float(line["severity"]) for line in lines_of(self.soiled + "/labels.csv")}
        self.assertEqual({line["file"]: float(line["severity"]) for line in lines}, given)

    def test_tables(self):
        table = self.write("t.csv", "a,colour,b,y\n0.5,red,1,1.5\n0.1,blue,2,2.5\n,red,3,0.1\n" + "1,blue,4,3\n" * 9)
        descr, shape, rows, lines, names = self.export(table, "table")
        self.assertEqual((descr, shape, names), ("<f8", (12, 4), ["a", "colour=blue", "colour=red", "b"]))
        self.assertEqual((rows[1], lines[1]["y"], lines[1]["file"]), ((0.1, 1.0, 0.0, 2.0), "2.5", ""))
        self.assertTrue(math.isnan(rows[2][0]))
        halves = self.write("h.csv", "a,b,y\n" + "".join("%g,%d,%s\n" % (i / 2, i, "pq"[i % 2]) for i in range(20)))
        descr, _, rows, lines, _ = self.export(halves, "halves", "--group", "b")
        self.assertEqual((descr, rows[3]), ("<f4", (1.5,)))
        self.assertEqual([line["label"] for line in lines[:2]], ["p", "q"])

    def test_wrong_usage_leaves_nothing(self):
        before = sorted(os.listdir(self.folder))
        new = self.path("new")
        for option in (["--side", "8"], ["--map", "pixels"], ["--augment", "1"], ["--seed", "1"]):
            self.fails(2, option[0] + " only applies to --export", "data", self.panels, *option)
        self.fails(2, "--all", "data", self.panels, "--export", new, "--all")
        self.fails(2, "unknown map 'points'", "data", self.panels, "--export", new, "--map", "points")
        table = self.write("w.csv", "a,y\n1,p\n2,q\n")
        self.fails(2, "is for photos", "data", table, "--export", new, "--side", "8")
        self.fails(73, "is not empty", "data", self.panels, "--export", self.panels)
        self.fails(73, "cannot create a folder", "data", self.panels, "--export", new + "/deeper")
        self.fails(66, "none.csv", "data", self.path("none.csv"), "--export", new)
        self.assertEqual(sorted(set(os.listdir(self.folder)) - {"w.csv"}), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
