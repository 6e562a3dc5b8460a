#!/usr/bin/env python3
"""What a few rows say by chance of styles, ranges and a metric is not what a network for many rows gets.

Usage: test_large_choice.py PATH_OF_BROAD. Needs numpy.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ModuleNotFoundError:
    print("numpy is not installed")
    sys.exit(77)

BROAD = os.path.abspath(sys.argv[1])


def write_waves(folder, seed, train_rows=8000, test_rows=1000):
    """Waves and steps below as much noise, in six inputs, of which three count; the test rows are without noise."""
    random = numpy.random.default_rng(seed)
    x = random.normal(size=(train_rows + test_rows, 6))
    waves = numpy.sin(4 * x[:, 0]) * numpy.cos(3 * x[:, 1]) + 0.5 * numpy.sign(numpy.sin(3 * x[:, 2]))
    noisy = waves + random.normal(size=len(x))
    for name, target, rows in (("train", noisy, slice(train_rows)), ("test", waves, slice(train_rows, None))):
        numpy.savetxt(os.path.join(folder, f"{name}.csv"), numpy.column_stack([x, target])[rows], delimiter=",", fmt="%.6g",
                      header="a,b,c,d,e,f,y", comments="")


class LargeChoice(unittest.TestCase):
    def rmse(self, seed):
        with tempfile.TemporaryDirectory() as folder:
            write_waves(folder, seed)
            done = subprocess.run([BROAD, "fit", "train.csv", "--test", "test.csv", "-o", "model.broad", "--json", "-q"], cwd=folder,
                                  capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["test"]["rmse"]

    def test_waves(self):
        """Judged on 600 rows, the trials chose a metric that made both 0.53."""
        for seed in (1, 2):
            with self.subTest(seed=seed):
                self.assertLess(self.rmse(seed), 0.48)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
