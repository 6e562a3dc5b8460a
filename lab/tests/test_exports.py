#!/usr/bin/env python3
"""Exported models, widely: every kind of network with every activation and scaling, on a table with missing values, categories and
dates; C on this machine, on 32-bit arm and on big-endian s390x under qemu; ONNX by ONNX Runtime and onnx.checker; photos.

Usage: test_exports.py PATH_OF_BROAD. What 'scripts/setup --export' installs is left out where it is missing.
"""
import ast
import itertools
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT))

from bench import exports  # noqa: E402

try:
    import onnx
except ImportError:
    onnx = None

KINDS = {
    "bscrls": ["--enhance", "9x3"],
    "brls": ["--enhance", "9x3"],
    "bls": ["--enhance", "20x1"],
    "scn": ["--enhance", "1x8"],
    "rvfl": ["--enhance", "25x1"],
}
ACTIVATIONS = ["sigmoid", "tanh", "relu", "sine", "gaussian", "identity"]
SCALES = ["none", "minmax", "standard", "rank", "both", "whole"]
TOLERANCE = 1e-9  # of scores above 1, relative


def table(rows, classes):
    """Numbers of very different sizes, some missing; a category with missing cells; truth values; dates."""
    rng = random.Random(4)
    lines = ["length,mass,colour,sold,day,y"]
    for i in range(rows):
        length, mass, colour = rng.gauss(0, 1), rng.lognormvariate(0, 1), rng.choice(["red", "green", "blue", "d'or"])
        sold, day = rng.random() < 0.4, "20%02d-%02d-%02d" % (rng.randint(10, 25), rng.randint(1, 12), rng.randint(1, 28))
        value = length + 2 * (colour == "red") - 0.7 * mass + sold + rng.gauss(0, 0.2)
        target = ["low", "middle", 'h"igh'][(value > -0.5) + (value > 1)].replace('"', '""') if classes else "%.5f" % max(0, value)
        lines.append(",".join(["" if i % 9 == 4 else "%.6f" % length, "%.6f" % mass, "" if i % 12 == 7 else colour,
                               "yes" if sold else "no", day, '"%s"' % target if classes else target]))
    return "\n".join(lines) + "\n"


def run(*words):
    done = subprocess.run([BROAD, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError((words, done.stderr))
    return done.stdout


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="broad-export-")
        cls.addClassCleanup(place.cleanup)
        cls.folder = pathlib.Path(place.name)
        cls.worst = {}

    def table(self, classes):
        path = self.folder / f"table{classes:d}.csv"
        path.write_text(table(120, classes))
        return path

    def fit(self, path, name, *words):
        model = self.folder / f"{name}.broad"
        run("fit", path, "-o", model, "-q", "--seed", "3", "--importance", "no", *words)
        return model, json.loads(run("info", model, "--json"))

    def same(self, found, expected, tolerance=TOLERANCE):
        self.assertLessEqual(exports.difference(found["scores"], expected["scores"]), tolerance)
        self.assertEqual(bool(found["more"]), bool(expected["more"]))
        if expected["more"]:
            self.assertLessEqual(exports.difference(found["more"], expected["more"]), 10 * tolerance)
        if "labels" in found:
            self.assertEqual(found["labels"], expected["labels"])

    def onnx_of(self, model, name, *words):
        file = self.folder / f"{name}.onnx"
        about = json.loads(run("export", model, "--onnx", file, "--json", *words))
        self.assertLess(about["graph_nodes"], 60)
        if onnx:
            loaded = onnx.load(str(file))
            onnx.checker.check_model(loaded, full_check=True)
            self.assertEqual([(o.domain, o.version) for o in loaded.opset_import], [("", 13)])
            self.assertEqual(about["graph_nodes"], len(loaded.graph.node))
        return file


class Matrix(Case):
    def test_all(self):
        jobs = []
        for number, (kind, activation, scale) in enumerate(itertools.product(KINDS, ACTIVATIONS, SCALES)):
            classes = number % 2 == 0
            path = self.table(classes)
            missing = "mean"
            words = ["--kind", kind, *KINDS[kind], "--activation", activation, "--scale", scale, "--missing", missing]
            if kind in ("bscrls", "brls", "bls"):
                words += ["--features", "3x5", "--feature-activation", activation, "--feature-weights",
                          ["random", "sampled", "autoencoder"][number % 3]]
            if scale == "none":  # days and masses as they are: keep nodes from saturating
                words += ["--lambda", "1"]
            with self.subTest(kind=kind, activation=activation, scale=scale):
                model, info = self.fit(path, f"m{number}", *words)
                expected, given = exports.predicted(BROAD, model, path, info), exports.rows(info, path)
                run("export", model, "--c", self.folder / "m.c", "-q", *(["--compact"] if number % 5 == 0 else []))
                found = exports.run_c(self.folder / "m.c", "m", given)
                self.assertEqual(found["faults"], [0] * len(given))
                self.same(found, expected)
                jobs.append((self.onnx_of(model, f"m{number}"), given, expected, (kind, activation, scale)))
        if not exports.have_runtime():
            self.skipTest("ONNX Runtime is not there: scripts/setup --export")
        for found, job in zip(exports.run_onnx([job[:2] for job in jobs], self.folder), jobs, strict=True):
            with self.subTest(onnx=job[3]):
                self.same(found, job[2])


class Ways(Case):
    """Presets, growth, codes and the check of the tool."""

    def test_presets(self):
        jobs = []
        for number, words in enumerate((["--preset", "auto"], ["--preset", "chain"], ["--preset", "paper", "--lambda", "1e-4"],
                                        ["--learned-metric", "yes"])):
            for classes in (False, True):
                with self.subTest(words=words, classes=classes):
                    path = self.table(classes)
                    model, info = self.fit(path, f"p{number}{classes:d}", *words)
                    if words[0] == "--preset" and words[1] == "chain":
                        run("grow", model, path, "--features", "2x6", "--enhance", "10", "-q")
                    expected, given = exports.predicted(BROAD, model, path, info), exports.rows(info, path)
                    run("export", model, "--c", self.folder / "p.c", "-q")
                    self.same(exports.run_c(self.folder / "p.c", "p", given), expected)
                    jobs.append((self.onnx_of(model, f"p{number}{classes:d}"), given, expected))
        if exports.have_runtime():
            for found, job in zip(exports.run_onnx([job[:2] for job in jobs], self.folder), jobs, strict=True):
                self.same(found, job[2])

    def test_codes_that_stand_for_nothing(self):
        """An unknown level counts as missing: C and ONNX agree, whatever the number."""
        if not exports.have_runtime():
            self.skipTest("ONNX Runtime is not there: scripts/setup --export")
        path = self.table(True)
        model, info = self.fit(path, "codes")
        row = exports.rows(info, path)[0]
        given = [row[:2] + [code] + row[3:] for code in (-1, 0.5, 5, 1e300, 0, 4)]
        run("export", model, "--c", self.folder / "codes.c", "-q")
        c = exports.run_c(self.folder / "codes.c", "codes", given)
        found = exports.run_onnx([(self.onnx_of(model, "codes"), given)], self.folder)[0]
        self.assertLess(exports.difference(found["scores"], c["scores"]), TOLERANCE)
        self.assertEqual(c["scores"][0], c["scores"][3])
        self.assertNotEqual(c["scores"][0], c["scores"][4])

    def test_web(self):
        """ONNX Runtime for the web, which is WebAssembly."""
        if not exports.have_runtime("onnxruntime-web"):
            self.skipTest("ONNX Runtime for the web is not there: scripts/setup --export")
        for classes in (False, True):
            path = self.table(classes)
            model, info = self.fit(path, f"web{classes:d}")
            file, given = self.onnx_of(model, f"web{classes:d}"), exports.rows(info, path)
            found = exports.run_onnx([(file, given)], self.folder, "onnxruntime-web")[0]
            self.same(found, exports.predicted(BROAD, model, path, info))

    def test_check(self):
        """--check of the tool itself, by ONNX Runtime for node."""
        if not exports.have_runtime():
            self.skipTest("ONNX Runtime is not there: scripts/setup --export")
        path = self.table(False)
        model, _ = self.fit(path, "check")
        os.environ["NODE_PATH"] = str(exports.NPM / "node_modules")
        for words, most in (([], TOLERANCE), (["--precision", "float"], 1e-3)):
            about = json.loads(run("export", model, "--onnx", self.folder / "check.onnx", "--check", path, "--json", *words))
            self.assertLess(about["check"]["difference"], most)
            self.assertLess(about["check"]["confidence_difference"], most)


class Machines(Case):
    def test_other_machines(self):
        others = exports.machines()
        for name in exports.MACHINES:
            if name not in others:
                print(f"{name}: no compiler or no qemu (scripts/setup --export)")
        for classes in (False, True):
            path = self.table(classes)
            model, info = self.fit(path, f"q{classes:d}", "--features", "4x10", "--enhance", "20x2")
            expected, given = exports.predicted(BROAD, model, path, info, 40), exports.rows(info, path, 40)
            for precision, tolerance in (("double", TOLERANCE), ("float", 1e-3), ("int8", 0.2)):
                for compact in ([], ["--compact"]):
                    about = json.loads(run("export", model, "--c", self.folder / "q.c", "--precision", precision, "--json", *compact))
                    for machine in others:
                        with self.subTest(precision=precision, compact=compact, machine=machine, classes=classes):
                            found = exports.run_c(self.folder / "q.c", "q", given, machine)
                            self.assertLess(exports.difference(found["scores"], expected["scores"]), tolerance)
                            # What docs/export.md says of the code: 1 to 3 KB besides the constants.
                            self.assertLess(abs(found["text"] - about["table_bytes"] - 2000), 1300)


class Photos(Case):
    def test_pictures(self):
        """Pixels from bytes on, with and without components; descriptors from prepared inputs on."""
        photos = self.folder / "photos"
        run("render", photos, "--count", "40", "--size", "48", "-q")
        for number, words in enumerate((["--map", "pixels", "--side", "8", "--components", "12"],
                                        ["--map", "pixels", "--side", "8", "--components", "none"], ["--map", "descriptors"])):
            with self.subTest(words=words):
                model, info = self.fit(photos, f"photo{number}", "--features", "2x20", "--enhance", "20x1", *words)
                out = self.folder / f"rows{number}.d"
                run("data", photos, "--export", out, *[w for w in words if w not in ("--components", "12", "none")])
                shape, raw = read_npy(out / "inputs.npy")
                done = [json.loads(line) for line in run("predict", model, photos, "--format", "jsonl").splitlines()]
                files = [line.split(",")[1] for line in (out / "rows.csv").read_text().splitlines()[1:]]
                order = [next(i for i, d in enumerate(done) if d["file"].endswith(f)) for f in files]
                expected = [[done[i]["scores"][n] for n in info["outputs"]] for i in order]
                name = f"photo{number}"
                run("export", model, "--c", self.folder / f"{name}.c", "-q")
                if exports.have_runtime():
                    given = (raw, shape) if number < 2 else numbers(raw, shape)
                    found = exports.run_onnx([(self.onnx_of(model, name), given)], self.folder)[0]
                    self.assertLess(exports.difference(found["scores"], expected), TOLERANCE)
                    self.assertEqual(found["labels"], [done[i]["label"] for i in order])
                given = [list(raw[i * 192:(i + 1) * 192]) for i in range(shape[0])] if number < 2 else numbers(raw, shape)
                found = exports.run_c(self.folder / f"{name}.c", name, given)
                self.assertLess(exports.difference(found["scores"], expected), TOLERANCE)


def read_npy(path):
    content = path.read_bytes()
    length = struct.unpack("<H", content[8:10])[0]
    about = ast.literal_eval(content[10:10 + length].decode())
    return about["shape"], content[10 + length:]


def numbers(raw, shape):
    flat = struct.unpack("<%df" % (shape[0] * shape[1]), raw)
    return [list(flat[i * shape[1]:(i + 1) * shape[1]]) for i in range(shape[0])]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
