"""Models as files, bytes and pickles: the files are those of the command-line tool and of the C library."""
import os
import pickle
import tempfile

import numpy as np

import broad

random = np.random.default_rng(5)
rows = random.normal(size=(300, 4))
label = np.where(rows[:, 0] * rows[:, 1] > 0, "same", "opposite")
model = broad.BroadClassifier().fit(rows, label)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "signs.broad")
    model.save(path)                       # broad predict signs.broad NEW.csv
    print(os.path.basename(path), "loaded:", broad.load(path))
print("%d bytes, or %d if random weights are drawn again" % (len(model.to_bytes()), len(model.to_bytes(compact=True))))
again = pickle.loads(pickle.dumps(model))
print("the same scores:", (again.decision_function(rows) == model.decision_function(rows)).all())
