"""A table of pandas: text becomes categories, gaps are missing values, and the model says which columns it looks at."""
import sys

try:
    import pandas
except ImportError:
    sys.exit(77)
import numpy as np

from broad import BroadRegressor

random = np.random.default_rng(2)
table = pandas.DataFrame({"area": random.uniform(30, 200, 400), "year": random.integers(1900, 2020, 400).astype(float),
                          "place": random.choice(["city", "suburb", "village"], 400), "door": random.integers(1, 99, 400)})
price = table["area"] * table["place"].map({"city": 6.0, "suburb": 4.0, "village": 2.5}) + (table["year"] - 1900) / 4
table.loc[::17, "year"] = np.nan

model = BroadRegressor().fit(table, price)
print("R2 on new rows, estimated: %.3f" % model.loo_score_)
for name, share in sorted(zip(model.feature_names_in_, model.feature_importances_), key=lambda pair: -pair[1]):
    print("%-8s %3.0f %%" % (name, 100 * share))
