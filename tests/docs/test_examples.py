#!/usr/bin/env python3
"""Programs in C are built and run; the examples' detectors keep to the protocol of --detector: tried with stand-ins for the packages they need, which are not
to be had everywhere.

Usage: test_examples.py PATH_OF_BROAD.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")).resolve()
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))

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
                        SOURCE / "examples" / f"{name}.c", self.build / "libbroad.so", f"-Wl,-rpath,{self.build}", "-o", out],
                       check=True)
        return out

    def test_train_arrays(self):
        model = pathlib.Path(self.folder.name, "ring.broad")
        done = subprocess.run([self.program("train_arrays"), model], capture_output=True, text=True, check=True)
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
        lines = done.stdout.decode().splitlines()
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
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
