#!/usr/bin/env python3
"""The learned metric against numpy: its root, the nodes that are drawn with it, and that of a network that grows, from
gradients by differences of the network's own outputs.

    M = sum over rows and outputs of g g',  mean of the diagonal 1;   drawn nodes: W = M^(1/2) W_seed

Usage: test_numpy_metric.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import math
import unittest

# Leaves with 77 where numpy is not there.
from test_numpy import ACTIVATIONS, FEATURES, Case, Model, np, problem, scaling, uniform


def outputs(model, x):
    """What the network gives for scaled inputs, in its own units."""
    phi, xi = (ACTIVATIONS[model.settings[name]] for name in ("feature_activation", "activation"))
    parts = [phi(x @ model.tensors["feature.%d.weight" % i] + model.tensors["feature.%d.bias" % i])
             for i in range(1, len(model.groups) + 1)]
    z, total = np.hstack(parts), 0
    for j, layer in enumerate(model.layers, 1):
        taken = parts[layer["first_group"]:layer["first_group"] + layer["groups"]]
        h = xi(z[:, :layer["inputs"]] @ model.tensors["layer.%d.weight" % j] + model.tensors["layer.%d.bias" % j])
        name = "layer.%d.joint" if "layer.%d.joint" % j in model.tensors else "layer.%d.output"
        total = total + np.hstack(taken + [h]) @ model.tensors[name % j]
    return total


def metric(model, x):
    """By central differences."""
    step, columns = 1e-5, x.shape[1]
    moved = [(outputs(model, x + step * unit) - outputs(model, x - step * unit)) / (2 * step) for unit in np.eye(columns)]
    g = np.stack(moved, axis=2).reshape(-1, columns)  # rows and outputs x columns
    m = g.T @ g
    return m * columns / np.trace(m)


def root_of(m):
    values, vectors = np.linalg.eigh(m)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


class Metric(Case):
    MOST = 1000  # rows that the metric of a network is taken from

    def start(self, seed, classify, *options, rows=160):
        self.x, y = problem(np.random.default_rng(seed), rows, 4, 3 if classify else 1, classify)
        self.data, self.model = self.write("rows.csv", self.x, y), self.path("model.broad")
        self.broad("fit", self.data, "-o", self.model, "--header", "no", "--task", "classify" if classify else "regress",
                   "--scale", "standard", "--learned-metric", "yes", "--effort", "fast", "--seed", seed,
                   "--features", "2x12", "--enhance", "8x2", "-q", *options)
        model = Model(self.model)
        shift, factor = scaling(self.x, "standard")
        self.scaled = (self.x - shift) * factor
        self.check_root(model)
        return model

    def check_root(self, model):
        root = model.tensors["input.metric"]
        np.testing.assert_array_equal(root, root.T)
        self.assertGreater(np.linalg.eigvalsh(root)[0], -1e-9)
        relevance = model.tensors["input.relevance"]
        self.assert_near(relevance ** 2, np.diag(root @ root), 1e-6)
        self.assertAlmostEqual(np.mean(relevance ** 2), 1, places=9)

    def check_drawn(self, model, group):
        weight, bias = model.drawn_group(group)
        self.assertEqual(model.groups[group]["source"], "sampled")
        self.assert_near(model.tensors["feature.%d.weight" % (group + 1)], model.tensors["input.metric"] @ weight, 1e-13)
        np.testing.assert_array_equal(model.tensors["feature.%d.bias" % (group + 1)], bias)

    def check_dense(self, model, group):
        """Nodes that are sampled: through the root, so long that w.x deviates by the range in the mean square."""
        root, nodes = model.tensors["input.metric"], model.groups[group]["nodes"]
        columns = len(root)
        u = uniform(model.seed, FEATURES, group, 0, 0, nodes * (columns + 1)).reshape(nodes, columns + 1)
        spread = math.sqrt(np.mean((self.scaled @ root).var(axis=0)))
        reach = model.description["range"] * model.groups[group]["range"] * math.sqrt(3 / columns) / spread
        weight = root @ (2 * u[:, :columns] - 1).T * reach
        self.assert_near(model.tensors["feature.%d.weight" % (group + 1)], weight, 1e-11)
        apart = np.abs(self.scaled @ weight + model.tensors["feature.%d.bias" % (group + 1)])
        self.assertLess(apart.min(axis=0).max(), 1e-11)  # each turns at a row
        self.assertGreater(len(set(apart.argmin(axis=0))), nodes // 2)

    def grow(self, before):
        """Its new group is drawn with the metric of the network before."""
        self.broad("grow", self.model, self.data, "--features", "1x6", "--enhance", "4", "-q")
        grown = Model(self.model)
        rows = len(self.scaled)
        count = min(rows, self.MOST)
        expected = metric(before, self.scaled[[i * rows // count for i in range(count)]])
        root = grown.tensors["input.metric"]
        self.assert_near(root @ root, expected, 1e-7)
        self.assert_near(root, root_of(expected), 1e-5)
        self.assertGreater(np.linalg.norm(root - before.tensors["input.metric"]), 1e-3)
        self.check_root(grown)
        for name in ("feature.1.weight", "layer.1.weight"):
            np.testing.assert_array_equal(grown.tensors[name], before.tensors[name])
        self.broad("verify", self.model, self.data)
        return grown

    def test_drawn_nodes(self):
        for seed, classify, options in ((1, False, "--preset paper"), (2, True, "--preset paper --kind brls"),
                                        (3, True, "--feature-weights random --kind bls"),
                                        (5, False, "--preset chain --supervise none --lambda 0.01 --feature-weights "
                                                   "random --activation sigmoid")):
            before = self.start(seed, classify, *options.split())
            for group in range(2):
                self.check_drawn(before, group)
            grown = self.grow(before)
            self.check_drawn(grown, 2)
            self.check_drawn(self.grow(grown), 3)  # a layer of which has its own group alone

    def test_dropped_group(self):
        """Where the score takes no layer of a new group, the metric of the network before stays; it takes few here."""
        dropped = 0
        for seed in range(5, 10):
            before = self.start(seed, False, "--preset", "chain", "--feature-weights", "random", "--activation",
                                "sigmoid", rows=1000)
            self.broad("grow", self.model, self.data, "--features", "1x6", "--enhance", "4", "-q")
            grown = Model(self.model)
            if len(grown.groups) > len(before.groups):
                continue
            dropped += 1
            for name in ("input.metric", "input.relevance"):
                np.testing.assert_array_equal(grown.tensors[name], before.tensors[name])
            self.broad("verify", self.model, self.data)
        self.assertGreater(dropped, 0)

    def test_many_rows(self):
        self.grow(self.start(8, True, "--preset", "paper", "--kind", "brls", rows=1300))

    def test_sampled_nodes(self):
        for seed, classify in ((5, False), (6, True), (7, False)):
            before = self.start(seed, classify)
            style = before.description["style"]
            self.assertIn(style, ("mix", "dense", "sparse", "difference"))
            if style in ("mix", "dense"):
                self.check_dense(before, 0)
            grown = self.grow(before)
            if style in ("mix", "dense"):
                self.check_dense(grown, 2)


if __name__ == "__main__":
    unittest.main(argv=["test_numpy_metric"])
