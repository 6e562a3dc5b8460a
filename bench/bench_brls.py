#!/usr/bin/env python3
"""Training, prediction and reading against the same in numpy, in turns: a table, then the same as JSON.

usage: bench_brls.py BROAD [--quick] [--json FILE]

numpy gets OpenBLAS with the kernels that `broad doctor` found best for the processor, and one thread a processor; its
time is that of the computation alone, in a warm process. What is timed of the tool is said in each row: the `seconds`
it reports itself, or the whole command.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("broad")
parser.add_argument("--quick", action="store_true", help="fewer rows and runs, under a minute")
parser.add_argument("--json", metavar="FILE", help="where the figures go, besides standard output")
arguments = parser.parse_args()
BROAD = os.path.abspath(arguments.broad)
MACHINE = json.loads(subprocess.run([BROAD, "doctor", "--json"], check=True, capture_output=True).stdout)
SETTINGS = {"OPENBLAS_CORETYPE": MACHINE["best_core"] or "", "OPENBLAS_NUM_THREADS": str(MACHINE["processors"])}
if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
    # OpenBLAS reads these when it is loaded.
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SETTINGS})

try:
    import numpy as np
except ImportError:
    print("bench_brls: numpy is not installed (Debian: python3-numpy); left out")
    sys.exit(0)

ROWS, INPUTS, CLASSES = (5000 if arguments.quick else 20000), 784, 10
GROUPS, GROUP_NODES, NODES, LAYERS = 10, 10, 100, 50
# The range is wide enough for nodes that are no mere lines: then layers pass at their first draw, in numpy as well.
LAMBDA, RANGE, GAMMA, TRIES = 1e-3, 4, 0.002, 10
RUNS = 3 if arguments.quick else 7
NETWORK = ["--features", "%dx%d" % (GROUPS, GROUP_NODES), "--enhance", "%dx%d" % (NODES, LAYERS),
           "--activation", "sigmoid", "--lambda", LAMBDA, "--range", RANGE, "--range-unit", "fan-in", "--scale", "none",
           "--threads", MACHINE["processors"]]
SUPERVISION = {"brls": [], "bscrls": ["--supervise", "residual", "--gamma", "harmonic:%g" % GAMMA, "--tries", TRIES]}


# ---- the same in numpy ----------------------------------------------------------------------------------------------


def sigmoid(x):
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)


def draw(rng, fan_in, count):
    return rng.uniform(-RANGE, RANGE, (fan_in, count)) * np.sqrt(3 / fan_in), rng.uniform(-RANGE, RANGE, count)


def nodes(x, weights):
    h = x @ weights[0]
    h += weights[1]
    return sigmoid(h)


def numpy_fit(x, y, supervised):
    """Feature weights, layers, last norm of the residual, draws."""
    rng = np.random.default_rng(0)
    feature = draw(rng, x.shape[1], GROUPS * GROUP_NODES)
    z, e, layers, draws = nodes(x, feature), y.copy(), [], 0
    norm = np.linalg.norm(e)
    for m in range(1, LAYERS + 1):
        bound = 1 - GAMMA * m / (m + 1) ** 2
        for _ in range(TRIES):
            draws += 1
            weights = draw(rng, z.shape[1], NODES)
            k = nodes(z, weights) if m > 1 else np.hstack([z, nodes(z, weights)])
            gram = k.T @ k
            gram[np.diag_indices_from(gram)] += LAMBDA
            w = np.linalg.solve(gram, k.T @ e)
            rest = e - k @ w
            after = np.linalg.norm(rest)
            if not supervised or after <= bound * norm:
                break
        e, norm = rest, after
        layers.append((weights, w))
    return feature, layers, norm, draws


def numpy_scores(network, x):
    feature, layers = network[:2]
    z = nodes(x, feature)
    scores = 0
    for m, (weights, w) in enumerate(layers):
        h = nodes(z, weights)
        scores = scores + (np.hstack([z, h]) @ w if m == 0 else h @ w)
    return scores


# ---- measuring ------------------------------------------------------------------------------------------------------


def broad(*words):
    """The command's JSON and its seconds from start to end."""
    began = time.perf_counter()
    done = subprocess.run([BROAD, *map(str, words)], capture_output=True)
    if done.returncode:
        sys.exit("bench_brls: %s" % done.stderr.decode())
    return json.loads(done.stdout) if "--json" in words else None, time.perf_counter() - began


def timed(function, *given):
    began = time.perf_counter()
    result = function(*given)
    return result, time.perf_counter() - began


class Table:
    def __init__(self):
        self.rows = []
        print("%-48s %24s %24s %8s" % ("", "broad", "numpy", "ratio"))

    def measure(self, name, ours, theirs, runs=RUNS, work=None, unit=None):
        """In turns, so that what else the machine does hits both; the first of each is not counted."""
        pairs = [(ours(), theirs()) for _ in range(runs + 1)][1:]
        sides = [sorted(side) for side in zip(*pairs)]
        row = {"name": name, "runs": runs}
        for side, seconds in zip(("broad", "numpy"), sides):
            row[side] = {"median": statistics.median(seconds), "least": seconds[0], "most": seconds[-1]}
        row["ratio"] = row["numpy"]["median"] / row["broad"]["median"]
        if work:
            row.update(unit=unit, broad_speed=work / row["broad"]["median"], numpy_speed=work / row["numpy"]["median"])
        self.rows.append(row)
        cells = ["%.3f s (%.3f-%.3f)" % tuple(row[side].values()) for side in ("broad", "numpy")]
        speed = "  %.0f against %.0f %s" % (row["broad_speed"], row["numpy_speed"], unit) if work else ""
        print("%-48s %24s %24s %7.2fx%s" % (name, *cells, row["ratio"], speed), flush=True)


def bench_training(table, folder, x, y, kind):
    path = os.path.join(folder, kind + ".broad")
    words = ["fit", os.path.join(folder, "x.npy"), "--labels", os.path.join(folder, "labels.npy"), "--task", "classify",
             "--kind", kind, *NETWORK, *SUPERVISION[kind], "-o", path, "--json", "-q"]
    last = {}

    def ours():
        last["broad"] = broad(*words)[0]
        return last["broad"]["seconds"]["features"] + last["broad"]["seconds"]["layers"]

    def theirs():
        last["numpy"], seconds = timed(numpy_fit, x, y, kind == "bscrls")
        return seconds

    table.measure("%s, %d x %d, training alone" % (kind, ROWS, INPUTS), ours, theirs)
    layers = last["broad"]["layers"]
    norms = layers[-1]["norm_after"], last["numpy"][2]
    draws = sum(layer["tries"] for layer in layers), last["numpy"][3]
    table.rows[-1].update(draws=draws, norms=norms)
    if len(layers) != LAYERS or abs(norms[0] / norms[1] - 1) > 0.02:
        sys.exit("bench_brls: not the same work: %d layers, last norms %g and %g" % (len(layers), *norms))
    return path, last["numpy"]


def bench_whole(table, folder, x, y):
    words = ["fit", os.path.join(folder, "x.npy"), "--labels", os.path.join(folder, "labels.npy"), "--task", "classify",
             "--kind", "brls", *NETWORK, "-o", os.path.join(folder, "whole.broad"), "-q"]

    def theirs():
        began = time.perf_counter()
        rows, labels = np.load(os.path.join(folder, "x.npy")), np.load(os.path.join(folder, "labels.npy"))
        network = numpy_fit(rows, np.eye(CLASSES)[labels], False)
        np.mean(numpy_scores(network, rows).argmax(axis=1) == labels)
        np.savez(os.path.join(folder, "whole.npz"), *network[0], *(array for w, o in network[1] for array in (*w, o)))
        return time.perf_counter() - began

    table.measure("brls, the whole command (read, fit, eval, save)", lambda: broad(*words)[1], theirs)


def bench_prediction(table, folder, x, path, network):
    data, labels = os.path.join(folder, "x.npy"), os.path.join(folder, "labels.npy")

    def theirs():
        began = time.perf_counter()
        rows, truth = np.load(data), np.load(labels)
        np.mean(numpy_scores(network, rows).argmax(axis=1) == truth)
        return time.perf_counter() - began

    def theirs_written():
        began = time.perf_counter()
        np.savetxt(os.path.join(folder, "out.csv"), numpy_scores(network, np.load(data)), fmt="%.17g", delimiter=",")
        return time.perf_counter() - began

    table.measure("eval, the whole command", lambda: broad("eval", path, data, "--labels", labels)[1], theirs)
    table.measure("predict, the whole command, CSV out", lambda: broad("predict", path, data, "-o",
                                                                       os.path.join(folder, "out.csv"), "-q")[1],
                  theirs_written, runs=3)


def bench_reading(table, folder):
    rows = np.random.default_rng(2).uniform(-1000, 1000, (5000 if arguments.quick else 20000, 100))
    path = os.path.join(folder, "rows.csv")
    np.savetxt(path, rows, fmt="%.4f", delimiter=",")
    words = ["fit", path, "--kind", "brls", "--features", "1x1", "--enhance", "1x1", "--range", 1, "--lambda", 1, "-o",
             os.path.join(folder, "tiny.broad"), "--json", "-q"]
    table.measure("CSV, %.0f MB, reading alone (loadtxt)" % (os.path.getsize(path) / 1e6),
                  lambda: broad(*words)[0]["seconds"]["read"], lambda: timed(np.loadtxt, path, float, "#", ",")[1],
                  runs=3, work=os.path.getsize(path) / 1e6, unit="MB/s")


def blas_in_use():
    with open("/proc/self/maps", encoding="ascii", errors="replace") as f:
        return sorted({line.split()[-1] for line in f if "blas" in line.split()[-1].rsplit("/", 1)[-1]})


def main():
    print("%s, %d threads, %s kernels, %.0f GFLOP/s a thread; median of %d runs (least-most)\n"
          % (MACHINE["processor"], MACHINE["processors"], MACHINE["best_core"], MACHINE["gflops"], RUNS))
    rng = np.random.default_rng(1)
    x, labels = rng.uniform(0, 1, (ROWS, INPUTS)), rng.integers(0, CLASSES, ROWS)
    y = np.eye(CLASSES)[labels]
    table = Table()
    with tempfile.TemporaryDirectory(prefix="broad-bench-") as folder:
        np.save(os.path.join(folder, "x.npy"), x)
        np.save(os.path.join(folder, "labels.npy"), labels)
        bench_training(table, folder, x, y, "bscrls")
        path, network = bench_training(table, folder, x, y, "brls")
        bench_whole(table, folder, x, y)
        bench_prediction(table, folder, x, path, network)
        bench_reading(table, folder)
    report = {"machine": {k: v for k, v in MACHINE.items() if k != "command"}, "numpy": np.__version__,
              "numpy_blas": blas_in_use(), "quick": arguments.quick, "rows": table.rows}
    text = json.dumps(report)
    print("\n" + text)
    if arguments.json:
        with open(arguments.json, "w", encoding="ascii") as f:
            f.write(text + "\n")


if __name__ == "__main__":
    main()
