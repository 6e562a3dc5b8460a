"""Rows that come in parts: partial_fit keeps the nodes and makes the weights those of all rows so far."""
import numpy as np

from broad import BroadClassifier

random = np.random.default_rng(4)
centre = random.normal(scale=2, size=(4, 6))


def some_rows(count):
    label = random.integers(0, 4, count)
    return centre[label] + random.normal(scale=1.5, size=(count, 6)), label


test_rows, test_label = some_rows(1000)
model = BroadClassifier(features="5x10", enhance="50x2")
for part in range(5):
    model.partial_fit(*some_rows(60), classes=[0, 1, 2, 3])
    print("after %3d rows: accuracy %.3f" % (60 * (part + 1), model.score(test_rows, test_label)))
