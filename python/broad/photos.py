"""Photos: networks that tell folders of photos apart, judge new ones, and show where they look.

    from broad import photos

    model = photos.train("panels")                    # panels/Clean/*.jpg, panels/Dusty/*.jpg
    for verdict in model.judge(["roof.jpg"]):
        print(verdict["file"], verdict["label"], verdict["probabilities"])
    model.heat_map("roof.jpg", "Dusty")               # an array: above 0 evidence for it, below 0 against
"""
import os

from . import _native
from .exports import Exported
from .parameters import parameters_of
from .progress import describe, end_progress, show_progress

__all__ = ["train", "load", "PhotoModel"]


def _paths(paths):
    return [os.fsdecode(paths)] if isinstance(paths, (str, bytes, os.PathLike)) else [os.fsdecode(path) for path in paths]


def _file(path):
    return None if path is None else os.fsdecode(path)


def train(paths, *, labels=None, target=None, cache=None, progress=None, verbose=0, **params):
    """Trains on folders of photos; the class of a photo is the folder below the given one that it lies in.

    labels: a CSV file with the columns file and target instead; target: which column, classes or numbers. cache: a
    folder for prepared features. params: as those of BroadClassifier.
    """
    known = {parameter.name: parameter for parameter in parameters_of(True)}
    for name in params:
        if name not in known:
            raise TypeError("train() has no parameter %r" % name)
    options = tuple((known[name].option, known[name].text(params[name])) for name in known
                    if params.get(name) is not None)
    shown, text = progress is None and verbose, ""
    progress = show_progress if shown else progress
    try:
        rows = _native.read_photos(_paths(paths), _file(labels), target, _file(cache), None, progress)
        model = _native.fit(rows, options, progress)
        text = describe(model)
    finally:
        if shown:
            end_progress(text)
    return PhotoModel(model, rows.skipped)


def load(path):
    """The model of photos in a file, as the tool or save() wrote it."""
    return PhotoModel(_native.load(os.fsdecode(path)))


class PhotoModel(Exported):
    """A network for photos. skipped_: files that could not be read, with the reason."""

    def __init__(self, model, skipped=()):
        self._model, self.skipped_ = model, list(skipped)

    def _fitted(self):
        return self._model

    @property
    def classes_(self):
        """The names of the classes; of a regression those of the targets."""
        return list(self._model.outputs)

    @property
    def estimate_(self):
        """How good it is on new photos; near-duplicates are left out together."""
        return self._model.estimate()

    def _read(self, paths, progress=None):
        return _native.read_photos(_paths(paths), None, None, None, self._model, progress)

    def judge(self, paths, *, progress=None):
        """One dictionary for each photo: file, label (or value), probabilities, distance, unlike, faults, ..."""
        import numpy as np
        rows = self._read(paths, progress)
        photos, outputs = rows.photos, self.classes_
        scores = np.empty((len(photos), len(outputs)))
        self._model.predict_photos(rows, scores, progress)
        if self._model.task == "regress":
            for photo, values in zip(photos, scores.tolist()):
                photo["value"] = values[0] if len(values) == 1 else values
            return photos
        numbers = np.empty(len(photos), dtype=np.int64)
        self._model.classes(scores, numbers)
        shares = None
        if self.estimate_ is not None:
            shares = np.empty_like(scores)
            self._model.probabilities(scores, shares)
        for i, photo in enumerate(photos):
            photo["label"] = outputs[numbers[i]]
            photo["probabilities"] = None if shares is None else dict(zip(outputs, shares[i].tolist()))
        return photos

    def heat_map(self, path, label=None):
        """Evidence for the label (default: the verdict), cell by cell from the top: above 0 for it, below 0 against."""
        import numpy as np
        rows, output = self._read(path), 0
        if self._model.task == "classify":
            label = self.judge(path)[0]["label"] if label is None else label
            output = self.classes_.index(label)
        height, width, cells = self._model.explain(rows, 0, output)
        return np.array(cells).reshape(height, width)

    def save(self, path, compact=False):
        """Writes the model file, which the tool and the C library read."""
        self._model.save(os.fsdecode(path), compact)
