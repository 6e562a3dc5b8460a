"""What Python adds to the library: the same fits from an array in Python and in C, each in a process of its own.

usage: overhead.py FILE ROWS INPUTS PREDICTED OPTIONS      one run in Python, as bench_arrays makes one in C; OPTIONS: JSON
"""
import json
import subprocess
import sys
import time


def memory(name):
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith(name)).split()[1])


def run(path, rows, inputs, predicted, options):
    import numpy as np

    from broad import BroadRegressor
    numbers = np.fromfile(path)
    x, y = numbers[:rows * inputs].reshape(rows, inputs), numbers[rows * inputs:]
    model = BroadRegressor(threads=1, **{"lambda_" if name == "lambda" else name: value for name, value in options.items()})
    before, began = memory("VmRSS:"), time.process_time()
    model.fit(x, y)
    seconds, peak = time.process_time() - began, memory("VmHWM:")
    one, least = x[:1], 1e9
    for _ in range(predicted):
        start = time.perf_counter()
        model.predict(one)
        least = min(least, time.perf_counter() - start)
    return {"fit": seconds, "memory": peak - before, "row": least}


def best(words, times, environment):
    """The least of each figure."""
    found = [json.loads(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout) for _ in range(times)]
    return {name: min(one[name] for one in found) for name in found[0]}


def compare(folder, program, environment, shape, predicted, options, times):
    """{"python": figures, "c": figures} of a table of this shape; in turns, so that both see the same machine."""
    import numpy as np
    rows, inputs = shape
    path = folder / "numbers"
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, inputs))
    with open(path, "wb") as file:
        x.tofile(file)
        (np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * random.normal(size=rows)).tofile(file)
    del x
    plain = [str(part) for pair in options.items() for part in pair]
    words = {"python": [sys.executable, __file__, path, rows, inputs, predicted, json.dumps(options)],
             "c": [program, path, rows, inputs, predicted, *plain]}
    found = {}
    for _ in range(times):
        for name, line in words.items():
            one = best(list(map(str, line)), 1, environment)
            found[name] = {key: min(one[key], found[name][key]) for key in one} if name in found else one
    path.unlink()
    return {"rows": rows, "inputs": inputs, **found}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], *map(int, sys.argv[2:5]), json.loads(sys.argv[5]))))
