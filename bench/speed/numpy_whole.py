"""The whole of `broad fit` as a script in numpy: load, train, accuracy on the training rows, save.

usage: numpy_whole.py numpy|in-place|scikit-learn X.npy Y.npy CLASSES LAYERS OUT

In place: without a new array a step. With scikit-learn: its Ridge solves for the weights of a layer.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy_chain  # noqa: E402


def ridge(k, e):
    from sklearn.linear_model import Ridge
    return Ridge(alpha=numpy_chain.LAMBDA, fit_intercept=False, solver="cholesky").fit(k, e).coef_.T


def main():
    how, data, labels, classes, layers, out = sys.argv[1:]
    x, truth = np.load(data), np.load(labels)
    if how == "scikit-learn":
        numpy_chain.solve = ridge
    make = numpy_chain.nodes if how == "numpy" else numpy_chain.nodes_in_place
    network = numpy_chain.fit(x, np.eye(int(classes))[truth], int(layers), make=make)
    print(np.mean(numpy_chain.scores(network, x).argmax(axis=1) == truth))
    arrays = [*network[0], *(array for weights, output in network[1] for array in (*weights, output))]
    if how == "scikit-learn":
        import joblib
        joblib.dump(arrays, out)
    else:
        np.savez(out, *arrays)


if __name__ == "__main__":
    main()
