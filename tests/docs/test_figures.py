#!/usr/bin/env python3
"""How results become parts of pages: marks, stored files, and the words that are chosen by numbers. The check itself is tried by
check_guards.py.

Usage: test_figures.py; the tool is not needed.
"""
import copy
import json
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))

from bench import marks, mnist, pages, schedules  # noqa: E402
from bench.images import report as images  # noqa: E402
from bench.tables import report as tables  # noqa: E402
from bench.tables import uci  # noqa: E402
from bench.tool import Failure  # noqa: E402

PAGE = "By hand.\n<!-- a b: begin -->\nold\n<!-- a b: end -->\nText.\n<!-- c: begin -->\n<!-- c: end -->\n"


def plain(text):
    return re.sub(r"\s+", " ", text)


def stored(name):
    return copy.deepcopy(pages.stored(ROOT, name))


class Marks(unittest.TestCase):
    def test_parts(self):
        self.assertEqual(marks.names(PAGE), ["a b", "c"])
        self.assertEqual(marks.cut(PAGE, "a b")[1], "old\n")
        filled = marks.filled(marks.filled(PAGE, "a b", "new\n"), "c", "1\n2\n")
        self.assertEqual(filled, PAGE.replace("old", "new").replace("c: begin -->\n", "c: begin -->\n1\n2\n"))
        with self.assertRaises(ValueError):
            marks.filled(PAGE, "b", "")

    def test_marks_that_are_wrong(self):
        for wrong in (PAGE + PAGE, PAGE.replace("<!-- c: end -->\n", ""), PAGE.replace("a b: end", "a: end"),
                      "<!-- a: begin -->\n<!-- b: begin -->\n<!-- a: end -->\n<!-- b: end -->\n", "<!-- a: end -->\n"):
            with self.assertRaises(ValueError, msg=wrong):
                marks.names(wrong)

    def test_dump_is_json_again(self):
        value = {"a": [1, 2.5, {"b": [], "c": {}}], "d": {"±": "é\n", "e": [[1], [2, [3]]]}, "f": None, "g": True}
        for depth in range(6):
            self.assertEqual(json.loads(marks.dump(value, depth)), value)
        self.assertEqual(marks.dump({"a": [[1, 2], 3]}, 2), '{\n "a": [\n  [1, 2],\n  3\n ]\n}')

    def test_words(self):
        self.assertEqual([marks.listed(x) for x in ([], [1], [1, 2], [1, 2, 3])], ["none", "1", "1 and 2", "1, 2 and 3"])
        self.assertEqual(marks.paragraphs("a", "- b", "- c", "d"), ["a", "", "- b", "- c", "", "d"])


class Stored(unittest.TestCase):
    def test_files_are_as_they_would_be_stored(self):
        for name in pages.MODULES:
            found, module = stored(name), pages.module(name)
            module.whole(found)
            text = (ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8")
            self.assertEqual(text, marks.dump(found, getattr(module, "DEPTH", 2)) + "\n", name)

    def test_lines_fit(self):
        """All but those of tables and commands."""
        for texts in pages.parts(ROOT).values():
            for name, text in texts.items():
                for line in text.splitlines():
                    if not line.startswith(("|", "!", "- broad", "broad ", "Machine", "**", "Trained on")) and "`" not in line:
                        self.assertLessEqual(len(line), 130, name)


class Words(unittest.TestCase):
    def test_schedules(self):
        ratios = [1 - 0.5 / m for m in range(1, 51)]
        ratios[19] = 1 - 0.75 / 20
        found = {"gains": [{"name": "letter", "ratios": ratios}],
                 "noise": [{"c": 0.045, "status": "stalled", "reason": "no draw", "draws": [1, 90], "ratios": [0.5, 0.9975],
                            "relaxed": [0, 2]}],
                 "tables": [self.table("a", "classify", 0.9, 0.89, 50, 100), self.table("b", "regress", 2.0, 3.0, 40, 200)]}
        texts = schedules.parts(found)["docs/mathematics.md"]
        self.assertIn("between 0.50 and 0.75 at every 10th of 50 layers", plain(texts["gains"]))
        self.assertIn("| 0.045 | 1.00 % | 1, 90, then stalled | 0.25 % to 0.25 % | 2 |", plain(texts["noise"]))
        self.assertIn("With C = 0.045: no draw.", texts["noise"])
        self.assertIn("| a | accuracy | 0.9000 | 0.8900 | 50 | 100 |", plain(texts["tables"]))
        self.assertIn("| b | RMSE | 2.00 | 3.00 | 40 | 200, 2 of 2 stalled |", plain(texts["tables"]))
        self.assertIn("by -1.00 to -1.00 points and the RMSE by factors of 1.50 (b) to 1.50 (b), for up to 5 times",
                      plain(texts["tables"]))

    def table(self, name, task, usual, tight, draws, more):
        runs = [[{"value": value + d, "draws": count, "layers": 50, "status": status} for d in (-0.01, 0.01)]
                for value, count, status in ((usual, draws, "complete"),
                                             (tight, more, "stalled" if task == "regress" else "complete"))]
        return {"name": name, "task": task, "missing": False, "schedules": dict(zip(map(str, schedules.TABLES), runs))}

    def test_tables(self):
        """Worse figures make other sentences."""
        found = stored("tables")
        for table in found["tables"]:
            for result in table["results"]["auto"]:
                result["value"] = -1 if table["task"] == "classify" else 1e9
                result["cpu_seconds"] = 0
        text = plain(tables.reading(found))
        methods = len(found["methods"])
        self.assertIn(f"has the mean rank {methods:.2f}, place {methods} of {methods};", text)
        self.assertIn("at least one of them beyond it.", text)
        self.assertIn("Against the SVM it is better on 0 of the 13 tables and equal on 0", text)
        self.assertIn("it takes less on none.", text)
        self.assertIn(f"| {methods:.1f} |", plain(tables.in_short(found)))

    def test_tables_with_given_splits(self):
        """Worse figures make other sentences."""
        found = stored("uci")
        for table in [*found["tables"], *found["published"]["measured"]]:
            for result in table["results"]["auto"]:
                result["value"] = -1 if table["task"] == "classify" else 1e9
                result["log_likelihood"] = -99
        text, count = plain(uci.verdict(found)), len(uci.ranked_methods(found, tables.measured_of(found)))
        self.assertIn(f"has the mean rank {count:.2f}, place {count} of {count};", text)
        self.assertIn("Pair by pair (p < 0.05) it is worse than ridge, SVM", text)
        self.assertIn("Its RMSE is better than the published one on 0 of 7 standard tables, its log-likelihood on 0 (the", text)

    def test_photos(self):
        found = stored("photos-benchmarks")
        results, splits = found["soiling"]["results"], found["soiling"]["splits"]
        for i, (ours, ridge) in enumerate(zip(results["auto"], results["ridge, 32x32"])):
            ours["rmse"], ridge["rmse"], ours["coverage"] = 0.5, 0.25 if i else 0.75, 0.5 if i == 2 else 1
        for run in found["correction"]["runs"]:
            run.update(wrong=4, right_after=3, unseen_before=0.5, unseen_after=0.25, seconds=1.5)
        text = plain(images.reading(found))
        others = marks.listed(range(1, splits))
        self.assertIn(f"the ridge is better than `auto` on splits {others}, `auto` on 0.", text)
        self.assertIn("and only 0.50 on split 2:", text)
        runs = len(found["correction"]["runs"])
        self.assertIn(f"Of the {4 * runs} corrected photos {3 * runs} are classified correctly afterwards, within 1.50 s.", text)
        self.assertIn(f"the accuracy is 0.500 before and 0.250 after; on {runs} of the {runs} splits it is lower.", text)
        self.assertIn(f"RMSE 0.500; ridge on pixels {(0.25 * (splits - 1) + 0.75) / splits:.3f},", plain(images.in_short(found)))

    def test_settings(self):
        results = [{"accuracy": a, "cpu_seconds": 2.0, "maps": ["windows"]} for a in (0.5, 0.75, 0.75)]
        more = [{"accuracy": a, "cpu_seconds": 3.0} for a in (0.75, 0.75, 0.5)]
        part = {"splits": 3, "commands": {"auto": [], "x": ["--x", "1"]}, "results": {"auto": results, "x": more}}
        text = plain(" ".join(images.settings(part)))
        self.assertIn("took: windows on 3 of the splits.", text)
        self.assertIn("| `--x 1` | 0.667 | +0.000 | 1 / 1 / 1 | 1.5 |", text)

    def test_mnist(self):
        found = stored("mnist")
        found["rows"][0].update(accuracy=0.5, seconds=2 * found["rows"][1]["seconds"])
        self.assertRegex(mnist.make(found), r"\| broad fit --kind bls +\|.*\| +0\.5000 \|.*\| +0\.50 \|")
        found["rows"][0] = {"name": found["rows"][0]["name"], "failed": "no memory"}
        with self.assertRaises(Failure):
            mnist.whole(found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
