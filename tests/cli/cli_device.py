#!/usr/bin/env python3
"""--device cuda, with a plug-in whose memory nothing but its own operations can reach: the same models up to rounding."""
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.environ["BROAD_TOOL"]
FAR = os.path.join(os.environ["BROAD_BINARY_DIR"], "tests", "far")
MPI = os.path.join(os.environ["BROAD_BINARY_DIR"], "libbroad-mpi.so")

# Chains and joint weights, each kind; those whose tests need every row stay on the processor, and must work as well.
FITS = {
    "brls": "--kind brls --preset paper --features 2x8 --enhance 20x4",
    "bscrls": "--kind bscrls --preset paper --features 2x8 --enhance 20x4",
    "gcv": "--kind bscrls --preset paper --features 2x8 --enhance 20x4 --supervise gcv",
    "chain": "--preset chain --features 1x20 --enhance 20x4",
    # The first range of the features will not do: they are drawn again.
    "redrawn": "--kind bscrls --preset paper --features 2x8 --enhance 20x1 --range 0.0001 --range-steps 1,10000 --tries 2 --gamma constant:0.05",
    "scn": "--kind scn --preset paper --enhance 10x3",
    "bls": "--kind bls --features 2x8 --enhance 40x1",
    "rvfl": "--kind rvfl --enhance 40x1",
    "auto": "--features 1x60 --enhance 20x1",
    "finally": "--kind bscrls --preset paper --features 2x8 --enhance 20x3 --weights joint",
    "loo": "--kind bscrls --features 2x8 --enhance 20x2 --preset paper --supervise loo",
    "window": "--kind scn --preset paper --enhance 20x3 --weights window --window 40",
    "wide": "--kind brls --preset paper --features 2x8 --enhance 600x2",
}


class Device(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        r = random.Random(3)
        with open(cls.path("rows.csv"), "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["a", "b", "c", "d", "weight", "kind"])
            for _ in range(900):
                x = [r.uniform(-1, 1) for _ in range(4)]
                out.writerow([*(f"{v:.6f}" for v in x), f"{r.uniform(0.5, 2):.3f}",
                              "yes" if x[0] * x[1] + 0.5 * x[2] + r.gauss(0, 0.1) > 0 else "no"])
        lines = pathlib.Path(cls.path("rows.csv")).read_text().splitlines(keepends=True)
        pathlib.Path(cls.path("first.csv")).write_text("".join(lines[:701]))
        pathlib.Path(cls.path("more.csv")).write_text(lines[0] + "".join(lines[701:]))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def broad(self, *words, room=None, inputs=0, plugins=FAR, expect=0):
        environment = dict(os.environ, BROAD_PLUGINS=plugins, BROAD_TEST_FAR_INPUTS=str(inputs))
        environment["BROAD_TEST_FAR_COUNT"] = self.path("count")
        pathlib.Path(self.path("count")).unlink(missing_ok=True)
        if room is not None:
            environment["BROAD_TEST_FAR_ROOM"] = str(room)
        done = subprocess.run([TOOL, *words], cwd=self.folder.name, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, f"{' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def scores(self, model):
        self.broad("predict", model, "rows.csv", "-o", "out.csv", "-q")
        with open(self.path("out.csv")) as file:
            rows = list(csv.reader(file))[1:]
        return [[float(v) for v in row if v.replace(".", "").replace("-", "").replace("e", "").isdigit()] for row in rows]

    def assertNear(self, a, b):
        if isinstance(a, dict):
            self.assertEqual(a.keys(), b.keys())
            for key in a:
                self.assertNear(a[key], b[key])
        elif isinstance(a, list):
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b):
                self.assertNear(x, y)
        elif isinstance(a, float) and isinstance(b, float):
            self.assertAlmostEqual(a, b, delta=1e-4 * max(1, abs(a)))
        else:
            self.assertEqual(a, b)

    def assertSameModel(self, a, b):
        for x, y in zip(self.scores(a), self.scores(b)):
            for u, v in zip(x, y):
                self.assertAlmostEqual(u, v, delta=1e-5)

    def test_every_kind(self):
        for name, words in FITS.items():
            with self.subTest(name):
                fit = ["fit", "rows.csv", "--target", "kind", "--weight", "weight", *words.split(), "--seed", "5", "-q"]
                here = json.loads(self.broad(*fit, "-o", "cpu.broad", "--json"))
                there = json.loads(self.broad(*fit, "-o", "far.broad", "--device", "cuda", "--json"))
                for part in ("train", "loo", "status", "layers"):  # what is measured on the rows once they are back
                    self.assertNear(here[part], there[part])
                used = int(pathlib.Path(self.path("count")).read_text().split()[0])
                self.assertEqual(used > 0, name not in ("scn", "loo", "window"), f"{used} sums were added up there")
                self.assertSameModel("cpu.broad", "far.broad")
                self.broad("verify", "far.broad", "rows.csv", "-q")

    def test_growth_on_the_other_side(self):
        """Made here, grown there in three ways, and verified here."""
        for name in ("brls", "gcv", "bls"):
            with self.subTest(name):
                self.broad("fit", "first.csv", "--target", "kind", *FITS[name].split(), "-o", "m.broad", "-q")
                for side in ("cpu", "cuda"):
                    out = f"{side}.broad"
                    self.broad("grow", "m.broad", "first.csv", "--enhance", "10x2", "-o", out, "--device", side, "-q")
                    self.broad("grow", out, "first.csv", "--features", "1x6", "--enhance", "8", "--device", side, "-q")
                    self.broad("learn", out, "more.csv", "--with", "first.csv", "--device", side, "-q")
                self.assertSameModel("cpu.broad", "cuda.broad")
                self.broad("verify", "cuda.broad", "first.csv", "more.csv", "-q")

    def many_rows(self):
        """So many that they may pass through the device; the sums of a wide layer are left to fit in a moment."""
        r = random.Random(4)
        with open(self.path("many.csv"), "w") as file:
            file.write("a,b,c,kind\n")
            for _ in range(40000):
                x = [r.uniform(-1, 1) for _ in range(3)]
                file.write(f"{x[0]:.4f},{x[1]:.4f},{x[2]:.4f},{'yes' if x[0] * x[1] > x[2] else 'no'}\n")

    def far_rows(self):
        """Of which nodes were computed there from what passed through; without a device nothing is written."""
        count = pathlib.Path(self.path("count"))
        return int(count.read_text().split()[1]) if count.exists() else 0

    def test_rows_pass_through(self):
        self.many_rows()
        fit = ["fit", "many.csv", "--kind", "brls", "--preset", "paper", "--features", "2x8", "--enhance", "20x3", "-q"]
        self.broad(*fit, "-o", "cpu.broad")
        self.assertEqual(self.far_rows(), 0)
        self.broad(*fit, "-o", "far.broad", "--device", "cuda")
        self.assertEqual(self.far_rows(), 40000)  # feature nodes
        for model in ("cpu.broad", "far.broad"):
            found = {}
            for side in ("cpu", "cuda"):
                self.broad("predict", model, "many.csv", "-o", f"{side}.csv", "--device", side, "-q")
                self.assertEqual(self.far_rows(), 40000 if side == "cuda" else 0)
                with open(self.path(f"{side}.csv")) as file:
                    found[side] = list(csv.reader(file))[1:]
                measured = json.loads(self.broad("eval", model, "many.csv", "--device", side, "--json"))
                found[side, "test"] = measured["test"]
            self.assertNear(found["cpu", "test"], found["cuda", "test"])
            for here, there in zip(found["cpu"], found["cuda"]):
                self.assertEqual(here[:2], there[:2])
                for u, v in zip(here[2:], there[2:]):
                    self.assertAlmostEqual(float(u), float(v), delta=1e-9)

    def test_what_does_not_pass_through(self):
        """Few rows, or too little room: the processor predicts."""
        self.many_rows()
        self.broad("fit", "first.csv", "--target", "kind", *FITS["bls"].split(), "-o", "m.broad", "-q")
        self.broad("predict", "m.broad", "first.csv", "-o", "few.csv", "--device", "cuda", "-q")
        self.assertEqual(self.far_rows(), 0)
        self.broad("fit", "many.csv", "--kind", "brls", "--preset", "paper", "--features", "1x8", "--enhance", "9x1", "-q")
        self.broad("predict", "model.broad", "many.csv", "-o", "here.csv", "-q")
        self.broad("predict", "model.broad", "many.csv", "-o", "there.csv", "--device", "cuda", "-q", room=100)
        self.assertEqual(pathlib.Path(self.path("here.csv")).read_bytes(), pathlib.Path(self.path("there.csv")).read_bytes())
        with tempfile.TemporaryDirectory() as empty:
            said = self.broad("predict", "model.broad", "many.csv", "--device", "cuda", plugins=empty, expect=1)
        self.assertIn("there is no CUDA device", said)

    def test_too_little_room(self):
        """Rows that do not fit stay here; K that does not fit is computed again."""
        fit = ["fit", "rows.csv", "--target", "kind", *FITS["gcv"].split(), "--seed", "5", "-q", "--device", "cuda"]
        self.broad(*fit, "-o", "all.broad")
        for room in (0, 5000, 60000, 150000):
            self.broad(*fit, "-o", "some.broad", room=room)
            self.assertSameModel("all.broad", "some.broad")

    def counted(self):
        """Sums that were added up there, and rows of feature nodes that were made there in passes."""
        numbers = [int(word) for word in pathlib.Path(self.path("count")).read_text().split()]
        return numbers[0], numbers[2]

    def test_inputs_where_features_do_not_fit(self):
        """There is room for the inputs of the rows and not for their feature nodes, which are made in each pass."""
        rooms = {"brls": (60000, 190000, 600000), "gcv": (60000, 490000, 900000), "redrawn": (60000, 190000, 600000),
                 "bls": (60000, 230000, 600000), "finally": (60000, 190000, 600000)}
        for name, sizes in rooms.items():
            words, columns = FITS[name].replace("2x8", "2x30"), 8 if name == "bls" else 4  # bls: with ranks beside the inputs
            fit = ["fit", "rows.csv", "--target", "kind", "--weight", "weight", *words.split(), "--seed", "5", "-q"]
            self.broad(*fit, "-o", "cpu.broad")
            for room, wanted in zip(sizes, ("here", "made", "sent")):
                with self.subTest(name, room=room):
                    self.broad(*fit, "-o", "far.broad", "--device", "cuda", room=room, inputs=columns)
                    sums, made = self.counted()
                    self.assertEqual("here" if not sums else "made" if made else "sent", wanted)
                    self.assertSameModel("cpu.broad", "far.broad")
                    self.broad("verify", "far.broad", "rows.csv", "-q")

    def test_growth_without_features_there(self):
        """Feature nodes and rows are added; only the inputs fit."""
        self.broad("fit", "first.csv", "--target", "kind", *FITS["brls"].replace("2x8", "2x30").split(), "-o", "m.broad", "-q")
        for side in ("cpu", "cuda"):
            out = f"{side}.broad"
            self.broad("grow", "m.broad", "first.csv", "--features", "1x20", "--enhance", "8", "-o", out, "--device", side, "-q",
                       room=160000, inputs=5)
            if side == "cuda":
                self.assertGreater(self.counted()[1], 0)
            self.broad("learn", out, "more.csv", "--with", "first.csv", "--device", side, "-q", room=160000)
            self.broad("grow", out, "first.csv", "more.csv", "--enhance", "10x2", "--device", side, "-q", room=160000)
        self.assertSameModel("cpu.broad", "cuda.broad")
        self.broad("verify", "cuda.broad", "first.csv", "more.csv", "-q")

    def test_features_that_are_not_stored_here(self):
        """The plan is to compute them in each pass: so does the device."""
        self.many_rows()
        fit = ["fit", "many.csv", "--kind", "brls", "--preset", "paper", "--features", "1x100", "--enhance", "100x1",
               "--lambda", "0.01", "-q"]
        self.broad(*fit, "-o", "cpu.broad")
        self.broad(*fit, "-o", "far.broad", "--device", "cuda", inputs=3)
        sums, made = self.counted()
        self.assertGreater(sums, 0)
        self.assertGreaterEqual(made, 40000)
        for side in ("cpu", "far"):
            self.broad("predict", f"{side}.broad", "many.csv", "-o", f"{side}.csv", "-q")
        with open(self.path("cpu.csv")) as here, open(self.path("far.csv")) as there:
            for a, b in zip(list(csv.reader(here))[1:], list(csv.reader(there))[1:]):
                self.assertAlmostEqual(float(a[2]), float(b[2]), delta=1e-6)

    def test_ranks_go_together(self):
        """One of two cards has no room: all rows stay here, and the model is that of the processor alone."""
        if not shutil.which("mpirun") or not os.path.exists(MPI) or os.environ.get("BROAD_INSTRUMENTS"):
            self.skipTest("MPI is not there, or a sanitizer looks at what is its own")
        plugins = pathlib.Path(self.path("plugins"))
        plugins.mkdir()
        for file in (MPI, *pathlib.Path(FAR).glob("*.so")):
            (plugins / os.path.basename(file)).symlink_to(file)
        environment = dict(os.environ, BROAD_PLUGINS=str(plugins), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1")
        fit = [TOOL, "fit", "rows.csv", "--target", "kind", *FITS["brls"].split(), "-q"]
        here = ["mpirun", "-n", "2", *fit, "-o", "cpu.broad"]
        there = ["mpirun", "-n", "1", *fit, "-o", "far.broad", "--device", "cuda", ":", "-n", "1", "-x", "BROAD_TEST_FAR_ROOM=0", *fit, "-o",
                 "far.broad", "--device", "cuda"]
        for words in (here, there):
            done = subprocess.run(words, cwd=self.folder.name, env=environment, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.scores("cpu.broad"), self.scores("far.broad"))

    def test_no_device(self):
        with tempfile.TemporaryDirectory() as empty:
            said = self.broad("fit", "rows.csv", "--target", "kind", "--device", "cuda", "-o", "no.broad",
                              plugins=empty, expect=1)
        self.assertIn("there is no CUDA device", said)
        self.assertIn("leave out --device cuda", said)
        self.assertFalse(os.path.exists(self.path("no.broad")))

    def test_doctor_names_it(self):
        facts = json.loads(self.broad("doctor", "--json"))
        self.assertEqual(facts["cuda"]["name"], "the processor, as if far away")


if __name__ == "__main__":
    unittest.main()
