#!/usr/bin/env python3
"""Programs in C are built and run; the examples' detectors keep to the protocol of --detector: tried with stand-ins for the packages they need, which are not
to be had everywhere. What the programs print is what is stored in examples/output.

Usage: test_examples.py PATH_OF_BROAD [--update]. --update stores what they print.
"""
import json
import os
import pathlib
import random
import shutil
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")).resolve()
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import shown  # noqa: E402

UPDATE = "--update" in sys.argv

ULTRALYTICS = """
print("a banner on standard output")
class List(list):
    def tolist(self):
        return list(self)
class Boxes:
    xyxy = List([[1.5, 2.0, 30.0, 40.0], [5.0, 5.0, 5.0, 9.0]])
    conf = List([0.75, 0.5])
class Result:
    boxes = Boxes()
class YOLOWorld:
    def __init__(self, model):
        assert model == "some.pt", model
    def set_classes(self, classes):
        assert classes == ["solar panel", "roof"], classes
    def predict(self, image, conf, imgsz, verbose, device):
        assert image == "upright rgb" and conf == 0.25 and imgsz == 640 and not verbose and device == "cpu"
        print("chatter on standard output")
        return [Result()]
"""

PIL = """
class Image:
    @staticmethod
    def open(path):
        if "bad" in path:
            raise OSError("cannot identify image file")
        return Picture()
class ImageOps:
    @staticmethod
    def exif_transpose(image):
        return image
class Picture:
    def __enter__(self):
        return self
    def __exit__(self, *rest):
        pass
    def convert(self, mode):
        assert mode == "RGB"
        return "upright rgb"
"""


@unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "a plain program cannot be linked to an instrumented library")
class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = TOOL.parent

    def program(self, name):
        out = pathlib.Path(self.folder.name, name)
        subprocess.run([os.environ.get("CC") or "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include",
                        SOURCE / "examples" / f"{name}.c", self.build / "libbroad.so", f"-Wl,-rpath,{self.build}", "-lm", "-pthread", "-o", out],
                       check=True)
        return out

    def output(self, name, *words):
        return self.shown(name, words, subprocess.run([self.program(name), *words], capture_output=True, text=True, check=True).stdout)

    def shown(self, name, words, printed, after=""):
        """What was printed, compared with what is stored."""
        command = " ".join([f"./{name}", *(word.name if isinstance(word, pathlib.Path) else word for word in words)])
        shown.check(self, SOURCE / "examples" / f"{name}.c", command + after, printed, UPDATE)
        return printed

    def ring(self):
        """A table of points inside and outside of a ring, with a column of noise."""
        path, r = pathlib.Path(self.folder.name, "ring.csv"), random.Random(1)
        points = [(r.uniform(-1, 1), r.uniform(-1, 1), r.random()) for _ in range(300)]
        path.write_text("a,b,noise,where\n" + "".join(f"{a},{b},{c},{'inside' if a * a + b * b < 0.49 else 'outside'}\n" for a, b, c in points),
                        encoding="ascii")
        return path

    def test_named(self):
        """There are eleven, and the page on embedding shows each."""
        names = {path.name for path in (SOURCE / "examples").glob("*.c")}
        self.assertEqual(len(names), 11)
        for page in ("docs/embedding.md", "examples/README.md"):
            text = (SOURCE / page).read_text(encoding="utf-8")
            self.assertEqual({name for name in names if name in text}, names, page)

    def test_tables(self):
        table, model = self.ring(), pathlib.Path(self.folder.name, "ring.broad")
        said = self.output("fit_table", table, model)
        self.assertRegex(said, r"^accuracy 0\.9\d+ on 100 other rows \(always the most frequent class: 0\.\d+\)\n$")
        self.assertEqual(self.output("predict_threads", model), "8 threads of 2000 rows each: the same bits in all of them\n")
        self.assertRegex(self.output("cross_validate", table), r"^bls +accuracy 0\.9\d+, mean of 5 folds\nrvfl +accuracy 0\.9\d+, mean of 5 folds\n$")
        self.assertRegex(self.output("grow", table), r"^80 nodes in 1 layer: accuracy 0\.9\d+ expected\n(.+\n){3}the certificate holds\n$")
        values = [float(line.split()[1]) for line in self.output("importance", table).splitlines()]
        self.assertTrue(values[0] > 0.2 and values[1] > 0.2 and abs(values[2]) < 0.1, values)
        self.assertRegex(self.output("predict_row", model, "0.1", "0.2", "0.5"), "inside")
        wrong = subprocess.run([self.program("fit_table"), "not-there.csv", model], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("fit_table: not-there.csv", wrong.stderr)

    @unittest.skipUnless(shutil.which("mpirun") and shutil.which("mpicc"), "MPI is not installed")
    def test_ranks(self):
        """Two ranks write the model of one."""
        table, out = self.ring(), pathlib.Path(self.folder.name, "fit_ranks")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1")
        subprocess.run(["mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include", SOURCE / "examples" / "fit_ranks.c",
                        self.build / "libbroad-mpi.so", self.build / "libbroad.so", f"-Wl,-rpath,{self.build}", "-o", out], check=True)
        models = []
        for ranks in ("1", "2"):
            models.append(pathlib.Path(self.folder.name, "ranks" + ranks))
            subprocess.run(["mpirun", "-n", ranks, out, table, models[-1]], check=True, env=environment)
        self.assertTrue(models[0].read_bytes() == models[1].read_bytes())

    def test_arrays(self):
        said = self.output("intervals")
        self.assertRegex(said, r"^(x .+: .+, between .+ and .+\n){3}")
        self.assertTrue(86 <= float(said.splitlines()[-1].split()[0]) <= 94, said)
        said = self.output("categories")
        self.assertIn("input 2: material=glass\n", said)
        prices = {line.split(":")[0]: float(line.split()[1]) for line in said.splitlines() if line.startswith("material")}
        for name, price in (("wood", 3), ("glass", 7.5), ("steel", 12)):
            self.assertAlmostEqual(prices["material=" + name], price, delta=1)

    def test_train_arrays(self):
        model = pathlib.Path(self.folder.name, "ring.broad")
        done = subprocess.run([self.program("train_arrays"), model], capture_output=True, text=True, check=True)
        self.shown("train_arrays", [model], done.stdout)
        self.assertRegex(done.stdout, r"^800 rows, accuracy 0\.9[0-9]+ on new ones\n0 blocks left\n$")
        self.assertIn("joint weights", done.stderr)
        told = json.loads(subprocess.run([TOOL, "info", model, "--json"], capture_output=True, check=True).stdout)
        self.assertEqual(told["rows"], 800)

    def test_photo_from_memory(self):
        photos, model = pathlib.Path(self.folder.name, "photos"), pathlib.Path(self.folder.name, "p.broad")
        subprocess.run([TOOL, "render", photos, "--count", "24", "--size", "48", "-q"], check=True)
        subprocess.run([TOOL, "fit", photos, "--features", "2x10", "--enhance", "10x1", "-o", model, "-q"], check=True,
                       capture_output=True)
        program = self.program("photo_from_memory")
        done = subprocess.run([program, model, "80", "60"], input=bytes(80 * 60 * 3), capture_output=True, check=True)
        lines = self.shown("photo_from_memory", [model, "80", "60"], done.stdout.decode(), " < black.rgb").splitlines()
        self.assertEqual(lines[0], "not like the training photos")
        self.assertAlmostEqual(sum(float(line.split()[1]) for line in lines[1:]), 1, 2)
        short = subprocess.run([program, model, "80", "60"], input=bytes(99), capture_output=True)
        self.assertEqual((short.returncode, short.stderr), (1, b"photo_from_memory: the frame is cut short\n"))


class YoloWorld(unittest.TestCase):
    def test_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ultralytics.py").write_text(ULTRALYTICS, encoding="utf-8")
            pathlib.Path(folder, "PIL.py").write_text(PIL, encoding="utf-8")
            words = [sys.executable, SOURCE / "examples" / "detector_yolo_world.py", "--model", "some.pt", "--classes",
                     "solar panel, roof", "--confidence", "0.25", "--device", "cpu"]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  encoding="utf-8", env={**os.environ, "PYTHONPATH": folder}) as child:
                # Each answer comes before the next name is given: nothing stays in a buffer.
                for name in ("some folder/a \u00e4.jpg", "bad.jpg", "c.jpg"):
                    child.stdin.write(name + "\n")
                    child.stdin.flush()
                    answer = json.loads(child.stdout.readline())
                    self.assertEqual(answer["file"], name)
                    if "bad" in name:
                        self.assertEqual(answer["error"], "cannot identify image file")
                    else:
                        self.assertEqual(answer["boxes"], [[1.5, 2.0, 30.0, 40.0, 0.75]])
                rest, words = child.communicate()
                self.assertEqual(rest, "")
                self.assertIn("chatter", words)
                self.assertEqual(child.returncode, 0)


class Smallest(unittest.TestCase):
    def test_shell(self):
        text = (SOURCE / "examples" / "README.md").read_text(encoding="utf-8")
        command = re.search(r"```sh\n(.*?)```", text, flags=re.S).group(1)
        with subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            for name in ("a.jpg", "with blanks/b %s.jpg"):
                child.stdin.write(name + "\n")
                child.stdin.flush()
                self.assertEqual(json.loads(child.stdout.readline()), {"file": name, "boxes": [[160, 120, 480, 360]]})
            child.communicate()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
