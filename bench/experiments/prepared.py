"""Photos and their changed copies as arrays of pixels that the tool made: what every method of tables 2 and 3 gets alike."""
import ctypes
import json

import numpy as np

from bench.tool import Failure

COPIES = 4
OURS, DEEP = 64, 128  # sides in pixels: of the broad networks and of the rivals without convolutions, and of the others


def pixels(lab, side, crop=None):
    """Bytes, photos x (1 + copies) x side x side x 3: number 0 of each is the photo itself."""
    cache, library = lab.new_folder(), ctypes.CDLL("libxxhash.so.0")

    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]

    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
    lab.run("fit", lab.folder, "--preset", "paper", "--kind", "bls", "--map", "pixels", "--side", side, "--augment", COPIES,
            "--seed", 0, "--features", "1x1", "--enhance", "1x1", "--no-groups", "--crop", crop or "none", "--cache", cache, "-o",
            cache / "model")
    count = (1 + COPIES) * side * side * 3
    rows = {}
    for path in cache.glob("??/*"):
        content = path.read_bytes()
        rows[content[:-4 * count]] = np.rint(np.frombuffer(content[-4 * count:], "<f4") * 255).astype(np.uint8)
    found = np.zeros((len(lab.photos.files), 1 + COPIES, side, side, 3), np.uint8)
    for number in range(len(found)):
        content = lab.photos.path(number).read_bytes()
        name = library.XXH3_128bits(content, len(content))
        text = f"{name.high:016x}{name.low:016x}".encode()
        found[number] = [row for head, row in rows.items() if text in head][0].reshape(found.shape[1:])
    return found


def splits(lab):
    """Of photo numbers, 7:3; whole groups of near-duplicates on one side."""
    parts = []
    for seed in range(lab.several(10, 2)):
        train, test = lab.photos.split(seed)
        parts.append({"seed": seed, "train": train, "test": test})
    return parts


def fingerprint(lab):
    """Of the photos as methods see them."""
    return lab.photos.fingerprint + (f"-{lab.crop}" if lab.crop else "")


def export(lab, folder):
    """The folder that bench/rivals/run.py learns from, on this machine or another."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from error
    photos = lab.photos
    about = {"classes": photos.classes(), "positive": photos.classes()[-1], "copies": COPIES,
             "fingerprint": fingerprint(lab), "crop": lab.crop or "none",
             "photos": [{"file": file, "label": label, "group": group}
                        for file, label, group in zip(photos.files, photos.targets, photos.groups)],
             "splits": splits(lab)}
    for side in (OURS, DEEP):
        np.save(folder / f"pixels-{side}.npy", pixels(lab, side, lab.crop))
    (folder / "photos.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
