"""Classes with probabilities, and how good they are on new rows without a test set."""
import numpy as np

from broad import BroadClassifier

random = np.random.default_rng(0)
angle, noise = random.uniform(0, np.pi, 600), random.normal(scale=0.2, size=(600, 2))
moon = np.arange(600) % 2
rows = np.c_[np.cos(angle), np.sin(angle)] * np.where(moon, -1, 1)[:, None] + np.outer(moon, [1, 0.5]) + noise
label = np.where(moon, "lower", "upper")

model = BroadClassifier().fit(rows[:400], label[:400])
print("estimated by leave-one-out: %.3f" % model.loo_score_)
print("on 200 other rows:          %.3f" % model.score(rows[400:], label[400:]))
print("classes", model.classes_, "of a point between them:", model.predict_proba([[0.5, 0.25]]).round(2))
