"""Methods of scikit-learn, with settings that are usual for them; none is tuned to a table by hand.

Every method gets inputs scaled to unit deviation, with means for missing values; SVM and MLP also targets of unit
deviation in a regression. Whatever a method searches for by itself counts as training.
"""
import csv
import time

import joblib
import numpy as np
import sklearn
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from bench.tables.splits import is_missing

VERSION = f"scikit-learn {sklearn.__version__}"
ALPHAS = np.logspace(-3, 4, 15)
COSTS, GAMMAS, FOLDS, TUBES = (1, 10, 100, 1000), (0.03, 0.1, 0.3, 1, 3), 3, (0.1, 0.01)
TREES, MLP_ITERATIONS, CACHE_MB = 300, 1000, 500


class TubeSearch(GridSearchCV):
    """C and gamma with the usual tube of 0.1 first, then the tube: a table with little noise needs a thinner one."""

    def fit(self, X, y=None, **more):
        super().fit(X, y, **more)
        best = {name: [value] for name, value in self.best_params_.items()}
        tubes = GridSearchCV(self.estimator, {**best, "epsilon": TUBES}, cv=self.cv, scoring=self.scoring,
                             n_jobs=self.n_jobs).fit(X, y)
        self.best_estimator_, self.best_params_ = tubes.best_estimator_, tubes.best_params_
        return self


def make_svm(classify, inputs, seed, threads):
    grid = {"C": COSTS, "gamma": [gamma / inputs for gamma in GAMMAS]}
    if classify:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        return GridSearchCV(SVC(cache_size=CACHE_MB), grid, cv=folds, n_jobs=threads)
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    return TubeSearch(SVR(cache_size=CACHE_MB), grid, cv=folds, scoring="neg_mean_squared_error", n_jobs=threads)


def make_forest(classify, inputs, seed, threads):
    kind = RandomForestClassifier if classify else RandomForestRegressor
    return kind(TREES, random_state=seed, n_jobs=threads)


def make_boosting(classify, inputs, seed, threads):
    return (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=seed)


def make_mlp(classify, inputs, seed, threads):
    return (MLPClassifier if classify else MLPRegressor)(max_iter=MLP_ITERATIONS, random_state=seed)


def make_ridge(classify, inputs, seed, threads):
    return (RidgeClassifierCV if classify else RidgeCV)(alphas=ALPHAS)


MAKERS = {"svm": make_svm, "forest": make_forest, "boosting": make_boosting, "mlp": make_mlp, "ridge": make_ridge}


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))[1:]
    inputs = np.array([[float("nan") if is_missing(cell) else float(cell) for cell in row[:-1]] for row in rows])
    return inputs, np.array([row[-1] for row in rows])


def score(predicted, truth, classify):
    if classify:
        return float(np.mean(predicted == truth))
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def measure(method, task, train, test, seed, threads):
    """Accuracy or RMSE on the test file, and the time of training: by the clock, and by all threads together."""
    classify = task == "classify"
    (x, y), (x_test, y_test) = read(train), read(test)
    if not classify:
        y, y_test = y.astype(float), y_test.astype(float)
    model = MAKERS[method](classify, x.shape[1], seed, threads)
    if not classify and method in ("svm", "mlp"):
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    model = make_pipeline(SimpleImputer(), StandardScaler(), model)
    # Threads, not processes: their processor time is this process's, and libsvm runs without the interpreter's lock.
    with joblib.parallel_backend("threading", n_jobs=threads):
        began, began_cpu = time.perf_counter(), time.process_time()
        model.fit(x, y)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        value = score(model.predict(x_test), y_test, classify)
    return {"value": value, "seconds": seconds, "cpu_seconds": cpu_seconds}
