"""The folder that the experiment `tables` exports: photos.json, pixels-64.npy and pixels-128.npy."""
import json
import types

import numpy as np
import torch

from bench.images.photos import Photos
from bench.tool import Failure

APART = 0.25  # of the training photos, to choose a rate with


class Folder:
    def __init__(self, path):
        self.path = path
        try:
            about = json.loads((path / "photos.json").read_text(encoding="utf-8"))
            photos = about["photos"]
            self.classes, self.positive, self.copies = about["classes"], about["positive"], about["copies"]
            self.labels, self.groups = ([photo[name] for photo in photos] for name in ("label", "group"))
            self.splits = {split["seed"]: (split["train"], split["test"]) for split in about["splits"]}
            self.fingerprint = about["fingerprint"]
        except FileNotFoundError as error:
            raise Failure(f"{path / 'photos.json'} is not there; make the folder with 'lab/run_experiments tables "
                          f"--export {path}'") from error
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(f"{path / 'photos.json'}: not as 'lab/run_experiments tables --export' writes it ({error!r})"
                          ) from error
        self.pixels = {}

    def images(self, side):
        """Not read before rows are taken."""
        if side not in self.pixels:
            file = self.path / f"pixels-{side}.npy"
            try:
                pixels = np.load(file, mmap_mode="r")
            except (OSError, ValueError) as error:
                raise Failure(f"{file}: {error}") from error
            wanted = (len(self.labels), 1 + self.copies, side, side, 3)
            if pixels.shape != wanted or pixels.dtype != np.uint8:
                raise Failure(f"{file}: {pixels.dtype} {pixels.shape}, not uint8 {wanted} as photos.json says")
            self.pixels[side] = pixels
        return self.pixels[side]

    def apart(self, split):
        """Training photos without some, and these some: whole groups, as the splits themselves are made."""
        known = types.SimpleNamespace(files=self.labels, targets=self.labels, groups=self.groups)
        return Photos.split(known, split, APART, self.splits[split][0])

    def rows(self, numbers, side, flat, copies, device):
        """Inputs in [0, 1] and classes of photos, with their augmented copies or without."""
        count = 1 + self.copies if copies else 1
        pixels = np.ascontiguousarray(self.images(side)[numbers, :count])
        inputs = torch.from_numpy(pixels).to(device).float().div_(255).reshape(len(numbers) * count, side, side, 3)
        labels = torch.tensor([self.classes.index(self.labels[i]) for i in numbers], device=device)
        return (inputs.flatten(1) if flat else inputs), labels.repeat_interleave(count)
