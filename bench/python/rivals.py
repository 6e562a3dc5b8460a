"""BroadClassifier() and BroadRegressor() beside methods of scikit-learn as they come, on one split of each table."""
import csv
import time
import warnings

import numpy as np
import sklearn
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from broad import BroadClassifier, BroadRegressor

VERSION = f"scikit-learn {sklearn.__version__}"


def scaled(*steps):
    return make_pipeline(SimpleImputer(), StandardScaler(), *steps)


def regressor(step):
    return TransformedTargetRegressor(scaled(step), transformer=StandardScaler())


METHODS = {
    "broad": lambda classify: (BroadClassifier if classify else BroadRegressor)(threads=1),
    "Nystroem, ridge": lambda classify: scaled(Nystroem(random_state=0), RidgeClassifier() if classify else Ridge()),
    "SVM": lambda classify: scaled(SVC()) if classify else regressor(SVR()),
    "MLP": lambda classify: scaled(MLPClassifier(random_state=0)) if classify else regressor(MLPRegressor(random_state=0)),
    "forest": lambda classify: make_pipeline(SimpleImputer(), (RandomForestClassifier if classify else RandomForestRegressor)(random_state=0)),
    "boosting": lambda classify: (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=0),
}


def read(path, classify):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    x = np.array([[float(cell) if cell not in ("", "NA", "?") else np.nan for cell in row[:-1]] for row in rows])
    target = np.array([row[-1] for row in rows])
    return x, target if classify else target.astype(float)


def measure(make, train, test):
    model = make
    began = time.process_time()
    model.fit(*train)
    fitted = time.process_time()
    score = model.score(*test)
    return {"score": float(score), "fit": fitted - began, "predict": (time.process_time() - fitted) / len(test[1])}


def measure_table(path, most, say):
    classify = path.parent.name == "classification"
    x, y = read(path, classify)
    order = np.random.default_rng(0).permutation(len(y))
    train = min(most, int(0.7 * len(y)))
    some, others = order[:train], order[train:train + most]
    found = {"name": path.stem, "task": "classify" if classify else "regress", "train": len(some), "test": len(others), "inputs": x.shape[1],
             "methods": {}}
    for name, make in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["methods"][name] = measure(make(classify), (x[some], y[some]), (x[others], y[others]))
        say(f"{path.stem}: {name} {found['methods'][name]['score']:.3f} in {found['methods'][name]['fit']:.2f} s")
    return found
