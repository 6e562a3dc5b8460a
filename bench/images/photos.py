"""Photos of a folder with their targets, and the training and test parts that every method gets alike."""
import csv
import hashlib
import os
import random

from bench.tool import Failure

TEST_PART = 0.3


def is_photo(path):
    with open(path, "rb") as f:
        head = f.read(8)
    return head.startswith(b"\xff\xd8\xff") or head.startswith(b"\x89PNG")


class Photos:
    """Files under a folder; the target of each is a class or a number, and those of one group stay together."""

    def __init__(self, folder, files, targets, groups):
        self.folder, self.files, self.targets, self.groups = folder, files, targets, groups
        content = hashlib.sha256()
        for file, target, group in zip(files, targets, groups):
            content.update(f"{file}|{target}|{group}|".encode())
            content.update((folder / file).read_bytes())
        self.fingerprint = content.hexdigest()[:12]

    @classmethod
    def in_classes(cls, folder, tool):
        """One sub-folder a class; groups are what the tool takes for near-duplicates."""
        files = sorted(str(path.relative_to(folder)) for path in folder.glob("*/**/*")
                       if path.is_file() and "/." not in f"/{path.relative_to(folder)}" and is_photo(path))
        if not files:
            raise Failure(f"no photos in sub-folders of {folder}")
        facts = tool.run("data", folder)["photos"]
        skipped = {os.path.relpath(one["file"], folder) for one in facts["skipped"]}
        files = [file for file in files if file not in skipped]
        group = {file: file for file in files}
        for alike in facts["near_duplicates"]:
            names = [os.path.relpath(name, folder) for name in alike]
            group.update((name, names[0]) for name in names)
        return cls(folder, files, [file.split("/")[0] for file in files], [group[file] for file in files])

    @classmethod
    def in_list(cls, folder, target, group):
        """labels.csv of the folder."""
        with open(folder / "labels.csv", encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        if not rows or not {"file", target, group} <= set(rows[0]):
            raise Failure(f"{folder}/labels.csv has no rows with columns file, {target} and {group}")
        return cls(folder, [row["file"] for row in rows], [float(row[target]) for row in rows],
                   [row[group] for row in rows])

    def classes(self):
        return sorted(set(self.targets))

    def split(self, seed, part=TEST_PART, among=None):
        """Numbers of the photos to train on and to test with: whole groups, class by class (a group counts for the class
        of its first photo); where targets are numbers, groups as they come that bring the test closer to its part."""
        strata, kinds = {}, {}
        for number in range(len(self.files)) if among is None else among:
            name, target = self.groups[number], self.targets[number]
            kind = kinds.setdefault(name, target if isinstance(target, str) else "")
            strata.setdefault(kind, {}).setdefault(name, []).append(number)
        rng = random.Random(seed)
        train, test = [], []
        for kind in sorted(strata):
            groups = [strata[kind][name] for name in sorted(strata[kind])]
            rng.shuffle(groups)
            wanted, taken = part * sum(map(len, groups)), 0
            for members in groups:
                closer = abs(taken + len(members) - wanted) < abs(taken - wanted)
                (test if closer else train).extend(members)
                taken += len(members) if closer else 0
        return sorted(train), sorted(test)

    def link(self, to, numbers):
        """A folder with one sub-folder a class that has links to these photos."""
        for number in numbers:
            path = to / self.targets[number] / self.files[number].replace("/", "-")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(self.path(number))
        return to

    def list(self, to, numbers):
        """Photos and labels.csv of a part, in a folder of its own."""
        (to / "photos").mkdir(parents=True)
        with open(to / "labels.csv", "w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(["file", "group", "target"])
            for number in numbers:
                name = "photos/" + self.files[number].replace("/", "-")
                (to / name).symlink_to(self.path(number))
                writer.writerow([name, self.groups[number], self.targets[number]])
        return to

    def path(self, number):
        return (self.folder / self.files[number]).resolve()
