#!/usr/bin/env python3
"""examples/predict_row.c, linked to the library and jansson alone, says what `broad predict` says, digit by digit; and that says
the same for any number of rows and threads.

Usage: cli_predict_row.py PATH_OF_BROAD.
"""
import csv
import math
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARY = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", pathlib.Path(TOOL).parent))
INPUTS, ROWS = 4, 300


def run(*words, stdin="", code=0):
    done = subprocess.run([str(word) for word in words], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done


def build(folder):
    """No picture libraries, no threads library: a predictor needs none of them."""
    program = folder / "predict_row"
    run(os.environ.get("CC", "cc"), "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include",
        SOURCE / "examples" / "predict_row.c", BINARY / "libbroad.a", "-ljansson", "-lm", "-o", program)
    return program


class PredictRow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.program = build(cls.folder)
        rng = random.Random(1)
        cls.rows = [[f"{rng.uniform(-2, 2):.6g}" for _ in range(INPUTS)] for _ in range(ROWS)]
        for name in "classes", "values":
            with open(cls.folder / f"{name}.csv", "w", encoding="utf-8") as file:
                file.write("a,b,c,d,y\n")
                for row in cls.rows:
                    value = math.sin(float(row[0])) + float(row[1]) * float(row[2])
                    file.write(",".join(row) + "," + (f"{value:.6g}" if name == "values" else "no" if value < 0 else "yes") + "\n")
            run(TOOL, "fit", cls.folder / f"{name}.csv", "-o", cls.folder / f"{name}.broad", "--kind", "brls", "--preset", "paper",
                "--scale", "both", "--features", "3x5", "--enhance", "20x3", "--lambda", "0.01", "-q")
        with open(cls.folder / "inputs.csv", "w", encoding="utf-8") as file:
            file.write("a,b,c,d\n" + "".join(",".join(row) + "\n" for row in cls.rows))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def predicted(self, name, data, *words):
        """Of each row the label, if there is one, and the numbers."""
        done = run(TOOL, "predict", self.folder / f"{name}.broad", data, *words)
        table = list(csv.reader(done.stdout.splitlines()))[1:]
        return [row[1:] for row in table]

    def same(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            if not one[0].replace("-", "").replace(".", "")[0].isdigit():
                self.assertEqual(one[0], other[0])
                one, other = one[1:], other[1:]
            self.assertEqual([float(cell) for cell in one], [float(cell) for cell in other])

    def test_same_as_the_tool(self):
        for name in "classes", "values":
            expected = self.predicted(name, self.folder / "inputs.csv")
            text = "".join(",".join(row) + "\n" for row in self.rows)
            for stdin in text, text.replace(",", " "):
                lines = run(self.program, self.folder / f"{name}.broad", stdin=stdin).stdout.splitlines()
                self.same([line.split() for line in lines], expected)
            line = run(self.program, self.folder / f"{name}.broad", *self.rows[7]).stdout.split()
            self.same([line], expected[7:8])

    def test_tool_is_the_same_for_any_rows_and_threads(self):
        expected = self.predicted("classes", self.folder / "inputs.csv")
        for threads in range(1, 9):
            self.assertEqual(self.predicted("classes", self.folder / "inputs.csv", "--threads", threads), expected)
        for first, count in (0, 1), (1, 2), (3, 7), (10, 256), (43, 257):
            part = self.folder / "part.csv"
            part.write_text("a,b,c,d\n" + "".join(",".join(row) + "\n" for row in self.rows[first:first + count]), encoding="utf-8")
            self.assertEqual(self.predicted("classes", part), expected[first:first + count])

    @unittest.skipUnless(platform.machine() == "x86_64", "the size is told for x86-64")
    def test_one_file_of_the_size_that_is_told(self):
        program = self.folder / "static"
        words = [os.environ.get("CC", "cc"), "-O2", "-static", "-s", SOURCE / "examples" / "predict_row.c", "-I",
                 SOURCE / "include", BINARY / "libbroad.a", "-ljansson", "-lm", "-o", program]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if done.returncode and "cannot find -l" in done.stderr:
            self.skipTest("no static libraries here")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (SOURCE / "docs" / "embedding.md").read_text(encoding="utf-8")
        most = re.search(r"of less than (\d+) MB on x86-64", page)
        self.assertLess(program.stat().st_size, 1e6 * int(most[1]))
        model = self.folder / "classes.broad"
        self.assertEqual(run(program, model, *self.rows[7]).stdout, run(self.program, model, *self.rows[7]).stdout)

    def test_failures(self):
        model = self.folder / "classes.broad"
        for words, stdin, message in (
            ([], "", "usage"),
            ([self.folder / "none.broad"], "", "cannot be opened"),
            ([self.folder / "inputs.csv"], "", "not a broad model"),
            ([model, 1, 2, 3], "", "3 values where the model has 4 inputs"),
            ([model, 1, 2, 3, "x"], "", "not a number"),
            ([model, 1, 2, 3, "inf"], "", "row 1, input 4: inf"),
            ([model], "1,2,3", "cut short"),
            ([model], "1,2,x,4", "not a number"),
        ):
            self.assertIn(message, run(self.program, *words, stdin=stdin, code=1).stderr)


if __name__ == "__main__":
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("a plain program cannot be linked to an instrumented library")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
