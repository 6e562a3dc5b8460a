#!/usr/bin/env python3
"""The three increments against the paper's formulas, evaluated directly in numpy: weights to 1e-9.

    algorithm 2   K = xi(Z W_h + b_h)
    algorithm 3   Z <- [Z, Z_new],  K = [Z_new | xi(Z W_h + b_h)]
    algorithm 4   rows are added with the residual Y_a - prediction(X_a); K on all rows
    sums          every layer solved again as if trained on all rows

Usage: test_numpy_grow.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import unittest

# Leaves with 77 where numpy is not there.
from test_numpy import ACTIVATIONS, Case, Model, condition, np, problem, ridge, scaling


def chain_of_stages(model, x, targets):
    """(W_j, ||E_{j-1}||, ||E_j||, condition) of every layer, each on its own rows; x, targets: all rows, scaled."""
    phi, xi = (ACTIVATIONS[model.settings[name]] for name in ("feature_activation", "activation"))
    drawn = [model.drawn_group(g) for g in range(len(model.groups))]
    parts = [phi(x @ weight + bias) for weight, bias in drawn]
    z, e = np.hstack(parts), targets.copy()
    for j, layer in enumerate(model.layers):
        weight, bias = model.drawn_layer(j)
        taken = parts[layer["first_group"]:layer["first_group"] + layer["groups"]]
        k = np.hstack(taken + [xi(z[:, :layer["inputs"]] @ weight + bias)])
        rows = slice(layer["first_row"], layer["first_row"] + layer["rows"])
        w = ridge(k[rows], e[rows], layer["lambda"])
        before = np.linalg.norm(e[rows])
        e = e - k @ w
        yield w, before, np.linalg.norm(e[rows]), condition(k[rows], layer["lambda"])


class Growing(Case):
    def setUp(self):
        self.rng = np.random.default_rng(20)
        self.x, self.y = problem(self.rng, 260, 3, 3, True)
        # Every part has every class, so that the parts agree on their order.
        for start in (0, 150, 200):
            self.y[start:start + 3] = range(3)
        self.old = self.write("old.csv", self.x[:150], self.y[:150])
        self.more = self.write("more.csv", self.x[150:200], self.y[150:200])
        self.last = self.write("last.csv", self.x[200:], self.y[200:])
        self.model = self.path("grown.broad")

    def start(self, kind, *options):
        self.broad("fit", self.old, "-o", self.model, "--task", "classify", "--header", "no", "-q", "--kind", kind,
                   "--preset", "paper", "--features", "2x4", "--enhance", "6x2", "--lambda", "0.001", *options)

    def check(self, rows):
        model = Model(self.model)
        shift, factor = scaling(self.x[:150], model.settings["scale"])
        names = model.description["output_names"]
        targets = np.array([[float(name == "c%d" % c) for name in names] for c in self.y[:rows]])
        stages = chain_of_stages(model, (self.x[:rows] - shift) * factor, targets)
        for j, (w, before, after, cond) in enumerate(stages):
            self.assertLess(cond, 1e8)
            self.assert_near(model.tensors["layer.%d.output" % (j + 1)], w, 1e-9, j)
            self.assertAlmostEqual(model.layers[j]["norm_before"] / before, 1, places=9)
            self.assertAlmostEqual(model.layers[j]["norm_after"] / after, 1, places=9)
        return model

    def test_each_increment(self):
        for kind in ("brls", "bscrls"):
            self.start(kind)
            self.broad("grow", self.model, self.old, "--enhance", "7x2", "-q")
            self.check(150)
            self.broad("grow", self.model, self.old, "--features", "2x3", "--enhance", "5", "-q")
            self.check(150)
            self.broad("learn", self.model, self.more, "--with", self.old, "--enhance", "8x2", "-q")
            self.check(200)
            self.broad("grow", self.model, self.old, self.more, "--features", "1x2", "--enhance", "4", "-q")
            model = self.check(200)
            self.assertEqual([layer["origin"] for layer in model.layers],
                             ["initial"] + ["enhance"] * 3 + ["features"] * 2 + ["data", "enhance", "features"])
            self.broad("learn", self.model, self.last, "--forgetful", "--enhance", "5", "-q")
            model = self.check(260)
            self.assertEqual((model.layers[-1]["first_row"], model.layers[-1]["rows"]), (200, 60))
            self.broad("verify", self.model, self.old, self.more, self.last)

    def test_sums(self):
        """All layers as if trained on all rows, from two increments that never see the old ones."""
        self.start("brls", "--keep-stats", "--scale", "none")
        self.broad("learn", self.model, self.more, "-q")
        self.broad("learn", self.model, self.last, "-q")
        model = self.check(260)
        self.assertEqual({(layer["first_row"], layer["rows"]) for layer in model.layers}, {(0, 260)})
        self.broad("verify", self.model, self.old, self.more, self.last)


if __name__ == "__main__":
    unittest.main(argv=["test_numpy_grow"])
