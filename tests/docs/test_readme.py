#!/usr/bin/env python3
"""What README and docs show of commands is what these print: the commands are taken from the page, run, and compared with what is
below them. Seconds, and sizes that depend on the machine, may be anything; other numbers may differ from the sixth digit on,
since another processor rounds differently.

Usage: test_readme.py PATH_OF_BROAD.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BROAD = pathlib.Path(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad"))
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARY = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", BROAD.parent))
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
ANYTHING = [(re.compile(r"\d+(?:\.\d+)? s\b"), "SECONDS"), (re.compile(r"[\d.]+ [kMGT]?B available"), "AVAILABLE"),
            (re.compile(r"of [\d.]+ [kMGT]?B that are free"), "FREE"),
            (re.compile(r"(?:peak of the process|this run needs at least) [\d.]+ MB"), "PROCESS")]
CLOSE, ROUNDING = 1e-6, 1e-12
PLAN_ROWS = 300_000


def blocks(page):
    """What stands between fences, in order."""
    return re.findall(r"(?ms)^```\w*\n(.*?)^```$", (SOURCE / page).read_text(encoding="utf-8"))


def block(page, begins):
    found = [text for text in blocks(page) if text.startswith(begins)]
    if len(found) != 1:
        raise AssertionError(f"{page}: {len(found)} blocks begin with '{begins}'")
    return found[0]


def words(line):
    for pattern, name in ANYTHING:
        line = pattern.sub(name, line)
    numbers = [float(number) for number in NUMBER.findall(line)]
    return " ".join(NUMBER.sub("#", line).split()), numbers


def same_number(shown, printed):
    return abs(shown - printed) <= CLOSE * abs(shown) or max(abs(shown), abs(printed)) < ROUNDING


class Transcripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="broad-readme-"))
        cls.environment = {**os.environ, "PATH": f"{cls.folder}/bin:{os.environ['PATH']}"}
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "broad").symlink_to(BROAD)
        cls.spirals = cls.run_words("broad demo --what spirals")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_words(cls, command):
        done = subprocess.run(["bash", "-e", "-c", command], capture_output=True, text=True, cwd=cls.folder,
                              env=cls.environment, check=False)
        if done.returncode:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def assert_shown(self, shown, printed):
        shown, printed = shown.splitlines(), printed.splitlines()
        self.assertEqual([words(line)[0] for line in shown], [words(line)[0] for line in printed])
        for line, other in zip(shown, printed):
            for number, now in zip(words(line)[1], words(other)[1]):
                self.assertTrue(same_number(number, now), f"it says\n{line}\nand now it is\n{other}")

    def test_photos(self):
        """The README leaves out the end, which says what to try next."""
        shown = block("README.md", "photos  ")
        printed = self.run_words("broad demo").splitlines()[:len(shown.splitlines())]
        self.assert_shown(shown, "\n".join(printed))

    def test_tables(self):
        """The first command only makes the table: what it prints is not shown."""
        commands = block("README.md", "broad demo --what spirals\n").splitlines()[1:]
        printed = self.run_words("\n".join(commands))
        self.assert_shown(block("README.md", "data     broad-demo"), printed)
        accuracy = float(re.search(r"(?m)^test +accuracy ([\d.]+)", printed)[1])
        self.assert_figures("docs/mathematics.md", r"no such schedule: ([\d.]+) with one layer", [accuracy])

    def test_program(self):
        (self.folder / "spirals.c").write_text(block("README.md", "#include <broad/broad.h>\n#include <stdio.h>"),
                                               encoding="utf-8")
        command, shown = block("README.md", "$ cc spirals.c").split("\n", 1)
        flags = f"-I{SOURCE}/include -L{BINARY} -lbroad -Wl,-rpath,{BINARY}"
        command = re.sub(r"\$\(pkg-config [^)]*\)", lambda _: flags, command.removeprefix("$ "))
        self.assert_shown(shown, self.run_words(command.replace("cc ", os.environ.get("CC", "cc") + " -Wall -Werror ", 1)))

    def assert_figures(self, page, pattern, values):
        """The figures in a sentence are these, rounded as they stand there."""
        text = re.sub(r"\s+", " ", (SOURCE / page).read_text(encoding="utf-8"))
        told = re.search(pattern, text)
        self.assertTrue(told, f"{page}: {pattern}")
        for figure, value in zip(told.groups(), values):
            digits = len(figure.partition(".")[2])
            self.assertLessEqual(abs(float(figure.replace(",", "")) - value), 0.51 * 10 ** -digits, f"{page}: {told[0]}")

    def test_spirals(self):
        rows = {kind: [float(cell) for cell in cells.split()] for kind, cells in
                re.findall(r"(?m)^  (brls|bscrls) +([\d. ]+)$", self.spirals)}
        (layers, _, _, norm, accuracy, _), (_, _, draws, our_norm, our_accuracy, _) = rows["brls"], rows["bscrls"]
        self.assert_figures("README.md", r"over (\d+) layers, falling to ([\d.]+) for bscrls and to ([\d.]+) for brls",
                            [layers, our_norm, norm])
        self.assert_figures("docs/mathematics.md", r"has accuracy ([\d.]+) on the rows kept apart after (\d+) layers; BSCRLS goes "
                            r"to wider ones, looks at ([\d,]+) draws and has (\d\.\d+)", [accuracy, layers, draws, our_accuracy])

    def test_pictures(self):
        """The words and figures in them, as scripts/make_pictures makes them."""
        loader = importlib.machinery.SourceFileLoader("make_pictures", str(SOURCE / "scripts" / "make_pictures"))
        make_pictures = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(make_pictures)
        found = json.loads(self.run_words("broad demo pictures --json"))
        made = {"panels.svg": make_pictures.panels(self.folder / "pictures", found),
                "spirals.svg": (self.folder / "broad-demo" / "spirals.svg").read_text(encoding="utf-8")}
        for name, picture in made.items():
            shown = (SOURCE / "docs" / "images" / name).read_text(encoding="utf-8")
            shown, now = ("\n".join(re.findall(r"<text[^>]*>(.*?)</text>", text)) for text in (shown, picture))
            self.assertGreater(shown.count("\n"), 3, name)
            self.assert_shown(shown, now)

    def test_plan(self):
        """The columns of the table do not matter, only how many there are."""
        command, shown = block("docs/large-data.md", "$ broad fit c300.csv").split("\n", 1)
        line = ",".join(f"0.{i:02}5" for i in range(20))
        with open(self.folder / "c300.csv", "w", encoding="utf-8") as file:
            file.write(",".join(f"x{i}" for i in range(20)) + ",y\n" + f"{line},no\n{line},yes\n" * (PLAN_ROWS // 2))
        self.assert_shown(shown, self.run_words(command.removeprefix("$ ")))

    def test_a_changed_word_or_figure_is_seen(self):
        shown = "train accuracy 0.9971, 8.12 s\n  largest difference 1.0e-15\n"
        self.assert_shown(shown, "train  accuracy 0.9971, 20 s\n largest difference 9.1e-16\n")
        for wrong in ("train accuracy 0.9972, 8.12 s\n  largest difference 1.0e-15\n",
                      "train precision 0.9971, 8.12 s\n  largest difference 1.0e-15\n",
                      "train accuracy 0.9971, 8.12 s\n  largest difference 1.0e-7\n", "train accuracy 0.9971, 8.12 s\n"):
            with self.assertRaises(AssertionError):
                self.assert_shown(shown, wrong)


if __name__ == "__main__":
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("the same commands are run by the plain build")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
