"""Photos and their augmented copies as arrays of pixels that the tool made: what all methods of tables 2 and 3 get."""
import csv
import json
import shutil

import numpy as np

from bench.tool import Failure

COPIES, SPLITS = 4, 10
OURS, DEEP = 64, 128  # sides in pixels: of the broad networks and of the rivals without convolutions, and of the others


def pixels(lab, side):
    """Bytes, photos x (1 + copies) x side x side x 3: number 0 of each is the photo itself."""
    folder = lab.new_folder() / "pixels"
    lab.run("data", lab.folder, "--export", folder, "--map", "pixels", "--side", side, "--augment", COPIES, "--seed", 0)
    rows = np.load(folder / "inputs.npy", mmap_mode="r")
    numbers = {file: number for number, file in enumerate(lab.photos.files)}
    found = np.empty((len(numbers), 1 + COPIES, side, side, 3), np.uint8)
    seen = np.zeros(found.shape[:2], int)
    with open(folder / "rows.csv", encoding="utf-8", newline="") as f:
        for line in csv.DictReader(f):
            place = numbers[line["file"]], int(line["copy"])
            found[place] = rows[int(line["row"]) - 1]
            seen[place] += 1
    if not np.all(seen == 1):
        raise Failure(f"'broad data --export' of {lab.folder} has not one row for each photo and copy")
    shutil.rmtree(folder)
    return found


def splits(lab):
    """Of photo numbers, 7:3; whole groups of near-duplicates on one side."""
    parts = []
    for seed in range(lab.several(SPLITS, 2)):
        train, test = lab.photos.split(seed)
        parts.append({"seed": seed, "train": train, "test": test})
    return parts


def fingerprint(lab):
    """Of the photos as methods see them."""
    return lab.photos.fingerprint


def export(lab, folder, thin=1):
    """The folder that lab/rivals/run.py learns from, here or elsewhere. `thin`: of so many training photos one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from error
    photos = lab.photos
    about = {"classes": photos.classes(), "positive": photos.classes()[-1], "copies": COPIES,
             "fingerprint": fingerprint(lab),
             "photos": [{"file": file, "label": label, "group": group}
                        for file, label, group in zip(photos.files, photos.targets, photos.groups)],
             "splits": [{**split, "train": split["train"][::thin]} for split in splits(lab)]}
    for side in (OURS, DEEP):
        np.save(folder / f"pixels-{side}.npy", pixels(lab, side))
    (folder / "photos.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
