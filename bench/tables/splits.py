"""Tables of a folder, and the training and test files that every method gets alike."""
import csv
import gzip
import random
import zlib

MISSING = {"", "na", "nan", "?"}
TEST_PART = 0.3
GIVEN = ".csv.gz"  # with splits beside it


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

    most_splits = None  # as many as one likes, made here

    def __init__(self, path):
        self.name, self.path = self.name_of(path), path
        content = content_of(path)
        self.fingerprint = f"{zlib.crc32(content):08x}"
        rows = fields_of(content)
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

    def name_of(self, path):
        return path.stem

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


class GivenTable(Table):
    """NAME.csv.gz with splits that others have made: NAME.test_rows.txt.gz, a line per split with its test rows from 0, or
    NAME.splits.csv.gz, a named column per split, 1 for a row of the test. Training rows keep their order."""

    def __init__(self, path):
        super().__init__(path)
        self.tests = self.read_tests()
        self.most_splits = len(self.tests)

    def name_of(self, path):
        """With the folder, which says whose splits they are: standard/yacht."""
        return f"{path.parent.name.removesuffix('_splits')}/{path.name.removesuffix(GIVEN)}"

    def read_tests(self):
        listed, marked = splits_beside(self.path)
        if listed.is_file():
            tests = [[int(cell) for cell in row] for row in fields_of(content_of(listed))]
        else:
            columns = zip(*fields_of(content_of(marked))[1:])
            tests = [[number for number, cell in enumerate(column) if cell == "1"] for column in columns]
        for test in tests:
            if not 0 < len(test) == len(set(test)) < len(self.rows) or max(test) >= len(self.rows) or min(test) < 0:
                raise ValueError(f"a split of {len(test)} test rows does not fit {len(self.rows)} rows")
        return tests

    def split(self, seed, most):
        test = self.tests[seed]
        tested = set(test)
        train = [number for number in range(len(self.rows)) if number not in tested]
        if most and most < len(train):
            train = sorted(random.Random(seed).sample(train, most))
        return train, test


def content_of(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def fields_of(content):
    return [row for row in csv.reader(content.decode("utf-8").splitlines()) if row]


def splits_beside(path):
    name = path.name.removesuffix(GIVEN)
    return path.with_name(f"{name}.test_rows.txt.gz"), path.with_name(f"{name}.splits.csv.gz")


def is_given(path):
    return any(file.is_file() for file in splits_beside(path))


def find_tables(folder):
    """Tables under a folder by name, those with given splits first, and (path, reason) of what is left out."""
    tables, left_out = [], []
    given = [(GivenTable, path) for path in sorted(folder.rglob(f"*{GIVEN}")) if is_given(path)]
    for make, path in [*given, *((Table, path) for path in sorted(folder.rglob("*.csv")))]:
        try:
            tables.append(make(path))
        except (OSError, ValueError) as error:
            left_out.append((path, str(error)))
    return tables, left_out
