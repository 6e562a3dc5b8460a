#!/usr/bin/env python3
"""What README and docs show of commands is what these print: the commands are taken from the page, run, and compared with what is
below them. Seconds, and sizes that depend on the machine, may be anything; other numbers may differ from the sixth digit on,
since another processor rounds differently. A line '...' stands for any number of lines.

Of docs/getting-started.md every block is used, in order: those of sh are run, those below <!-- file: NAME --> are saved.

Usage: test_readme.py PATH_OF_BROAD [--update]
--update writes what the commands print into the pages, where the first word of a line is still the same.
"""
import csv
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
            (re.compile(r"of [\d.]+ [kMGT]?B free"), "FREE"),
            (re.compile(r"(?:process peak|this run needs at least) [\d.]+ MB"), "PROCESS")]
CLOSE, ROUNDING = 1e-6, 1e-12
PLAN_ROWS = 300_000
UPDATE = "--update" in sys.argv[2:]


def blocks(page):
    """What stands between fences, in order."""
    return re.findall(r"(?ms)^```\w*\n(.*?)^```$", (SOURCE / page).read_text(encoding="utf-8"))


def block(page, begins):
    found = [text for text in blocks(page) if text.startswith(begins)]
    if len(found) != 1:
        raise AssertionError(f"{page}: {len(found)} blocks begin with '{begins}'")
    return found[0]


def parts(page):
    """(name of the file it is saved as, language, text) of each block."""
    text = (SOURCE / page).read_text(encoding="utf-8")
    return re.findall(r"(?ms)(?:^<!-- file: (\S+) -->\n)?^```(\w*)\n(.*?)^```$", text)


def words(line):
    for pattern, name in ANYTHING:
        line = pattern.sub(name, line)
    numbers = [float(number) for number in NUMBER.findall(line)]
    return " ".join(NUMBER.sub("#", line).split()), numbers


def pieces(shown):
    """Runs of lines between lines '...'."""
    return [piece.splitlines() for piece in re.split(r"(?m)^\.\.\.$\n?", shown)]


def place(piece, printed, start):
    """Where the lines of a piece are printed, from `start` on, by their words; -1: nowhere."""
    wanted = [words(line)[0] for line in piece]
    found = [words(line)[0] for line in printed]
    return next((at for at in range(start, len(found) - len(wanted) + 1) if found[at:at + len(wanted)] == wanted), -1)


def renewed(shown, printed):
    """What is shown with each line replaced by the next printed one that begins with the same word."""
    rest, lines = iter(printed.splitlines()), []
    if "..." not in shown.splitlines():
        return printed
    for line in shown.splitlines():
        word = words(line)[0].split()[:1]
        now = None if line == "..." else next((other for other in rest if words(other)[0].split()[:1] == word), None)
        lines.append(line if now is None or words(line) == words(now) else now)
    return "\n".join(lines) + "\n"


def same_number(shown, printed):
    return abs(shown - printed) <= CLOSE * abs(shown) or max(abs(shown), abs(printed)) < ROUNDING


def with_library(command):
    """The command with the library that was built in the place of the installed one, and warnings as errors."""
    flags = f"-I{SOURCE}/include -L{BINARY} -lbroad -Wl,-rpath,{BINARY}"
    command = re.sub(r"\$\(pkg-config [^)]*\)", lambda _: flags, command)
    return re.sub(r"(?m)^cc ", os.environ.get("CC", "cc") + " -Wall -Werror ", command)


class Transcripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="broad-readme-"))
        cls.environment = {**os.environ, "PATH": f"{cls.folder}/bin:{os.environ['PATH']}"}
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "broad").symlink_to(BROAD)
        cls.spirals = cls.run_words("broad demo --what spirals")
        cls.photos = cls.run_words("broad demo")
        cls.notes = cls.said.splitlines()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_words(cls, command, folder=None):
        done = subprocess.run(["bash", "-e", "-c", command], capture_output=True, text=True, cwd=folder or cls.folder,
                              env=cls.environment, check=False)
        if done.returncode:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stderr}")
        cls.said = done.stderr
        return done.stdout

    def assert_same(self, shown, printed):
        self.assertEqual([words(line)[0] for line in shown], [words(line)[0] for line in printed])
        for line, other in zip(shown, printed):
            for number, now in zip(words(line)[1], words(other)[1]):
                self.assertTrue(same_number(number, now), f"it says\n{line}\nand now it is\n{other}")

    def assert_shown(self, shown, printed):
        """`shown` may leave out lines of `printed` where it has a line '...'."""
        found, lines, at = pieces(shown), printed.splitlines(), 0
        for number, piece in enumerate(found):
            if number == 0 or number == len(found) - 1 and piece:
                start = 0 if number == 0 else len(lines) - len(piece)
                end = len(lines) if number == 0 == len(found) - 1 else start + len(piece)
                self.assert_same(piece, lines[start:end])
            else:
                start = place(piece, lines, at)
                self.assertGreaterEqual(start, 0, f"none of this is printed:\n{piece}\nbut\n{printed}")
                self.assert_same(piece, lines[start:start + len(piece)])
            at = start + len(piece)

    def compare(self, page, shown, printed):
        if UPDATE:
            path = SOURCE / page
            path.write_text(path.read_text(encoding="utf-8").replace(shown, renewed(shown, printed)), encoding="utf-8")
        else:
            self.assert_shown(shown, printed)

    def test_demo(self):
        """And the commands for photos, on its photos."""
        self.compare("README.md", block("README.md", "photos  "), self.photos)
        self.assertEqual(len(self.notes), len(set(self.notes)), self.notes)  # nothing is noted twice
        for name in ("photos", "new"):
            (self.folder / name).symlink_to(self.folder / "broad-demo" / name)
        for command in block("README.md", "broad fit photos/").splitlines():
            if command.startswith("broad learn"):
                self.correct_a_photo()
            self.run_words(command)
        self.assertTrue((self.folder / "report" / "report.html").is_file())

    def test_five_minutes(self):
        """Every part of the output that the page shows."""
        shown = [text for _, language, text in parts("docs/five-minutes.md") if not language]
        self.assertEqual(len(shown), 6)
        for text in shown:
            self.compare("docs/five-minutes.md", text, self.photos)

    def correct_a_photo(self):
        """What a person does between the report and the correction."""
        path = self.folder / "report" / "findings.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        rows[0]["correction"] = "clean" if rows[0]["verdict"] == "dusty" else "dusty"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            table.writerows(rows)

    def test_tables(self):
        """The first command only makes the table, and the last prints the help: what they print is not shown."""
        commands = block("README.md", "broad demo --what spirals").splitlines()
        self.run_words(commands[-1])
        printed = self.run_words("\n".join(commands[1:-1]))
        shown = next(text for text in blocks("README.md") if text.startswith("...\ntest "))
        self.compare("README.md", shown, printed)
        accuracy = float(re.search(r"(?m)^test +accuracy ([\d.]+)", printed)[1])
        self.assert_figures("docs/mathematics.md", r"no such schedule: ([\d.]+) with one layer", [accuracy])

    def test_getting_started(self):
        """Every block of the page, in order, in a folder of its own."""
        folder, printed = self.folder / "getting-started", None
        folder.mkdir()
        for name, language, text in parts("docs/getting-started.md"):
            if name:
                (folder / name).write_text(text, encoding="utf-8")
            elif language == "sh":
                printed = self.run_words(with_library(text), folder)
            else:
                self.assertEqual(language, "", text)
                self.compare("docs/getting-started.md", text, printed)

    def test_descriptors(self):
        """As many as the page says, family by family."""
        self.run_words("broad render few --count 2 --size 64 -q && broad data few --map descriptors --export described -q")
        names = (self.folder / "described" / "columns.csv").read_text(encoding="utf-8").splitlines()[1:]
        patterns, contrasts = (sum(word in name for name in names) for word in ("_lbp", "contrast"))
        joint = sum("_by_light" in name for name in names)
        self.assert_figures("docs/photos-maps.md", r"`descriptors` \| ([\d,]+) \|", [len(names)])
        self.assert_figures("docs/photos-maps.md", r"\*\*Patterns\*\* \((\d+) numbers\).*\*\*Colours\*\* \((\d+) numbers\)"
                            r".*brightness\*\* \((\d+) numbers\).*\*\*Contrast\*\* \((\d+) numbers\)",
                            [patterns, len(names) - patterns - joint - contrasts, joint, contrasts])

    def test_calls(self):
        """The calls that the README shows are those of the whole program."""
        program = next(text for name, _, text in parts("docs/getting-started.md") if name.endswith(".c"))
        for call in block("README.md", "broad_data_read(&data").splitlines():
            self.assertIn(call, program)

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
        self.assert_figures("docs/mathematics.md", r"over (\d+) layers, falling to ([\d.]+) for bscrls and to ([\d.]+) for brls",
                            [layers, our_norm, norm])
        self.assert_figures("docs/mathematics.md", r"has accuracy ([\d.]+) on the held-out rows after (\d+) layers; BSCRLS goes "
                            r"to wider ones, tries ([\d,]+) draws and has (\d\.\d+)", [accuracy, layers, draws, our_accuracy])

    def new_photos(self):
        """Of the demonstration's JSON what the picture needs: what its models say of the new photos. cli_demo.py shows that it
        is the same."""
        folder = self.folder / "broad-demo"
        said = [json.loads(self.run_words(f"broad predict {model} new --proba --json --cache .cache", folder))["predictions"]
                for model in ("panels.broad", "corrected.broad")]
        with open(folder / "new-truth.csv", encoding="utf-8", newline="") as file:
            truths = {row["file"]: row["label"] for row in csv.DictReader(file)}
        photos = []
        for before, after in zip(*said):
            name = pathlib.Path(before["file"]).name
            verdicts = [{"label": one["label"], "probability": one["probabilities"]["Dusty"]} for one in (before, after)]
            photos.append({"file": name, "truth": truths[name], "before": verdicts[0], "after": verdicts[1],
                           "corrected": any((folder / "corrected").rglob(name))})
        return {"new": photos}

    def test_pictures(self):
        """The words and figures in them, as scripts/make_pictures makes them."""
        loader = importlib.machinery.SourceFileLoader("make_pictures", str(SOURCE / "scripts" / "make_pictures"))
        make_pictures = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(make_pictures)
        made = {"panels.svg": make_pictures.panels(self.folder / "broad-demo", self.new_photos()),
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
        self.compare("docs/large-data.md", shown, self.run_words(command.removeprefix("$ ")))

    def test_a_changed_word_or_figure_is_seen(self):
        shown = "train accuracy 0.9971, 8.12 s\n  largest difference 1.0e-15\n"
        self.assert_shown(shown, "train  accuracy 0.9971, 20 s\n largest difference 9.1e-16\n")
        for wrong in ("train accuracy 0.9972, 8.12 s\n  largest difference 1.0e-15\n",
                      "train precision 0.9971, 8.12 s\n  largest difference 1.0e-15\n",
                      "train accuracy 0.9971, 8.12 s\n  largest difference 1.0e-7\n", "train accuracy 0.9971, 8.12 s\n"):
            with self.assertRaises(AssertionError):
                self.assert_shown(shown, wrong)

    def test_lines_left_out(self):
        printed = "a 1\nb 2\nc 3\nd 4\n"
        for shown in ("a 1\n...\nd 4\n", "...\nb 2\n...\n", "a 1\n...\nc 3\n...\n", "...\nc 3\nd 4\n", printed):
            self.assert_shown(shown, printed)
        for wrong in ("a 1\n", "b 2\n...\n", "...\nc 3\n", "a 1\n...\nb 3\n...\n", "...\nc 3\n...\nb 2\n...\n",
                      "...\ne 1\n...\n"):
            with self.assertRaises(AssertionError, msg=wrong):
                self.assert_shown(wrong, printed)
        self.assertEqual(renewed("a 0\n...\nc it is\n...\n", "a 1\nb 2\nc 3\nd 4\n"), "a 1\n...\nc 3\n...\n")


if __name__ == "__main__":
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("the same commands are run by the plain build")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
