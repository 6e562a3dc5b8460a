"""Methods of scikit-learn on colour histograms and on small pictures, with settings that are usual for them."""
import time

import joblib
import numpy as np
from PIL import Image
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.tables import rivals

VERSION = rivals.VERSION
HUES, SHADES, LEVELS, TREES = 12, 4, 16, 100


def open_photo(path, side):
    with Image.open(path) as image:
        image.draft("RGB", (side, side))
        return image.convert("RGB")


def histograms(path):
    """Roots of parts: hue, saturation and value together, and each of red, green and blue."""
    image = open_photo(path, 256)
    hsv = np.asarray(image.convert("HSV")).reshape(-1, 3).astype(int)
    joint = (hsv[:, 0] * HUES // 256 * SHADES + hsv[:, 1] * SHADES // 256) * SHADES + hsv[:, 2] * SHADES // 256
    counts = [np.bincount(joint, minlength=HUES * SHADES * SHADES)]
    rgb = np.asarray(image).reshape(-1, 3).astype(int)
    counts += [np.bincount(rgb[:, i] * LEVELS // 256, minlength=LEVELS) for i in range(3)]
    return np.sqrt(np.concatenate(counts) / len(rgb))


def pixels(side):
    def small(path):
        image = open_photo(path, side).resize((side, side), Image.BOX)
        return np.asarray(image, dtype=float).ravel() / 255
    return small


def make_regression_forest(classify, inputs, seed, threads):
    return RandomForestRegressor(TREES, max_features=1 / 3, random_state=seed, n_jobs=threads)


# What each sees, and how it is made.
METHODS = {
    "svm, histograms": (histograms, rivals.make_svm),
    "forest, histograms": (histograms, rivals.make_forest),
    "ridge, 32x32": (pixels(32), rivals.make_ridge),
    "forest, 16x16": (pixels(16), make_regression_forest),
}


class Rivals:
    def __init__(self):
        self.seen = {}

    def rows(self, method, photos, numbers):
        look = METHODS[method][0]
        known = self.seen.setdefault((photos.fingerprint, look if look is histograms else method), {})
        for number in numbers:
            if number not in known:
                known[number] = look(photos.path(number))
        return np.array([known[number] for number in numbers])

    def measure(self, method, photos, train, test, seed, threads):
        """Predictions for the test part, and seconds of training; decoding is not in them."""
        x, x_test = self.rows(method, photos, train), self.rows(method, photos, test)
        targets = [photos.targets[number] for number in train]
        model = METHODS[method][1](isinstance(targets[0], str), x.shape[1], seed, threads)
        model = make_pipeline(StandardScaler(), model)
        with joblib.parallel_backend("threading", n_jobs=threads):
            began = time.perf_counter()
            model.fit(x, targets)
            seconds = time.perf_counter() - began
            return model.predict(x_test).tolist(), seconds
