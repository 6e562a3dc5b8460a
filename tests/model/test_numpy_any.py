#!/usr/bin/env python3
"""All kinds of networks with options drawn at random, against numpy: nodes from the file's tensors, output weights solved once more by
least squares, predictions by plain products.

 - what training fitted: K W of every layer of a chain, A W of joint weights, to 1e-8 of the targets (more where the equations are so badly
   conditioned that rounding of their sums, eps times the condition, is more than that: the library solves them from these sums);
 - what `broad predict` says of fresh rows: the sum of K W over the layers, to 1e-9.

Usage: test_numpy_any.py PATH_OF_BROAD. BROAD_TRIALS: how many (50), BROAD_TRIALS_SEED: from which on. Exits with 77 where numpy is not
installed.
"""
import csv
import io
import os
import sys
import unittest

# Leaves with 77 where numpy is not there.
from test_numpy import ACTIVATIONS, Case, np, problem, ridge

TRIALS = int(os.environ.get("BROAD_TRIALS", "50"))
FIRST = int(os.environ.get("BROAD_TRIALS_SEED", "0"))
WEIGHTS = {"bls": ["joint"], "rvfl": ["joint"], "brls": ["chain", "joint"], "bscrls": ["chain", "joint"], "scn": ["chain", "joint", "window"]}
SCALES = ["none", "minmax", "standard"]


def scaled(model, x):
    return (x - model.tensors["input.shift"]) * model.tensors["input.factor"]


def blocks(model, x):
    """K of every layer, from scaled inputs."""
    phi, xi = (ACTIVATIONS[model.settings[name]] for name in ("feature_activation", "activation"))
    parts = []
    for i in range(len(model.groups)):
        weight = model.tensors.get(f"feature.{i + 1}.weight")
        parts.append(x if weight is None else phi(x @ weight + model.tensors[f"feature.{i + 1}.bias"]))
    z = np.hstack(parts)
    for j, layer in enumerate(model.layers):
        h = xi(z[:, :layer["inputs"]] @ model.tensors[f"layer.{j + 1}.weight"] + model.tensors[f"layer.{j + 1}.bias"])
        yield np.hstack([*parts[layer["first_group"]:layer["first_group"] + layer["groups"]], h])


def weights(model):
    """W of every layer, and whether they were solved together."""
    joint = [model.tensors.get(f"layer.{j + 1}.joint") for j in range(len(model.layers))]
    if joint and joint[0] is not None:
        return joint, True
    return [model.tensors[f"layer.{j + 1}.output"] for j in range(len(model.layers))], model.settings["weights"] == "joint"


def tolerance(k, lam):
    condition = np.linalg.norm(k, 2) ** 2 / lam if lam > 0 else 1
    return max(1e-8, 0.05 * np.finfo(float).eps * condition)


class Any(Case):
    counts = {}

    def options(self, rng):
        kind = str(rng.choice(list(WEIGHTS)))
        words = ["--preset", str(rng.choice(["paper", "auto"])), "--kind", kind, "--weights", str(rng.choice(WEIGHTS[kind])),
                 "--activation", str(rng.choice(list(ACTIVATIONS)[:5])), "--feature-activation", str(rng.choice(list(ACTIVATIONS))),
                 "--scale", str(rng.choice(SCALES[1:])), "--scale-target", str(rng.choice(SCALES)), "--seed", int(rng.integers(1 << 62)),
                 "--lambda", str(rng.choice(["auto", "1e-3", "0.1", "10"])), "--range", str(rng.choice(["0.3", "1", "3"])),
                 "--range-unit", str(rng.choice(["fan-in", "absolute"])), "--enhance", f"{rng.integers(1, 25)}x{rng.integers(1, 5)}",
                 "--learned-metric", "no", "--effort", "fast", "--threads", int(rng.integers(1, 3))]
        if kind in ("bls", "brls", "bscrls"):
            words += ["--features", f"{rng.integers(1, 4)}x{rng.integers(1, 7)}", "--feature-weights",
                      str(rng.choice(["random", "sampled", "autoencoder"]))]
        if kind == "bscrls" and rng.random() < 0.7:
            words += ["--supervise", str(rng.choice(["residual", "loo", "gcv"])), "--gamma", str(rng.choice(["harmonic:0.1", "constant:0.95"])),
                      "--select", str(rng.choice(["first", "best"]))]
        return words

    def check_fit(self, model, x, targets, about):
        ks = list(blocks(model, scaled(model, x)))
        found, joint = weights(model)
        size = np.linalg.norm(targets)
        if joint:
            lam = (model.description.get("joint") or {}).get("lambda") or model.layers[0]["lambda"]
            a, w = np.hstack(ks), np.vstack(found)
            self.assertLessEqual(np.linalg.norm(a @ (w - ridge(a, targets, lam))), size * tolerance(a, lam), about)
            return
        e = targets
        for j, (k, w) in enumerate(zip(ks, found)):
            if model.settings["weights"] == "chain":
                lam = model.layers[j]["lambda"]
                self.assertLessEqual(np.linalg.norm(k @ (w - ridge(k, e, lam))), size * tolerance(k, lam), (about, j))
            e = e - k @ w

    def check_predictions(self, model, fresh, classify, about):
        data = self.path("fresh.csv")
        np.savetxt(data, fresh, fmt="%.17g", delimiter=",")
        table = list(csv.reader(io.StringIO(self.broad("predict", self.path("model.broad"), data, "--header", "no"))))
        said = [[float(value) for value in row[2 if classify else 1:]] for row in table[1:]]
        sums = sum(k @ w for k, w in zip(blocks(model, scaled(model, fresh)), weights(model)[0]))
        expected = sums / model.tensors["output.factor"] + model.tensors["output.shift"]
        columns = [i for i, name in enumerate(table[0][2 if classify else 1:]) if not classify or name.startswith("score_")]
        self.assert_near(np.array(said)[:, columns][:, :expected.shape[1]], expected, 1e-9, about)

    def trial(self, number):
        rng = np.random.default_rng([77, number])
        classify, inputs = bool(rng.integers(2)), int(rng.integers(1, 7))
        outputs = int(rng.integers(1, 4)) + classify
        x, y = problem(rng, int(rng.integers(12, 160)), inputs, outputs, classify)
        fresh, _ = problem(rng, 10, inputs, outputs, classify)
        words = self.options(rng)
        about = (number, x.shape, " ".join(map(str, words)))
        model, _, targets = self.fit(x, y, *words)
        if not model.layers:
            return
        self.check_fit(model, x, targets, about)
        self.check_predictions(model, fresh, classify, about)
        kind = model.settings["kind"]
        Any.counts[kind] = Any.counts.get(kind, 0) + 1

    def test_random_options(self):
        for number in range(FIRST, FIRST + TRIALS):
            self.trial(number)
        self.assertEqual(len(Any.counts) == 5 or TRIALS < 50, True, Any.counts)
        print("networks compared with numpy:", Any.counts)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
