"""What every experiment works with: the tool, photos and their splits, tables, and how much time there is."""
import pathlib
import sys

from bench.images.photos import Photos
from bench.tool import Failure

RENDERED = 300  # photos, as many as 'broad demo' draws to learn from, the same ones


def check_classes(folder):
    """That a folder can be learnt from at all; what is wrong with single photos the tool says."""
    if not folder.is_dir():
        raise Failure(f"{folder}: no such folder; --data takes a folder of photos with one sub-folder a class")
    classes = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if len(classes) < 2:
        raise Failure(f"{folder} has {len(classes) or 'no'} sub-folder{'s' if len(classes) != 1 else ''}; "
                      "there must be one for each class, at least two, with the photos of that class in it")


class Lab:
    """`folder` has one sub-folder a class; without it photos are rendered. `quick` is a short form: it shows that all
    of it runs, on few small photos, and its figures mean nothing."""

    def __init__(self, tool, work, folder=None, tables=None, quick=False, threads=2, rivals=(), given=None):
        self.tool, self.work, self.quick, self.threads = tool, pathlib.Path(work), quick, threads
        self.rivals = [pathlib.Path(file) for file in rivals]  # results of lab/rivals made earlier or elsewhere
        # A folder with classification/*.csv and regression/*.csv, or a file.
        self.tables = pathlib.Path(tables) if tables else None
        self.given = pathlib.Path(given) if given else None  # a folder with NAME.csv.gz and NAME.splits.csv.gz
        self.data = "photos" if folder else "rendered"  # which results these are: docs/experiments/DATA/NAME.json
        if folder:
            check_classes(pathlib.Path(folder))
        if tables and not self.tables.exists():
            raise Failure(f"{tables}: no such folder or file; --tables takes a folder with classification/*.csv and "
                          "regression/*.csv, or one CSV file of rows to classify")
        if given and not self.given.is_dir():
            raise Failure(f"{given}: no such folder; --given takes a folder with NAME.csv.gz and NAME.splits.csv.gz")
        for file in self.rivals:
            if not file.is_file():
                raise Failure(f"{file}: no such file; --rivals takes what lab/rivals/run.py --results wrote")
        self.folder = pathlib.Path(folder).resolve() if folder else self.render()
        self.photos = Photos.in_classes(self.folder, tool)
        self.made = 0
        self.lines = sys.stderr.isatty()  # whether a line of progress can be written over

    def render(self):
        folder, count, size = self.work / "rendered", 60 if self.quick else RENDERED, 64 if self.quick else 256
        self.tool.run("render", folder, "--count", count, "--size", size, "--seed", 0)
        return folder

    def say(self, text):
        print("\r\033[K" + text if self.lines else text, file=sys.stderr, flush=True)

    def progress(self, text):
        """A line that the next one replaces; nothing where that cannot be."""
        if self.lines:
            print("\r\033[K" + text[:110], end="", file=sys.stderr, flush=True)

    def several(self, full, quick):
        """How many splits, seeds or steps."""
        return quick if self.quick else full

    def new_folder(self):
        self.made += 1
        path = self.work / f"part{self.made}"
        path.mkdir()
        return path

    def split(self, number):
        """Folders of links to photos to train on and to test with, whole groups of near-duplicates on one side."""
        train, test = self.photos.split(number)
        folder = self.new_folder()
        return self.photos.link(folder / "train", train), self.photos.link(folder / "test", test)

    def table(self, name):
        """A table to classify: that of --tables, of a folder the one with this name; None where there is none."""
        path = self.tables / "classification" / f"{name}.csv" if self.tables and self.tables.is_dir() else self.tables
        return path if path and path.is_file() else None

    def run(self, *words):
        """The JSON of one command of the tool."""
        return self.tool.run(*words, "--threads", self.threads)

    def describe(self):
        """Of the photos, for the result."""
        counts = {name: self.photos.targets.count(name) for name in self.photos.classes()}
        return {"data": self.data, "photos": len(self.photos.files), "classes": counts,
                "groups": len(set(self.photos.groups)), "fingerprint": self.photos.fingerprint, "quick": self.quick}


__all__ = ["Failure", "Lab", "RENDERED"]
