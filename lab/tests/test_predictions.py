"""The same rows by the same models in C, Python, JavaScript and exported C: equal bits, or nearly so; golden models on every machine."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", "."))
sys.path.insert(0, str(SOURCE / "python" / "tests"))
sys.path.insert(0, str(SOURCE))
from package_test import PACKAGE, TOOL  # noqa: E402

from bench import predictions  # noqa: E402


class Predictions(unittest.TestCase):
    def test_all_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            javascript = os.path.join(folder, "js")
            built = subprocess.run([SOURCE / "scripts" / "build_js", javascript], capture_output=True, text=True)
            bench = predictions.Bench(TOOL, folder, PACKAGE, None if built.returncode else javascript)
            predictions.WAYS = {way: predictions.WAYS[way] for way in ("chain", "rvfl", "paper")}
            bench.ways = lambda ways=bench.ways(): {name: way for name, way in ways.items() if "bit" not in name and "endian" not in name}
            found = predictions.measure(bench, print)
        self.check_machines(found)
        self.assertEqual(found["models"], 6)
        for name, one in found["ways"].items():
            self.assertEqual(one["labels"], 0, name)
            self.assertLess(max(one["scores"], one["more"] or 0), 1e-300 if name in predictions.EXACT else 1e-12, name)
            self.assertLess(one["paper"], 1e-300 if name in predictions.EXACT else 1e-9, name)
        self.assertIn("| C ", predictions.make(found))

    def check_machines(self, found):
        """The scores of golden models have the bits that their version wrote, with an instruction for multiply-add and without."""
        names = predictions.machines.here() + predictions.machines.others()
        self.assertEqual(list(found["golden"]), names)
        for name, one in found["golden"].items():
            self.assertEqual((one["models"], one["rows"]), (16, 1020), name)
            self.assertEqual(one["other_scores"], 0, name)
            self.assertLess(max(one["scores"], one["more"]), 1e-12, name)
        self.assertIn(" computed |", predictions.make_machines(found))


if __name__ == "__main__":
    unittest.main(argv=["test_predictions"])
