#!/usr/bin/env python3
"""scripts/bench_uci on made-up tables with given splits: its figures against the tool's own on the same rows, its tests
against scipy and against counting, what the rivals say of their own certainty, and what it does about failures.

Usage: test_bench_uci.py PATH_OF_BROAD. Rivals are left out where scikit-learn is not installed.
"""
import gzip
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import types
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_bench_tables import BROAD, HAVE_SKLEARN, ROOT, Folder, class_table, number_table  # noqa: E402

from bench import marks  # noqa: E402
from bench.tables import bench, diagram, ranks, uci  # noqa: E402
from bench.tables.splits import GivenTable, find_tables  # noqa: E402
from bench.tool import Failure  # noqa: E402

if HAVE_SKLEARN:
    import numpy as np
    from sklearn.base import BaseEstimator
    from bench.tables import rivals
try:
    from scipy import stats
except ImportError:
    stats = None

METHODS = ["auto", "brls"] + (["ridge", "boosting"] if HAVE_SKLEARN else [])


class Given(Folder):
    """Two tables with splits of both forms, and one that is split here."""

    def setUp(self):
        super().setUp()
        rng = random.Random(8)
        self.given = self.root / "given"
        self.add("standard_splits/wave", number_table(rng))
        self.listed = [rng.sample(range(100), 10) for _ in range(4)]
        self.zipped("standard_splits/wave.test_rows.txt", "".join(",".join(map(str, rows)) + "\n" for rows in self.listed))
        self.add("ten_splits/swell", number_table(rng))
        self.marked = [[int(rng.random() < 0.2) for _ in range(2)] for _ in range(100)]
        self.zipped("ten_splits/swell.splits.csv", "test0,test1\n" + "".join("%d,%d\n" % tuple(row) for row in self.marked))

    def add(self, name, text):
        self.zipped(name + ".csv", text)

    def zipped(self, name, text):
        path = self.given / (name + ".gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))

    def uci(self, *more, code=0, methods=METHODS, tool=BROAD):
        words = ["--broad", tool, "--methods", ",".join(methods), "--splits", 3, "--own-splits", 2, "--alone-splits", 3, "--rows", 60, "--threads", 1]
        script = [sys.executable, ROOT / "scripts" / "bench_uci", self.given, "--tables", self.tables]
        done = subprocess.run([*script, *map(str, [*words, *more])], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done


class Splits(Given):
    def test_given_rows(self):
        tables, left_out = find_tables(self.given)
        self.assertEqual(([table.name for table in tables], left_out), (["standard/wave", "ten/swell"], []))
        self.assertEqual([table.most_splits for table in tables], [4, 2])
        for table, tests in zip(tables, (self.listed, [[i for i in range(100) if self.marked[i][s]] for s in range(2)])):
            for split, wanted in enumerate(tests):
                train, test = table.split(split, 0)
                self.assertEqual(test, wanted)
                self.assertEqual(train, [i for i in range(100) if i not in wanted])
            few, same = tables[0].split(0, 20)
            self.assertEqual((len(few), same), (20, self.listed[0]))
            self.assertFalse(set(few) & set(same))

    def test_splits_that_do_not_fit(self):
        for rows in ("1,2,100\n", "3,3\n", "", ",".join(map(str, range(100))) + "\n"):
            self.zipped("standard_splits/wave.test_rows.txt", "5,6\n" + (rows or "-1\n"))
            with self.assertRaisesRegex(ValueError, "does not fit 100 rows"):
                GivenTable(self.given / "standard_splits" / "wave.csv.gz")
        self.assertIn("wave.csv.gz is left out: a split of 100", self.uci(methods=["brls"]).stderr)


class Whole(Given):
    def test_figures_and_reuse(self):
        path, facts = self.root / "results.lines", self.root / "facts.json"
        text = self.uci("--results", path, "--json", facts).stdout
        found, lines = json.loads(facts.read_text(encoding="utf-8")), self.results(path)
        self.assertEqual(text, uci.make(found))
        self.assertEqual({one["name"]: len(one["results"]["auto"]) for one in found["tables"]},
                         {"standard/wave": 3, "ten/swell": 2, "clouds": 2, "wave": 2})
        self.assertEqual({one["name"]: {name: len(results) for name, results in one["results"].items()} for one in found["alone"]},
                         {"standard/wave": {"auto": 3}, "ten/swell": {"auto": 2}, "clouds": {"auto": 3}, "wave": {"auto": 3}})
        self.check_against_the_tool(lines)
        self.check_measures(lines)
        before = path.read_bytes()
        self.assertEqual(self.uci("--results", path).stdout, text)
        self.assertEqual(path.read_bytes(), before)
        few = self.uci("--results", path, "--cells", 450)  # 100 rows of 2 inputs: two splits have 400 cells
        self.assertEqual(path.read_bytes(), before)
        self.assertIn("2 splits of each table", few.stdout)
        with self.assertRaisesRegex(Failure, "no whole run: without forest"):
            uci.whole(found)

    def check_against_the_tool(self, lines):
        """The same rows, fitted and judged here."""
        table = GivenTable(self.given / "ten_splits" / "swell.csv.gz")
        files = [self.root / "a.csv", self.root / "b.csv"]
        for file, numbers in zip(files, table.split(1, 0)):
            table.write(file, numbers)
        model = self.root / "m.broad"
        words = ["--seed", "1", "--threads", "1", "--json", "-q"]
        fit, tested = (json.loads(subprocess.run([BROAD, *command], capture_output=True, check=True).stdout)
                       for command in (["fit", files[0], *words, "-o", model], ["eval", model, files[1], "--json"]))
        test = tested["test"]
        result = next(r for r in lines if (r["table"], r["split"], r["method"]) == ("ten/swell", 1, "auto"))
        self.assertEqual([result[name] for name in ("value", "coverage", "log_likelihood", "estimate")],
                         [test["rmse"], test["coverage"], test["log_likelihood"], fit["loo"]["rmse"]])

    def check_measures(self, lines):
        for result in lines:
            wanted = {"auto": {"log_likelihood", "estimate"}, "boosting": {"log_likelihood"}}
            self.assertLessEqual(wanted.get(result["method"], set()), set(result), result)
        clouds = [r for r in lines if r["table"] == "clouds" and r["method"] in ("auto", "boosting")]
        self.assertTrue(all(r["log_likelihood"] < 0 and 0 <= r["calibration_error"] < 0.5 for r in clouds))

    def stored_run(self):
        """Of two networks on two splits, and what the JSON has of it."""
        facts = self.root / "earlier.json"
        self.uci("--json", facts, "--splits", 2, "--alone-splits", 2, methods=["auto", "brls"])
        return facts, json.loads(facts.read_text(encoding="utf-8"))

    def run_beside(self, earlier, *more, code=0):
        """With another split of auto: the JSON, and the lines of what was measured."""
        for name in ("now.lines", "now.json"):
            (self.root / name).unlink(missing_ok=True)
        done = self.uci("--stored", earlier, "--splits", 2, "--results", self.root / "now.lines", "--json", self.root / "now.json",
                        *more, methods=["auto"], code=code)
        if code:
            return done.stderr
        lines = self.root / "now.lines"
        return json.loads((self.root / "now.json").read_text(encoding="utf-8")), self.results(lines) if lines.exists() else []

    def test_an_earlier_run_is_taken_where_the_tool_finds_the_same(self):
        path, earlier = self.stored_run()
        found, lines = self.run_beside(path)
        measured = {(line["table"], line["split"]) for line in lines}
        self.assertEqual(measured, {(name, 0) for name in ("standard/wave", "ten/swell", "clouds", "wave")} |
                         {(name, 2) for name in ("standard/wave", "clouds", "wave")})  # swell has two splits
        self.assertEqual({line["method"] for line in lines}, {"auto"})
        for now, then in zip(found["tables"], earlier["tables"]):
            self.assertEqual([one["value"] for one in now["results"]["auto"]], [one["value"] for one in then["results"]["auto"]])
            self.assertEqual(now["results"]["auto"][1], then["results"]["auto"][1])  # with its time
            self.assertEqual(now["results"]["brls"], then["results"]["brls"])
        self.assertEqual([len(one["results"]["auto"]) for one in found["alone"]], [3, 2, 3, 3])
        self.assertEqual(found["stored"], [{"machine": earlier["machine"], "methods": ["brls"]}])
        self.assertIn(f"Of an earlier run, on {earlier['machine']}: brls.", " ".join(uci.make(found).split()))

    def test_an_earlier_run_of_another_tool_or_machine_is_measured_again(self):
        path, earlier = self.stored_run()
        for part in ("tables", "alone"):
            results = earlier[part][0]["results"]["auto"]
            for result in results:
                result["value"] *= 1 + 1e-15
        path.write_text(json.dumps(earlier), encoding="utf-8")
        found, lines = self.run_beside(path)
        self.assertEqual([line["split"] for line in lines if line["table"] == "standard/wave"], [0, 1, 2])
        self.assertEqual([line["split"] for line in lines if line["table"] == "wave"], [0, 2])
        self.assertEqual(found["tables"][0]["results"]["auto"][1]["value"],
                         next(line["value"] for line in lines if (line["table"], line["split"]) == ("standard/wave", 1)))
        earlier["machine"] = "another one"
        earlier["stored"] = [{"machine": "a third one", "methods": ["brls"]}]
        path.write_text(json.dumps(earlier), encoding="utf-8")
        found, lines = self.run_beside(path)
        self.assertEqual([line["split"] for line in lines if line["table"] == "wave"], [0, 1, 2])
        self.assertEqual(found["stored"], earlier["stored"])  # auto is this run's own

    def test_known_results_beside_an_earlier_run(self):
        """Nothing is measured: tables without results are taken and named, those that differ are left out."""
        path, earlier = self.stored_run()
        lines = [line for line in self.run_beside(path)[1] if line["table"] in ("wave", "clouds")]
        for line in lines:
            line["value"] *= 2 if line["table"] == "clouds" else 1
        (self.root / "some.lines").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        found, _ = self.run_beside(path, "--results", self.root / "some.lines", "--known")
        self.assertEqual(found["stored"], [{"machine": earlier["machine"], "methods": ["brls"]},
                                           {"machine": earlier["machine"], "methods": ["auto"], "tables": ["standard/wave", "ten/swell"]}])
        counts = {one["name"]: len(one["results"].get("auto", [])) for one in found["tables"]}
        self.assertEqual(counts, {"standard/wave": 2, "ten/swell": 2, "clouds": 0, "wave": 2})
        self.assertEqual([len(one["results"].get("auto", [])) for one in found["alone"]], [2, 2, 1, 3])
        self.assertIn("auto on standard/wave and ten/swell.", " ".join(uci.make(found).split()))

    def test_an_earlier_run_that_does_not_fit(self):
        path, earlier = self.stored_run()
        self.assertIn("was measured with --threads 1, not 2", self.run_beside(path, "--threads", 2, code=1))
        self.assertIn("was measured with --rows 60, not 50", self.run_beside(path, "--rows", 50, code=1))
        for text in ("", "[]", json.dumps({"threads": 1})):
            path.write_text(text, encoding="utf-8")
            self.assertIn("earlier.json is no JSON of bench_uci", self.run_beside(path, code=1))

    def test_a_method_that_is_absent_is_named(self):
        plan = bench.Plan("bench_uci", {}, ["xgboost"], 1, lambda table: 1, lambda table: 0, limits=uci.LIMITS, whole=True)
        tool = types.SimpleNamespace(path=BROAD, machine={"version": "0"}, describe=lambda: "a machine")
        if not HAVE_SKLEARN:
            return
        with unittest.mock.patch.object(rivals, "xgboost", None):
            found = bench.measure_all(tool, plan, None, bench.tables_of([self.given], "bench_uci"))
        self.assertEqual(found["failed"], [{"method": "xgboost", "reason": "xgboost is not installed (Debian: python3-xgboost)",
                                            "tables": ["standard/wave", "ten/swell"]}])
        self.assertIn("- xgboost on standard/wave, ten/swell: xgboost is not installed", uci.make(found))

    def test_no_tables(self):
        (self.root / "empty").mkdir()
        self.assertIn("no table under", self.uci("--tables", self.root / "empty", code=1).stderr)


class Wilcoxon(unittest.TestCase):
    def test_by_counting_signs(self):
        rng = random.Random(3)
        for tied in (False, True):
            for count in (1, 4, 9):
                values = [rng.choice((-2, -1, 1, 2, 3)) if tied else rng.gauss(0.3, 1) for _ in range(count)]
                sizes = ranks.rank([abs(value) for value in values])
                far = abs(sum(math.copysign(size, value) for size, value in zip(sizes, values)))
                sums = [abs(sum(s * size for s, size in zip(signs, sizes))) for signs in itertools.product((-1, 1), repeat=count)]
                self.assertEqual(ranks.wilcoxon(values), sum(total >= far for total in sums) / 2 ** count)
        self.assertEqual(ranks.wilcoxon([]), 1)
        self.assertEqual(ranks.wilcoxon([0, 0, -1, -2, -3, -4, -5, -6]), 2 / 2 ** 6)

    def test_by_scipy(self):
        if stats is None:
            self.skipTest("scipy is not installed (Debian: python3-scipy)")
        rng = random.Random(4)
        for count in (5, 13, 32):
            values = [rng.gauss(0.4, 1) for _ in range(count)]
            self.assertAlmostEqual(ranks.wilcoxon(values), stats.wilcoxon(values, mode="exact").pvalue, delta=1e-12)

    def test_sign(self):
        self.assertLess(ranks.signed_rank_sum([-3, -2, 1]), 0)
        self.assertEqual(ranks.signed_rank_sum([-3, 0, 3]), 0)


def table_of(name, task, **results):
    return {"name": name, "task": task, "inputs": 2, "classes": 2 if task == "classify" else 0, "missing": False,
            "train_rows": 10, "test_rows": 5, "results": results}


def result_of(value, **more):
    return {"value": value, "seconds": 1, "cpu_seconds": 1, **more}


class Report(unittest.TestCase):
    def setUp(self):
        self.found = {"machine": "m", "rivals": "r", "threads": 1, "methods": ["auto", "forest"], "networks": {"auto": []},
                      "failed": [], "tables": [
                          table_of("standard/yacht", "regress",
                                   auto=[result_of(0.5, log_likelihood=-0.5, estimate=0.4, coverage=0.9),
                                         result_of(0.7, log_likelihood=-0.9, estimate=0.7, coverage=0.8)],
                                   forest=[result_of(1.0, log_likelihood=-1.4, estimate=1.5),
                                           result_of(1.4, log_likelihood=-1.5, estimate=1.4)]),
                          table_of("a", "classify", auto=[result_of(0.9, estimate=0.92)], forest=[result_of(0.8)])]}
        self.found["published"] = {**uci.PUBLISHED, "measured": self.found["tables"][:1]}

    def test_pairs(self):
        text = uci.make(self.found)
        ratio = statistics.median([0.6 / 1.2, 0.1 / 0.2])
        self.assertIn("| forest | 2 | 0 | 0 | %.3f | 0.5 |" % ratio, text)

    def test_published(self):
        text = uci.make(self.found)
        self.assertIn("| standard/yacht | 2 | 0.67 ± 0.05 | 0.60 ± 0.10 | -1.25 | -0.70 |", text)
        self.assertIn("Its RMSE is better than the published one on 1 of 1 standard tables, its log-likelihood on 1 (the first 2 splits,", uci.verdict(self.found))

    def test_estimates(self):
        text = uci.make(self.found)
        self.assertIn("| standard/yacht | +0.083 | -0.208 |", text)  # (0.6 - 0.55) / 0.6; (1.2 - 1.45) / 1.2
        self.assertIn("| a | +0.200 |  |", text)  # an error of 0.1 where 0.08 was promised
        self.assertIn("| mean over the tables | +0.142 | -0.208 |", text)

    def test_promises_by_all_splits(self):
        more = [result_of(0.5, estimate=0.4, coverage=0.9), result_of(0.7, estimate=0.7, coverage=0.8),
                result_of(1.5, estimate=0.7, coverage=0.4)]
        self.found["alone"] = [table_of("standard/yacht", "regress", auto=more),
                               table_of("a", "classify", auto=[result_of(0.9, estimate=0.92)]), table_of("b", "classify")]
        text, verdict = uci.make(self.found), uci.verdict(self.found)
        gap = (0.9 - 0.6) / 0.9
        squares = 1 - math.sqrt((0.16 + 0.49 + 0.49) / (0.25 + 0.49 + 2.25))
        error = statistics.stdev([0.5, 0.7, 1.5]) / math.sqrt(3)
        self.assertIn(f"| standard/yacht | 3 | 0.9000 ± {error:.4f} | 0.6000 | {gap:+.3f} | {squares:+.3f} | 0.700 |", text)
        self.assertIn("| a | 1 | 0.1000 | 0.0800 | +0.200 | +0.200 |  |", text)
        self.assertIn(f"| mean over the tables |  |  |  | {(gap + 0.2) / 2:+.3f} | {(squares + 0.2) / 2:+.3f} |  |", text)
        self.assertIn(f"is {50 * (gap + 0.2):+.1f} % ({50 * (squares + 0.2):+.1f} % by squares).", " ".join(verdict.split()))
        self.assertIn("cover 70.0 % of the test values", verdict)

    def test_variants_have_no_rank(self):
        for table in self.found["tables"]:
            table["results"]["auto-fast"] = table["results"]["auto"]
        self.found["methods"].append("auto-fast")
        text = uci.make(self.found)
        self.assertNotRegex(text, r"(?m)^\| auto-fast \| [0-9.]+ \| [0-9]+ \|$")
        self.assertIn("| auto-fast | 0 | 2 | 0 | 1.000 | 1 |", text)

    def test_results_of_an_earlier_run_are_named(self):
        self.found["stored"] = [{"machine": "another one", "methods": ["forest"]}, {"machine": "an old one", "methods": ["mlp", "svm"]}]
        text = uci.make(self.found)
        self.assertIn("Of an earlier run, on another one: forest.", text)
        self.assertIn("Of an earlier run, on an old one: mlp and svm.", text)

    def test_likelihood_is_ranked_where_all_have_it(self):
        text = uci.make(self.found)
        part = text[text.index("## Mean ranks by the log-likelihood"):]
        self.assertIn("Over 1 tables", part)
        self.assertRegex(part, r"(?m)^\| auto \| 1\.00 \| 1 \|$")

    def test_diagram(self):
        text = diagram.make(["auto", "b<c", "d", "e"], [1.2, 2.9, 3.1, 2.8], 1.0, "mean rank")
        root = xml.etree.ElementTree.fromstring(text)
        words = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for wanted in ("auto 1.20", "b<c 2.90", "critical difference 1.00"):
            self.assertIn(wanted, words)
        self.assertEqual(text.count('class="g"'), 1)  # the three that lie within 1 of each other
        self.assertIn("prefers-color-scheme: dark", text)

    def test_before_and_after(self):
        self.found["methods"].append("before")
        self.found["networks"]["before"] = []
        self.found["tables"][0]["results"]["before"] = [result_of(0.6, coverage=0.95), result_of(0.6, coverage=0.85)]
        text = uci.make(self.found)
        self.assertIn("| standard/yacht | 0.6000 | 0.6000 | 0.0000 ± 0.1000 | 0.900 | 0.850 |  |  | 1 | 1 |", text)
        self.assertIn("Better on 0 tables, worse on 0 (Wilcoxon's p 1); processor time 1.00", text)
        self.assertNotRegex(text, r"(?m)^\| before \|")  # it has no rank

    def test_times_of_another_machine_are_not_compared(self):
        self.found["machine"] = "AMD EPYC, 2 processors, broad 0.2.0"
        self.found["methods"].append("before")
        self.found["networks"]["before"] = []
        self.found["tables"][0]["results"]["before"] = [result_of(0.6), result_of(0.6)]
        run = {"machine": "AMD EPYC, 2 processors, broad 0.1.0", "methods": ["forest", "before"]}
        self.found["stored"] = [run]
        text, words = uci.make(self.found), " ".join(uci.in_short(self.found).split())
        self.assertIn("| processor time, multiple of auto's | 1 | 1 |", text)
        self.assertIn("processor time 1.00 of what it was", text)
        self.assertIn("AMD EPYC, 1 thread).", words)
        run["machine"] = "Intel(R) Xeon(R) Processor, 2 processors, broad 0.1.0"
        text, words = uci.make(self.found), " ".join(uci.in_short(self.found).split())
        self.assertIn("| processor time, multiple of auto's | 1 |  |\n\nOn another machine, Intel Xeon: forest.\n", text)
        self.assertIn("on another machine (Intel Xeon): compare no times.", " ".join(text.split()))
        self.assertNotIn("of what it was", text)
        self.assertIn("AMD EPYC, the others on Intel Xeon, 1 thread).", words)
        self.found["stored"] = [{"machine": "Intel Core, 2 processors", "methods": ["before", "boosting"]}, run]
        for table in self.found["tables"]:
            table["results"]["boosting"] = table["results"]["forest"]
        self.found["methods"].append("boosting")
        self.assertIn("AMD EPYC, boosting on Intel Core, random forest on Intel Xeon, 1 thread).", " ".join(uci.in_short(self.found).split()))

    def test_json_is_stored_line_by_line(self):
        self.assertEqual(json.loads(marks.dump(self.found, uci.DEPTH)), self.found)


@unittest.skipUnless(HAVE_SKLEARN, "scikit-learn is not installed (Debian: python3-sklearn)")
class Rivals(unittest.TestCase):
    def test_normal_distribution(self):
        rng = random.Random(6)
        held, residuals = ([rng.gauss(0, 2) for _ in range(40)] for _ in range(2))
        deviation = math.sqrt(statistics.fmean(x * x for x in held))
        law = statistics.NormalDist(0, deviation)
        found = rivals.regression_qualities(np.array(residuals), np.array(held))
        self.assertAlmostEqual(found["log_likelihood"], statistics.fmean(math.log(law.pdf(x)) for x in residuals), places=12)
        self.assertAlmostEqual(found["estimate"], deviation, places=12)
        self.assertEqual(found["coverage"], statistics.fmean(abs(law.cdf(x) - 0.5) <= 0.45 for x in residuals))

    def test_probabilities(self):
        p = np.array([[0.9, 0.1], [0.6, 0.4], [0.0, 1.0], [0.2, 0.8]])
        found = rivals.class_qualities(p, np.array([0, 1, 0, 1]))
        self.assertAlmostEqual(found["log_likelihood"], statistics.fmean(map(math.log, (0.9, 0.4, 0.001, 0.8))), places=12)
        self.assertAlmostEqual(found["brier"], (2 * 0.01 + 2 * 0.36 + 2 + 2 * 0.04) / 4, places=12)
        self.assertAlmostEqual(found["calibration_error"], (0.1 + 0.6 + 1 + 0.2) / 4, places=12)

    def test_held_out_rows_are_not_seen(self):
        """A model that knows its rows by heart has no error on them."""
        class Parrot(BaseEstimator):
            def fit(self, x, y):
                self.known = dict(zip(map(tuple, x), y))
                return self

            def predict(self, x):
                return np.array([self.known.get(tuple(row), 0.0) for row in x])

        x, y = np.arange(60.0).reshape(-1, 1), np.full(60, 3.0)
        held = rivals.held_out(rivals.make_pipeline(Parrot()).fit(x, y), x, y, 0)
        self.assertEqual((len(held), set(held)), (60, {3.0}))

    def test_limits(self):
        seen = []

        class Spy(rivals.SVR):
            def fit(self, x, y, **more):
                seen.append(len(x))
                return super().fit(x, y, **more)

        rng = np.random.default_rng(2)
        x = rng.normal(size=(90, 2))
        with unittest.mock.patch.object(rivals, "SVR", Spy):
            model = rivals.make_svm(False, 2, 0, 1, rivals.Limits(search=30, fit=60))
            model.fit(x, x[:, 0])
            self.assertEqual((max(seen[:-1]), seen[-1]), (20, 60))  # two of three folds; the last fit
            rivals.held_out(rivals.make_pipeline(model), x, x[:, 0], 0)
        self.assertEqual(seen[-5:], [60] * 5)  # of 72 in each fold
        self.assertEqual(model.predict(x).shape, (90,))

    def test_a_class_with_one_row(self):
        """As shuttle has one: none of its rows can be put aside to stop early."""
        x = np.random.default_rng(7).normal(size=(50, 2))
        y = np.where(x[:, 0] > 0, 1, 0)
        y[0] = 2
        with unittest.mock.patch.multiple(rivals, STAGES=5, LEAVES=(8,)):
            for method in ("boosting-early", "boosting-grid"):
                model = rivals.make_model(method, True, 2, 0, 1, rivals.Limits())
                with rivals.warnings.catch_warnings():
                    rivals.warnings.simplefilter("ignore")
                    self.assertEqual(model.fit(x, y).predict_proba(x).shape, (50, 3))

    def test_every_method(self):
        rng = np.random.default_rng(5)
        x = rng.normal(size=(60, 3))
        for classify in (False, True):
            y = (x[:, 0] > 0).astype(int) if classify else x[:, 0] + 0.1 * rng.normal(size=60)
            for method in rivals.MAKERS:
                if method == "xgboost" and rivals.xgboost is None:
                    continue
                with unittest.mock.patch.multiple(rivals, TREES=10, COSTS=(1,), LEAVES=(8,), STAGES=5, MLP_ITERATIONS=50):
                    model = rivals.make_model(method, classify, 3, 0, 1, rivals.Limits(**uci.LIMITS.get(method, {})))
                    with rivals.warnings.catch_warnings():
                        rivals.warnings.simplefilter("ignore")
                        model.fit(x, y)
                        found = rivals.qualities(model, x, y, x, y, model.predict(x), 0, classify)
                missing = classify and method in ("svm", "ridge")  # no probabilities
                self.assertEqual("log_likelihood" in found, not missing, method)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
