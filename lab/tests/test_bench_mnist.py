#!/usr/bin/env python3
"""scripts/bench_mnist on a few hundred small images: that it measures the same work on both sides, and its messages.

Usage: test_bench_mnist.py PATH_OF_BROAD. Exits with 77 where numpy or scipy is not installed.
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
except ImportError as error:
    print("%s is not installed (Debian: python3-%s)" % (error.name, error.name))
    sys.exit(77)

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SIDE, CLASSES = 6, 3


def write_images(folder, part, count, rng):
    """A bright bar whose place is the class, in noise."""
    labels = [rng.randrange(CLASSES) for _ in range(count)]
    pixels = bytearray()
    for label in labels:
        for y in range(SIDE):
            pixels += bytes(min(255, rng.randrange(120) + (135 if y // 2 == label else 0)) for _ in range(SIDE))
    images = struct.pack(">4i", 0x803, count, SIDE, SIDE) + pixels
    (folder / (part + "-images-idx3-ubyte")).write_bytes(images)
    (folder / (part + "-labels-idx1-ubyte")).write_bytes(struct.pack(">2i", 0x801, count) + bytes(labels))


def cells_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


class Mnist(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-mnist-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        rng = random.Random(3)
        write_images(self.folder, "train", 900, rng)
        write_images(self.folder, "t10k", 200, rng)

    def bench(self, *more):
        words = [sys.executable, ROOT / "scripts" / "bench_mnist", self.folder, "--broad", BROAD, "--quick", *more]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def test_three_rows(self):
        path = self.folder / "figures.json"
        done = self.bench("--kind", "brls", "--threads", "1", "--json", path, "--", "--seed", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        self.assertEqual([row["name"] for row in rows], ["broad fit --kind brls", "numpy", "broad fit"])
        self.assertEqual([row["nodes"] for row in rows[:2]], [600, 600])
        for row in rows:
            self.assertGreater(row["accuracy"], 0.9)
            self.assertGreater(row["seconds"], row["training"])
            cells = [row["name"], format(row["nodes"], ","), "%.4f" % row["accuracy"], "%.2f" % row["seconds"]]
            self.assertIn(cells, [line[:4] for line in cells_of(done.stdout)])
            self.assertIn("%.2f" % (rows[1]["seconds"] / row["seconds"]), [line[-1] for line in cells_of(done.stdout)])

    def test_what_fails_is_said_and_the_rest_goes_on(self):
        done = self.bench("--kind", "nothing", "--threads", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench_mnist: broad fit --kind nothing: broad: --kind: unknown value 'nothing'", done.stderr)
        self.assertIn(["numpy", "600"], [line[:2] for line in cells_of(done.stdout)])
        (self.folder / "t10k-labels-idx1-ubyte").unlink()
        done = self.bench()
        self.assertEqual(done.returncode, 1)
        self.assertIn("t10k-labels-idx1-ubyte is missing; 'scripts/get-data mnist", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
