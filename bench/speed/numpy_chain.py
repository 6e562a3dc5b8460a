"""BRLS and BSCRLS as one writes them in numpy: the rival. Weights from U[-1, 1], sigmoid nodes, ridge by `solve`."""
import time

import numpy as np

GROUPS, GROUP_NODES, NODES, LAYERS = 10, 10, 100, 50
LAMBDA, TRIES = 1e-8, 10


def waves(rows, inputs, classes, seed=1, directions=6):
    """Numbers in [0, 1] and classes that both come from a few hidden numbers per row, as pixels and what a picture shows
    do: every layer finds something to learn, so that the first draw passes the test of bscrls."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((rows, directions))
    x = hidden @ (0.5 * rng.standard_normal((directions, inputs)))
    x += rng.random(inputs)
    x *= 2 * np.pi
    np.sin(x, out=x)
    x += 1
    x /= 2
    scores = np.sin(2 * np.pi * (hidden @ rng.standard_normal((directions, classes)) + rng.random(classes)))
    return x, scores.argmax(axis=1)


def smooth(rows, inputs, classes, seed=1, directions=8):
    """As waves, but nodes of the paper's range follow the hidden numbers, so that the score of a chain falls with the first
    draw of every layer too."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((rows, directions))
    x = hidden @ rng.standard_normal((directions, inputs))
    x += 0.3 * rng.standard_normal((rows, inputs))
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)
    scores = sum(np.sin(0.7 * hidden @ rng.standard_normal((directions, classes)) + 2 * np.pi * rng.random(classes))
                 for _ in range(3))
    return x, scores.argmax(axis=1)


def draw(rng, fan_in, count):
    return rng.uniform(-1, 1, (fan_in, count)), rng.uniform(-1, 1, count)


def nodes(x, weights):
    return 1 / (1 + np.exp(-(x @ weights[0] + weights[1])))


def nodes_in_place(x, weights):
    """The same without a new array a step."""
    h = x @ weights[0]
    h += weights[1]
    np.negative(h, out=h)
    np.exp(h, out=h)
    h += 1
    return np.reciprocal(h, out=h)


def solve(k, e):
    gram = k.T @ k
    gram[np.diag_indices_from(gram)] += LAMBDA
    return np.linalg.solve(gram, k.T @ e)


def fit(x, y, layers=LAYERS, bounds=None, make=nodes):
    """Feature weights, (weights, outputs) of each layer, the last norm of the residual, and how many layers were drawn.
    With bounds, a layer is drawn again until the norm falls to its bound times the last one: BSCRLS."""
    rng = np.random.default_rng(0)
    feature = draw(rng, x.shape[1], GROUPS * GROUP_NODES)
    z, e, chain, draws = make(x, feature), y.copy(), [], 0
    norm = np.linalg.norm(e)
    for j in range(layers):
        for _ in range(TRIES if bounds else 1):
            draws += 1
            weights = draw(rng, z.shape[1], NODES)
            k = make(z, weights)
            if j == 0:
                k = np.hstack([z, k])
            w = solve(k, e)
            rest = e - k @ w
            after = np.linalg.norm(rest) if bounds or j == layers - 1 else norm
            if not bounds or after <= bounds[j] * norm:
                break
        e, norm = rest, after
        chain.append((weights, w))
    return feature, chain, norm, draws


def scores(network, x):
    feature, chain = network[:2]
    z = nodes(x, feature)
    total = 0
    for j, (weights, w) in enumerate(chain):
        h = nodes(z, weights)
        total = total + (np.hstack([z, h]) @ w if j == 0 else h @ w)
    return total


def timed(function, *given, **named):
    began = time.perf_counter()
    result = function(*given, **named)
    return time.perf_counter() - began, result


def flops(rows, inputs, classes, layers=LAYERS):
    """Of the products of one training, each counted as it has to be: of a Gram matrix one half. Activations and
    solutions, some percent more, are not in it."""
    z = GROUPS * GROUP_NODES
    total = 2 * rows * inputs * z
    for j in range(layers):
        width = NODES + (z if j == 0 else 0)
        total += rows * (2 * z * NODES + width * (width + 1) + 4 * width * classes)
    return total
