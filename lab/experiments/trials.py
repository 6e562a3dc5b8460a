"""Rows to try networks on (photos, tables of a folder, tables made here), and many runs of them at once."""
import concurrent.futures
import csv
import math
import random
import statistics

from bench.tables.splits import Table


class Trial:
    """A data set cut into training and test rows, again and again; every network gets the same cuts."""

    def __init__(self, name, task, splits):
        self.name, self.task, self.splits = name, task, splits

    def describe(self):
        return {"name": self.name, "task": self.task, "splits": len(self.splits)}


def of_photos(lab, count):
    return Trial("photos" if lab.data == "photos" else "rendered photos", "classify",
                 [lab.split(number) for number in range(count)])


def of_tables(lab, names, count, most):
    """Of those of the folder that are there, by (folder, name); of a single file that one."""
    if not lab.tables or lab.quick:
        return []
    single = lab.tables.is_file()
    paths = [lab.tables] if single else [lab.tables / sort / f"{name}.csv" for sort, name in names]
    return [of_table(lab, path, count, most) for path in paths if path.is_file()]


def of_table(lab, path, count, most):
    table = Table(path)
    return cut(lab, table, table.name, count, most)


def cut(lab, table, name, count, most=None):
    folder, splits = lab.new_folder(), []
    for number in range(count):
        parts = [folder / f"{number}-{side}.csv" for side in ("train", "test")]
        for file, rows in zip(parts, table.split(number, most)):
            table.write(file, rows)
        splits.append(parts)
    return Trial(name, table.task, splits)


def made(lab, name, task, rows_of, count, train, test):
    """`rows_of(rng, rows)` makes a table's rows; the last column is the target."""
    folder, splits = lab.new_folder(), []
    for number in range(count):
        rng, parts = random.Random(number), [folder / f"{number}-{side}.csv" for side in ("train", "test")]
        for file, rows in zip(parts, (train, test)):
            write(file, rows_of(rng, rows))
        splits.append(parts)
    return Trial(name, task, splits)


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow([*(f"x{i}" for i in range(1, len(rows[0]))), "target"])
        writer.writerows(rows)


def spirals(rng, rows):
    """Two of them, one and a half turns each, in noise."""
    def point(number):
        angle, side = 3 * math.pi * math.sqrt(rng.random()), (-1, 1)[number % 2]
        return [round(side * angle * turn(angle) / 10 + rng.gauss(0, 0.02), 6) for turn in (math.cos, math.sin)]

    return [[*point(number), ("orange", "blue")[number % 2]] for number in range(rows)]


def friedman(rng, rows):
    """Ten inputs of which five count, as Friedman (1991) made them; noise of deviation 1."""
    def row():
        x = [round(rng.random(), 6) for _ in range(10)]
        y = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        return [*x, round(y + rng.gauss(0, 1), 6)]

    return [row() for _ in range(rows)]


def outcome(fit):
    """The figures of one run. The norm is the last as a part of the first: 1 where no layer passed."""
    layers, test = fit["layers"], fit["test"]
    truth = [sum(row) for row in test["confusion"]] if fit["task"] == "classify" else []
    return {"result": test["accuracy"] if truth else test["rmse"],
            "frequent": max(truth) / sum(truth) if truth else None,
            "norm": layers[-1]["norm_after"] / layers[0]["norm_before"] if layers else 1.0, "layers": len(layers),
            "draws": sum(layer["tries"] for layer in layers), "status": fit["status"], "reason": fit["reason"],
            "seconds": sum(fit["seconds"][part] for part in ("features", "layers"))}


def words_of(trial, number, words):
    train, test = trial.splits[number]
    return ["fit", train, "--test", test, "--task", trial.task, "--seed", number, *words]


def all_at_once(lab, jobs):
    """The outcomes of commands, one thread each, as many at a time as the laboratory has threads."""
    folder = lab.new_folder()

    def one(number):
        model = folder / str(number)
        found = outcome(lab.tool.run(*jobs[number], "--threads", 1, "-o", model))
        model.unlink()
        return found

    with concurrent.futures.ThreadPoolExecutor(lab.threads) as pool:
        return list(pool.map(one, range(len(jobs))))


def pack(values):
    """Numbers as one line of JSON instead of one line each."""
    return " ".join("nan" if value is None else f"{value:.6g}" for value in values)


def unpack(text):
    return [float(word) for word in text.split()]


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high
