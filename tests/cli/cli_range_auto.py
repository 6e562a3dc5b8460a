#!/usr/bin/env python3
"""--range auto with ranges that are absolute and with ranges by fan-in: which grid the chosen ones come from.

Usage: cli_range_auto.py PATH_OF_BROAD.
"""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
INPUTS, NODES = 400, 100  # of a feature node, and the feature nodes that an enhancement node sees
FEATURES, ENHANCEMENT = (0.1, 0.2, 0.5, 1, 2), (0.2, 0.5, 1, 2, 5)


class Ranges(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="broad-range-")
        self.addCleanup(self.folder.cleanup)
        self.table, self.model = (pathlib.Path(self.folder.name) / name for name in ("table.csv", "model.broad"))
        rng = random.Random(0)
        with open(self.table, "w", encoding="utf-8") as f:
            print(*(f"x{i}" for i in range(INPUTS)), "y", sep=",", file=f)
            for _ in range(60):
                x = [rng.random() for _ in range(INPUTS)]
                print(*(f"{v:.4f}" for v in x), f"{x[0] + x[1]:.4f}", sep=",", file=f)

    def run_tool(self, *words):
        done = subprocess.run([BROAD, *map(str, words), "--json", "-q"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def chosen(self, *words):
        self.run_tool("fit", self.table, "--preset", "paper", "--enhance", "50x2", "--range", "auto", "-o", self.model, *words)
        self.assertTrue(self.run_tool("verify", self.model, self.table)["holds"])
        about = self.run_tool("info", self.model)
        return about["feature_range"], about["stored"]["range"]

    def check(self, found, grid, unit):
        self.assertLess(min(abs(found / (unit * value) - 1) for value in grid), 1e-9, (found, unit))

    def test_absolute_ranges_go_by_the_number_of_inputs(self):
        first, nodes = self.chosen()
        self.check(first, FEATURES, math.sqrt(3 / INPUTS))
        self.check(nodes, ENHANCEMENT, math.sqrt(3 / NODES))

    def test_ranges_by_fan_in_have_it_already(self):
        first, nodes = self.chosen("--range-unit", "fan-in")
        self.check(first, FEATURES, 1)
        self.check(nodes, ENHANCEMENT, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
