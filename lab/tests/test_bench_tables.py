#!/usr/bin/env python3
"""scripts/bench_tables on two small tables: its figures against the tool's own, its ranks and statistics against other
formulas and published values, reuse of results, and what it does about failures.

Usage: test_bench_tables.py PATH_OF_BROAD. Rows of scikit-learn are left out where it is not installed.
"""
import itertools
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))

from bench.tables import ranks, report  # noqa: E402
from bench.tables.splits import Table  # noqa: E402

try:
    import sklearn  # noqa: F401
    HAVE_SKLEARN = True
except ImportError:
    print("scikit-learn is not installed (Debian: python3-sklearn): its row is not tested")
    HAVE_SKLEARN = False

METHODS = ["brls", "brls-auto", "ridge"]
SPLITS, ROWS = 2, 60


def class_table(rng):
    """Two clouds that overlap, with some values missing, and three rows of a rare class."""
    lines = ["u,v,w,kind"]
    for i in range(120):
        side = i % 2
        cells = ["%.4f" % rng.gauss(1.2 * side, 1) for _ in range(3)]
        if i % 40 == 7:
            cells[1] = "NA"
        lines.append(",".join(cells + [("left", "right")[side]]))
    lines += ["%.4f,5,5,rare" % rng.gauss(5, 0.1) for _ in range(3)]
    return "\n".join(lines) + "\n"


def number_table(rng):
    lines = ["a,b,y"]
    for _ in range(100):
        a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
        lines.append("%.4f,%.4f,%.4f" % (a, b, 10 + math.sin(2 * a) * b + rng.gauss(0, 0.1)))
    return "\n".join(lines) + "\n"


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-bench-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.tables = self.root / "tables"
        rng = random.Random(5)
        self.write("tables/classification/clouds.csv", class_table(rng))
        self.write("tables/regression/wave.csv", number_table(rng))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def bench(self, *more, code=0, methods=METHODS, tool=BROAD):
        words = ["--broad", tool, "--methods", ",".join(methods), "--splits", SPLITS, "--rows", ROWS, "--threads", 1]
        script = [sys.executable, ROOT / "scripts" / "bench_tables", self.tables]
        done = subprocess.run([*script, *map(str, [*words, *more])], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def results(self, path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Whole(Folder):
    def test_figures_ranks_and_reuse(self):
        path, facts = self.root / "results.lines", self.root / "out" / "facts.json"
        text, found = self.bench("--results", path, "--json", facts).stdout, self.results(path)
        methods = [method for method in METHODS if method != "ridge" or HAVE_SKLEARN]
        self.assertEqual(len(found), 2 * SPLITS * len(methods))
        self.assertEqual(text, report.make(json.loads(facts.read_text(encoding="utf-8"))))
        means = self.check_figures(text, found, methods)
        self.check_mean_ranks(text, means, methods)
        self.assertEqual("## Not measured" in text, not HAVE_SKLEARN)

        before = path.read_bytes()
        again = self.bench("--results", path)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(again.stdout, text)
        self.assertNotIn("brls", again.stderr)
        self.bench("--results", path, "--again", "brls")
        added = self.results(path)[len(found):]
        self.assertEqual([result["method"] for result in added], ["brls"] * 2 * SPLITS)
        for new in added:
            old = next(r for r in found if all(r[k] == new[k] for k in ("table", "split", "method")))
            self.assertEqual(old["value"], new["value"])

    def check_figures(self, text, found, methods):
        """The row of each table in the text is mean and deviation of the results; the best one is bold."""
        means = {}
        for name, digits, best in (("clouds", 4, max), ("wave", 4, min)):
            row = re.search(r"(?m)^\| %s[ ¹]*\| (\d+) \| (\d+) \|.*$" % name, text)
            self.assertEqual(int(row[2]), {"clouds": 36, "wave": 30}[name])
            cells = [cell.strip() for cell in row[0].split("|")[-len(methods) - 1:-1]]
            values = {m: [r["value"] for r in found if r["table"] == name and r["method"] == m] for m in methods}
            means[name] = {m: statistics.fmean(v) for m, v in values.items()}
            for method, cell in zip(methods, cells):
                figure = "%.*f ± %.*f" % (digits, means[name][method], digits, statistics.stdev(values[method]))
                is_best = math.isclose(means[name][method], best(means[name].values()), rel_tol=1e-12)
                self.assertEqual(cell, "**%s**" % figure if is_best else figure, (name, method))
        return means

    def check_mean_ranks(self, text, means, methods):
        """Rank: one more than the methods that are better, and half of those that are equal."""
        for method in methods:
            total = 0
            for name, sign in (("clouds", -1), ("wave", 1)):
                mine = sign * means[name][method]
                others = [sign * means[name][other] for other in methods if other != method]
                equal = [value for value in others if math.isclose(value, mine, rel_tol=1e-12)]
                total += 1 + sum(value < mine for value in others if value not in equal) + len(equal) / 2
            self.assertRegex(text, r"(?m)^\| %s \| %.2f \|" % (method, total / 2))

    def test_the_tool_says_the_same_on_the_same_split(self):
        path = self.root / "results.json"
        self.bench("--results", path, methods=["brls"])
        table = Table(self.tables / "classification" / "clouds.csv")
        files = [self.root / "a.csv", self.root / "b.csv"]
        for file, numbers in zip(files, table.split(1, ROWS)):
            table.write(file, numbers)
        words = ["--kind", "brls", "--preset", "paper", "--missing", "mean", "--seed", "1", "-o", self.root / "m.broad", "--json", "-q"]
        done = subprocess.run([BROAD, "fit", files[0], "--test", files[1], *words], capture_output=True, check=True)
        measured = json.loads(done.stdout)["test"]["accuracy"]
        result = next(r for r in self.results(path) if r["table"] == "clouds" and r["split"] == 1)
        self.assertEqual(result["value"], measured)

    def test_a_method_that_fails_is_named_and_the_others_go_on(self):
        tool = self.write("tool", '#!/bin/sh\ncase "$*" in *scn*) echo "broad: not today" >&2; exit 2;; esac\n'
                          'exec "%s" "$@"\n' % BROAD)
        tool.chmod(0o755)
        done = self.bench(methods=["scn", "brls"], tool=tool)
        self.assertIn("- scn on clouds, wave: broad: not today\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^\| brls \| 1\.00 \| 2 \|$")
        self.assertNotRegex(done.stdout, r"(?m)^\| scn ")

    def test_messages(self):
        self.write("tables/regression/text.csv", "a,b\n1,2\n1,2\nred,3\n")
        done = self.bench(methods=["brls-auto"])
        self.assertIn("text.csv is left out: row 3, column a: 'red' is no number", done.stderr)
        self.assertIn("no method 'brl'; there are", self.bench(methods=["brl"], code=2).stderr)
        self.assertIn("build it first", self.bench(tool=self.root / "none", code=1).stderr)


class Splits(Folder):
    def test_parts(self):
        table = Table(self.tables / "classification" / "clouds.csv")
        self.assertEqual((table.task, table.inputs, table.classes, table.missing), ("classify", 3, 3, True))
        seen = set()
        for seed, most in itertools.product(range(3), (0, 40)):
            train, test = table.split(seed, most)
            seen.add(frozenset(test))
            self.assertFalse(set(train) & set(test))
            self.assertEqual(len(set(train)) + len(set(test)), len(train) + len(test))
            self.assertEqual(len(test), 36)
            labels = [table.rows[number][-1] for number in train]
            counts = {label: labels.count(label) for label in ("left", "right", "rare")}
            self.assertEqual(counts, {"left": 19, "right": 19, "rare": 1} if most else
                             {"left": 42, "right": 42, "rare": 3})
            self.assertEqual(table.split(seed, most), (train, test))
        self.assertEqual(len(seen), 3)  # the cap takes nothing from the test rows

    def test_regression_and_no_header(self):
        table = Table(self.write("tables/plain.csv", "1,2,3.5\n2,3,4.5\n4,5,6.5\n5,6,7.5\n"))
        self.assertEqual((table.task, len(table.rows), table.header), ("regress", 4, ["x1", "x2", "target"]))
        train, test = table.split(0, 0)
        self.assertEqual((len(train), len(test)), (3, 1))


class Statistics(unittest.TestCase):
    # Demsar 2006, table 5, for 2 to 10 methods at the level of 5 %.
    PUBLISHED = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]

    def test_ranks(self):
        self.assertEqual(ranks.rank([3, 1, 2]), [3, 1, 2])
        self.assertEqual(ranks.rank([5, 1, 5, 1, 1]), [4.5, 2, 4.5, 2, 2])
        self.assertEqual(ranks.rank([7]), [1])
        infinity = float("inf")
        self.assertEqual(ranks.rank([infinity, 0, infinity]), [2.5, 1, 2.5])

    def test_friedman_by_the_textbook_formula(self):
        rng = random.Random(1)
        for methods, tables, tied in itertools.product((3, 5, 11), (4, 13), (False, True)):
            values = [[rng.randrange(4) if tied else rng.random() for _ in range(methods)] for _ in range(tables)]
            rows = [ranks.rank(row) for row in values]
            sums = [sum(column) for column in zip(*rows)]
            plain = 12 / (tables * methods * (methods + 1)) * sum(s * s for s in sums) - 3 * tables * (methods + 1)
            ties = sum(row.count(v) ** 3 - row.count(v) for row in values for v in set(row))
            statistic = plain / (1 - ties / (tables * methods * (methods ** 2 - 1)))
            self.assertAlmostEqual(ranks.friedman(rows)[0], statistic, delta=1e-9 * (1 + statistic))
        self.assertEqual(ranks.friedman([[1.5, 1.5], [1.5, 1.5]]), (0, 1))

    def test_tail_of_chi_square_by_published_values(self):
        for freedom, critical in ((1, 3.841), (2, 5.991), (3, 7.815), (4, 9.488), (9, 16.919), (10, 18.307)):
            self.assertAlmostEqual(ranks.chi_square_tail(critical, freedom), 0.05, delta=2e-5)
        self.assertEqual(ranks.chi_square_tail(0, 4), 1)

    def test_critical_difference_by_published_values(self):
        for methods, q in enumerate(self.PUBLISHED, 2):
            for tables in (5, 13):
                expected = q * math.sqrt(methods * (methods + 1) / (6 * tables))
                self.assertAlmostEqual(ranks.critical_difference(methods, tables), expected,
                                       delta=0.0011 * expected / q)

    def test_groups(self):
        self.assertEqual(ranks.groups([1, 2, 3, 9], 2), [(0, 2), (3, 3)])
        self.assertEqual(ranks.groups([4, 1, 2.5], 1.6), [(0, 1), (1, 2)])
        self.assertEqual(ranks.groups([1, 5], 1), [(0, 0), (1, 1)])

    def test_qualities_are_shown_where_they_are(self):
        def table(name):
            return type("Plain", (), {"task": "regress", "name": name})

        measured = [report.Measured(table("t"), 1, 1, {"a": [{"coverage": 0.9}, {"coverage": 0.8}], "b": [{}, {}]}),
                    report.Measured(table("u"), 1, 1, {"a": [{}, {"coverage": 0.8}]})]
        self.assertEqual(list(report.quality_table(measured, ["a", "b"], "coverage")),
                         ["| table | a |", "|---|--:|", "| t | 0.8500 |"])
        self.assertEqual(list(report.quality_table(measured, ["a", "b"], "brier")), [])

    def test_a_failed_method_is_last(self):
        table = type("Plain", (), {"task": "regress"})
        measured = [report.Measured(table, 1, 1, {"a": [{"value": 3}], "b": [{"value": 2}]}),
                    report.Measured(table, 1, 1, {"b": [{"value": 2}]})]
        self.assertEqual(report.rank_rows(measured, ["a", "b"]), [[2, 1], [2, 1]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
