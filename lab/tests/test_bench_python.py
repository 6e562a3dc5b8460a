"""The Python package takes no more memory than the same call in C; the benchmark runs, and its report has every method."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", "."))
sys.path.insert(0, str(SOURCE / "python" / "tests"))
sys.path.insert(0, str(SOURCE))
from package_test import PACKAGE, TOOL, Case, np  # noqa: E402

try:
    import sklearn  # noqa: F401
except ImportError:
    sys.exit(77)
from bench.python import overhead, report  # noqa: E402

SMALL = {"kind": "bls", "features": "1x5", "enhance": "5x1", "lambda": "1e-3", "loo": "no", "scale": "none"}


class Python(Case):
    def program(self):
        build, out = pathlib.Path(TOOL).resolve().parent, self.path("bench_arrays")
        subprocess.run(["cc", "-std=gnu11", "-O2", "-I", SOURCE / "include", SOURCE / "bench" / "bench_arrays.c", build / "libbroad.so",
                        f"-Wl,-rpath,{build}", "-o", out], check=True)
        return out

    def test_memory(self):
        """An array of doubles is used where it is, targets too."""
        found = overhead.compare(pathlib.Path(self.folder), self.program(), dict(os.environ, PYTHONPATH=PACKAGE), (100000, 100), 100, SMALL, 1)
        extra = found["python"]["memory"] - found["c"]["memory"]
        print("80 MB: %d KiB above the array in Python, %d in C" % (found["python"]["memory"], found["c"]["memory"]))
        self.assertLess(extra, 4096)

    def test_benchmark(self):
        random = np.random.default_rng(0)
        for task in ("classification", "regression"):
            os.makedirs(os.path.join(self.folder, "tables", task))
            x = random.normal(size=(120, 3))
            self.write_table(os.path.join("tables", task, "small.csv"), x, np.where(x[:, 0] > 0, "up", "down") if task[0] == "c" else x[:, 0] + x[:, 1])
        words = [sys.executable, SOURCE / "scripts" / "bench_python", self.path("tables"), "--broad", TOOL, "--package", PACKAGE, "--program",
                 self.program(), "--quick", "--json", self.path("found.json")]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("found.json"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(report.tables(found) + "\n" + report.overhead(found), done.stdout)
        for one in found["tables"]:
            self.assertEqual(len(one["methods"]), 6)
            self.assertGreater(one["methods"]["broad"]["score"], 0.9)
        with self.assertRaisesRegex(Exception, "no whole run"):
            report.whole(found)


if __name__ == "__main__":
    unittest.main(argv=["test_bench_python"])
