"""Broad learning: networks of random nodes whose only trained weights come from ridge regression.

    from broad import BroadClassifier

    model = BroadClassifier().fit(X, y)
    model.predict(X_new), model.predict_proba(X_new)
    model.loo_score_              # accuracy on new rows, estimated by leave-one-out
    model.save("model.broad")     # the file of the command-line tool and of the C library

BroadClassifier and BroadRegressor follow the conventions of scikit-learn, which is not needed and never imported.
"""
from ._native import (DataError, Error, FileError, FileMissingError, InternalError, InterruptedRunError, ModelError,
                      OutOfMemoryError, UsageError)
from ._native import version as __version__
from .estimators import BroadClassifier, BroadRegressor, from_bytes, load

__all__ = ["BroadClassifier", "BroadRegressor", "load", "from_bytes", "Error", "UsageError", "DataError", "ModelError",
           "FileError", "FileMissingError", "OutOfMemoryError", "InterruptedRunError", "InternalError"]
