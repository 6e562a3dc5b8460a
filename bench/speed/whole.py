"""Whole processes from start to end, on files that are in the page cache: from NPY to a model file."""
import pathlib
import statistics
import sys

from bench.speed.measure import rival, shown
from bench.speed.train import Chains

SCRIPT = pathlib.Path(__file__).with_name("numpy_whole.py")
NAMES = {"numpy": "numpy script", "in-place": "numpy script, in place", "scikit-learn": "scikit-learn script"}


def run(bench):
    for rows, inputs, classes, goal, runs in ((bench.pick(1793, 600, 600), bench.pick(12288, 3072, 100), 2, 2, 7),
                                              (bench.pick(60000, 6000, 2000), bench.pick(784, 784, 20), 10, 3, 3)):
        yield from measure(bench, Chains(bench, rows, inputs, classes, bench.pick(50, 20, 2)), goal, bench.runs(runs))


def measure(bench, chains, goal, runs):
    """The seconds, and the page faults of the same runs."""
    bench.say(chains.size())
    faults = {name: [] for name in ("broad", *NAMES)}

    def side(name, *words):
        def once():
            found = bench.process(*words)
            faults[name].append(found["faults"])
            return found["seconds"]
        return once

    words = ["fit", *chains.words("brls")]
    script = {name: [SCRIPT, name, bench.path("x.npy"), bench.path("y.npy"), chains.classes, chains.layers,
                     bench.path("model." + name)] for name in NAMES}
    sides = {"broad": side("broad", bench.tool.path, *words, "-q")}
    sides.update({name: side(name, sys.executable, *script[name]) for name in NAMES})
    found = bench.in_turns(sides, runs)
    rivals = {NAMES[name]: rival(found[name], shown("python3", *script[name]), least=goal) for name in NAMES}
    touched = {name: statistics.median(figures[1:]) for name, figures in faults.items()}
    yield {"what": f"from NPY to the model file, brls, {chains.size()}", "unit": "s", "command": shown("broad", *words),
           "ours": found["broad"], "rivals": rivals, "facts": {"faults": touched},
           "note": "from exec to exit, files in the page cache: load, train, accuracy on the training rows, save; page faults: "
                   + ", ".join(f"{NAMES.get(name, name)} {count:,.0f}" for name, count in touched.items())}
