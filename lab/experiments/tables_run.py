"""Tables 2 and 3: our networks and the deep rivals on the same photos, augmented copies and splits; and, of our networks,
what else there is to be tried before one believes a figure."""
import random
import shutil

import numpy as np

from lab.experiments import deep, prepared
from lab.experiments.paper import MEASURES
from lab.experiments.tables import BEST, GCV, SCHEDULES

PAPER = ["--preset", "paper"]


class Row:
    """A network and the rows that it gets. `table`: 'paper' for a row of the paper's, else where it is shown."""

    def __init__(self, name, words, rows="copies", table="else", paper=None):
        self.name, self.words, self.rows, self.table, self.paper = name, words, rows, table, paper


def of_kind(kind, *words):
    return PAPER + ["--kind", kind, *words]


def of_gcv():
    """On photos, not on arrays: the copies of a photo are one group to the score, and the tool knows which they are."""
    return PAPER + ["--supervise", "gcv"]


COPIED = ["--augment", str(prepared.COPIES)]
FAN_IN = ["--range-unit", "fan-in"]
ROWS = [
    Row("BLS", of_kind("bls"), table="paper", paper="BLS"),
    Row("BRLS", of_kind("brls"), table="paper", paper="BRLS"),
    Row("BSCRLS", of_kind("bscrls"), table="paper", paper="BSCRLS"),
    Row(GCV, [*of_gcv(), *COPIED], rows="photos", table="paper", paper="BSCRLS"),
    Row("auto", [], rows="photos", table="paper"),
    Row("auto, pixels", ["--map", "pixels", "--side", str(prepared.OURS), *COPIED], rows="photos"),
    Row(f"{GCV}, no copies", of_gcv(), rows="photos", paper="BSCRLS"),
    *(Row(f"BSCRLS, {schedule}", of_kind("bscrls", "--gamma", schedule), paper="BSCRLS") for schedule in SCHEDULES),
    Row(BEST, of_kind("bscrls", "--gamma", "harmonic:0.5", "--select", "best"), paper="BSCRLS"),
    Row("BSCRLS, leave-one-out test", of_kind("bscrls", "--supervise", "loo"), paper="BSCRLS"),
    Row("BSCRLS, leave-one-out test, harmonic:0.1", of_kind("bscrls", "--supervise", "loo", "--gamma", "harmonic:0.1"),
        paper="BSCRLS"),
    Row("BSCRLS, lambda 1", of_kind("bscrls", "--lambda", "1"), paper="BSCRLS"),
    Row("BSCRLS, joint weights", of_kind("bscrls", "--weights", "joint"), paper="BSCRLS"),
    Row("BLS, feature nodes by sparse autoencoder", of_kind("bls", "--feature-weights", "autoencoder"), paper="BLS"),
    Row("BLS, range by fan-in", of_kind("bls", *FAN_IN), paper="BLS"),
    Row("BRLS, range by fan-in", of_kind("brls", *FAN_IN), paper="BRLS"),
    Row("BSCRLS, range by fan-in", of_kind("bscrls", *FAN_IN), paper="BSCRLS"),
    Row("BSCRLS, range by fan-in, joint weights, lambda by leave-one-out",
        of_kind("bscrls", *FAN_IN, "--weights", "joint", "--lambda", "auto"), paper="BSCRLS"),
    Row("BLS, no copies", of_kind("bls"), rows="alone", paper="BLS"),
    Row("BRLS, no copies", of_kind("brls"), rows="alone", paper="BRLS"),
    Row("BSCRLS, no copies", of_kind("bscrls"), rows="alone", paper="BSCRLS"),
    Row("BSCRLS, split without groups", of_kind("bscrls"), rows="ungrouped", table="wrong", paper="BSCRLS"),
    Row("BLS, copies made before the split", of_kind("bls"), rows="mixed", table="wrong", paper="BLS"),
    Row("BRLS, copies made before the split", of_kind("brls"), rows="mixed", table="wrong", paper="BRLS"),
    Row("BSCRLS, copies made before the split", of_kind("bscrls"), rows="mixed", table="wrong", paper="BSCRLS"),
    Row("BSCRLS, range by fan-in, copies made before the split", of_kind("bscrls", *FAN_IN), rows="mixed",
        table="wrong", paper="BSCRLS"),
]


def dealt(items, seed):
    """7:3, one by one: what groups are for is what this does not do."""
    items = list(items)
    random.Random(seed).shuffle(items)
    count = round(len(items) * 0.7)
    return sorted(items[:count]), sorted(items[count:])


def rows_of(rows, split, count, copies):
    """(photo, copy) to train on and to test with; copy 0 is the photo itself."""
    every = range(1 + copies)
    if rows == "mixed":
        return dealt([(photo, copy) for photo in range(count) for copy in every], split["seed"])
    train, test = dealt(range(count), split["seed"]) if rows == "ungrouped" else (split["train"], split["test"])
    return ([(photo, copy) for photo in train for copy in (every if rows != "alone" else [0])],
            [(photo, 0) for photo in test])


def write_rows(path, arrays, labels, rows):
    """PATH.npy and PATH.csv, as the tool reads them."""
    photos, copies = zip(*rows)
    np.save(f"{path}.npy", arrays[list(photos), list(copies)].reshape(len(rows), -1))
    with open(f"{path}.csv", "w", encoding="utf-8") as f:
        f.write("label\n" + "".join(labels[photo] + "\n" for photo in photos))


def figures(found, seconds):
    """Of one network, from the JSON of fit."""
    return {**{measure: found["test"].get(measure) for measure in MEASURES},
            "train_accuracy": found["train"]["accuracy"], "train_rows": found["rows"], "inputs": found["inputs"],
            "layers": len(found["layers"]), "draws": sum(layer["tries"] for layer in found["layers"]),
            "status": found["status"], "seconds": found["seconds"]["features"] + found["seconds"]["layers"],
            "command_seconds": seconds}


class Bench:
    """The arrays, and every row of the tables on one split after another."""

    def __init__(self, lab, rows):
        self.lab, self.rows = lab, rows
        self.labels, self.positive = lab.photos.targets, lab.photos.classes()[-1]
        self.side = lab.several(prepared.OURS, 16)
        self.arrays = prepared.pixels(lab, self.side)
        self.splits = prepared.splits(lab)

    def shorter(self):
        return ["--enhance", "100x3", "--tries", "1"] if self.lab.quick else []

    def on_arrays(self, row, folder, seed):
        found = self.lab.run("fit", folder / "train.npy", "--labels", folder / "train.csv", "--test",
                             folder / "test.npy", "--test-labels", folder / "test.csv", *row.words, *self.shorter(),
                             "--seed", seed, "--positive", self.positive, "-o", folder / "model.broad")
        return figures(found, self.lab.tool.seconds)

    def on_photos(self, row, folders, seed):
        """As a user has it: two folders of photos, nothing prepared."""
        train, test = folders
        size = [*self.shorter(), "--side", self.side] if self.lab.quick and PAPER[1] in row.words else []
        found = self.lab.run("fit", train, "--test", test, *row.words, *size, "--seed", seed, "--positive",
                             self.positive, "--cache", "no", "-o", train.parent / "model.broad")
        return figures(found, self.lab.tool.seconds)

    def run_split(self, split, found):
        for kind in dict.fromkeys(row.rows for row in self.rows):
            folder, folders = self.lab.new_folder(), None
            if kind == "photos":
                folders = self.lab.split(split["seed"])
            else:
                parts = rows_of(kind, split, len(self.arrays), self.arrays.shape[1] - 1)
                for name, part in zip(("train", "test"), parts):
                    write_rows(folder / name, self.arrays, self.labels, part)
            for row in self.rows:
                if row.rows == kind:
                    self.lab.progress(f"tables: split {split['seed'] + 1} of {len(self.splits)}: {row.name}")
                    one = (self.on_photos(row, folders, split["seed"]) if folders
                           else self.on_arrays(row, folder, split["seed"]))
                    found[row.name].append({"seed": split["seed"], **one})
            shutil.rmtree(folder)

    def run(self):
        found = {row.name: [] for row in self.rows}
        for split in self.splits:
            self.run_split(split, found)
        return [{"name": row.name, "table": row.table, "paper": row.paper, "rows": row.rows,
                 "options": " ".join(row.words + (self.shorter() if row.rows != "photos" else [])),
                 "splits": found[row.name]} for row in self.rows]


def shares(lab, splits):
    """Of each split: photos on both sides, and the accuracy of always naming the commoner class of training."""
    sizes = []
    for split in splits:
        train, test = ([lab.photos.targets[i] for i in split[part]] for part in ("train", "test"))
        common = max(sorted(set(train)), key=train.count)
        sizes.append({"seed": split["seed"], "train": len(train), "test": len(test), "class": common,
                      "share": test.count(common) / len(test)})
    return sizes


def run(lab, earlier=None):
    if earlier:
        known = {one["name"]: one for one in earlier["methods"]}
        found = {one["name"]: one for one in Bench(lab, [row for row in ROWS if row.name not in known]).run()}
        return {"methods": [{**found, **known}[row.name] for row in ROWS]}
    rivals, missing, why = deep.find(lab)
    bench = Bench(lab, ROWS)
    return {"copies": prepared.COPIES, "side": bench.side, "positive": bench.positive,
            "splits": shares(lab, bench.splits), "methods": bench.run(), "rivals": rivals, "missing": missing,
            "why": why}
