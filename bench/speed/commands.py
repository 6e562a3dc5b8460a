"""Whole commands, from start to end: against scripts in processes of their own, and against a numpy that is loaded already."""
import time

from bench.speed import whole
from bench.speed.measure import rival, shown
from bench.speed.train import Chains

TITLE = "whole commands"


def run(bench):
    import numpy as np
    yield from whole.run(bench)
    chains = Chains(bench, bench.pick(20000, 2000, 200), bench.pick(784, 784, 20), 10, bench.pick(50, 50, 2))
    data, labels, model, out = (bench.path(name) for name in ("x.npy", "y.npy", "model.broad", "out.csv"))
    last = {}

    def ours(*words):
        def side():
            bench.tool.run(*words)
            return bench.tool.seconds
        return side

    def numpy_fit():
        began = time.perf_counter()
        rows, truth = np.load(data), np.load(labels)
        network = last["network"] = chains.numpy.fit(rows, np.eye(chains.classes)[truth], chains.layers)
        np.mean(chains.numpy.scores(network, rows).argmax(axis=1) == truth)
        np.savez(bench.path("model.npz"), *network[0], *(array for w, o in network[1] for array in (*w, o)))
        return time.perf_counter() - began

    def numpy_eval():
        began = time.perf_counter()
        np.mean(chains.numpy.scores(last["network"], np.load(data)).argmax(axis=1) == np.load(labels))
        return time.perf_counter() - began

    def numpy_predict():
        began = time.perf_counter()
        scores = chains.numpy.scores(last["network"], np.load(data))
        np.savetxt(bench.path("numpy.csv"), scores, fmt="%.17g", delimiter=",")
        return time.perf_counter() - began

    threads = ["--threads", bench.threads]
    steps = [("read, train, test, save", ["fit", *chains.words("brls")], numpy_fit,
              "load, numpy_chain.fit, scores, savez"),
             ("read, test", ["eval", model, data, "--labels", labels, *threads], numpy_eval,
              "load, numpy_chain.scores"),
             ("read, predict, write CSV", ["predict", model, data, "-o", out, *threads], numpy_predict,
              "load, numpy_chain.scores, savetxt")]
    for what, words, theirs, call in steps:
        found = bench.in_turns({what: ours(*words), "numpy": theirs}, bench.runs(5))
        yield {"what": f"{what}, {chains.size()}", "unit": "s", "command": shown("broad", *words), "ours": found[what],
               "rivals": {"numpy": rival(found["numpy"], call)},
               "note": "the whole command, with the start of the process; numpy is loaded already"}
