#!/usr/bin/env python3
"""Models written by earlier versions, and by this one when it was released, still load, say what they said then, and predict the same bytes.

Usage: test_golden.py PATH_OF_BROAD. tests/store/golden-VERSION holds models of that version, the rows and photos they are asked about, and
what it printed: one of each kind and one of photos, from 0.2 on also one with a learned metric, categories, dates and missing values (auto), one
that grew and one that learned, one without its random weights (compact). These files are never made anew: they stand for the models people have.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = str(pathlib.Path(os.environ.get("BROAD_TOOL") or sys.argv[1]).resolve())
HERE = pathlib.Path(__file__).resolve().parent
PHOTOS = ["clean.jpg", "dusty.jpg", "--proba", "--cache", "no"]
ROWS = {"0.1": {"bscrls": ["classes.csv", "--proba"], "brls": ["classes.csv"], "rvfl": ["classes.csv", "--proba"],
                "bls": ["numbers.csv", "--interval", "0.9"], "scn": ["numbers.csv", "--interval", "0.9"], "single": ["classes.csv"],
                "photos": PHOTOS},
        "0.2": {"auto": ["mixed.csv", "--proba"], "chain": ["mixed.csv", "--proba"], "compact": ["mixed.csv", "--proba"], "brls": ["mixed.csv"],
                "paper": ["mixed.csv"], "window": ["values.csv"], "learned": ["values.csv", "--interval", "0.9"],
                "grown": ["values.csv", "--interval", "0.9"], "photos": PHOTOS}}


def missing(old, new, where=""):
    """Where `new` lacks something that `old` has, or says something else."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key not in new:
                yield f"{where}.{key} is gone"
            else:
                yield from missing(value, new[key], f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from missing(a, b, f"{where}[{i}]")
    elif old != new:
        yield f"{where}: {old!r} became {new!r}"


class Golden(unittest.TestCase):
    """The folder is that of 0.1 where a test does not say otherwise."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.open("0.1")

    def open(self, version):
        self.golden, self.folder = HERE / f"golden-{version}", self.scratch / version
        if not self.folder.exists():
            shutil.copytree(self.golden, self.folder)

    def broad(self, *words, code=0, **environment):
        done = subprocess.run([TOOL, *words], cwd=self.folder, capture_output=True, text=True, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, f"broad {' '.join(words)}: {done.stderr}")
        return done

    def all_models(self):
        for version, models in ROWS.items():
            self.open(version)
            yield from models.items()

    def test_every_golden_model_is_asked(self):
        self.assertEqual({path.name for path in HERE.glob("golden-*")}, {f"golden-{version}" for version in ROWS})
        for version, models in ROWS.items():
            self.assertEqual({path.stem for path in (HERE / f"golden-{version}").glob("*.broad")}, set(models))

    def predict(self, name, words, threads, **environment):
        self.broad("predict", f"{name}.broad", *words, "--threads", threads, "-o", "now.csv", "-q", **environment)
        return (self.folder / "now.csv").read_text(encoding="utf-8")

    def test_predictions_have_the_same_bytes(self):
        for name, words in self.all_models():
            expected = (self.golden / f"{name}.predicted.csv").read_text(encoding="utf-8")
            for threads in ("1", "3"):
                self.assertEqual(self.predict(name, words, threads), expected, f"{name} on {threads} threads")
            for kernels in ("avx2", "plain"):  # where plain has no fused multiply-add, it is computed
                self.assertEqual(self.predict(name, words, "1", BROAD_KERNELS=kernels), expected, f"{name}, BROAD_KERNELS={kernels}")

    def test_info_keeps_every_field(self):
        for name, _ in self.all_models():
            old = json.loads((self.golden / f"{name}.info.json").read_text(encoding="utf-8"))
            new = json.loads(self.broad("info", f"{name}.broad", "--json").stdout)
            self.assertEqual(list(missing(old, new)), [], name)

    def test_certificates_still_hold(self):
        for name, words in self.all_models():
            if name != "photos":
                self.broad("verify", f"{name}.broad", words[0])

    def test_nodes_in_single_precision(self):
        """0.1 trained with --precision float; such models are shown as that, and grow."""
        self.assertIn("in single precision", self.broad("info", "single.broad").stdout)
        self.broad("grow", "single.broad", "classes.csv", "--enhance", "5x1", "-o", "grown.broad", "-q")
        self.broad("verify", "grown.broad", "classes.csv")
        grown = json.loads(self.broad("info", "grown.broad", "--json").stdout)
        self.assertEqual((grown["precision"], grown["nodes"]), ("float", 26 + 5))
        refused = self.broad("fit", "classes.csv", "--precision", "float", "-o", "no.broad", code=2)
        self.assertIn("'--precision' was removed in version 0.2, because float was not faster: leave it out", refused.stderr)

    def test_exit_codes(self):
        (self.folder / "broken.broad").write_bytes((self.golden / "bls.broad").read_bytes()[:-9])
        (self.folder / "bad.csv").write_text("a,b,c,colour\n1,2,x,red\n", encoding="utf-8")
        self.broad("predict", "broken.broad", "numbers.csv", code=76)
        self.broad("predict", "bscrls.broad", "none.csv", code=66)
        self.broad("predict", "bscrls.broad", "bad.csv", code=65)
        self.broad("predict", "bscrls.broad", code=2)
        self.broad("predict", "bscrls.broad", "classes.csv", "-o", "no/such/folder.csv", code=73)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
