"""What every experiment works with: the tool, photos and their splits, tables, and how much time there is."""
import pathlib
import sys

from bench.images.photos import Photos
from bench.tool import Failure

RENDERED = 300  # photos, as many as 'broad demo' draws to learn from, the same ones


class Lab:
    """`folder` has one sub-folder a class; without it photos are rendered. `quick` is a short form: it shows that all of it
    runs, on few small photos, and its figures mean nothing."""

    def __init__(self, tool, work, folder=None, tables=None, quick=False, threads=2, rivals=None):
        self.tool, self.work, self.quick, self.threads = tool, pathlib.Path(work), quick, threads
        self.rivals = rivals  # file of results of bench/rivals that were made on another machine
        self.tables = pathlib.Path(tables) if tables else None  # folder with classification/*.csv and regression/*.csv
        self.data = "photos" if folder else "rendered"  # which results these are: docs/experiments/DATA/NAME.json
        self.folder = pathlib.Path(folder).resolve() if folder else self.render()
        self.photos = Photos.in_classes(self.folder, tool)
        self.made = 0

    def render(self):
        folder, count, size = self.work / "rendered", 60 if self.quick else RENDERED, 64 if self.quick else 256
        self.tool.run("render", folder, "--count", count, "--size", size, "--seed", 0)
        return folder

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

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

    def run(self, *words):
        """The JSON of one command of the tool."""
        return self.tool.run(*words, "--threads", self.threads)

    def describe(self):
        """Of the photos, for the result."""
        counts = {name: self.photos.targets.count(name) for name in self.photos.classes()}
        return {"data": self.data, "photos": len(self.photos.files), "classes": counts,
                "groups": len(set(self.photos.groups)), "fingerprint": self.photos.fingerprint, "quick": self.quick}


__all__ = ["Failure", "Lab", "RENDERED"]
