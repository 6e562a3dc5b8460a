"""Prediction, one row and many, through the C interface, against the same network in numpy and a perceptron of its size."""
import json
import struct
import subprocess

from bench.speed.measure import shown
from bench.tool import Failure

TITLE = "prediction with 10x10 feature and 100x50 enhancement nodes"


class Ours:
    """bench_predict, warm in a process of its own."""

    def __init__(self, bench, model, data):
        path = bench.programs / "bench_predict"
        if not path.is_file():
            raise Failure(f"{path} is missing; build it with 'cmake --preset bench && cmake --build --preset bench'")
        self.child = subprocess.Popen([path, model, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, word, count):
        self.child.stdin.write(f"{word} {count}\n")
        self.child.stdin.flush()
        answer = [float(part) for part in self.child.stdout.readline().split()]
        if not answer:
            raise Failure(f"bench_predict ended with exit code {self.child.wait()} when asked for '{word} {count}'")
        return answer

    def close(self):
        self.child.communicate()


class Network:
    """The tensors of a model file as numpy arrays, and the prediction as one writes it in numpy."""

    def __init__(self, np, path, layers):
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            data = file.read()
        self.np = np

        def tensor(name):
            begin, end = header[name]["data_offsets"]
            return np.frombuffer(data[begin:end], "<f8").reshape(header[name]["shape"]).copy()

        groups = [f"feature.{i}" for i in range(1, 11)]
        self.shift, self.factor = tensor("output.shift"), tensor("output.factor")
        self.feature = np.hstack([tensor(f"{g}.weight") for g in groups]), np.hstack([tensor(f"{g}.bias") for g in groups])
        self.chain = [(tensor(f"layer.{j}.weight"), tensor(f"layer.{j}.bias"), tensor(f"layer.{j}.output"))
                      for j in range(1, layers + 1)]
        # All layers side by side: fewer calls, and more memory at once.
        self.wide = [np.ascontiguousarray(np.hstack([layer[0] for layer in self.chain])),
                     np.hstack([layer[1] for layer in self.chain]), np.vstack([layer[2] for layer in self.chain])]

    def nodes(self, x, weight, bias):
        return 1 / (1 + self.np.exp(-(x @ weight + bias)))

    def scores(self, x):
        z = self.nodes(x, *self.feature)
        total = 0
        for j, (weight, bias, output) in enumerate(self.chain):
            h = self.nodes(z, weight, bias)
            total = total + (self.np.hstack([z, h]) if j == 0 else h) @ output
        return total / self.factor + self.shift

    def scores_wide(self, x):
        z = self.nodes(x, *self.feature)
        weight, bias, output = self.wide
        return self.np.hstack([z, self.nodes(z, weight, bias)]) @ output / self.factor + self.shift


def perceptron(np, x, labels):
    """Hidden layers as wide as ours; hardly trained, which does not change how long it takes to predict."""
    from sklearn.neural_network import MLPClassifier
    import warnings
    made = MLPClassifier((100, 5000), activation="logistic", max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(np.vstack([x[:50], x[:10]]), np.hstack([labels[:50], np.arange(10)]))


def seconds_each(np, function, x, count):
    """Of one call with one row, over `count` rows in turn."""
    from time import perf_counter
    began = perf_counter()
    for i in range(count):
        function(x[i % len(x)][None, :])
    return (perf_counter() - began) / count


def run(bench):
    import numpy as np
    from bench.speed import numpy_chain
    rows, inputs, layers = bench.pick(10000, 2000, 200), bench.pick(784, 784, 20), bench.pick(50, 50, 2)
    calls, calls_slow = bench.pick((3000, 300), (1000, 100), (10, 10))
    x, labels = numpy_chain.waves(rows, inputs, 10)
    paths = {name: bench.path(name) for name in ("x.npy", "y.npy", "model.broad")}
    np.save(paths["x.npy"], x)
    np.save(paths["y.npy"], labels)
    words = ["fit", paths["x.npy"], "--labels", paths["y.npy"], "--task", "classify", "--kind", "brls", "--preset", "paper",
             "--scale", "none", "--features", "10x10", "--enhance", f"100x{layers}", "-o", paths["model.broad"]]
    bench.tool.run(*words)
    network, mlp = Network(np, paths["model.broad"], layers), perceptron(np, x, labels)
    ours = Ours(bench, paths["model.broad"], paths["x.npy"])
    total, difference = ours.ask("check", rows)
    for name, found in ("numpy", network.scores(x)), ("numpy, layers joined", network.scores_wide(x)):
        if abs(found.sum() - total) > 1e-6 * np.abs(found).sum():
            raise Failure(f"not the same scores: their sum is {total:.15g}, that of {name} {found.sum():.15g}")
    if difference != 0:
        raise Failure(f"the scores of a row depend on how it is predicted: they differ by {difference:g}")

    size = f"{inputs} inputs, 10 classes"
    rivals = {"numpy": network.scores, "numpy, layers joined": network.scores_wide, "scikit-learn MLP": mlp.predict_proba}
    commands = {"numpy": "numpy, layer by layer", "numpy, layers joined": "numpy, all layers as one of 5,000 nodes",
                "scikit-learn MLP": "MLPClassifier((100, 5000)).predict_proba(x)"}
    held, one, many = ours.ask("held", 0)
    facts = {"model": shown("broad", *words), "predictor_bytes": held, "scratch_bytes": [one, many],
             "load_seconds": ours.ask("load", 5)[0]}

    def measurement(what, command, found, goal, **more):
        return {"what": what, "unit": "s", "command": command, "ours": found["ours"], "rivals": {
            name: {"command": commands[name], "figures": found[name], "ratio": "rival/ours",
                   **({} if "joined" in name else {"least": goal})} for name in rivals}, **more}

    sides = {"ours": lambda: ours.ask("row", calls)[0]}
    sides.update({name: lambda f=f: seconds_each(np, f, x, calls_slow) for name, f in rivals.items()})
    found = bench.in_turns(sides, bench.runs(7))
    yield measurement(f"prediction, one row, {size}", "broad_predictor_row(scores, predictor, row, scratch)", found, 20,
                      facts=facts, why="4.5 MB of weights are read for every row: from the last cache, at its speed")
    sides = {"ours": lambda: ours.ask("threads", bench.threads)[0]}
    sides.update({name: lambda f=f: numpy_chain.timed(f, x)[0] for name, f in rivals.items()})
    found = bench.in_turns(sides, bench.runs(5))
    flops = 2 * rows * (inputs * 100 + layers * 100 * 110 + 1000)
    peak = bench.peak()
    yield measurement(f"prediction, {rows:,} rows, {size}", f"broad_predict_data(scores, model, data, {bench.threads})", found, 4,
                      facts={"flops": flops}, **({"limit": flops / peak / 1e9} if peak else {}))
    ours.close()
