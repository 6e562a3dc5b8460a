"""Methods of scikit-learn and xgboost, with settings that are usual for them; none is tuned to a table by hand.

Every method gets inputs scaled to unit deviation, with means for missing values; SVM and MLP also targets of unit
deviation in a regression. Whatever a method searches for by itself counts as training.
"""
import csv
import dataclasses
import math
import time
import warnings

import joblib
import numpy as np
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (ExtraTreesClassifier, ExtraTreesRegressor, HistGradientBoostingClassifier,
                              HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.metaestimators import available_if

from bench.tables.splits import is_missing

try:
    import xgboost
except ImportError:
    xgboost = None

VERSION = f"scikit-learn {sklearn.__version__}"
ALPHAS = np.logspace(-3, 4, 15)
COSTS, GAMMAS, FOLDS, TUBES = (1, 10, 100, 1000), (0.03, 0.1, 0.3, 1, 3), 3, (0.1, 0.01)
LEAVES, LEAF_ROWS, RATES = (8, 31), (5, 20), (0.05, 0.15)
TREES, MLP_ITERATIONS, STAGES, CACHE_MB = 300, 1000, 1000, 500
HELD_PARTS, HELD_ROWS = 5, 500  # rows held out of training: fifths, until there are this many rows
LEVEL, QUANTILE = 0.9, 1.6448536269514722  # of the intervals, and of the normal distribution for it
SQUARES = "neg_mean_squared_error"
BINS, LEAST_PROBABILITY = 15, 1e-3


@dataclasses.dataclass
class Limits:
    """How many rows a grid search, and the fit with what it found, get at most. None: all."""
    search: int = None
    fit: int = None


class CappedSearch(BaseEstimator):
    """A grid search, then a fit with what it found, each with a limited number of rows. tubes: then those of an SVM for a
    regression, with C and gamma as found with the usual one: a table with little noise needs a thinner one."""

    def __init__(self, estimator, grid, folds, scoring=None, threads=1, search_rows=None, fit_rows=None, tubes=None):
        self.estimator, self.grid, self.folds, self.scoring = estimator, grid, folds, scoring
        self.threads, self.search_rows, self.fit_rows, self.tubes = threads, search_rows, fit_rows, tubes

    def search(self, grid, x, y):
        return GridSearchCV(self.estimator, grid, cv=self.folds, scoring=self.scoring, n_jobs=self.threads,
                            refit=False).fit(x, y).best_params_

    def fit(self, x, y):
        x, y = np.asarray(x), np.asarray(y)
        order = np.random.default_rng(self.folds.random_state).permutation(len(x))
        rows = order[:self.search_rows]
        found = self.search(self.grid, x[rows], y[rows])
        if self.tubes:
            found = self.search({**{name: [value] for name, value in found.items()}, "epsilon": self.tubes}, x[rows], y[rows])
        rows = order[:self.fit_rows]
        self.best_estimator_ = clone(self.estimator).set_params(**found).fit(x[rows], y[rows])
        return self

    def predict(self, x):
        return self.best_estimator_.predict(x)

    @available_if(lambda self: hasattr(self.best_estimator_, "predict_proba"))
    def predict_proba(self, x):
        return self.best_estimator_.predict_proba(x)


def make_svm(classify, inputs, seed, threads, limits=Limits()):
    grid = {"C": COSTS, "gamma": [gamma / inputs for gamma in GAMMAS]}
    common = {"threads": threads, "search_rows": limits.search, "fit_rows": limits.fit}
    if classify:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        return CappedSearch(SVC(cache_size=CACHE_MB, random_state=seed), grid, folds, **common)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    return CappedSearch(SVR(cache_size=CACHE_MB), grid, folds, tubes=TUBES, scoring=SQUARES, **common)


def make_forest(classify, inputs, seed, threads, limits=Limits()):
    kind = RandomForestClassifier if classify else RandomForestRegressor
    return kind(TREES, random_state=seed, n_jobs=threads)


def make_extra(classify, inputs, seed, threads, limits=Limits()):
    return (ExtraTreesClassifier if classify else ExtraTreesRegressor)(TREES, random_state=seed, n_jobs=threads)


def make_boosting(classify, inputs, seed, threads, limits=Limits()):
    return (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=seed)


class CarefulClassifier(HistGradientBoostingClassifier):
    """Has its usual number of stages, and does not stop early, where a class has a single row: none can be put aside."""

    def fit(self, x, y):
        if np.unique(y, return_counts=True)[1].min() < 2:
            self.set_params(max_iter=HistGradientBoostingClassifier().max_iter, early_stopping=False)
        return super().fit(x, y)


def make_boosting_early(classify, inputs, seed, threads, limits=Limits()):
    kind = CarefulClassifier if classify else HistGradientBoostingRegressor
    return kind(random_state=seed, max_iter=STAGES, early_stopping=True)


def make_boosting_grid(classify, inputs, seed, threads, limits=Limits()):
    grid = {"max_leaf_nodes": LEAVES, "min_samples_leaf": LEAF_ROWS, "learning_rate": RATES}
    folds = (StratifiedKFold if classify else KFold)(FOLDS, shuffle=True, random_state=seed)
    return CappedSearch(make_boosting_early(classify, inputs, seed, threads), grid, folds, threads=threads,
                        search_rows=limits.search, fit_rows=limits.fit, scoring=None if classify else SQUARES)


def make_xgboost(classify, inputs, seed, threads, limits=Limits()):
    if xgboost is None:
        raise ModuleNotFoundError("xgboost is not installed (Debian: python3-xgboost)", name="xgboost")
    return (xgboost.XGBClassifier if classify else xgboost.XGBRegressor)(random_state=seed, n_jobs=threads)


def make_mlp(classify, inputs, seed, threads, limits=Limits()):
    return (MLPClassifier if classify else MLPRegressor)(max_iter=MLP_ITERATIONS, random_state=seed)


def make_ridge(classify, inputs, seed, threads, limits=Limits()):
    return (RidgeClassifierCV if classify else RidgeCV)(alphas=ALPHAS)


MAKERS = {"svm": make_svm, "forest": make_forest, "extra": make_extra, "boosting": make_boosting,
          "boosting-early": make_boosting_early, "boosting-grid": make_boosting_grid, "xgboost": make_xgboost,
          "mlp": make_mlp, "ridge": make_ridge}


def version(method):
    return f"xgboost {xgboost.__version__}" if method == "xgboost" and xgboost else VERSION


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))[1:]
    inputs = np.array([[float("nan") if is_missing(cell) else float(cell) for cell in row[:-1]] for row in rows])
    return inputs, np.array([row[-1] for row in rows])


def score(predicted, truth, classify):
    if classify:
        return float(np.mean(predicted == truth))
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def make_model(method, classify, inputs, seed, threads, limits):
    model = MAKERS[method](classify, inputs, seed, threads, limits)
    if not classify and method in ("svm", "mlp"):
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(SimpleImputer(), StandardScaler(), model)


def chosen(model):
    """The pipeline as it was fitted, for other rows, and how many it gets at most: a search keeps what it found."""
    last = model.steps[-1][1]
    inner = getattr(last, "regressor_", last)
    if not isinstance(inner, CappedSearch):
        return clone(model), None
    found = clone(inner.best_estimator_)
    found = TransformedTargetRegressor(found, transformer=StandardScaler()) if inner is not last else found
    return make_pipeline(*(clone(step) for _, step in model.steps[:-1]), found), inner.fit_rows


def held_out(model, x, y, seed):
    """Residuals of rows that the model, with the settings it has found, was not fitted to."""
    residuals = []
    for fitted, held in KFold(HELD_PARTS, shuffle=True, random_state=seed).split(x):
        again, most = chosen(model)
        if most and most < len(fitted):
            fitted = np.random.default_rng(seed).permutation(fitted)[:most]
        residuals.append(y[held] - again.fit(x[fitted], y[fitted]).predict(x[held]))
        if sum(map(len, residuals)) >= HELD_ROWS:
            break
    return np.concatenate(residuals)


def regression_qualities(residuals, held):
    """Of a normal distribution around the prediction, as wide as the residuals of held-out rows."""
    deviation = max(math.sqrt(np.mean(held ** 2)), np.finfo(float).tiny)
    density = -0.5 * (residuals / deviation) ** 2 - math.log(deviation) - 0.5 * math.log(2 * math.pi)
    return {"log_likelihood": float(np.mean(density)), "estimate": deviation,
            "coverage": float(np.mean(np.abs(residuals) <= QUANTILE * deviation))}


def class_qualities(probabilities, truth):
    """Log-likelihood is minus the log loss. A probability of less than a thousandth counts as one."""
    rows = np.arange(len(truth))
    right, verdict = probabilities[rows, truth], probabilities.argmax(1)
    top = probabilities[rows, verdict]
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, (verdict == truth) - top, BINS)
    brier = np.sum((probabilities - np.eye(probabilities.shape[1])[truth]) ** 2) / len(truth)
    return {"log_likelihood": float(np.mean(np.log(np.maximum(right, LEAST_PROBABILITY)))), "brier": float(brier),
            "calibration_error": float(np.abs(gaps).sum() / len(truth))}


def qualities(model, x, y, x_test, y_test, predicted, seed, classify):
    if not classify:
        return regression_qualities(y_test - predicted, held_out(model, x, y, seed))
    return class_qualities(model.predict_proba(x_test), y_test) if hasattr(model, "predict_proba") else {}


def read_both(train, test, classify):
    """Labels as numbers from 0, in alphabetical order; test rows have no others."""
    (x, y), (x_test, y_test) = read(train), read(test)
    if classify:
        labels, y = np.unique(y, return_inverse=True)
        return x, y, x_test, np.searchsorted(labels, y_test)
    return x, y.astype(float), x_test, y_test.astype(float)


def measure(method, task, train, test, seed, threads, limits=Limits(), whole=False):
    """Accuracy or RMSE on the test file, and the time of training: by the clock, and by all threads together. whole: also
    likelihood, coverage and calibration, at a cost that is not part of this time."""
    classify = task == "classify"
    x, y, x_test, y_test = read_both(train, test, classify)
    model = make_model(method, classify, x.shape[1], seed, threads, limits)
    # Threads, not processes: their processor time is this process's, and libsvm runs without the interpreter's lock.
    with joblib.parallel_backend("threading", n_jobs=threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began, began_cpu = time.perf_counter(), time.process_time()
        model.fit(x, y)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        predicted = model.predict(x_test)
        result = {"value": score(predicted, y_test, classify), "seconds": seconds, "cpu_seconds": cpu_seconds}
        if whole:
            result.update(qualities(model, x, y, x_test, y_test, predicted, seed, classify))
    return result
