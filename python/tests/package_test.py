"""What the tests of the package share: where it is, small tables, the tool."""
import faulthandler
import os
import subprocess
import sys
import tempfile
import unittest

PACKAGE = os.path.join(os.environ.get("BROAD_BINARY_DIR", "build/dev"), "python")
TOOL = os.environ.get("BROAD_TOOL", "build/dev/broad")
sys.path.insert(0, PACKAGE)
if not os.path.exists(os.path.join(PACKAGE, "broad", "_native.abi3.so")):
    sys.exit(77)
INSTRUMENTS = os.environ.get("BROAD_INSTRUMENTS", "")
if INSTRUMENTS and "address" not in INSTRUMENTS and "coverage" not in INSTRUMENTS:
    sys.exit(77)  # the thread sanitizer would have to know the interpreter
if "address" in INSTRUMENTS and "LD_PRELOAD" not in os.environ:
    # The interpreter is not instrumented: the sanitizer has to be there before it. What it leaks is not ours.
    library = subprocess.run([os.environ.get("CC", "cc"), "-print-file-name=libasan.so"], check=True, capture_output=True,
                             text=True).stdout.strip()
    os.execve(sys.executable, [sys.executable, *sys.argv],
              dict(os.environ, LD_PRELOAD=library, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1"))
# Before ctest ends a hang without a word of where it is.
faulthandler.dump_traceback_later(0.9 * float(os.environ.get("BROAD_MOST_SECONDS", "300")), exit=True)
try:
    import numpy as np
except ImportError:
    sys.exit(77)
import broad  # noqa: E402
import broad.photos  # noqa: E402

FAST = {"effort": "fast", "max_layers": 2, "features": "4x10", "enhance": "20x2"}


def blobs(rows=90, inputs=4, seed=0):
    r = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    return r.normal(size=(rows, inputs)) + 2 * np.eye(inputs)[y], y


def wave(rows=90, inputs=4, seed=0):
    r = np.random.default_rng(seed)
    x = r.normal(size=(rows, inputs))
    return x, np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * r.normal(size=rows)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, *arguments):
        return subprocess.run([TOOL, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def python(self, source, **more):
        return subprocess.run([sys.executable, "-c", source], env=dict(os.environ, PYTHONPATH=PACKAGE, **more), check=True,
                              capture_output=True, text=True).stdout

    def write_table(self, name, x, y):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join("a%d" % j for j in range(x.shape[1])) + ",target\n")
            for row, target in zip(x, y):
                file.write(",".join(repr(float(value)) for value in row) + ",%s\n" % target)
        return path
