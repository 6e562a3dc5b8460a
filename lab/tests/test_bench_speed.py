#!/usr/bin/env python3
"""scripts/run_bench at its smallest size, and scripts/check_figures: figures against plain formulas, goals, exponents of
known curves, and what they do about failures. No time is judged.

Usage: test_bench_speed.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

from bench import marks, pages  # noqa: E402
from bench.speed import ENTRIES, entry, growth, measure, numpy_chain, picture, report  # noqa: E402
from bench.tool import Failure  # noqa: E402



def marked(part, text="old\n"):
    begin, end = marks.marks(f"docs/benchmarks.json {part}")
    return "Written by hand.\n" + begin + text + end + "By hand as well.\n"


def measured(**more):
    """A measurement whose medians are easy: ours 2, numpy's 13."""
    return {"what": "work", "unit": "s", "command": "broad fit x", "ours": [1, 2, 4],
            "rivals": {"numpy": measure.rival([11, 13, 12, 15, 14], "call", least=6)}, **more}


def whole_report(**more):
    """Every entry once, and the growth as well: what check_figures takes."""
    found = [measure.finish(measured(what=f"work of {name}"), name, "full") for name in ENTRIES if name != "growth"]
    bench = measure.Bench(None, ".")
    bench.folder = pathlib.Path(".")
    for sweep in growth.sweeps(bench):
        times = [[1e-5 * size * factor for factor in (1, 1.1, 1.3)] for size in sweep.sizes]
        found.append(measure.finish(growth.measurement(bench, sweep, times), "growth", "full"))
    machine = {"processor": "Abacus", "processors": 2, "memory": 2**33, "best_core": "Beads"}
    return {"date": "2026-01-02", "size": "full", "threads": 2, "load": 0.1, "seconds": 900, "peak_gflops": 100.0,
            "machine": machine, "versions": {"broad": "1"}, "failed": [], "measurements": found, **more}


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-speed-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.environment = dict(os.environ)

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def script(self, name, *words, code=0):
        command = [sys.executable, ROOT / "scripts" / name, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done


class Driver(Scratch):
    def bench(self, *words, code=0):
        return self.script("run_bench", "--broad", BROAD, "--size", "tiny", "--threads", 1, *words, code=code)

    def test_a_short_run(self):
        facts = self.root / "out" / "facts.json"
        names = ["train", "wide", "layer", "growth", "memory", "commands"]
        line = json.dumps(measured(what="one product", ours=[1, 2], rivals={"BLAS": measure.rival([1], "dgemm")}))
        self.write("bench_kernels", f"#!/bin/sh\necho '{line}'\n", 0o755)
        done = self.bench("--only", ",".join(names), "--json", facts, "--runs", 2, "--programs", self.root)
        found = json.loads(facts.read_text(encoding="utf-8"))
        self.assertEqual(found["failed"], [])
        entries = list(dict.fromkeys(m["entry"] for m in found["measurements"]))
        self.assertEqual(entries, names)
        for m in found["measurements"]:
            self.check_measurement(m, done.stdout)
        self.assertLess(done.stdout.index("## Kernels"), done.stdout.index("| one product "))
        self.assertIn("none is judged", re.sub(r"\s+", " ", done.stdout))
        self.assertNotIn(str(self.root), facts.read_text(encoding="utf-8"))
        self.assertNotIn("broad-bench-", facts.read_text(encoding="utf-8"))

    def check_measurement(self, m, text):
        self.assertEqual(len(m["ours"]), 2)
        self.assertEqual(m["summary"]["median"], statistics.median(m["ours"]))
        self.assertIsNone(m["reached"])
        self.assertIn(f"`{m['command']}`", text)
        self.assertRegex(text, r"(?m)^\| %s +\|" % re.escape(m["what"]))
        for name, rival in m["rivals"].items():
            sides = statistics.median(rival["figures"]), m["summary"]["median"]
            over, under = sides if rival["ratio"] == "rival/ours" else sides[::-1]
            self.assertAlmostEqual(rival["value"], over / under, places=12, msg=name)

    def test_an_entry_that_fails_is_named_and_the_others_go_on(self):
        done = self.bench("--only", "enlarge,commands", "--programs", self.root, code=1)
        self.assertRegex(done.stdout, r"(?m)^- enlarge: .*bench_grow is missing; build it with")
        self.assertRegex(done.stdout, r"(?m)^\| read, test, ")
        broken = self.write("bench_grow", "#!/bin/sh\necho 'no rows' >&2\nexit 3\n", 0o755)
        done = self.bench("--only", "enlarge", "--programs", broken.parent, code=1)
        self.assertIn("- enlarge: no rows\n", done.stdout)

    def test_a_program_prints_measurements(self):
        line = json.dumps(measured(goal_is_for="any"))
        program = self.write("bench_grow", f"#!/bin/sh\necho '{line}'\necho \"$*\" > '{self.root}/words'\n", 0o755)
        done = self.bench("--only", "enlarge", "--programs", program.parent, "--runs", 5)
        self.assertEqual((self.root / "words").read_text(encoding="utf-8"), "--runs 5 --threads 1 --quick\n")
        self.assertRegex(done.stdout, r"(?m)^\| work +\| +2 s \(1\.5 to 3\) +\| +numpy \| 13 s \(12 to 14\) +"
                         r"\| +6\.5 times as fast \| +≥ 6 +\| +yes +\|$")
        for size, words in ([], "--runs 9 --threads 2\n"), (["--quick"], "--runs 3 --threads 2 --quick\n"):
            done = self.script("run_bench", "--broad", BROAD, "--only", "enlarge", "--programs", self.root, *size)
            self.assertEqual((self.root / "words").read_text(encoding="utf-8"), words)
        self.write("bench_grow", "#!/bin/sh\necho '{\"what\": \"work\"}'\n", 0o755)
        done = self.bench("--only", "enlarge", "--programs", self.root, code=1)
        self.assertIn("- enlarge: enlarge: no 'unit' in", done.stdout)

    def test_the_size_of_a_process_is_its_own(self):
        """A parent with 300 MB does not show in the figure, and 100 MB that the child takes do."""
        ballast = bytearray(300_000_000)
        bench = measure.Bench(None, self.root)
        bench.folder = self.root
        for megabytes in 1, 100:
            code = f"#!{sys.executable} -IS\nrows = b'x' * {megabytes}_000_000\nprint('{{}}')\n"
            program = self.write("tool", code, 0o755)
            bench.tool = type("Tool", (), {"path": str(program)})
            _, _, size = bench.resident("fit")
            self.assertTrue(megabytes < size < megabytes + 40, size)
        self.assertEqual(len(ballast), 300_000_000)

    def test_messages(self):
        self.assertIn("no entry 'trains'; there are train,", self.bench("--only", "trains", code=2).stderr)
        self.assertIn("build it first", self.script("run_bench", "--broad", self.root / "none", code=1).stderr)

    def test_every_entry_is_there(self):
        for name in ENTRIES:
            self.assertTrue(callable(entry(name).run) and entry(name).TITLE, name)


class Figures(unittest.TestCase):
    def test_exponents_of_known_curves(self):
        sizes = [10, 100, 1000, 10000]
        for power in 0.5, 1, 2.25:
            slope, error = growth.fit_exponent(sizes, [3e-4 * size ** power for size in sizes])
            self.assertAlmostEqual(slope, power, places=12)
            self.assertLess(error, 1e-7)

    def test_exponent_and_its_error_are_those_of_least_squares(self):
        rng = random.Random(5)
        sizes = [10 ** (k / 2) for k in range(8, 15)]
        seconds = [1e-6 * size ** 1.03 * math.exp(rng.gauss(0, 0.1)) for size in sizes]
        slope, error = growth.fit_exponent(sizes, seconds)
        line, covariance = np.polyfit(np.log(sizes), np.log(seconds), 1, cov=True)
        self.assertAlmostEqual(slope, line[0], places=10)
        self.assertAlmostEqual(error, math.sqrt(covariance[0, 0]), places=10)

    def test_quartiles(self):
        rng = np.random.default_rng(4)
        for count in 1, 2, 5, 8:
            figures = rng.random(count)
            found = measure.summary(list(figures))
            self.assertTrue(np.allclose(list(found.values()), np.percentile(figures, [0, 25, 50, 75, 100])))

    def test_goals(self):
        done = measure.finish(measured(), "train", "full")
        self.assertEqual((done["rivals"]["numpy"]["value"], done["rivals"]["numpy"]["reached"]), (6.5, True))
        self.assertIsNone(measure.finish(measured(), "train", "quick")["rivals"]["numpy"]["reached"])
        for ratio, least, most, reached in (("rival/ours", 7, None, False), ("ours/rival", None, 0.15, False),
                                            ("ours/rival", None, 0.16, True), ("ours/rival", 0.15, 1, True),
                                            ("ours/rival", 0.16, 1, False), ("ours/rival", None, None, None)):
            one = measured(rivals={"numpy": measure.rival([13], "call", ratio, least=least, most=most)})
            self.assertIs(measure.finish(one, "x", "full")["rivals"]["numpy"]["reached"], reached, (ratio, least, most))
        self.assertIs(measure.finish(measured(most=1.9), "x", "full")["reached"], False)
        self.assertIs(measure.finish(measured(most=2), "x", "full")["reached"], True)

    def test_nonsense_is_refused(self):
        self.assertEqual(measure.finish(measured(unit="", ours=[-0.5], rivals={}), "x", "full")["summary"]["median"], -0.5)
        for wrong in (measured(ours=[]), measured(ours=[0.0]), measured(ours=[math.nan]), {"what": "x"},
                      measured(rivals={"a": {"figures": [1], "ratio": "a/b"}})):
            with self.assertRaises(Failure):
                measure.finish(wrong, "x", "full")

    def test_flops_by_counting(self):
        rows, inputs, classes, layers = 7, 5, 3, 4
        z, q = 100, 100
        multiplied = rows * inputs * z
        halves = 0
        for j in range(layers):
            width = q + (z if j == 0 else 0)
            multiplied += rows * z * q + 2 * rows * width * classes
            halves += rows * sum(1 for a in range(width) for b in range(a + 1))
        self.assertEqual(numpy_chain.flops(rows, inputs, classes, layers), 2 * multiplied + 2 * halves)

    def test_the_rival_solves_the_ridge_of_each_layer(self):
        x, labels = numpy_chain.waves(300, 6, 3)
        self.assertTrue(0 <= x.min() and x.max() <= 1 and set(labels) == {0, 1, 2})
        y = np.eye(3)[labels]
        network = numpy_chain.fit(x, y, 1)
        rest = y - numpy_chain.scores(network, x)
        self.assertAlmostEqual(np.linalg.norm(rest), network[2], places=6)
        z = numpy_chain.nodes(x, network[0])
        k = np.hstack([z, numpy_chain.nodes(z, network[1][0][0])])
        stacked = np.vstack([k, math.sqrt(numpy_chain.LAMBDA) * np.eye(k.shape[1])])
        best = np.linalg.lstsq(stacked, np.vstack([y, np.zeros((k.shape[1], 3))]), rcond=None)[0]
        self.assertAlmostEqual(np.linalg.norm(y - k @ best), network[2], places=4)
        again = numpy_chain.fit(x, y, 2, make=numpy_chain.nodes_in_place)
        self.assertAlmostEqual(again[2], numpy_chain.fit(x, y, 2)[2], places=6)
        self.assertEqual(numpy_chain.fit(x, y, 2, bounds=[1, 0])[3], 1 + numpy_chain.TRIES)


class Documents(Scratch):
    def setUp(self):
        super().setUp()
        self.page = self.write("docs/benchmarks.md", marked("figures"))
        self.write("docs/large-data.md", marked("streaming"))
        self.write("docs/embedding.md", marked("one row"))
        (self.root / "docs" / "images").mkdir()
        if not shutil.which("gnuplot"):
            self.write("bin/gnuplot", "#!/bin/sh\necho '<?xml?>'\n", 0o755)
            self.environment["PATH"] = f"{self.root / 'bin'}:{os.environ['PATH']}"

    def take(self, found, code=0):
        path = self.write("bench.json", json.dumps(found))
        return self.script("check_figures", "--take", "benchmarks", path, self.root, code=code)

    def test_the_documents_say_what_the_report_says(self):
        found = whole_report()
        found["measurements"][1] = measure.finish(measured(what="read", ours=[4], limit=1, limit_is="Reading"), "wide", "full")
        slow = measured(ours=[4], limit=2.6, facts={"flops": 26e10}, why="Too warm.")
        found["measurements"][0] = measure.finish(slow, "train", "full")
        self.take(found)
        doc = re.sub(r"\s+", " ", self.page.read_text(encoding="utf-8"))
        self.assertIn("- work against numpy: 3.25 times as fast, goal ≥ 6. The processor's peak alone allows 5.0 "
                      "times, so the goal is out of reach here, whatever the code. Too warm. -", doc)
        self.assertIn("- read against numpy: 3.25 times as fast, goal ≥ 6. Reading alone allows 13.0 times, so the goal is "
                      "not out of reach.", doc)
        self.assertIn("| work | 260.0 | 4 s | 2.6 s | 65 % | numpy 5.0 |", doc)
        self.assertIn("| 10,000 to 10,000,000 | 110 ms to 110 s | 1.000 ± 0.000 |", doc)
        self.assertTrue(doc.startswith("Written by hand.") and doc.endswith("By hand as well. "))
        self.assertIn("2026-01-02, Abacus, 2 processors, 100 GFLOP/s", doc)
        self.assertEqual(json.loads((self.root / "docs" / "benchmarks.json").read_text(encoding="utf-8")), found)
        self.assertIn("3 parts, 0 places wrong", self.script("check_figures", self.root).stdout)

    def test_a_changed_figure_is_seen(self):
        self.take(whole_report())
        text = self.page.read_text(encoding="utf-8")
        self.page.write_text(text.replace("6.5 times", "7.5 times", 1), encoding="utf-8")
        self.script("check_figures", self.root, code=1)
        self.script("check_figures", "--fix", self.root)
        self.assertEqual(self.page.read_text(encoding="utf-8"), text)
        (self.root / "docs" / "images" / "growth.svg").unlink()
        self.assertIn("growth.svg: is missing", self.script("check_figures", self.root, code=1).stdout)
        self.script("check_figures", "--fix", self.root)
        self.assertTrue((self.root / "docs" / "images" / "growth.svg").is_file())

    def test_sentences(self):
        size = measured(what="peak resident size, 9 rows", unit="MB", ours=[38.51], rivals={})
        time = measured(what="the whole command, 9 rows", ours=[55.9], rivals={}, command="broad fit large.csv")
        reading = {"reading the weights alone": measure.rival([0.5e-4], "add", "ours/rival")}
        row = measured(what="prediction, one row, 784 inputs", ours=[1e-4], rivals=reading)
        found = whole_report()
        found["measurements"] += [measure.finish(m, name, "full") for m, name in
                                  ((size, "stream"), (time, "stream"), (row, "predict"))]
        texts = pages.module("benchmarks").parts(found)
        self.assertIn("9 rows: 55.9 s from start to end, 38.5 MB of memory at the peak (`broad fit large.csv`",
                      texts["docs/large-data.md"]["streaming"].replace("\n", " "))
        self.assertIn("one row, 784 inputs: 100 µs, 2 times what only reading", texts["docs/embedding.md"]["one row"])

    def test_part_of_a_run_is_not_taken(self):
        self.assertIn("size quick", self.take(whole_report(size="quick"), code=1).stderr)
        found = whole_report()
        found["measurements"] = [m for m in found["measurements"] if m["entry"] != "wide"]
        self.assertIn("without wide", self.take(found, code=1).stderr)
        self.take({**found, "failed": [{"entry": "wide", "reason": "no room"}]})
        self.assertIn("- wide: no room\n", self.page.read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed (Debian: gnuplot-nox)")
    def test_the_picture(self):
        path = self.root / "growth.svg"
        picture.draw(whole_report()["measurements"], path)
        text = path.read_text(encoding="utf-8")
        for word in "rows", "enhancement nodes", "columns", "classes", "exponent 1.00":
            self.assertIn(word, text)
        self.assertNotRegex(text, r"[ \t]\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
