#!/usr/bin/env python3
"""Chains supervised by their score against numpy: degrees of freedom as the trace of the residual operator, the score, the
lambda of each layer, the draws that were kept and the ranges of layer 1, each by its definition.

    E_m = R_m Y,  R_m = (I - A_m) ... (I - A_1),  A_j = K_j (K_j'K_j + lambda_j I)^-1 K_j',  df_m = N - tr R_m
    with weights w: df_m = N (1 - sum w_i R_ii / sum w_i)
    g_m = ||E_m|| / (1 - penalty df_m / N),  kept while g_m <= bound g_{m-1} and ||E_m|| <= bound ||E_{m-1}||

Usage: test_numpy_gcv.py PATH_OF_BROAD. Exits with 77 where numpy is not installed.
"""
import math
import sys
import unittest

# Leaves with 77 where numpy is not there.
from test_numpy import ACTIVATIONS, ENHANCEMENT, FEATURES, Case, Model, bounds, draw_nodes, features, layer_input, np, problem, \
    scaling, uniform_at

try:
    from xxhash import xxh3_64_intdigest
except ImportError:
    sys.exit(77)

PROBES = 9
GRID = np.arange(-11, 3.25, 0.5)
RACES = ((10, 8), (4, 24))  # pairs of ranges, layers


def hash_row(x, target):
    """What a row holds as one number: its inputs, then the label of its class or its targets."""
    seed = xxh3_64_intdigest((x + 0.0).tobytes(), 0)
    return xxh3_64_intdigest(target.encode() if isinstance(target, str) else (target + 0.0).tobytes(), seed)


class Operator:
    """E and U = R U_0 before a layer. U_0: the unit vectors of rows or groups, or signs where these are more than 282, all
    times the roots of the rows. hashes: of the rows, which the signs follow from; of a group their sum."""

    def __init__(self, y, seed, penalty, hashes, group=None, root=None):
        rows = len(y)
        self.root = np.ones(rows) if root is None else root
        group = np.arange(rows) if group is None else group
        names, first = np.unique(group, return_index=True)
        order = {names[i]: place for place, i in enumerate(np.argsort(first))}
        unit = np.array([order[g] for g in group])
        signs = math.ceil(80000 / len(names))
        self.exact = signs >= len(names)
        if self.exact:
            self.u0 = np.eye(len(names))[unit]
        else:
            key = np.zeros(len(names), np.uint64)
            np.add.at(key, unit, np.array(hashes, np.uint64))
            drawn = [uniform_at(seed, PROBES, k, 0, 0, key) for k in range(signs)]
            self.u0 = np.where(np.array(drawn).T < 0.5, -1.0, 1.0)[unit]
        self.u0 = self.u0 * self.root[:, None]
        self.e, self.u, self.rows, self.penalty = y * self.root[:, None], self.u0.copy(), rows, penalty
        self.mean = (self.root ** 2).mean()
        self.whole, self.together = np.eye(rows), unit[:, None] == unit

    def df(self, u=None):
        inner = (self.u0 * (self.u if u is None else u)).sum()
        return self.rows - (inner if self.exact else inner / self.u0.shape[1]) / self.mean

    def score(self, norm, df):
        left = 1 - self.penalty * df / self.rows
        return norm / left if left >= 0.1 else math.inf

    def now(self):
        return self.score(np.linalg.norm(self.e), self.df())

    @staticmethod
    def left(k, b, lam):
        """b less its ridge regression on K, by the singular values of K."""
        v, s, _ = np.linalg.svd(k, full_matrices=False)
        return b - v @ ((s * s / (s * s + lam))[:, None] * (v.T @ b))

    def judge(self, k, lam):
        """(score, norm, df) with the layer."""
        norm, df = np.linalg.norm(self.left(k, self.e, lam)), self.df(self.left(k, self.u, lam))
        return self.score(norm, df), norm, df

    def best(self, k):
        """(lambda, score, norm, df) of the least score of the grid."""
        v, s, _ = np.linalg.svd(k, full_matrices=False)
        unit, found = (s * s).sum() / min(k.shape), None
        e, u, u0 = v.T @ self.e, v.T @ self.u, v.T @ self.u0
        outside = (self.e ** 2).sum() - (e ** 2).sum()
        for lam in unit * 10 ** GRID:
            kept = lam / (s * s + lam)
            norm = math.sqrt(max(outside + ((kept[:, None] * e) ** 2).sum(), 0))
            taken = ((1 - kept)[:, None] * u * u0).sum()
            df = self.df() + (taken if self.exact else taken / self.u0.shape[1]) / self.mean
            if found is None or self.score(norm, df) < found[1]:
                found = lam, self.score(norm, df), norm, df
        return found

    def follow(self, k, lam):
        self.e, self.u, self.whole = (self.left(k, b, lam) for b in (self.e, self.u, self.whole))


class Scored(Case):
    layers = refused = relaxed = stalled = 0

    def operator(self, model, x, y, targets, group=None, root=None):
        """x, y: the rows as they are in the table; targets: Y."""
        hashes = [hash_row(row, target if y.ndim == 2 else "c%d" % target) for row, target in zip(x, y)]
        return Operator(targets, model.seed, model.settings["penalty"], hashes, group, root)

    def place_of(self, model, operator, z, j, lam):
        """(step, draw, relaxed, tries) of the layer to be kept, or None."""
        settings, tried = model.settings, {}

        def value(step, draw):
            if (step, draw) not in tried:
                k = layer_input(model, z, j, (step, draw)) * operator.root[:, None]
                score, norm = operator.best(k)[1:3] if lam is None else operator.judge(k, lam)[:2]
                tried[step, draw] = max(score / operator.now(), norm / np.linalg.norm(operator.e))
            return tried[step, draw]

        for relaxed in range(settings["relax_count"] + 1):
            bound = bounds(settings, j + 1, relaxed)[2]
            for step in range(len(settings["range_steps"])):
                for draw in range(settings["tries"]):
                    if value(step, draw) <= bound:
                        return step, draw, relaxed, len(tried)
        return None

    def check_layer(self, model, operator, k, j):
        layer, before, was = model.layers[j], np.linalg.norm(operator.e), operator.now()
        self.assertAlmostEqual(layer["df_before"], operator.df(), delta=1e-5)
        lam = layer["lambda"]
        if model.settings["lambda_auto"]:
            grid, least = operator.best(k)[:2]
            steps = 2 * math.log10(lam / grid)
            self.assertAlmostEqual(steps, round(steps), places=6, msg=j)
            self.assertAlmostEqual(operator.judge(k, lam)[0] / least, 1, places=6, msg=j)
        score, norm, df = operator.judge(k, lam)
        for name, expected in (("norm_before", before), ("norm_after", norm), ("score", score), ("tested", score / was)):
            self.assertAlmostEqual(layer[name] / expected, 1, places=6, msg=(name, j))
        self.assertAlmostEqual(layer["df"], df, delta=1e-5)
        self.assertEqual(layer["penalty"], model.settings["penalty"])
        self.assertLessEqual(max(layer["tested"], layer["ratio"]), layer["bound"])
        operator.follow(k, lam)
        if not operator.exact:  # what the signs estimate
            whole = operator.whole * operator.root[:, None] * operator.root
            exact = operator.rows - whole[operator.together].sum() / operator.mean
            self.assertLess(abs(exact - df), 3 * math.sqrt(2 * exact / operator.u0.shape[1]))
        Scored.layers += 1

    def check(self, model, x, operator):
        lam = None if model.settings["lambda_auto"] else model.settings["lambda"]
        z = features(model, x)
        for j, layer in enumerate(model.layers):
            step, draw, relaxed, tries = self.place_of(model, operator, z, j, lam)
            self.assertEqual([layer[name] for name in ("step", "draw", "relaxed")], [step, draw, relaxed], j)
            if j:
                self.assertEqual(layer["tries"], tries)
            Scored.refused += tries > 1
            Scored.relaxed += relaxed > 0
            self.check_layer(model, operator, layer_input(model, z, j) * operator.root[:, None], j)
        if model.description["outcome"] == "stalled":
            Scored.stalled += 1
            self.assertIsNone(self.place_of(model, operator, z, len(model.layers), lam))

    def test_chains(self):
        rng = np.random.default_rng(30)
        for seed, (rows, classify, more) in enumerate((
                (60, False, ""), (45, True, "--enhance 70x3"), (150, False, "--penalty 1 --gamma harmonic:0.05"),
                (120, True, "--lambda 0.01"), (30, False, "--lambda 0.5 --enhance 40x3"), (320, False, "--enhance 15x4"),
                (400, True, "--penalty 1.2"), (90, False, "--gamma constant:0.96 --relax-count 8 --relax 0.4"))):
            x, y = problem(rng, rows, 3, 2, classify)
            words = ("--preset paper --supervise gcv --features 2x4 --enhance 8x6 --range-steps 1,0.2,4 --seed %d %s"
                     % (seed, more)).split()
            model, scaled, targets = self.fit(x, y, *words)
            self.check(model, scaled, self.operator(model, x, y, targets))
        self.assertGreater(Scored.layers, 20)
        self.assertTrue(Scored.refused and Scored.relaxed and Scored.stalled)

    def test_groups_and_weights(self):
        """Rows of a group are one unit; what a row counts multiplies K and E by its root."""
        rng = np.random.default_rng(31)
        for rows, groups in ((80, 25), (600, 500), (200, 0)):
            x, y = problem(rng, rows, 3, 1, False)
            group = rng.integers(0, groups, rows) if groups else None
            weight = rng.uniform(0.2, 3, rows)
            data, path = self.path("grouped.csv"), self.path("grouped.broad")
            with open(data, "w", encoding="ascii") as f:
                f.write("a,b,c,y,w,g\n")
                for i in range(rows):
                    numbers = [repr(float(v)) for v in (*x[i], y[i, 0], weight[i])]
                    f.write(",".join(numbers + ["day%d" % (i if group is None else group[i])]) + "\n")
            self.broad("fit", data, "-o", path, "--target", "y", "--weight", "w", "--group", "g", "--task", "regress", "-q",
                       *"--preset paper --supervise gcv --features 2x4 --enhance 8x4 --range-steps 1,0.2".split(),
                       *"--scale standard --scale-target none".split())
            model = Model(path)
            shift, factor = model.tensors["input.shift"], model.tensors["input.factor"]
            self.check(model, (x - shift) * factor, self.operator(model, x, y, y, group, np.sqrt(weight)))
            self.broad("verify", path, data)

    def test_ranges(self):
        """The ranges of features and nodes win the races."""
        rng = np.random.default_rng(32)
        for seed in range(3):
            x, y = problem(rng, 100, 2, 1, False)
            model, scaled, targets = self.fit(x, y, "--seed", seed, *"--preset paper --supervise gcv --features 2x4".split(),
                                              *"--enhance 8x2 --range 0.7".split())
            if model.groups[0]["step"]:
                continue
            nodes, s = model.description["range"], model.settings
            found = tuple(round(2 * math.log10(r / 0.7)) + 6 for r in (nodes * model.groups[0]["range"], nodes))
            phi, xi = (ACTIVATIONS[s[name]] for name in ("feature_activation", "activation"))

            def chain(pair, layers):
                of_features, of_nodes = (0.7 * 10 ** ((i - 6) / 2) for i in pair)
                drawn = [draw_nodes(model.seed, FEATURES, i, 0, 0, 2, 4, of_features, s["range_unit"]) for i in range(2)]
                z, operator, score = np.hstack([phi(scaled @ w + b) for w, b in drawn]), self.operator(model, x, y, targets), math.inf
                for j in range(layers):
                    w, b = draw_nodes(model.seed, ENHANCEMENT, j, 0, 0, 8, 8, of_nodes, s["range_unit"])
                    h = xi(z @ w + b)
                    k = h if j else np.hstack([z, h])
                    best = operator.best(k)
                    if best[1] < score:
                        score = best[1]
                        operator.follow(k, best[0])
                return score

            tried = {(i, i): chain((i, i), 1) for i in range(13)}
            at = None
            while at != (at := min(tried, key=tried.get)):
                for pair in [(at[0] + f, at[1] + n) for f in (-1, 0, 1) for n in (-1, 0, 1)]:
                    if min(pair) >= 0 and max(pair) < 13 and pair not in tried:
                        tried[pair] = chain(pair, 1)
            for pairs, layers in RACES:
                tried = {pair: chain(pair, layers) for pair in sorted(tried, key=tried.get)[:pairs]}
            self.assertLessEqual(tried.get(found, math.inf), min(tried.values()) * (1 + 1e-6), (seed, found, tried))

    @classmethod
    def tearDownClass(cls):
        print("gcv: %d layers, %d after refused draws" % (cls.layers, cls.refused))


if __name__ == "__main__":
    unittest.main(argv=["test_numpy_gcv"])
