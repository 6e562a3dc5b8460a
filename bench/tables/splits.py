"""Tables of a folder, and the training and test files that every method gets alike."""
import csv
import random
import zlib

MISSING = {"", "na", "nan", "?"}
TEST_PART = 0.3


def is_missing(cell):
    return cell.strip().lower() in MISSING


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


class Table:
    """A CSV file: the last column is the target. Raises ValueError where a method could not use it."""

    def __init__(self, path):
        self.name, self.path = path.stem, path
        content = path.read_bytes()
        self.fingerprint = f"{zlib.crc32(content):08x}"
        rows = [row for row in csv.reader(content.decode("utf-8").splitlines()) if row]
        if not rows or len(rows[0]) < 2:
            raise ValueError("no rows, or fewer than two columns")
        named = any(not is_number(cell) and not is_missing(cell) for cell in rows[0][:-1])
        self.header = rows[0] if named else [f"x{i}" for i in range(1, len(rows[0]))] + ["target"]
        self.rows = rows[1:] if named else rows
        self.inputs = len(self.header) - 1
        self.check()
        self.missing = any(is_missing(cell) for row in self.rows for cell in row[:-1])
        self.task = self.find_task()
        self.classes = len({row[-1] for row in self.rows}) if self.task == "classify" else 0

    def check(self):
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.header):
                raise ValueError(f"row {number} has {len(row)} fields, not {len(self.header)}")
            for name, cell in zip(self.header[:-1], row):
                if not is_number(cell) and not is_missing(cell):
                    raise ValueError(f"row {number}, column {name}: '{cell}' is no number, and inputs must be")

    def find_task(self):
        """The folder's name says what it is; elsewhere text makes classes."""
        for word, task in (("classification", "classify"), ("regression", "regress")):
            if word in self.path.parts:
                return task
        return "regress" if all(is_number(row[-1]) for row in self.rows) else "classify"

    def split(self, seed, most):
        """Row numbers for training, at most about so many, and for the test. Classes keep their parts, and each has a
        row to be learned from, so that no method meets a label that it cannot know."""
        strata = {}
        for number, row in enumerate(self.rows):
            strata.setdefault(row[-1] if self.task == "classify" else "", []).append(number)
        rng = random.Random(seed)
        train, test = [], []
        for label in sorted(strata):
            numbers = strata[label]
            rng.shuffle(numbers)
            cut = int(len(numbers) * TEST_PART)
            test += numbers[:cut]
            train.append(numbers[cut:])
        count = sum(map(len, train))
        part = min(1, most / count) if most else 1
        train = [number for numbers in train for number in numbers[:max(1, round(len(numbers) * part))]]
        rng.shuffle(train)
        rng.shuffle(test)
        return train, test

    def write(self, path, numbers):
        with open(path, "w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(self.header)
            writer.writerows(self.rows[number] for number in numbers)


def find_tables(folder):
    """Tables under a folder by name, and (path, reason) of what is left out."""
    tables, left_out = [], []
    for path in sorted(folder.rglob("*.csv")):
        try:
            tables.append(Table(path))
        except (OSError, ValueError) as error:
            left_out.append((path, str(error)))
    return tables, left_out
