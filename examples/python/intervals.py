"""Predicted values with intervals that contain nine of ten new ones."""
import numpy as np

from broad import BroadRegressor

random = np.random.default_rng(1)
rows = random.uniform(-3, 3, size=(500, 3))
value = np.sin(rows[:, 0]) * rows[:, 1] + 0.3 * random.normal(size=500)

model = BroadRegressor().fit(rows[:300], value[:300])
low, high = model.predict_interval(rows[300:], level=0.9).T
inside = np.mean((low <= value[300:]) & (value[300:] <= high))
print("R2 %.3f, estimated %.3f" % (model.score(rows[300:], value[300:]), model.loo_score_))
print("%.0f %% of the new values are inside of the intervals of 90 %%" % (100 * inside))
