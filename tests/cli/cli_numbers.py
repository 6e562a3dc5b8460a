#!/usr/bin/env python3
"""Numbers of every size: whatever finite columns, targets and settings are given, a fit that succeeds is verified on its own
rows, a change of its scaling is not, and a prediction that succeeds is finite.

Usage: cli_numbers.py PATH_OF_BROAD [COMBINATIONS [SEED]]. More combinations than the test has: make numbers.
"""
import csv
import io
import itertools
import json
import os
import random
import struct
import sys
import tempfile

try:
    import xxhash
except ImportError:  # Debian: python3-xxhash
    xxhash = None

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import run  # noqa: E402

KINDS = ["bscrls", "brls", "bls", "scn", "rvfl"]
SCALES = ["auto", "standard", "both", "minmax", "none", "rank", "whole"]
ACTIVATIONS = ["sigmoid", "tanh", "relu", "sine", "gaussian", "identity"]
LARGE = 1.7e308
# What a column may look like, by name: a function of a random generator.
COLUMNS = {
    "ordinary": lambda r: r.gauss(0, 1),
    "offset6": lambda r: 1e6 + r.gauss(0, 1),
    "offset9": lambda r: 1e9 + r.gauss(0, 1),
    "offset12": lambda r: -1e12 + r.gauss(0, 1),
    "offset15": lambda r: 1e15 + r.gauss(0, 1),
    "offset16": lambda r: 1e16 + 2 * r.randrange(12),
    "time": lambda r: 1700000000000000000 + 5000 * r.randrange(300),
    "denormal": lambda r: r.gauss(0, 1e-310),
    "tiny": lambda r: r.gauss(0, 1e-300),
    "huge": lambda r: r.choice([-LARGE, LARGE]),
    "large": lambda r: r.gauss(0, 1e300),
    "half": lambda r: r.uniform(-8e307, 8e307),
    "constant": lambda r: 3.7,
    "rare": lambda r: float(r.random() < 0.05),
    "heavy": lambda r: r.choice([-1, 1]) * 10 ** r.uniform(-300, 300),
    "integer": lambda r: float(2 ** 53 + r.randrange(20)),
    "outlier": lambda r: r.choice([1e15, 1e100, -1e300]) if r.random() < 0.04 else r.gauss(0, 1),
    # Made of the columns before it, where there are any: see Trial.row().
    "copy": lambda r: r.gauss(0, 1),
    "mean": lambda r: r.gauss(0, 1),
}
# Seeds that have found something: weights so large that rounding decides what they leave; nodes that are rounding, since rows do not
# differ in their directions; what is left of an output by nodes that depend on each other.
KEPT = [1378, 1448, 2733, 1987, 5347, 5043, 21643, 30806]
EXTREMES = [LARGE, -LARGE, 1e300, -1e100, 1e30, 5e-324, -0.0, 0.0, 1e18]


class Trial:
    def __init__(self, folder, seed):
        self.rng = random.Random(seed)
        self.folder, self.seed, self.faults = folder, seed, []
        self.names = [self.rng.choice(list(COLUMNS)) for _ in range(self.rng.randint(1, 4))]
        self.target = self.rng.choice(["class", "class", "ordinary", "offset9", "denormal", "large", "huge", "tiny"])
        self.options = self.settings()

    def path(self, name):
        return os.path.join(self.folder, name)

    def settings(self):
        r = self.rng
        options = ["--kind", KINDS[self.seed % 5], "--scale", SCALES[self.seed % 7], "--seed", str(r.randrange(99))]
        if r.random() < 0.7: options += ["--preset", "paper", "--features", "2x5", "--enhance", "5x3"]
        else: options += ["--features", "2x8", "--enhance", "8x1"]
        options += ["--activation", ACTIVATIONS[self.seed % 6]]
        if r.random() < 0.4: options += ["--lambda", r.choice(["0", "1e-10", "1e-3", "auto", "1e300"])]
        if self.target != "class" and r.random() < 0.5: options += ["--scale-target", r.choice(["none", "standard"])]
        return options

    def row(self):
        cells = []
        for name in self.names:
            if name == "copy" and cells: cells.append(cells[0])
            elif name == "mean" and cells: cells.append(sum(cell / len(cells) for cell in cells))
            else: cells.append(float(COLUMNS[name](self.rng)))
        return [repr(cell) for cell in cells]

    def write(self):
        r, lines = self.rng, ["%s,y" % ",".join("%s%d" % (n, i) for i, n in enumerate(self.names))]
        for i in range(40):
            y = "ab"[r.random() < 0.5] if self.target == "class" else repr(float(COLUMNS[self.target](r)))
            lines.append(",".join(self.row() + [y]))
        with open(self.path("t.csv"), "w") as out: out.write("\n".join(lines) + "\n")
        rows = list(itertools.product(EXTREMES, repeat=len(self.names)))
        with open(self.path("p.csv"), "w") as out:
            out.write(lines[0].rsplit(",", 1)[0] + "\n")
            out.writelines(",".join(map(repr, row)) + "\n" for row in r.sample(rows, min(9, len(rows))))

    def fault(self, what, result):
        self.faults.append("seed %d: %s %s, target %s: %s (%d): %s" % (
            self.seed, " ".join(self.options), " ".join(self.names), self.target, what, result.code,
            (result.err or result.out).strip().replace("\n", " | ")[:300]))

    def predict(self, *options):
        result = run("predict", self.path("m.broad"), self.path("p.csv"), *options)
        if "no estimate of its error" in result.err: return
        if result.code not in (0, 65): self.fault("predict ended", result)
        elif result.code == 0:
            for cells in list(csv.reader(io.StringIO(result.out)))[1:]:
                if any(c.lstrip("-") in ("nan", "inf") for c in cells): self.fault("%s in a prediction" % cells, result)
        elif self.target not in ("huge", "large"): self.fault("predict refused", result)

    def run(self):
        """Whether the fit succeeded."""
        self.write()
        fit = run("fit", self.path("t.csv"), "-o", self.path("m.broad"), "--threads", "1", *self.options)
        singular = fit.code == 1 and "too small for these rows" in fit.err
        if fit.code not in (0, 2, 65) and not singular: self.fault("fit ended", fit)
        if fit.code: return False
        verify = run("verify", self.path("m.broad"), self.path("t.csv"))
        if verify.code: self.fault("verify", verify)
        self.predict()
        if self.target == "class": self.predict("--proba")
        elif self.target != "huge": self.predict("--interval", "0.9")
        return True


def test_singular(folder):
    """Without a ridge, nodes that depend on each other: what was solved does not fit, and that is said."""
    path = os.path.join(folder, "s.csv")
    with open(path, "w") as out:
        out.write("x,y\n" + "".join("%.4f,%s\n" % (i * 7919 % 101 / 17, "ab"[i * i % 7 > 3]) for i in range(23)))
    words = "--kind scn --enhance 9x3 --scale rank --scale-target none --activation relu -q --lambda".split()
    model = os.path.join(folder, "s.broad")
    refused = run("fit", path, "-o", model, *words, "1e-16")
    if refused.code != 1 or "too small for these rows" not in refused.err or os.path.exists(model):
        return ["a ridge parameter of 1e-16 is not refused (%d): %s" % (refused.code, refused.err)]
    fitted = run("fit", path, "-o", model, *words, "1e-6")
    return [] if fitted.code == 0 and run("verify", model, path).code == 0 else ["what is advised does not help: " + fitted.err]


def digits(data):
    return xxhash.xxh3_128_hexdigest(bytes(data)).encode()


def moved(path, to, index, step):
    """The model with one output weight of its first layer moved, and every hash put right: docs/model-format.md."""
    with open(path, "rb") as file: data = bytearray(file.read())
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    first, end = (begin + at for at in json.loads(data[8:begin])["layer.1.output"]["data_offsets"])
    weights, old = list(struct.unpack("<%dd" % ((end - first) // 8), data[first:end])), digits(data[first:end])
    weights[index % len(weights)] += step
    data[first:end] = struct.pack("<%dd" % len(weights), *weights)
    data[8:begin] = data[8:begin].replace(old, digits(data[first:end]))
    data[126:158] = digits(data[begin:])
    data[75:107] = b"0" * 32
    data[75:107] = digits(data[8:begin])
    with open(to, "wb") as file: file.write(data)


def test_moved_weights(folder):
    """Where nodes are little more than rounding, which verify allows for: weights that are moved further than that are refused. The
    last is a chain, with nodes that rounding may move by more."""
    faults = []
    for seed, least in ((1987, 1e-6), (5347, 1e-6), (30806, 1e-3)) if xxhash else ():
        trial = Trial(folder, seed)
        trial.run()
        faults += trial.faults
        for index, step in itertools.product((0, 9, 16, 23), (0, least, -1e-2, 1)):
            moved(trial.path("m.broad"), trial.path("moved.broad"), index, step)
            verify = run("verify", trial.path("moved.broad"), trial.path("t.csv"))
            if verify.code != (step != 0): trial.fault("verify, with weight %d moved by %g" % (index, step), verify)
        faults += trial.faults
    return faults


def main():
    count, seed = [int(w) for w in sys.argv[2:4]] + [28, 1][len(sys.argv) - 2:]
    fitted, faults = 0, []
    with tempfile.TemporaryDirectory() as folder:
        faults += test_singular(folder) + test_moved_weights(folder)
        for line in faults: print(line, flush=True)
        for i in [*KEPT, *range(seed, seed + count)]:
            trial = Trial(folder, i)
            fitted += trial.run()
            faults += trial.faults
            for line in trial.faults: print(line, flush=True)
    print("%d combinations, %d fitted, %d faults" % (count + len(KEPT), fitted, len(faults)))
    sys.exit(1 if faults or fitted < count // 3 else 0)


main()
