#!/usr/bin/env python3
"""Every fuzz target for a few seconds, from seeds that are made here: each format of data, a model file in both forms,
pictures.

Usage: test_fuzz.py PATH_OF_BROAD. Exits with 77 where clang is missing, and in instrumented builds: the targets are
built anew with sanitizers of their own, so that one run of them is enough. `make fuzz` runs them for longer.
"""
import gzip
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", pathlib.Path(BROAD).parent)) / "fuzz-targets"
SECONDS = 5
LEAST_RUNS = 300
TABLE = b"a,x2,g,y\n1,2,u,yes\n3,-4.5e1,v,1\n,7,u,yes\n8,9,w,1\n"


def npy(descr, fortran, shape, data):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def data_seeds():
    """The first byte chooses the reader's options: see fuzz/fuzz_data.c."""
    files = [
        TABLE, TABLE.replace(b",", b";"), TABLE.replace(b",", b"\t"), gzip.compress(TABLE, mtime=0),
        b"1,2\n3,4\n5,6\n", b'"a""b",y\r\n"1\n2",no\r\n3,yes\r\n',
        b"1 1:0.5 3:2\n-1 2:7\n1 1:1 2:2 3:3\n",
        npy("<f8", False, (3, 2), struct.pack("<6d", *range(6))),
        npy("<f4", True, (2, 2), struct.pack("<4f", *range(4))),
        npy("|u1", False, (4, 2, 2), bytes(range(16))),
        struct.pack(">HBB3I", 0, 8, 3, 2, 2, 2) + bytes(range(8)),
        struct.pack(">HBBI", 0, 0x0D, 1, 3) + struct.pack(">3f", 1, 2, 3),
        b"a\txyes\n3\t-4.s\n3,\t1\n",  # equal inputs, other classes, no categories
    ]
    return [bytes([choice]) + file for file in files for choice in (0, 1, 5, 64, 0x70, 128)]


def serve_seeds():
    """Eight lines: headers, a token and a method, each also tried as a path and as a name; see fuzz/fuzz_serve.c."""
    own, cookie = b"127.0.0.1:8420", b"a=b; broad-8420=" + b"0" * 64
    return [b"\n".join(lines) for lines in (
        (own, b"http://" + own, b"Bearer " + b"0" * 64, cookie, b"x", b"same-origin", b"t", b"POST"),
        (own, b"", b"", cookie, b"x", b"same-origin", b"t" * 64, b"GET"), (own, b"", b"", cookie, b"x", b"none", b"", b"POST"),
        (b"evil.example", b"null", b"Basic x"), (b"[::1]:8420", b"https://localhost:8420"),
        (b"/api/v1/photos/12/thumbnail", b"/api/v1/export/csv", b"/api/v1/versions/3/use", b"/api/v1/photos/99999999999999999999"),
        (b"../../etc/passwd", b".hidden", b"a/b.jpg", b"Clean", "caf\u00e9".encode(), b"\xff\xfe", b" x ", b"=1+1"))]


def model_seeds(folder):
    """The first byte chooses how the rest is taken: see fuzz/fuzz_model.c."""
    few, many = (os.path.join(folder, name) for name in ("few.csv", "many.csv"))
    with open(few, "wb") as f:
        f.write(b"a,b,y\n1,2,u\n2,3,v\n4,4,u\n1,5,v\n3,3,u\n2,2,v\n")
    with open(many, "wb") as f:  # as a learned metric needs them
        f.write(b"a,b,y\n" + b"".join(b"%d,%d,%d.5\n" % (i, i * i % 17, i * i % 11) for i in range(60)))
    seeds = []
    for rows, form in ((many, ["--learned-metric", "yes", "--effort", "fast"]), (few, []), (few, ["--compact"])):
        path = os.path.join(folder, "model.broad")
        options = "--kind brls --features 1x2 --enhance 2x2 -q".split() + form
        subprocess.run([BROAD, "fit", rows, "-o", path, *options], check=True, stdout=subprocess.DEVNULL)
        with open(path, "rb") as f:
            content = f.read()
        if (b"input.metric" in content) != (rows == many):
            raise AssertionError("a learned metric is in the wrong seeds")
        seeds += [b"\x00" + content, b"\x01" + content]
    # The description of the compact model, without the quoting it has inside the header.
    text = re.search(rb'"model":"((?:[^"\\]|\\.)*)"', content).group(1)
    return seeds + [b"\x02" + re.sub(rb"\\(.)", rb"\1", text)]


# 16 x 8 pixels: grey, progressive with three colours at half their size.
JPEGS = [
    "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d30"
    "42605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffc0000b08000800100101"
    "1100ffc40014000100000000000000000000000000000001ffc4002210000201030207000000000000000000000102030004"
    "054161111321517181d1ffda0008010100003f0062c6c36b17367658d06adaec3b9da83900ac16c6dc3007abca0f03e00f5f"
    "2bffd9",
    "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d30"
    "42605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffdb0043011c1e1e282328"
    "4e2b2b4ea46e5d6ea4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4"
    "a4a4a4a4a4a4a4a4ffc20011080008001003012200021101031101ffc4001600010101000000000000000000000000000003"
    "04ffc40014010100000000000000000000000000000002ffda000c03010002100310000001cf600fffc40016100003000000"
    "0000000000000000000000000103ffda00080101000105025314cfffc4001611010101000000000000000000000000000200"
    "01ffda0008010301013f010f6fffc400161100030000000000000000000000000000000131ffda0008010201013f0150ffc4"
    "0014100100000000000000000000000000000010ffda0008010100063f023fffc40015100101000000000000000000000000"
    "00001061ffda0008010100013f2180ff00ffda000c03010002000300000010fbffc400151101010000000000000000000000"
    "0000000051ffda0008010301013f10bdffc400161101010100000000000000000000000000010011ffda0008010201013f10"
    "7a96ffc400161001010100000000000000000000000000011100ffda0008010100013f10be04a9bfffd9",
]


def png(depth, kind, row, interlaced=0, before=()):
    """16 x 8 pixels; `row` is one row's packed bytes. Interlaced ones are cut short: the passes have other widths."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    chunks = [(b"IHDR", struct.pack(">2I5B", 16, 8, depth, kind, 0, 0, interlaced)), *before,
              (b"IDAT", zlib.compress((b"\x02" + row) * 8)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*pair) for pair in chunks)


def image_seeds():
    """The first byte chooses the options: see fuzz/fuzz_image.c."""
    exif = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    xmp = b"XML:com.adobe.xmp\0\0\0\0\0<a drone-dji:RelativeAltitude='+3.5'/>"
    palette = (b"PLTE", bytes(range(48))), (b"tRNS", b"\0\x80\xff")
    row = bytes(range(7, 135))
    files = [
        png(1, 0, row[:2]), png(4, 3, row[:8], before=palette), png(8, 2, row[:48]), png(8, 6, row[:64], 1),
        png(16, 0, row[:32], before=[(b"tRNS", b"\x07\x08")]), png(16, 6, row, 1, before=[(b"eXIf", exif)]),
        png(8, 4, row[:32], before=[(b"iTXt", xmp)]), b"GIF89a", b"<!doctype html>",
    ]
    for text in JPEGS:
        plain = bytes.fromhex(text)
        turned = b"\xff\xe1" + struct.pack(">H", 8 + len(exif)) + b"Exif\0\0" + exif
        files += [plain, plain[:2] + turned + plain[2:], plain[:-40]]
    return [bytes([choice]) + file for file in files for choice in (0, 3, 8, 11)]


def json_seeds():
    return [b'{"a":[1,2.5,-3e7,true,false,null,"x\\u00e9\\ud83d\\ude00\\n"],"b":{"c":{}},"d":[]}', b"[[[]]]", b'{"a":1,"a":2}', b"1e999"]


def box_seeds():
    """The first byte chooses: a file, YOLO's text, an answer of a detector; see fuzz/fuzz_boxes.c."""
    files = [
        b"file,left,top,right,bottom,score\nx/a.jpg,1,2,3,4,0.5\ny/a.jpg,1,2,3,4,\nb.png,-1,2,3,4.5,1\n",
        b'filename;x;y;width;height\r\n"a ""b"".jpg";0;0.25;0.5;0.75\r\n',
        b"image,xmin,ymin,xmax,ymax\na\\b.jpg,1,2,3,4\n./a.jpg,5,6,7,8\n",
        b'{"images": [{"id": 1, "file_name": "a.jpg"}, {"id": "b", "file_name": "x/a.png"}],'
        b'"annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}, {"image_id": "b", "bbox": [1, 2, 3, 4]}]}',
    ]
    answers = [b'{"file": "a.jpg", "boxes": [[1, 2, 3, 4, 0.5], [1, 2, 3, 4]]}', b'{"file": "a.jpg", "error": "torn"}']
    return ([b"\0" + file for file in files] + [b"\1" + b"0 0.5 0.5 0.5 0.25 0.9\n\n1 0.1 0.2 0.1 0.1\n"]
            + [b"\2" + answer for answer in answers])


@unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "an instrumented build")
@unittest.skipUnless(shutil.which("clang") and shutil.which("cmake"), "clang and cmake are not both installed")
class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for words in (["cmake", "--preset", "fuzz", "-B", BUILD], ["cmake", "--build", BUILD, "-j", "2"]):
            done = subprocess.run(words, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise RuntimeError(done.stdout[-4000:])

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="broad-fuzz-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def run_target(self, name, seeds, *options):
        """What the target printed, after it has come through unharmed."""
        corpus = tempfile.mkdtemp(dir=self.folder)
        for i, seed in enumerate(seeds):
            with open(os.path.join(corpus, "seed%d" % i), "wb") as f:
                f.write(seed)
        # An input that breaks something stays in the build folder.
        words = [BUILD / "fuzz" / name, "-artifact_prefix=%s/crash-%s-" % (BUILD, name), "-timeout=20",
                 "-rss_limit_mb=2048", "-print_final_stats=1", *options, corpus]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return done.stdout

    def covered(self, output):
        return int(re.search(r"INITED cov: (\d+)", output).group(1))

    def check(self, name, seeds):
        noise = self.run_target(name, [b"\x00noise"], "-runs=1")
        output = self.run_target(name, seeds, "-max_total_time=%d" % SECONDS, "-seed=1")
        # The seeds must come further than noise does, or the run proves little.
        self.assertGreater(self.covered(output), 1.5 * self.covered(noise))
        runs = int(re.search(r"number_of_executed_units: (\d+)", output).group(1))
        self.assertGreater(runs, LEAST_RUNS)
        print("%s: %d inputs, %d places covered" % (name, runs, int(re.findall(r"cov: (\d+)", output)[-1])))

    def test_targets(self):
        seeds = {"fuzz_boxes": box_seeds(), "fuzz_data": data_seeds(), "fuzz_image": image_seeds(), "fuzz_json": json_seeds(),
                 "fuzz_model": model_seeds(self.folder), "fuzz_serve": serve_seeds()}
        targets = {path.stem for path in (SOURCE / "fuzz").glob("fuzz_*.c")}
        self.assertEqual(targets, set(seeds), "a target without seeds")
        for name, some in seeds.items():
            with self.subTest(name):
                self.check(name, some)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1, exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
