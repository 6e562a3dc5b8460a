"""Sides in turns, what came of them, and whether a goal is reached."""
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from bench.tool import Failure

SIZES = ("full", "quick", "tiny")
RATIOS = ("rival/ours", "ours/rival")
# OpenBLAS's threads spin for a while after their last product, at the cost of the next process.
PAUSE = 0.05
RESIDENT = pathlib.Path(__file__).with_name("resident.py")


class Bench:
    """What an entry works with: the tool, a folder of its own, and how much of everything there is to be."""

    def __init__(self, tool, programs, size="full", runs=None, threads=2):
        self.tool, self.programs, self.folder = tool, pathlib.Path(programs), None
        self.size, self.threads, self._runs, self._peak = size, threads, runs, None

    def pick(self, full, quick, tiny):
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def runs(self, full, quick=3, tiny=1):
        return self._runs or self.pick(full, quick, tiny)

    def say(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)

    def in_turns(self, sides, runs, warm_up=True):
        """sides: by name, a function that returns its figure. In the order of the names, again and again; the first
        time only warms up."""
        figures = {name: [] for name in sides}
        for turn in range(-1 if warm_up else 0, runs):
            for name, side in sides.items():
                time.sleep(PAUSE if len(sides) > 1 else 0)
                figure = side()
                if turn >= 0:
                    figures[name].append(figure)
        for name, found in figures.items():
            self.say(f"{name}: {statistics.median(found):.4g} ({min(found):.4g} to {max(found):.4g})")
        return figures

    def save(self, x, labels):
        """Rows for words()."""
        import numpy as np
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), labels)

    def words(self, *options, threads=None):
        """Of 'broad fit' on the rows that were saved."""
        return [self.path("x.npy"), "--labels", self.path("y.npy"), "--task", "classify", *options,
                "--threads", threads or self.threads, "-o", self.path("model.broad")]

    def train(self, words):
        """Seconds of training alone, and all that the tool said."""
        said = self.tool.run("fit", *words)
        return said["seconds"]["features"] + said["seconds"]["layers"], said

    def process(self, *words):
        """One process from start to end: what it wrote, its seconds, its peak resident size in megabytes, its page faults."""
        path = self.path("resident")
        done = subprocess.run([sys.executable, "-I", "-S", RESIDENT, path, *map(str, words)], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise Failure(" ".join(done.stderr.split()) or f"{words[0]}: exit code {done.returncode}")
        size, seconds, faults = path.read_text(encoding="ascii").split()
        return {"text": done.stdout, "seconds": float(seconds), "megabytes": int(size) / 1e6, "faults": int(faults)}

    def resident(self, *words):
        """The JSON object of one command of the tool, its seconds, and its peak resident size in megabytes."""
        found = self.process(self.tool.path, *words, "--json", "-q")
        return json.loads(found["text"]), found["seconds"], found["megabytes"]

    def program(self, name, *words, lines=True):
        """The measurements that a program prints, or its standard output."""
        path = self.programs / name
        if not path.is_file():
            raise Failure(f"{path} is missing; build it with 'cmake --preset bench && cmake --build --preset bench'")
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(" ".join(done.stderr.split()) or f"{path}: exit code {done.returncode}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()] if lines else done.stdout

    def standard_program(self, name, runs):
        """One that keeps to bench/README.md."""
        words = ["--runs", runs, "--threads", self.threads, *([] if self.size == "full" else ["--quick"])]
        return self.program(name, *words)

    def make_csv(self, name, rows, columns, task="classes"):
        """Its size in bytes."""
        self.program("make_csv", self.path(name), rows, columns, task, lines=False)
        return self.path(name).stat().st_size

    def peak(self):
        """The peak of this number of threads in double, in GFLOP/s; None where that is not known. Measured once."""
        if self._peak is None:
            runs = self.pick(20, 5, 1)
            try:
                said = self.program("bench_peak", "--runs", runs, "--threads", self.threads, "--quick", lines=False)
                self._peak = float(said)
            except Failure as error:
                self.say(f"no peak: {error}")
                self._peak = 0.0
        return self._peak or None

    def path(self, name):
        return self.folder / name

    def needs_disk(self, count):
        free = shutil.disk_usage(self.folder).free
        if free < count:
            raise Failure(f"takes {count / 1e9:.0f} GB of disk, and {self.folder.parent} has {free / 1e9:.0f} GB; "
                          "set TMPDIR to a folder that has more")


def rival(figures, command, ratio="rival/ours", **goal):
    """A side to compare with; goal: least and most, of which those that are None do not count."""
    return {"command": command, "figures": figures, "ratio": ratio,
            **{name: limit for name, limit in goal.items() if limit is not None}}


def shown(*words):
    """A command as a user would type it: no folders of this run."""
    return " ".join(word.name if isinstance(word, pathlib.PurePath) else str(word) for word in words)


def rounded(figures):
    return [float(f"{figure:.6g}") for figure in figures]


def summary(figures):
    if len(figures) > 1:
        low, middle, high = statistics.quantiles(figures, n=4, method="inclusive")
    else:
        low = middle = high = figures[0]
    return {"least": min(figures), "lower": low, "median": middle, "upper": high, "most": max(figures)}


def within(value, goal):
    """None where there is no goal."""
    if goal.get("least") is None and goal.get("most") is None:
        return None
    return goal.get("least", value) <= value <= goal.get("most", value)


def finish(measurement, entry, size):
    """The measurement with medians, quotients and which goals are reached; they are for the full size unless it says
    otherwise."""
    check(measurement, entry)
    judged = size == "full" or measurement.get("goal_is_for") == "any"
    ours = rounded(measurement["ours"])
    done = {"entry": entry, **measurement, "ours": ours, "summary": summary(ours)}
    ours = done["summary"]["median"]
    done["reached"] = within(ours, done) if judged else None
    done["rivals"] = {}
    for name, rival in measurement.get("rivals", {}).items():
        figures = rounded(rival["figures"])
        found = summary(figures)
        value = found["median"] / ours if rival["ratio"] == "rival/ours" else ours / found["median"]
        done["rivals"][name] = {**rival, "figures": figures, "summary": found, "value": value,
                                "reached": within(value, rival) if judged else None}
    return done


def check(measurement, entry):
    def wrong(what):
        return Failure(f"{entry}: {what} in {json.dumps(measurement)[:200]}")

    for field in ("what", "unit", "command", "ours"):
        if field not in measurement:
            raise wrong(f"no '{field}'")
    rivals = measurement.get("rivals", {})
    least = 0 if rivals or measurement["unit"] else -math.inf  # an exponent may be anything
    for side in [{"figures": measurement["ours"]}, *rivals.values()]:
        figures = side.get("figures")
        if not figures or not all(isinstance(x, (int, float)) and least < x < math.inf for x in figures):
            raise wrong("a side without figures, or with some that are no sizes")
        if side.get("ratio", RATIOS[0]) not in RATIOS:
            raise wrong(f"ratio is neither '{RATIOS[0]}' nor '{RATIOS[1]}'")
