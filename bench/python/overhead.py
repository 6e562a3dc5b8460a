"""What Python adds to the library: the same fits from an array in Python, in C and by the tool, each in a process of its own.

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


def run_once(words, environment):
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout)


def train_by_tool(tool, table, folder, options):
    """{"fit": seconds} of the processor, on one thread: all that the tool counts but reading, and what comes after training."""
    words = [str(part) for name, value in options.items() for part in ("--" + name, value)]
    done = subprocess.run([tool, "fit", table, "-o", folder / "model.broad", "--task", "regress", "--threads", "1", "--profile", "--json", *words],
                          check=True, capture_output=True, text=True)
    stages = json.loads(done.stdout)["profile"]["stages"]
    return {"fit": sum(stage["seconds"] for stage in stages if stage["name"] != "read" and stage["group"] not in ("result", "waiting"))}


def compare(folder, program, environment, shape, predicted, options, times, tool=None):
    """{"python": figures, "c": figures} of a table of this shape; in turns, so that both see the same machine. With a tool also its
    {"fit": seconds}."""
    import numpy as np
    rows, inputs = shape
    path = folder / "numbers"
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, inputs))
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * random.normal(size=rows)
    with open(path, "wb") as file:
        x.tofile(file)
        y.tofile(file)
    if tool:
        np.save(folder / "table.npy", np.c_[x, y])
    del x, y
    plain = [str(part) for pair in options.items() for part in pair]
    words = {"python": [sys.executable, __file__, path, rows, inputs, predicted, json.dumps(options)],
             "c": [program, path, rows, inputs, predicted, *plain]}
    found = {}
    for _ in range(times):
        turn = {name: run_once(list(map(str, line)), environment) for name, line in words.items()}
        if tool:
            turn["tool"] = train_by_tool(tool, folder / "table.npy", folder, options)
        for name, one in turn.items():
            found[name] = {key: min(one[key], found[name][key]) for key in one} if name in found else one
    path.unlink()
    return {"rows": rows, "inputs": inputs, **found}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], *map(int, sys.argv[2:5]), json.loads(sys.argv[5]))))
