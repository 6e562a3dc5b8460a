"""A CSV into memory, against numpy's loadtxt and pandas' read_csv."""
from bench.speed.measure import rival
from bench.tool import Failure

TITLE = "reading CSV"
COLUMNS = 20
WHY = "Since version 1.23 numpy's loadtxt is written in C, and several times as fast as before."


def run(bench):
    import numpy as np
    import pandas
    from bench.speed.numpy_chain import timed
    rows = bench.pick(5_440_000, 200_000, 2_000)
    size = bench.make_csv("rows.csv", rows, COLUMNS, "regress")
    path = bench.path("rows.csv")
    sums = {}

    def ours():
        said = bench.program("bench_csv", path, bench.threads, lines=False)
        seconds, sums["broad"] = map(float, said.split())
        return seconds

    def loadtxt():
        seconds, found = timed(np.loadtxt, path, delimiter=",", skiprows=1)
        sums["numpy"] = found.sum()
        return seconds

    def read_csv():
        seconds, found = timed(pandas.read_csv, path)
        sums["pandas"] = found.to_numpy().sum()
        return seconds

    found = bench.in_turns({"broad": ours, "numpy": loadtxt, "pandas": read_csv}, bench.runs(2, 3))
    for name, total in sums.items():
        if abs(total - sums["numpy"]) > 1e-9 * rows * COLUMNS:
            raise Failure(f"not the same numbers: they sum to {sums['numpy']!r} for numpy and to {total!r} for {name}")
    loaded = {**rival(found["numpy"], "numpy.loadtxt(path, delimiter=',', skiprows=1)", least=20), "why": WHY}
    yield {"what": f"CSV into memory, {size / 1e9:.2f} GB", "unit": "s",
           "command": "broad_data_read(&data, path, &options)", "ours": found["broad"], "facts": {"bytes": size},
           "rivals": {"numpy": loaded, "pandas": rival(found["pandas"], "pandas.read_csv(path)", least=2)}}
