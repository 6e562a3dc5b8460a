"""One ridge regression over all nodes, against the same in numpy and against scikit-learn's Ridge."""
from bench.speed.measure import rival, shown
from bench.tool import Failure

TITLE = "joint weights"
LAMBDA, CLASSES = 1e-2, 10


def flops(rows, inputs, features, nodes, classes):
    """Products as they have to be, of the Gram matrix one half, and Cholesky's factorisation."""
    width = features + nodes
    a_row = 2 * inputs * features + 2 * features * nodes + width * (width + 1) + 2 * width * classes
    return rows * a_row + width ** 3 // 3


def run(bench):
    import numpy as np
    from sklearn.linear_model import Ridge
    from bench.speed import numpy_chain
    rows, inputs, nodes = bench.pick(60000, 3000, 1000), bench.pick(784, 100, 10), bench.pick(5000, 500, 50)
    x, labels = numpy_chain.waves(rows, inputs, CLASSES)
    y = np.eye(CLASSES)[labels]
    bench.save(x, labels)
    given = bench.words("--kind", "bls", "--preset", "paper", "--features", "10x10", "--feature-weights", "random",
                        "--enhance", f"{nodes}x1", "--lambda", LAMBDA, "--loo", "no")
    norms = {}

    def ours():
        seconds, said = bench.train(given)
        norms["broad"] = said["joint"]["norm"]
        return seconds

    def columns():
        rng = np.random.default_rng(0)
        z = numpy_chain.nodes_in_place(x, numpy_chain.draw(rng, inputs, 100))
        k = np.empty((rows, 100 + nodes))
        k[:, :100] = z
        k[:, 100:] = numpy_chain.nodes_in_place(z, numpy_chain.draw(rng, 100, nodes))
        return k

    def solved():
        k = columns()
        gram = k.T @ k
        gram[np.diag_indices_from(gram)] += LAMBDA
        return k, np.linalg.solve(gram, k.T @ y)

    def ridge():
        k = columns()
        return k, Ridge(alpha=LAMBDA, fit_intercept=False).fit(k, y).coef_.T

    def theirs(name, function):
        def side():
            seconds, (k, w) = numpy_chain.timed(function)
            norms[name] = np.linalg.norm(y - k @ w)
            return seconds
        return side

    sides = {"broad": ours, "numpy": theirs("numpy", solved), "scikit-learn": theirs("scikit-learn", ridge)}
    found = bench.in_turns(sides, bench.runs(2, 3), warm_up=bench.size == "quick")
    for name, norm in norms.items():
        if abs(norm / norms["broad"] - 1) > 0.03:
            raise Failure(f"not the same work: the norm is {norms['broad']:g} for broad and {norm:g} for {name}")
    work, peak = flops(rows, inputs, 100, nodes, CLASSES), bench.peak()
    fit = f"Ridge(alpha={LAMBDA:g}, fit_intercept=False).fit(k, y)"
    yield {"what": f"joint weights, {rows:,} x (100 + {nodes:,})", "unit": "s",
           "command": shown("broad", "fit", *given, "--json"), "ours": found["broad"],
           "rivals": {"numpy": rival(found["numpy"], "k = nodes(x); solve(k.T @ k + lambda I, k.T @ y)", least=1.2),
                      "scikit-learn Ridge": rival(found["scikit-learn"], f"k = nodes(x); {fit}", least=3)},
           **({"limit": work / peak / 1e9} if peak else {}), "facts": {"flops": work, "norms": norms},
           "note": "features, nodes and weights on every side; the nodes of the rivals are made in place"}
