#!/usr/bin/env python3
"""broad render: what is written, and that nothing else is.

Usage: cli_render.py PATH_OF_BROAD. PNG files are decoded here; JPEG files by Pillow where it is installed, else only their
frame is read. What truth.csv says is counted again from the maps.
"""
import csv
import json
import os
import pty
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

try:
    from PIL import Image
except ImportError:
    Image = None

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
KINDS = ["dust", "streaks", "droppings", "leaves", "pollen"]
COLUMNS = "file label severity transmittance coverage dirt left top right bottom".split()
BOUNDARY = 0.15


def decode_png(data):
    """(width, height, rows of bytes) of an RGB PNG of 8 bits, not interlaced."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height, depth, colour, _, _, interlaced = head
    assert (depth, colour, interlaced) == (8, 2, 0), head
    raw, stride = zlib.decompress(packed), 3 * width
    rows, above = [], bytes(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up, corner = (line[x - 3] if x > 2 else 0), above[x], (above[x - 3] if x > 2 else 0)
            near = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        rows.append(bytes(line))
        above = line
    return width, height, rows


def jpeg_size(data):
    """(width, height) from the frame of a JPEG that ends as it should."""
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
    at = 2
    while True:
        mark, size = struct.unpack(">HH", data[at:at + 4])
        if 0xFFC0 <= mark <= 0xFFC2:
            return struct.unpack(">HH", data[at + 5:at + 9])[::-1]
        at += 2 + size


def tree(folder):
    """Bytes of every file by its name from the folder on."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def table(files, name):
    return list(csv.DictReader(files[name].decode().splitlines()))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="broad-render-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *words, **more):
        return subprocess.run([BROAD, "render", *words], capture_output=True, text=True, timeout=240,
                              stdin=subprocess.DEVNULL, **more)

    def render(self, name, *words, **more):
        done = self.run_tool(self.path(name), *words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return tree(self.path(name))

    def fails(self, code, needle, *words, **more):
        done = self.run_tool(*words, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(needle, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done

    def names(self):
        return sorted(os.listdir(self.folder))


class Photos(Case):
    def test_classes(self):
        files = self.render("out", "--count", "31", "--size", "48", "--seed", "5")
        rows = table(files, "truth.csv")
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(sorted(row["file"] for row in rows) + ["truth.csv"], sorted(files))
        self.assertEqual([int(row["file"][6:12]) for row in rows], list(range(1, 32)))
        self.assertEqual(sum(row["label"] == "Dusty" for row in rows), 15)
        for row in rows:
            self.assertEqual(row["file"].split("/")[0], row["label"])
            self.assertEqual(row["label"] == "Dusty", float(row["severity"]) > BOUNDARY)
            self.assertLessEqual(set(filter(None, row["dirt"].split("+"))), set(KINDS))
            self.assertTrue(row["dirt"] or row["label"] == "Clean")
            self.assertEqual(jpeg_size(files[row["file"]]), (48, 48))
        self.assertEqual(len({files[row["file"]] for row in rows}), 31)

    def test_severity(self):
        files = self.render("out", "--count", "120", "--size", "16", "--severity")
        rows, labels = table(files, "truth.csv"), table(files, "labels.csv")
        self.assertEqual(sorted(["labels.csv", "truth.csv"] + [row["file"] for row in rows]), sorted(files))
        self.assertEqual([{"file": row["file"], "severity": row["severity"]} for row in rows], labels)
        self.assertTrue(all(row["file"].startswith("photos/") for row in rows))
        values = sorted(float(row["severity"]) for row in rows)
        # Uniform: the largest distance to the straight line is under 1.63 / sqrt(120) in 99 of 100 samples.
        self.assertLess(max(abs((i + 0.5) / 120 - v) for i, v in enumerate(values)), 0.15)
        for row in rows:
            self.assertEqual(row["label"], "Dusty" if float(row["severity"]) >= BOUNDARY else "Clean")

    def test_truth_by_maps(self):
        size = 64
        files = self.render("out", "--count", "8", "--size", str(size), "--masks", "--format", "png")
        rows = table(files, "truth.csv")
        self.assertEqual(len(files), 1 + 3 * 8)
        seen = []
        for row in rows:
            number = os.path.basename(row["file"])
            dirt, panel = (decode_png(files[".masks/%s/%s" % (what, number)]) for what in ("dirt", "panel"))
            self.assertEqual((dirt[:2], panel[:2]), ((size, size), (size, size)))
            for _, _, lines in (dirt, panel):
                self.assertTrue(all(line[0::3] == line[1::3] == line[2::3] for line in lines))
            inside = [(x, y) for y in range(size) for x in range(size) if panel[2][y][3 * x] >= 128]
            lost = [dirt[2][y][3 * x] / 255 for x, y in inside]
            self.assertAlmostEqual(float(row["transmittance"]), 1 - sum(lost) / len(lost), delta=0.003)
            # Bytes are rounded: those next to a tenth may belong to either side.
            least, most = (sum(v > 0.1 + d for v in lost) / len(lost) for d in (0.003, -0.003))
            self.assertTrue(least - 1e-3 <= float(row["coverage"]) <= most + 1e-3)
            xs, ys = [x for x, _ in inside], [y for _, y in inside]
            box = [min(xs), min(ys), max(xs) + 1, max(ys) + 1]
            for name, value in zip(COLUMNS[6:], box):
                self.assertAlmostEqual(int(row[name]), value, delta=1)
            seen.append(sum(lost) / len(lost))
        self.assertLess(max(seen[0::2]), min(seen[1::2]))

    def test_formats_show_the_same(self):
        words = ["--count", "4", "--size", "64", "--seed", "9"]
        jpeg, png = self.render("jpeg", *words), self.render("png", *words, "--format", "png")
        for row in table(png, "truth.csv"):
            width, height, lines = decode_png(png[row["file"]])
            other = jpeg[row["file"].replace(".png", ".jpg")]
            self.assertEqual(jpeg_size(other), (width, height))
            flat = b"".join(lines)
            self.assertGreater(max(flat) - min(flat), 80)
            if Image:
                with Image.open(self.path("jpeg/" + row["file"].replace(".png", ".jpg"))) as picture:
                    decoded = picture.convert("RGB").tobytes()
                self.assertLess(sum(abs(a - b) for a, b in zip(flat, decoded)) / len(flat), 12)

    def test_same_bytes(self):
        words = ["--count", "13", "--size", "40", "--seed", "18446744073709551615", "--masks"]
        one, three = self.render("one", *words, "--threads", "1"), self.render("three", *words, "--threads", "3")
        self.assertEqual(one, three)
        longer = self.render("longer", *words, "--count", "15")
        self.assertEqual({k: v for k, v in longer.items() if k in one and k != "truth.csv"},
                         {k: v for k, v in one.items() if k != "truth.csv"})
        other = self.render("other", *words, "--seed", "1")
        self.assertFalse(any(other[name] == one[name] for name in one if name.endswith(".jpg")))

    def test_report(self):
        done = self.run_tool(self.path("out"), "--count", "5", "--size", "32", "--json", "--masks", "--threads", "2")
        found = json.loads(done.stdout)
        for name, value in {"command": "render", "folder": self.path("out"), "complete": True, "photos": 5, "clean": 3,
                            "dusty": 2, "size": 32, "format": "jpeg", "seed": 0, "labels": None, "truth": "truth.csv",
                            "masks": ".masks", "threads": 2}.items():
            self.assertEqual(found[name], value, name)
        self.assertAlmostEqual(found["photos_per_second"] * found["seconds"], 5, places=6)
        text = self.run_tool(self.path("text"), "--count", "5", "--size", "32", "--severity").stdout
        self.assertIn("photos   5 of 32 x 32 pixels in " + self.path("text"), text)
        self.assertIn("labels.csv", text)

    def bar(self, *words):
        leader, follower = pty.openpty()
        process = subprocess.Popen([BROAD, "render", *words], stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        seen = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return seen

    def test_bar(self):
        words = ["--count", "40", "--size", "128"]
        seen = self.bar(self.path("out"), *words)
        self.assertRegex(seen.decode(), r"render \[#*\.*\] \d+/40, left ")
        self.assertTrue(seen.endswith(b"\r\x1b[K"))
        self.assertEqual(self.bar(self.path("quiet"), *words, "--quiet"), b"")


class Folder(Case):
    SMALL = ["--count", "2", "--size", "16"]

    def test_places(self):
        os.mkdir(self.path("empty"), 0o750)
        os.chmod(self.path("empty"), 0o750)
        os.symlink("empty", self.path("link"))
        self.assertEqual(len(self.render("link/", *self.SMALL)), 3)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("empty")).st_mode), 0o750)
        done = self.run_tool("here/", *self.SMALL, cwd=self.folder, umask=0o027)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("here")).st_mode), 0o750)
        self.assertEqual(self.names(), ["empty", "here", "link"])

    def test_refused_places(self):
        os.mkdir(self.path("full"))
        for name in ("full/.hidden", "file"):
            with open(self.path(name), "w") as f:
                f.write("mine")
        os.mkdir(self.path("here"))
        os.symlink("nowhere", self.path("lost"))
        before = tree(self.path("full"))
        self.fails(73, "is not empty", self.path("full"), *self.SMALL)
        self.fails(73, "is not a folder", self.path("file"), *self.SMALL)
        self.fails(73, "no/such", self.path("no/such/place"), *self.SMALL)
        self.fails(73, "lost", self.path("lost"), *self.SMALL)
        self.fails(73, "current folder", ".", *self.SMALL, cwd=self.path("here"))
        self.fails(73, "cannot be accessed", self.path("file/below"), *self.SMALL)
        self.fails(2, "cannot be the name of a folder", "", *self.SMALL)
        error = json.loads(self.fails(73, "is not empty", self.path("full"), "--json").stdout)["error"]
        self.assertEqual(error["status"], "cannot_write")
        self.assertEqual(self.names(), ["file", "full", "here", "lost"])
        self.assertEqual(tree(self.path("full")), before)
        self.assertEqual(os.listdir(self.path("here")), [])

    def test_usage(self):
        out = self.path("out")
        self.fails(2, "usage: broad render DIR")
        for words, needle in ((["--count", "0"], "--count"), (["--count", "1000001"], "maximum is 1000000"),
                              (["--count", "ten"], "'ten'"), (["--size", "15"], "give 16 to 8192"),
                              (["--size", "8193"], "give 16 to 8192"), (["--format", "gif"], "jpeg or png"),
                              (["--seed", "-1"], "--seed"), (["--threads", "1025"], "1024")):
            self.fails(2, needle, out, *words)
        self.assertEqual(self.names(), [])

    @unittest.skipIf("coverage" in os.environ.get("BROAD_INSTRUMENTS", ""), "the counts could not be written either")
    def test_failed_write(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        for threads in ("1", "3"):
            self.fails(74, "cannot be written: File too large", self.path("out"), "--count", "40", "--size", "256",
                       "--threads", threads, preexec_fn=small_files)
            self.assertEqual(self.names(), [])
        # Small photos fit, and their table does not.
        self.fails(74, "truth.csv", self.path("out"), "--count", "60", "--size", "16", preexec_fn=small_files)
        self.assertEqual(self.names(), [])

    def test_taken_meanwhile(self):
        process = self.start("--count", "150", "--threads", "1")
        os.makedirs(self.path("out/mine"))
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (73, ""), err)
        self.assertIn("cannot be put in place", err)
        self.assertEqual(self.names(), ["out"])
        self.assertEqual(os.listdir(self.path("out")), ["mine"])

    def start(self, *words):
        """The tool, once it has begun to write photos."""
        process = subprocess.Popen([BROAD, "render", self.path("out"), *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.time() + 60
        while time.time() < deadline and not any(files for _, _, files in os.walk(self.folder)):
            time.sleep(0.01)
        self.assertEqual([name[:5] for name in self.names()], [".out."])
        return process

    def test_interrupted(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start("--count", "100000", "--masks", "--json")
            hidden = self.names()[0]
            process.send_signal(number)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, code, err)
            self.assertRegex(err, r"interrupted after \d+ of 100000 photos; removing .*" + hidden)
            found = json.loads(out)
            self.assertEqual((found["complete"], found["photos"], found["folder"]), (False, 0, None))
            self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
