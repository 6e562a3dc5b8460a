"""Memory over many fits and predictions.

usage: growth.py ROUNDS      prints one JSON object: KiB that the process holds after a tenth of the rounds and at the end, and its peaks
"""
import json
import sys

from overhead import memory


def run(rounds):
    import numpy as np

    from broad import BroadClassifier, BroadRegressor
    x = np.random.default_rng(0).normal(size=(40, 4))
    few = {"kind": "rvfl", "enhance": "5x1", "lambda_": 1e-3, "threads": 1}
    models = [(BroadRegressor(**few), x[:, 0] * x[:, 1]), (BroadClassifier(**few), np.where(x[:, 0] > 0, "up", "down"))]
    found = {"rounds": rounds}
    for i in range(rounds):
        model, y = models[i % 2]
        model.fit(x, y).predict(x)
        if i + 1 == rounds // 10:
            found.update(early=memory("VmRSS:"), early_peak=memory("VmHWM:"))
    return {**found, "late": memory("VmRSS:"), "late_peak": memory("VmHWM:")}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]))))
