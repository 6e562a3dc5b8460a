"""brls and bscrls on many rows, against the same in numpy, and bscrls, with its own test and with gcv, against brls."""
import statistics

from bench.speed.measure import rival, shown
from bench.tool import Failure

TITLE = "training of 10x10 feature and 100x50 enhancement nodes"
KINDS = {"brls": ["--kind", "brls"], "bscrls": ["--kind", "bscrls"], "gcv": ["--supervise", "gcv"]}


class Chains:
    """Both kinds and their rivals on one set of rows. Time is that of training alone, on rows that are in memory."""

    def __init__(self, bench, rows, inputs, classes, layers, make="waves"):
        import numpy as np
        from bench.speed import numpy_chain
        self.bench, self.numpy, self.layers = bench, numpy_chain, layers
        self.rows, self.inputs, self.classes = rows, inputs, classes
        self.x, labels = getattr(numpy_chain, make)(rows, inputs, classes)
        self.y = np.eye(classes)[labels]
        bench.save(self.x, labels)
        self.said, self.norms, self.draws = {}, {}, {}

    def size(self):
        return f"{self.rows:,} x {self.inputs:,}, {self.classes} classes"

    def words(self, kind):
        return self.bench.words(*KINDS[kind], "--preset", "paper", "--features", "10x10", "--enhance",
                                f"100x{self.layers}")

    def command(self, kind):
        return shown("broad", "fit", *self.words(kind), "--json")

    def ours(self, kind):
        def side():
            seconds, said = self.bench.train(self.words(kind))
            layers = said["layers"]
            self.said[kind], self.norms[kind] = said, layers[-1]["norm_after"]
            self.draws[kind] = sum(layer["tries"] for layer in layers)
            if len(layers) != self.layers and kind != "gcv":
                raise Failure(f"{kind}: {len(layers)} of {self.layers} layers: {said['status']}")
            return seconds
        return side

    def recorded(self, kind, seconds):
        """As ours(); what the command takes but for reading goes into a list."""
        side = self.ours(kind)

        def timed():
            training = side()
            seconds.append(self.said[kind]["seconds"]["total"] - self.said[kind]["seconds"]["read"])
            return training
        return timed

    def theirs(self, name, supervised=False, in_place=False):
        def side():
            bounds = [layer["bound"] for layer in self.said["bscrls"]["layers"]] if supervised else None
            make = self.numpy.nodes_in_place if in_place else self.numpy.nodes
            seconds, found = self.numpy.timed(self.numpy.fit, self.x, self.y, self.layers, bounds, make)
            self.norms[name], self.draws[name] = found[2:]
            return seconds
        return side

    def check(self, tolerance=0.02):
        """Other random numbers, but the same work: the last norms are about the same."""
        expected = self.norms["brls"]
        for name, norm in self.norms.items():
            if abs(norm / expected - 1) > tolerance:
                raise Failure(f"not the same work: the last norm is {expected:g} for brls and {norm:g} for {name}")

    def limits(self):
        """What the peak alone allows, and the fraction of it that a time is."""
        flops = self.numpy.flops(self.rows, self.inputs, self.classes, self.layers)
        peak = self.bench.peak()
        return {"limit": flops / peak / 1e9} if peak else {}, {"flops": flops, "peak_gflops": peak, "draws": self.draws}


def run(bench):
    for rows, goal in (bench.pick(60000, 6000, 4000), 6), (bench.pick(20000, 2000, 2000), None):
        yield from measure(bench, rows, goal)
    yield score(bench)


def score(bench):
    """What the columns of signs, the decompositions and the search of gcv cost where hardly a draw is refused."""
    chains = Chains(bench, bench.pick(60000, 6000, 4000), bench.pick(784, 784, 20), 10, bench.pick(50, 50, 2), "smooth")
    bench.say(f"gcv, {chains.size()}")
    whole = {"brls": [], "gcv": []}
    found = bench.in_turns({kind: chains.recorded(kind, seconds) for kind, seconds in whole.items()}, bench.runs(3))
    more = statistics.median(whole["gcv"]) / statistics.median(whole["brls"])
    layers = chains.said["gcv"]["layers"]
    search, refused = layers[0]["tries"], sum(layer["tries"] - 1 for layer in layers[1:])
    return {"what": f"bscrls with gcv, smooth classes, {chains.size()}", "unit": "s", "command": chains.command("gcv"),
            "ours": found["gcv"], "facts": {"draws": chains.draws, "refused": refused, "search": search,
                                            "whole": whole},
            "rivals": {"brls": rival(found["brls"], chains.command("brls"), "ours/rival", most=1.25)},
            "note": f"training alone; {search} draws for layer 1, nearly all of them of the search on at most 4,000 rows, "
                    f"and {refused} refused ones for the other {len(layers) - 1}; the whole command but for reading, with the "
                    f"estimate for new rows, takes {more:.2f} times as long"}


def measure(bench, rows, goal):
    chains = Chains(bench, rows, bench.pick(784, 784, 20), 10, bench.pick(50, 50, 2))
    bench.say(chains.size())
    sides = {"brls": chains.ours("brls"), "bscrls": chains.ours("bscrls"), "numpy": chains.theirs("numpy")}
    if goal:
        sides["numpy, in place"] = chains.theirs("numpy, in place", in_place=True)
    found = bench.in_turns(sides, bench.runs(3 if goal else 5))
    chains.check()
    limit, facts = chains.limits()
    rivals = {"numpy": rival(found["numpy"], "numpy_chain.fit(x, y)", least=goal)}
    if goal:
        rivals["numpy, in place"] = rival(found["numpy, in place"], "numpy_chain.fit(x, y, make=nodes_in_place)")
    yield {"what": f"brls, {chains.size()}", "unit": "s", "command": chains.command("brls"), "ours": found["brls"],
           "rivals": rivals, **limit, "facts": facts}
    yield {"what": f"bscrls, {chains.size()}", "unit": "s", "command": chains.command("bscrls"),
           "ours": found["bscrls"], **limit, "facts": facts,
           "rivals": {"brls": rival(found["brls"], chains.command("brls"), "ours/rival", most=1.1)},
           "note": f"{chains.draws['bscrls']} draws for {chains.layers} layers: what a refused draw costs is not in it"}
