"""A network that grows: more nodes, then more rows, without being trained again; and its certificate."""
import numpy as np

from broad import BroadRegressor

random = np.random.default_rng(3)
rows = random.normal(size=(900, 5))
value = np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.1 * random.normal(size=900)

model = BroadRegressor(features="5x10", enhance="20x2").fit(rows[:600], value[:600])
print("%d nodes, R2 %.3f" % (model.n_nodes_, model.loo_score_))
model.add_enhancement(nodes=50, layers=3)
print("%d nodes, R2 %.3f" % (model.n_nodes_, model.loo_score_))
verdict = model.verify(rows[:600], value[:600])
print("the certificate of %d layers holds: %s" % (verdict["layers"], verdict["holds"]))
model.partial_fit(rows[600:], value[600:])
print("with 300 more rows, R2 %.3f" % model.loo_score_)
