"""What the experiments about growing networks train on: photos, photos with augmented copies, and a table."""
import csv
import math
import random

from bench.tool import Failure

TABLE = "satimage"  # of --tables, where it is a folder
PORTIONS = 14  # of the training rows; the paper's table 6 begins with 10 of them, 1000 rows, and adds one at a time
FIRST = 10
TESTED = 0.3


class PhotoRows:
    """Photos of the lab, each with so many augmented copies when it is trained on; copies are made after the split."""

    def __init__(self, lab, copies):
        self.lab, self.copies, self.splits = lab, copies, {}
        self.name = "copies" if copies else "photos"
        self.title = f"photos, each with {copies} augmented cop{'ies' if copies > 1 else 'y'}" if copies else "photos"
        self.words = ["--augment", copies] if copies else []
        if lab.quick:
            self.words += ["--side", 16]

    def split(self, number):
        """What to train on and to test with."""
        if number not in self.splits:
            self.splits[number] = self.lab.split(number)
        return self.splits[number]

    def portions(self, number):
        """The training photos in portions, whole groups each, and all up to each portion together."""
        photos, folder = self.lab.photos, self.lab.new_folder()
        rest = photos.split(number)[0]
        size, later = len(rest) / PORTIONS, []
        for _ in range(PORTIONS - FIRST):
            rest, portion = photos.split(number, size / len(rest), rest)
            later.append(portion)
        portions = [rest, *later]
        so_far = [sorted(sum(portions[:i + 1], [])) for i in range(len(portions))]
        return ([photos.link(folder / f"portion{i}", part) for i, part in enumerate(portions)],
                [photos.link(folder / f"all{i}", part) for i, part in enumerate(so_far)])


class TableRows:
    """Rows of a CSV table with a header and text labels in its last column, `count` of them to train on at most."""

    name, copies = "table", 0

    def __init__(self, lab, count):
        self.lab, self.splits, self.words = lab, {}, []
        path = lab.table(TABLE)
        self.title = f"table {path.stem}" if path else "a table of waves"
        with open(path or write_waves(lab.new_folder() / "waves.csv", lab.several(6000, 300)), newline="",
                  encoding="utf-8") as file:
            self.head, *rows = csv.reader(file)
        self.rows = [row for row in rows if row]
        self.tested = min(round(TESTED * len(self.rows)), lab.several(2000, 100))
        self.count = min(count, len(self.rows) - self.tested)
        if self.count < 5 * PORTIONS:
            raise Failure(f"{path} has {len(self.rows)} rows; at least {8 * PORTIONS} are needed")

    def shuffled(self, number):
        rows = list(self.rows)
        random.Random(number).shuffle(rows)
        return rows[:self.tested], rows[self.tested:self.tested + self.count]

    def write(self, path, rows):
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([self.head, *rows])
        return path

    def split(self, number):
        if number not in self.splits:
            folder, (test, train) = self.lab.new_folder(), self.shuffled(number)
            self.splits[number] = self.write(folder / "train.csv", train), self.write(folder / "test.csv", test)
        return self.splits[number]

    def portions(self, number):
        folder, rows = self.lab.new_folder(), self.shuffled(number)[1]
        ends = [round(self.count * i / PORTIONS) for i in range(FIRST, PORTIONS + 1)]
        begins = [0, *ends]
        return ([self.write(folder / f"portion{i}.csv", rows[a:b]) for i, (a, b) in enumerate(zip(begins, ends))],
                [self.write(folder / f"all{i}.csv", rows[:end]) for i, end in enumerate(ends)])


def write_waves(path, rows, inputs=8):
    """Two classes whose border is a sum of waves: more nodes and more rows tell them apart better."""
    rng = random.Random(2)
    waves = [([rng.gauss(0, 1) for _ in range(inputs)], rng.uniform(0, 2 * math.pi)) for _ in range(6)]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(f"x{j + 1}" for j in range(inputs)) + ",panel\n")
        for _ in range(rows):
            x = [rng.uniform(-1, 1) for _ in range(inputs)]
            height = sum(math.sin(sum(a * b for a, b in zip(w, x)) + phase) for w, phase in waves)
            side = "dusty" if height + rng.gauss(0, 0.1) > 0 else "clean"
            file.write(",".join(f"{v:.6f}" for v in x) + f",{side}\n")
    return path
