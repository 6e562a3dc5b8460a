#!/usr/bin/env python3
"""What the documents refer to is there: files and headings that they link to, paths of this repository that they name, and options of
commands in the examples (docs/commands.md has them all).

Usage: test_links.py; the tool is not needed.
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LINK = re.compile(r"(?<!`)\]\((?!https?:)([^)\s]+)\)")
PATH = re.compile(r"`((?:src|cli|tests|scripts|bench|lab|cmake|fuzz|include|examples|docs)/[\w./-]*\w)`")
CODE = re.compile(r"(?ms)^```\w*\n(.*?)^```$|`([^`]+)`")
RUN = re.compile(r"(?<![\w/.-])broad ([a-z]+)\b((?:(?!\bbroad [a-z])[^|;#&)])*)")
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*\b")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")


def documents(root):
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *root.glob("*/README.md"), *root.glob("lab/*/README.md")]
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def plain(text):
    """Without fenced blocks, in which nothing is a link."""
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def anchors(path):
    text = path.read_text(encoding="utf-8")
    heads = re.findall(r"(?m)^#+ (.*)$", plain(text))
    slugs = {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).lower()).replace(" ", "-") for head in heads}
    return slugs | set(re.findall(r'<a id="(\w+)">', text))


def problems(root):
    for page in documents(root):
        text = plain(page.read_text(encoding="utf-8"))
        name = page.relative_to(root).as_posix()
        for link in LINK.findall(text):
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            if not target.exists():
                yield f"{name}: {link} is not there"
            elif anchor and anchor not in anchors(target):
                yield f"{name}: {link}: no such heading"
        for path in PATH.findall(text):
            if not PLACEHOLDER.search(path) and not (root / path).exists():
                yield f"{name}: {path} is not there"


def options(root):
    """{command: its options}."""
    found, command = {}, None
    for line in (root / "docs" / "commands.md").read_text(encoding="utf-8").splitlines():
        head, row = re.match(r"## broad (\w+)", line), re.match(r"\| `([^`]*)`", line)
        if head:
            command = found.setdefault(head[1], {"--help", "-h"})
        elif row and command is not None:
            command.update(OPTION.findall(row[1]))
    return found


def unknown_options(root):
    known = options(root)
    for page in documents(root):
        for block, span in CODE.findall(page.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines() if block else [span.replace("\n", " ")]
            for command, rest in (found for line in lines for found in RUN.findall(line)):
                quoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)
                for option in OPTION.findall(quoted) if command in known else []:
                    if option not in known[command]:
                        yield f"{page.relative_to(root).as_posix()}: broad {command} has no option {option}"


class Links(unittest.TestCase):
    def test_everything_is_there(self):
        self.assertEqual(list(problems(ROOT)), [])

    def test_options_are_there(self):
        self.assertEqual(list(unknown_options(ROOT)), [])
        self.assertGreater(len(options(ROOT)["fit"]), 50)

    def test_options_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "commands.md").write_text("## broad fit\n\n| Output | |\n|---|---|\n| `-o, --output FILE` | x |\n", encoding="utf-8")
            for text, count in (("`broad fit a -o b`, `cc -O2`", 0), ("```sh\nbroad fit a \\\n  --gone 1\n```\n", 1), ("`broad fit --holdout\n1`", 1),
                                ("`broad fit a --note 'x --y'`", 1), ("`broad fit a | sort -n`", 0), ("`broad other --x`", 0)):
                (root / "README.md").write_text(text, encoding="utf-8")
                self.assertEqual(len(list(unknown_options(root))), count, text)

    def test_faults_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "src").mkdir()
            page = root / "docs" / "page.md"
            page.write_text("# A head, or two\n\n[a](#a-head-or-two) [b](../README.md) `src` `src/NAME/x.c`\n", encoding="utf-8")
            (root / "README.md").write_text("# Top\n\n[page](docs/page.md#a-head-or-two)\n", encoding="utf-8")
            self.assertEqual(list(problems(root)), [])
            for wrong in ("[a](other.md)", "[a](page.md#no-head)", "`src/data/gone.c`"):
                page.write_text("# A head, or two\n\n" + wrong + "\n", encoding="utf-8")
                self.assertEqual(len(list(problems(root))), 1, wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
