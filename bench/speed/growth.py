"""How the cost of training grows with rows, nodes, columns, classes and threads: exponents fitted in log-log."""
import math
import statistics

from bench.speed.measure import rival, shown

TITLE = "growth of cost"
START = {"rows": 20000, "columns": 20, "classes": 2, "features": "5x10", "width": 50, "layers": 4}
CALL = "slope of log(seconds) over log(size), by least squares, run by run"


def fit_exponent(sizes, seconds):
    """Least squares in log-log: the slope, and its standard error (0 for two sizes: they always lie on a line)."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    centre_x, centre_y = statistics.fmean(x), statistics.fmean(y)
    square = sum((a - centre_x) ** 2 for a in x)
    slope = sum((a - centre_x) * (b - centre_y) for a, b in zip(x, y)) / square
    rest = sum((b - centre_y - slope * (a - centre_x)) ** 2 for a, b in zip(x, y))
    return slope, math.sqrt(rest / (len(x) - 2) / square) if len(x) > 2 else 0.0


class Sweep:
    """One thing is varied, the others stay. Every run goes through all sizes, so that each run has its own exponent."""

    def __init__(self, name, what, sizes, **fixed):
        self.name, self.what, self.sizes, self.fixed = name, what, sizes, fixed

    def at(self, size):
        return {**START, **self.fixed, self.name: size}


def sweeps(bench):
    def steps(low, high):
        """From 10^low to 10^high, two a decade."""
        return [round(10 ** (k / 2)) for k in range(2 * low, 2 * high + 1)]

    tiny = bench.size == "tiny"
    yield Sweep("rows", "rows", [1000, 2000, 4000] if tiny else steps(4, bench.pick(7, 5, 0)))
    yield Sweep("layers", "nodes, in layers of 100", [1, 2] if tiny else steps(0, 2)[:bench.pick(5, 3, 0)],
                rows=bench.pick(20000, 4000, 500), features="10x10", width=100)
    yield Sweep("width", "nodes, in one layer", [20, 40] if tiny else steps(2, 4)[:bench.pick(4, 3, 0)],
                rows=bench.pick(10000, 4000, 500), features="10x10", layers=1)
    yield Sweep("columns", "columns", [20, 40] if tiny else steps(1, 4)[:bench.pick(7, 5, 0)],
                rows=bench.pick(5000, 2000, 500))
    yield Sweep("classes", "classes", [2, 4] if tiny else [2, 10, 30, 100, 300, 1000][:bench.pick(6, 4, 0)],
                rows=bench.pick(20000, 4000, 500))


def words(bench, shape, threads):
    return bench.words("--kind", "brls", "--preset", "paper", "--features", shape["features"], "--enhance",
                       f"{shape['width']}x{shape['layers']}", "--lambda", "1e-3", threads=threads)


def write(bench, shape):
    """Uniform numbers; every class is there."""
    import numpy as np
    rng = np.random.default_rng(shape["rows"])
    rows = np.lib.format.open_memmap(bench.path("x.npy"), "w+", np.float64, (shape["rows"], shape["columns"]))
    for start in range(0, shape["rows"], 100000):
        rng.random(out=rows[start:start + 100000])
    rows.flush()
    np.save(bench.path("y.npy"), rng.permutation(np.arange(shape["rows"]) % shape["classes"]))


def seconds_at(bench, sweep, size, runs):
    shape, name = sweep.at(size), f"{sweep.name} {size:,}"
    write(bench, shape)
    given = words(bench, shape, bench.threads)
    return bench.in_turns({name: lambda: bench.train(given)[0]}, runs, warm_up=shape["rows"] <= 100000)[name]


def run(bench):
    runs = bench.runs(2, 2)
    for sweep in sweeps(bench):
        times = [seconds_at(bench, sweep, size, runs) for size in sweep.sizes]
        yield measurement(bench, sweep, times)
    yield from threads(bench, runs)


def measurement(bench, sweep, times):
    """times: of each size, its runs."""
    sizes = [size * (100 if sweep.name == "layers" else 1) for size in sweep.sizes]
    medians = [statistics.median(figures) for figures in times]
    slope, error = fit_exponent(sizes, medians)
    goal = {"most": 1.05} if sweep.name == "rows" else {}
    shape = sweep.at("N")
    return {"what": f"exponent in {sweep.what}, {sizes[0]:,} to {sizes[-1]:,}", "unit": "", "command": CALL + ": " +
            shown("broad", "fit", *words(bench, shape, bench.threads)),
            "ours": [fit_exponent(sizes, one)[0] for one in zip(*times)], **goal,
            "facts": {"sweep": sweep.what, "sizes": sizes, "seconds": times, "exponent": slope, "standard_error": error,
                      "at_the_end": fit_exponent(sizes[-2:], medians[-2:])[0], "shape": shape}}


def threads(bench, runs):
    """Times of 1, 2, 4 ... threads on the same rows."""
    counts = [1]
    while 2 * counts[-1] <= bench.tool.machine["processors"]:
        counts.append(2 * counts[-1])
    shape = Sweep("rows", "rows", []).at(bench.pick(1000000, 20000, 1000))
    write(bench, shape)
    given = {count: words(bench, shape, count) for count in counts}
    found = bench.in_turns({count: lambda count=count: bench.train(given[count])[0] for count in counts}, runs)
    for count in counts[1:]:
        yield {"what": f"{count} threads, {shape['rows']:,} rows", "unit": "s",
               "command": shown("broad", "fit", *given[count]), "ours": found[count],
               "rivals": {"1 thread": rival(found[1], shown("broad", "fit", *given[1]))}}
