#!/usr/bin/env python3
"""The network against a second implementation: the seed's map to weights, BRLS, the BSCRLS search and its certificate,
in a few lines of numpy that were written from docs/model-format.md and docs/mathematics.md and share nothing with the
library.

Usage: test_numpy.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import csv
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
FEATURES, ENHANCEMENT = 1, 2
MASK = np.uint64(0xFFFFFFFF)
ACTIVATIONS = {
    "sigmoid": lambda x: 0.5 + 0.5 * np.tanh(0.5 * x),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "sine": np.sin,
    "gaussian": lambda x: np.exp(-x * x),
    "identity": lambda x: x,
}


# ---- from seed to weights -------------------------------------------------------------------------------------------


def philox(counter, key):
    """Philox4x32-10. counter: four arrays of words, key: two words; all words are held in 64 bits."""
    c0, c1, c2, c3 = (np.asarray(c, np.uint64) for c in counter)
    k0, k1 = key
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0), p1 & MASK, \
            (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1), p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


def uniform(seed, purpose, number, step, draw, count):
    """The numbers of elements 0 ... count - 1 of a stream."""
    element = np.arange((count + 1) // 2 * 2, dtype=np.uint64)
    return uniform_at(seed, purpose, number, step, draw, element)[:count]


def uniform_at(seed, purpose, number, step, draw, element):
    """The numbers of these elements of a stream."""
    block = element >> np.uint64(1)
    same = np.ones_like(block)
    counter = (block & MASK, same * np.uint64(number), same * np.uint64(step << 16 | draw),
               same * np.uint64(purpose << 24) | block >> np.uint64(32) & np.uint64(0xFFFFFF))
    w0, w1, w2, w3 = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    words = np.where(element & np.uint64(1) == 0, w1 << np.uint64(32) | w0, w3 << np.uint64(32) | w2)
    return (words >> np.uint64(11)).astype(float) * 2.0 ** -53


def draw_nodes(seed, purpose, number, step, draw, fan_in, nodes, reach, unit):
    """Weights (fan_in x nodes) and biases of nodes whose numbers lie in [-reach, reach]."""
    u = uniform(seed, purpose, number, step, draw, nodes * (fan_in + 1)).reshape(nodes, fan_in + 1)
    scale = reach * math.sqrt(3.0 / fan_in) if unit == "fan-in" else reach
    return (2 * u[:, :fan_in] - 1).T * scale, (2 * u[:, fan_in] - 1) * reach


# ---- the model file -------------------------------------------------------------------------------------------------


class Model:
    """Description and tensors of a file."""

    def __init__(self, path):
        with open(path, "rb") as f:
            content = f.read()
        length = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:8 + length])
        self.description = json.loads(header.pop("__metadata__")["model"])
        self.settings = self.description["settings"]
        self.seed = int(self.settings["seed"])
        self.groups, self.layers = self.description["groups"], self.description["layers"]
        self.tensors = {}
        for name, entry in header.items():
            first, end = entry["data_offsets"]
            values = np.frombuffer(content[8 + length + first:8 + length + end], "<f8")
            self.tensors[name] = values.reshape(entry["shape"])

    def drawn_group(self, i, step=None):
        group, s = self.groups[i], self.settings
        multiple = group["range"] if step is None else s["range_steps"][step]
        return draw_nodes(self.seed, FEATURES, i, group["step"] if step is None else step, 0,
                          self.description["inputs"], group["nodes"], self.description["range"] * multiple,
                          s["range_unit"])

    def drawn_layer(self, j, place=None):
        """Of a layer of the model, or of another draw, place = (step, draw), of a layer like the others."""
        s = self.settings
        if place is None:
            layer = self.layers[j]
            step, draw, multiple, fan_in, nodes = (layer[k] for k in ("step", "draw", "range", "inputs", "nodes"))
        else:
            step, draw = place
            multiple, nodes = s["range_steps"][step], s["enhance_nodes"]
            fan_in = sum(group["nodes"] for group in self.groups)
        return draw_nodes(self.seed, ENHANCEMENT, j, step, draw, fan_in, nodes, self.description["range"] * multiple,
                          s["range_unit"])


# ---- the network ----------------------------------------------------------------------------------------------------


def scaling(x, kind):
    """Shift and factor of each column."""
    shift, factor = np.zeros(x.shape[1]), np.ones(x.shape[1])
    if kind == "none":
        return shift, factor
    spread = x.std(axis=0) if kind == "standard" else x.max(axis=0) - x.min(axis=0)
    shift = x.mean(axis=0) if kind == "standard" else x.min(axis=0)
    varies = x.max(axis=0) > x.min(axis=0)
    factor[varies] = 1 / spread[varies]
    return shift, factor


def ridge(k, e, lam):
    """By least squares on [K; sqrt(lambda) I]: no normal equations, so good to the condition number, not its square."""
    wide = np.vstack([k, math.sqrt(lam) * np.eye(k.shape[1])])
    return np.linalg.lstsq(wide, np.vstack([e, np.zeros((k.shape[1], e.shape[1]))]), rcond=None)[0]


def condition(k, lam):
    s = np.linalg.svd(k, compute_uv=False)
    least = s[-1] if k.shape[1] <= k.shape[0] else 0.0
    return (s[0] ** 2 + lam) / (least ** 2 + lam)


def leave_one_out(k, e, w, lam):
    """r_i / (1 - h_i) with the hat matrix written out."""
    hat = k @ np.linalg.solve(k.T @ k + lam * np.eye(k.shape[1]), k.T)
    return (e - k @ w) / (1 - np.diag(hat))[:, None]


def features(model, x, step=None):
    phi = ACTIVATIONS[model.settings["feature_activation"]]
    drawn = [model.drawn_group(i, step) for i in range(len(model.groups))]
    return np.hstack([phi(x @ weight + bias) for weight, bias in drawn])


def layer_input(model, z, j, place=None):
    weight, bias = model.drawn_layer(j, place)
    h = ACTIVATIONS[model.settings["activation"]](z @ weight + bias)
    return np.hstack([z, h]) if j == 0 else h


def chain(model, x, e):
    """(K_j, W_j, E_{j-1}) of every layer, from scaled inputs and targets; lambda is the certificate's."""
    z = features(model, x)
    for j, layer in enumerate(model.layers):
        k = layer_input(model, z, j)
        w = ridge(k, e, layer["lambda"])
        yield k, w, e
        e = e - k @ w


def bounds(settings, m, relaxed):
    """gamma, mu and their sum for layer m, counted from 1."""
    values = settings["gamma"]
    gamma = {"constant": values[0], "list": values[min(m, len(values)) - 1],
             "harmonic": 1 - values[0] / (m + 1)}[settings["gamma_form"]]
    for _ in range(relaxed):
        gamma += settings["relax"] * (1 - gamma)
    mu = (1 - gamma) / (m + 1)
    return gamma, mu, gamma + mu


class Search:
    """The search for layer j by trying what the documentation says, in its order, without any short cut."""

    def __init__(self, model, x, e, j, lam):
        self.model, self.x, self.e, self.j, self.lam = model, x, e, j, lam
        self.settings = model.settings
        self.steps = len(self.settings["range_steps"])
        self.now = None if j == 0 else features(model, x)
        self.tried = {}

    def value(self, f, step, draw):
        """What is compared with the bound."""
        if (f, step, draw) not in self.tried:
            z = features(self.model, self.x, f) if self.j == 0 else self.now
            k = layer_input(self.model, z, self.j, (step, draw))
            w, norm = ridge(k, self.e, self.lam), np.linalg.norm(self.e)
            tested = ratio = np.linalg.norm(self.e - k @ w) / norm
            if self.settings["supervise"] == "loo":
                tested = np.linalg.norm(leave_one_out(k, self.e, w, self.lam)) / norm
            if self.settings["supervise"] == "operator":
                tested = self.lam / (np.linalg.svd(k, compute_uv=False)[-1] ** 2 + self.lam)
            self.tried[f, step, draw] = max(tested, ratio), tested
        return self.tried[f, step, draw]

    def sweep(self, relaxed):
        """(feature step, step, draw) that is kept, or None."""
        bound = bounds(self.settings, self.j + 1, relaxed)[2]
        for f in range(self.steps if self.j == 0 else 1):
            for step in range(self.steps):
                passing = []
                for draw in range(self.settings["tries"]):
                    if self.value(f, step, draw)[0] <= bound:
                        passing.append((self.value(f, step, draw)[1], (f, step, draw)))
                        if self.settings["select"] == "first":
                            break
                if passing:
                    return min(passing)[1]
        return None

    def run(self):
        """(place, relaxed) or None where it stalls."""
        for relaxed in range(self.settings["relax_count"] + 1):
            place = self.sweep(relaxed)
            if place is not None:
                return place, relaxed
        return None


# A chain of drawn nodes, whatever the preset; what is said after it counts.
DRAWN = "--weights chain --feature-weights random --learned-metric no --scale standard".split()


# ---- tests ----------------------------------------------------------------------------------------------------------


def problem(rng, rows, inputs, outputs, classify):
    """Inputs of unlike scales and smooth targets with noise; classes as numbers from 0."""
    x = rng.normal(size=(rows, inputs)) * 10.0 ** rng.integers(-2, 3, inputs) + rng.normal(size=inputs)
    scaled = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    y = np.sin(scaled @ rng.normal(size=(inputs, outputs))) + 0.1 * rng.normal(size=(rows, outputs))
    if not classify:
        return x, 3 * y - 1
    classes = np.argmax(y, axis=1)
    classes[:outputs] = np.arange(outputs)[:rows]
    return x, classes


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="broad-numpy-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def broad(self, *words):
        done = subprocess.run([BROAD, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def write(self, name, x, y):
        """17 digits, so that the tool and numpy see the same numbers; classes are c0, c1, ..."""
        with open(self.path(name), "w", encoding="ascii") as f:
            columns = ["c%d" % c for c in y] if y.ndim == 1 else None
            for i, row in enumerate(x):
                target = [columns[i]] if columns else [repr(float(v)) for v in y[i]]
                f.write(",".join([repr(float(v)) for v in row] + target) + "\n")
        return self.path(name)

    def fit(self, x, y, *options):
        """The model of `broad fit`, and the scaled inputs and targets as numpy sees them."""
        data, path = self.write("rows.csv", x, y), self.path("model.broad")
        inputs = x.shape[1]
        target = str(inputs + 1) if y.ndim == 1 else ",".join(str(inputs + 1 + i) for i in range(y.shape[1]))
        task = "classify" if y.ndim == 1 else "regress"
        self.broad("fit", data, "-o", path, "--target", target, "--task", task, "--header", "no", "-q", *DRAWN, *options)
        model = Model(path)
        shift, factor = scaling(x, model.settings["scale"])
        self.assert_near(model.tensors["input.shift"], shift, 1e-13)
        self.assert_near(model.tensors["input.factor"], factor, 1e-13)
        targets, target_scale = y, model.settings["scale_target"]
        if y.ndim == 1:
            self.names = model.description["output_names"]
            self.assertEqual(sorted(self.names), sorted({"c%d" % c for c in y}))
            targets = np.array([[float(name == "c%d" % c) for name in self.names] for c in y])
        self.shift, self.factor = scaling(targets, "none" if y.ndim == 1 else target_scale)
        if y.ndim == 1 and target_scale == "standard":
            self.shift = targets.mean(axis=0)  # the scores of a class start from how frequent it is
        self.scale = lambda rows: (rows - shift) * factor
        return model, self.scale(x), (targets - self.shift) * self.factor

    def assert_near(self, found, expected, tolerance, about=None):
        """In norm, relative to the expected."""
        error = np.linalg.norm(np.asarray(found) - expected)
        self.assertLessEqual(error, tolerance * np.linalg.norm(expected), about)


class Drawing(Case):
    def test_known_answers(self):
        """Those that were published with the generator."""
        words = "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0"
        for given, expected in (("0 0 0 0 0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
                                (" ".join(["ffffffff"] * 6), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
                                (words, "d16cfe09 94fdcceb 5001e420 24126ea1")):
            given = [int(word, 16) for word in given.split()]
            found = philox([[word] for word in given[:4]], given[4:])
            self.assertEqual(" ".join("%08x" % int(word[0]) for word in found), expected)

    def check(self, model):
        for i in range(len(model.groups)):
            weight, bias = model.drawn_group(i)
            np.testing.assert_array_equal(model.tensors["feature.%d.weight" % (i + 1)], weight)
            np.testing.assert_array_equal(model.tensors["feature.%d.bias" % (i + 1)], bias)
        for j in range(len(model.layers)):
            weight, bias = model.drawn_layer(j)
            np.testing.assert_array_equal(model.tensors["layer.%d.weight" % (j + 1)], weight)
            np.testing.assert_array_equal(model.tensors["layer.%d.bias" % (j + 1)], bias)

    def test_every_weight(self):
        """Bit for bit: seeds above 2^53, odd and even numbers of elements, draws and ranges that were refused."""
        rng, layers = np.random.default_rng(1), []
        for seed, more in ((0, "--range-unit fan-in --range 0.7 --kind brls"), (2 ** 64 - 1, "--range 1"),
                           (2 ** 53 + 1, "--range-unit fan-in --range 0.1 --gamma constant:0.9 --relax-count 9"),
                           (77, "--preset auto --learned-metric no --lambda auto")):
            x, y = problem(rng, 60, 5, 2, False)
            options = "--preset paper --features 3x4 --enhance 7x6 " + more
            model, _, _ = self.fit(x, y, *options.split(), "--seed", seed)
            self.check(model)
            layers += model.layers
        self.assertTrue(any(layer["draw"] for layer in layers) and any(layer["step"] for layer in layers))

    def test_wide_layer(self):
        """More inputs than the library draws at a time."""
        x, y = problem(np.random.default_rng(2), 30, 1201, 1, False)
        self.check(self.fit(x, y, *"--features 1x3 --enhance 2x1 --kind brls --range 1 --lambda 1".split())[0])

    def test_compact_has_the_rest(self):
        x, y = problem(np.random.default_rng(3), 40, 3, 3, True)
        options = "--features 2x3 --enhance 5x3 --kind brls".split()
        whole = self.fit(x, y, *options)[0]
        small = self.fit(x, y, *options, "--compact")[0]
        self.assertFalse([name for name in small.tensors if name.endswith(("weight", "bias"))])
        self.assertEqual(whole.description, small.description)
        for name, values in small.tensors.items():
            np.testing.assert_array_equal(values, whole.tensors[name])


class Chain(Case):
    """BRLS: output weights and predictions to 1e-9, for condition numbers up to 1e8."""
    worst = problems = 0

    def check(self, x, y, fresh, *options):
        model, scaled, targets = self.fit(x, y, "--kind", "brls", *options)
        predicted, z = 0, features(model, self.scale(fresh))
        for j, (k, w, e) in enumerate(chain(model, scaled, targets)):
            self.assertLess(condition(k, model.layers[j]["lambda"]), 1e8, (options, "ill-chosen"))
            found = model.tensors["layer.%d.output" % (j + 1)]
            self.assert_near(found, w, 1e-9, (options, x.shape, j))
            self.assertAlmostEqual(model.layers[j]["norm_before"] / np.linalg.norm(e), 1, places=9)
            Chain.worst = max(Chain.worst, np.linalg.norm(found - w) / np.linalg.norm(w))
            predicted = predicted + layer_input(model, z, j) @ w
        Chain.problems += 1
        self.check_predictions(fresh, predicted / self.factor + self.shift, y.ndim == 1)

    def check_predictions(self, fresh, expected, classify):
        data = self.path("fresh.csv")
        np.savetxt(data, fresh, fmt="%.17g", delimiter=",")
        table = list(csv.reader(io.StringIO(self.broad("predict", self.path("model.broad"), data, "--header", "no"))))
        found = np.array([[float(v) for v in row[2 if classify else 1:]] for row in table[1:]])
        self.assert_near(found, expected, 1e-9)
        if classify:
            self.assertEqual(table[0][2:], ["score_" + name for name in self.names])
            self.assertEqual([row[1] for row in table[1:]], [self.names[i] for i in found.argmax(axis=1)])

    def test_random_problems(self):
        rng = np.random.default_rng(4)
        for trial in range(36):
            rows, inputs, outputs = int(rng.integers(8, 400)), int(rng.integers(1, 12)), int(rng.integers(1, 5))
            classify = bool(trial % 2)
            outputs += classify
            x, y = problem(rng, rows, inputs, outputs, classify)
            fresh, _ = problem(rng, 20, inputs, outputs, classify)
            names = list(ACTIVATIONS)
            options = ["--features", "%dx%d" % tuple(rng.integers(1, 8, 2)),
                       "--enhance", "%dx%d" % (rng.integers(1, 90), rng.integers(1, 6)),
                       "--activation", names[trial % 6], "--feature-activation", names[trial // 6 % 6],
                       "--scale", ("none", "minmax", "standard")[trial % 3],
                       "--scale-target", ("standard", "minmax", "none")[trial // 3 % 3],
                       "--range", 10.0 ** -(trial % 2), "--range-unit", ("fan-in", "absolute")[trial // 2 % 2],
                       "--seed", trial]
            # K does not depend on lambda: one relative to its largest squared singular value bounds the condition.
            model, scaled, _ = self.fit(x, y, "--kind", "brls", *options, "--lambda", "1")
            z = features(model, scaled)
            largest = max(np.linalg.norm(layer_input(model, z, j), 2) ** 2 for j in range(len(model.layers)))
            self.check(x, y, fresh, *options, "--lambda", repr(10.0 ** rng.uniform(-7.5, 0) * largest))

    def test_many_rows(self):
        """Several blocks and shards of rows."""
        rng = np.random.default_rng(5)
        x, y = problem(rng, 3000, 6, 2, False)
        self.check(x, y, x[:300], *"--features 4x5 --enhance 60x4 --lambda 0.01 --range 0.5".split())

    def test_more_columns_than_rows(self):
        rng = np.random.default_rng(6)
        for rows in (1, 2, 7, 50):
            x, y = problem(rng, rows, 4, 2, False)
            options = "--features 5x10 --enhance 80x3 --lambda 0.1 --range 1 --scale-target none"
            self.check(x, y, x[:1] + 1, *options.split())

    @classmethod
    def tearDownClass(cls):
        print("brls: %d problems, worst relative error of an output weight matrix %.1e" % (cls.problems, cls.worst))


class Certificate(Case):
    """BSCRLS: the search finds the same draws, and every figure of the certificate comes out again."""

    def check(self, x, y, options):
        model, scaled, e = self.fit(x, y, *options.split())
        description, lam = model.description, model.settings["lambda"]
        self.assert_near(description["first_norm"], np.linalg.norm(e), 1e-12)
        for j, layer in enumerate(model.layers):
            search = Search(model, scaled, e, j, lam)
            (f, step, draw), relaxed = search.run()
            self.assertEqual([layer[k] for k in ("step", "draw", "relaxed")], [step, draw, relaxed], (options, j))
            self.assertEqual(model.groups[0]["step"] if j == 0 else 0, f)
            self.assertEqual(layer["tries"], len(search.tried))
            e = self.check_layer(model, scaled, e, j, search.tried[f, step, draw][1])
        if description["outcome"] == "stalled":
            self.assertIsNone(Search(model, scaled, e, len(model.layers), lam).run())
        self.check_product(model, np.linalg.norm(e))
        return model

    def check_layer(self, model, x, e, j, tested):
        layer, k = model.layers[j], layer_input(model, features(model, x), j)
        after = e - k @ ridge(k, e, layer["lambda"])
        norms = np.linalg.norm(e), np.linalg.norm(after)
        gamma, mu, bound = bounds(model.settings, j + 1, layer["relaxed"])
        for name, expected in (("norm_before", norms[0]), ("norm_after", norms[1]), ("ratio", norms[1] / norms[0]),
                               ("tested", tested), ("gamma", gamma), ("mu", mu), ("bound", bound)):
            self.assertAlmostEqual(layer[name] / expected, 1, places=9, msg=(name, j))
        self.assertTrue(layer["passed"])
        self.assertLessEqual(layer["ratio"], layer["bound"])
        self.assertLessEqual(layer["tested"], layer["bound"])
        self.assertEqual(layer["ratio"], layer["norm_after"] / layer["norm_before"])
        self.assert_near(model.tensors["layer.%d.output" % (j + 1)], ridge(k, e, layer["lambda"]), 1e-9)
        return after

    def check_product(self, model, norm):
        product = np.prod([layer["bound"] for layer in model.layers])
        self.assertLessEqual(norm, product * model.description["first_norm"] * (1 + 1e-12))
        for before, after in zip(model.layers, model.layers[1:]):
            self.assertEqual(before["norm_after"], after["norm_before"])

    def some(self, seed, rows, classify=False):
        return problem(np.random.default_rng(seed), rows, 3, 2, classify)

    def test_residual(self):
        options = "--preset paper --scale standard --features 2x3 --enhance 6x8 --lambda 1e-3 --range-steps 1,2,4 "
        refused = relaxed = stalled = 0
        for seed, more in enumerate(("harmonic:0.3", "constant:0.97", "list:0.7,0.9,0.96", "harmonic:0.3 --select best",
                                     "constant:0.5", "constant:0.9 --relax 0.2 --relax-count 12",
                                     "constant:0.8 --select best --relax-count 12")):
            x, y = self.some(seed, 90, classify=seed % 2 == 1)
            model = self.check(x, y, options + "--seed %d --gamma %s" % (seed, more))
            refused += sum(layer["tries"] > 1 for layer in model.layers)
            relaxed += sum(layer["relaxed"] > 0 for layer in model.layers)
            stalled += model.description["outcome"] == "stalled"
        self.assertTrue(refused and relaxed and stalled, (refused, relaxed, stalled))

    def test_leave_one_out(self):
        """`tested` by the hat matrix, written out; more rows than columns and fewer."""
        options = "--supervise loo --features 2x3 --tries 3 --range 1 --range-steps 1,0.3,3 --enhance %s --lambda %s %s"
        for seed, rows, enhance, lam in ((1, 120, "10x6", 1e-2), (2, 40, "60x4", 0.5), (3, 300, "25x5", 1e-3)):
            x, y = self.some(seed, rows, classify=seed == 3)
            for more in ("", "--select best", "--gamma constant:0.7 --relax-count 5"):
                model = self.check(x, y, options % (enhance, lam, more))
                self.assertTrue(all(layer["tested"] > layer["ratio"] for layer in model.layers))

    def test_operator(self):
        """lambda / (s^2 + lambda) of the smallest singular value; fewer rows than nodes."""
        x, y = self.some(4, 25)
        for select in ("first", "best"):
            model = self.check(x, y, "--supervise operator --features 2x5 --enhance 60x3 --activation sine --range 1 "
                               "--lambda 1e-3 --range-steps 1,3 --tries 3 --select " + select)
            self.assertEqual(len(model.layers), 3)

    def test_features_are_redrawn(self):
        """A base range so wide that tanh saturates: the first layer needs feature nodes of another range."""
        x, y = self.some(5, 150)
        model = self.check(x, y, "--supervise residual --features 2x3 --enhance 4x2 --lambda 1e-3 --gamma constant:0.3 "
                           "--range 400 --range-steps 1,0.01,0.001 --tries 2 --relax-count 0")
        self.assertGreater(model.groups[0]["step"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
