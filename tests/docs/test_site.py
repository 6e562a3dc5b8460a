#!/usr/bin/env python3
"""The site: every link and anchor leads somewhere, the same tree gives the same bytes, and faults of a page are told.

Usage: test_site.py; the tool is not needed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))

from web import formula, highlight, links, markdown, tree  # noqa: E402


def page(text, formulas=False):
    return markdown.Page(text, lambda target, image: target, formulas)


def make(folder, seed="0"):
    return subprocess.run([sys.executable, ROOT / "scripts/make_site", folder], capture_output=True, text=True,
                          env={**os.environ, "PYTHONHASHSEED": seed})


class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.site = pathlib.Path(cls.work.name, "site")
        cls.made = make(cls.site)

    def content(self):
        return {path.relative_to(self.site): path.read_bytes() for path in self.site.rglob("*") if path.is_file()}

    def test_made_without_a_fault(self):
        self.assertEqual((self.made.returncode, self.made.stderr), (0, ""))

    def test_same_bytes(self):
        """In place of the first, with other hashes."""
        before = self.content()
        self.assertEqual(make(self.site, "1").returncode, 0)
        self.assertEqual(self.content(), before)

    def test_every_document(self):
        for path in sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
            self.assertTrue((self.site / tree.place(path.relative_to(ROOT).as_posix())).is_file(), path)

    def test_every_example(self):
        for path in [*(ROOT / "examples").glob("*.c"), *(ROOT / "examples/python").glob("*.py")]:
            self.assertTrue((self.site / tree.place(path.relative_to(ROOT).as_posix())).is_file(), path)

    def test_index(self):
        text = (self.site / "search-index.js").read_text(encoding="utf-8")
        index = json.loads(text.removeprefix("window.broadIndex = ").removesuffix(";\n").replace("<\\/", "</"))
        places = {(index["pages"][number][0], anchor) for number, anchor, _, _ in index["sections"]}
        for known in (("api.html", "broad_predictor_row"), ("commands.html", "broad-fit"), ("mathematics.html", "the-certificate")):
            self.assertIn(known, places)

    def test_other_folders_stay(self):
        other = pathlib.Path(self.work.name, "other")
        other.mkdir()
        (other / "letter.txt").write_text("mine", encoding="ascii")
        done = make(other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds something else", done.stderr)
        self.assertTrue((other / "letter.txt").is_file())


class Links(unittest.TestCase):
    POLICY = '<meta http-equiv="Content-Security-Policy" content="x">'

    def problems(self, body, policy=POLICY):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "sub").mkdir()
            (root / "sub" / "b.html").write_text(self.POLICY + '<p id="here">', encoding="ascii")
            (root / "a.html").write_text(policy + body, encoding="ascii")
            return links.problems(root)

    def test_sound(self):
        self.assertEqual(self.problems('<a id="x" href="sub/b.html#here"></a><a href="#x"></a><a href="https://a.b/"></a>'), [])

    def test_faults(self):
        for body, words in (('<a href="gone.html">', "is not there"), ('<a href="sub/b.html#gone">', "no such anchor"),
                            ('<a href="#gone">', "no such anchor"), ('<img src="gone.png">', "is not there"),
                            ('<script src="https://a.b/x.js">', "comes from elsewhere"), ('<link href="//a.b/x.css">', "comes from elsewhere"),
                            ('<a href="../other.html">', "leads out"), ('<p id="x"><p id="x">', "twice")):
            found = self.problems(body)
            self.assertEqual(len(found), 1, body)
            self.assertIn(words, found[0])
        self.assertIn("no Content-Security-Policy", self.problems("", policy="")[0])


class Trees(unittest.TestCase):
    def problem(self, **files):
        """What is told of a small repository; names are those of documents below docs/."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "README.md").write_text("# Top\n\n[a](docs/a.md)\n", encoding="utf-8")
            for name, text in files.items():
                (root / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
            try:
                tree.Tree(root)
            except markdown.Problem as problem:
                return str(problem)
        return None

    def test_faults(self):
        self.assertIsNone(self.problem(a="# A\n\n[b](b.md)\n", b="# B\n"))
        self.assertEqual(self.problem(a="# A\n\nwords\n\n[b](b.md)\n"), "docs/a.md: line 5: b.md is not there")
        self.assertIn("docs/b.md: no page links to it", self.problem(a="# A\n", b="# B\n"))
        self.assertIn("line 3: the tag <b> is not known", self.problem(a="# A\n\n- <b>fat</b>\n"))
        self.assertIn("put it between fences", self.problem(a="# A\n\nwords\n\n    code\n"))
        self.assertIn("a fenced block without an end", self.problem(a="# A\n\n```\nx\n"))
        self.assertIn("3 cells in a table of 2", self.problem(a="# A\n\n| a | b |\n|---|---|\n| 1 | 2 | 3 |\n"))
        self.assertIn("is not in the repository", self.problem(a="# A\n\n![x](https://a.b/c.png)\n"))

    def test_names(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "README.md").write_text("# Top\n\nsee [docs/a.md](docs/a.md#part)\n", encoding="utf-8")
            (root / "docs" / "a.md").write_text("# The title\n\n## Part\n\n[back](../README.md)\n", encoding="utf-8")
            made = tree.Tree(root)
            self.assertIn('see <a href="a.html#part">The title</a>', made.documents["README.md"].page.html)
            self.assertIn('<a href="index.html">back</a>', made.documents["docs/a.md"].page.html)


class Markdown(unittest.TestCase):
    def test_lines(self):
        for text, wanted in (("a < b & `c<d>`", "<p>a &lt; b &amp; <code>c&lt;d&gt;</code></p>"),
                             ("**a *b* c** \\*d\\* 2 * 3 * 4", "<p><strong>a <em>b</em> c</strong> *d* 2 * 3 * 4</p>"),
                             ("[`a`](b.md) <https://c.d>", '<p><a href="b.md"><code>a</code></a> <a href="https://c.d">https://c.d</a></p>'),
                             ("![a\nb](c.png)", '<figure><a href="c.png"><img src="c.png" alt="a b"></a></figure>'),
                             ("[![a](c.png)](d.html)", '<figure><a href="d.html"><img src="c.png" alt="a"></a></figure>'),
                             ("`` a`b ``", "<p><code>a`b</code></p>"), ("snake_case_name", "<p>snake_case_name</p>")):
            self.assertEqual(page(text).html, wanted)

    def test_blocks(self):
        self.assertEqual(page("words\n- a\n  b\n- c\n\n  d\n\nafter").html,
                         "<p>words</p>\n<ul>\n<li>a\nb</li>\n<li><p>c</p>\n<p>d</p></li>\n</ul>\n<p>after</p>")
        self.assertEqual(page("1. a\n   ```\n   x\n     y\n   ```\n2. b").html,
                         '<ol>\n<li>a\n<pre class="text" tabindex="0"><code>x\n  y</code></pre></li>\n<li>b</li>\n</ol>')
        self.assertIn('<tr><td class="k"><code>a|b</code></td><td class="n">2</td></tr>', page("| x | n |\n|---|--:|\n| `a\\|b` | 2 |").html)

    def test_anchors(self):
        made = page('# T\n\n<a id="x"></a><a id="y"></a>\n## `x`, `y`\n\nwords\n\n## Same\n\n## Same\n')
        self.assertLessEqual({"x", "y", "x-y", "same", "same-1"}, made.ids)
        self.assertEqual([(section.title, section.words) for section in made.sections[1:3]], [("x, y", ["words"]), ("Same", [])])
        with self.assertRaises(markdown.Problem):
            page('# T\n\n<a id="t"></a>\n## Other\n')

    def test_entries(self):
        """Options of a command and terms are found by their names."""
        made = page("# T\n\n## broad fit\n\n| Output | |\n|---|---|\n| `-o, --output FILE` | a file |\n\n**metric**: what it is\n")
        self.assertEqual([(entry.anchor, entry.title, entry.words) for entry in made.entries],
                         [("broad-fit---output", "broad fit --output", ["-o, --output FILE: a file"]), ("term-metric", "metric", ["metric: what it is"])])
        self.assertIn('<tr id="broad-fit---output">', made.html)
        self.assertIn('<p id="term-metric">', made.html)

    def test_code(self):
        self.assertEqual(highlight.code('int x = 1; /* a < b */', "c"), '<span class="w">int</span> x = 1; <span class="c">/* a &lt; b */</span>')
        self.assertEqual(highlight.code("return <x>", "text"), "return &lt;x&gt;")

    def test_formulas(self):
        self.assertEqual(formula.inline("K_jᵀE_{j−1}"), "<i>K</i><sub><i>j</i></sub><sup>T</sup><i>E</i><sub><i>j</i>−1</sub>")
        self.assertEqual(formula.inline("df_m < λ⁻¹"), "df<sub><i>m</i></sub> &lt; <i>λ</i><sup>−1</sup>")
        for text in ("‖E‖ ≤ 1", "X", "df_0 = 0", "m^(−c)", "tr R_m"):
            self.assertTrue(formula.is_formula(text), text)
        for text in ("--gamma", "harmonic:c", "broad fit", "target_reached", "src/layer/joint.h", "auto", "list:g1,g2,…"):
            self.assertFalse(formula.is_formula(text), text)
        self.assertEqual(page("E_{j−1} and a_long_name", True).html, "<p><i>E</i><sub><i>j</i>−1</sub> and a_long_name</p>")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
