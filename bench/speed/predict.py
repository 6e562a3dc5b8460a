"""Prediction, one row and many, through the C interface, against the same network in numpy and a perceptron of its
size."""
import json
import struct
import subprocess

from bench.speed.measure import rival, shown
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
        self.feature = [np.hstack([tensor(f"{group}.{part}") for group in groups]) for part in ("weight", "bias")]
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


def perceptron(np, x, labels, hidden):
    """Hidden layers as wide as ours; hardly trained, which does not change how long it takes to predict."""
    from sklearn.neural_network import MLPClassifier
    import warnings
    made = MLPClassifier(hidden, activation="logistic", max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(np.vstack([x[:50], x[:10]]), np.hstack([labels[:50], np.arange(10)]))


def seconds_each(function, x, count):
    """Of one call with one row, over `count` rows in turn."""
    from time import perf_counter
    began = perf_counter()
    for i in range(count):
        function(x[i % len(x)][None, :])
    return (perf_counter() - began) / count


class Prediction:
    """One network, ours and its rivals, on the same rows."""

    def __init__(self, bench, name, rows, inputs, layers):
        import numpy as np
        from bench.speed import numpy_chain
        self.bench, self.np, self.chain = bench, np, numpy_chain
        self.rows, self.inputs, self.layers = rows, inputs, layers
        self.x, labels = numpy_chain.waves(rows, inputs, 10)
        paths = {kind: bench.path(f"{name}-{kind}") for kind in ("x.npy", "y.npy", "model.broad")}
        np.save(paths["x.npy"], self.x)
        np.save(paths["y.npy"], labels)
        network = ["--kind", "brls", "--preset", "paper", "--scale", "none", "--features", "10x10", "--enhance",
                   f"100x{layers}"]
        self.words = ["fit", paths["x.npy"], "--labels", paths["y.npy"], "--task", "classify", *network, "-o",
                      paths["model.broad"]]
        bench.tool.run(*self.words)
        network = Network(np, paths["model.broad"], layers)
        mlp = perceptron(np, self.x, labels, (100, 100 * layers))
        self.rivals = {"numpy": network.scores, "numpy, layers joined": network.scores_wide,
                       "scikit-learn MLP": mlp.predict_proba}
        self.commands = {"numpy": "numpy, layer by layer",
                         "numpy, layers joined": "numpy, all layers side by side as one",
                         "scikit-learn MLP": f"MLPClassifier((100, {100 * layers})).predict_proba(x)"}
        self.ours = Ours(bench, paths["model.broad"], paths["x.npy"])
        self.check()

    def check(self):
        total, difference = self.ours.ask("check", self.rows)
        for name in "numpy", "numpy, layers joined":
            found = self.rivals[name](self.x)
            if abs(found.sum() - total) > 1e-6 * self.np.abs(found).sum():
                raise Failure(f"not the same scores: their sum is {total:.15g}, that of {name} {found.sum():.15g}")
        if difference != 0:
            raise Failure(f"the scores of a row depend on how it is predicted: they differ by {difference:g}")

    def size(self):
        return f"{self.inputs} inputs, 10x10 and 100x{self.layers} nodes, 10 classes"

    def measurement(self, what, command, found, goal, **more):
        rivals = {name: {"command": self.commands[name], "figures": found[name], "ratio": "rival/ours",
                         **({"least": goal} if goal and "joined" not in name else {})} for name in self.rivals}
        return {"what": what, "unit": "s", "command": command, "ours": found["ours"], "rivals": rivals, **more}

    def one_row(self, goal):
        calls, calls_slow = self.bench.pick((3000, 300), (1000, 100), (10, 10))
        sides = {"ours": lambda: self.ours.ask("row", calls)[0], "reading": lambda: self.ours.ask("read", 300)[0]}
        sides.update({name: lambda f=f: seconds_each(f, self.x, calls_slow) for name, f in self.rivals.items()})
        found = self.bench.in_turns(sides, self.bench.runs(7))
        held, one, many = self.ours.ask("held", 0)
        facts = {"model": shown("broad", *self.words), "predictor_bytes": held, "scratch_bytes": [one, many],
                 "load_seconds": self.ours.ask("load", 5)[0]}
        call = "broad_predictor_row(scores, predictor, row, scratch)"
        made = self.measurement(f"prediction, one row, {self.size()}", call, found, goal, facts=facts,
                                limit=min(found["reading"]), limit_is="Reading all weights once for the row")
        call = "adding up as many bytes as the model file has"
        made["rivals"]["reading the weights alone"] = rival(found["reading"], call, "ours/rival")
        return made

    def many_rows(self, goal):
        threads, peak = self.bench.threads, self.bench.peak()
        sides = {"ours": lambda: self.ours.ask("threads", threads)[0]}
        sides.update({name: lambda f=f: self.chain.timed(f, self.x)[0] for name, f in self.rivals.items()})
        found = self.bench.in_turns(sides, self.bench.runs(5))
        flops = 2 * self.rows * (self.inputs * 100 + self.layers * 100 * 110 + 1000)
        return self.measurement(f"prediction, {self.rows:,} rows, {self.size()}",
                                f"broad_predict_data(scores, model, data, {threads})", found, goal,
                                facts={"flops": flops, "peak_gflops": peak},
                                **({"limit": flops / peak / 1e9} if peak else {}))


def run(bench):
    rows, inputs, layers = bench.pick(10000, 2000, 200), bench.pick(784, 784, 20), bench.pick(50, 50, 2)
    large = Prediction(bench, "large", rows, inputs, layers)
    yield large.one_row(20)
    yield large.many_rows(4)
    large.ours.close()
    small = Prediction(bench, "small", bench.pick(2000, 1000, 200), 20, 2)
    yield small.one_row(None)
    small.ours.close()
