"""The Python package at length: the tools of scikit-learn, processes, memory over many calls, the wheel."""
import os
import pickle
import resource
import subprocess
import sys
import unittest
import warnings

sys.path.insert(0, os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "python", "tests"))
from package_test import FAST, Case, blobs, broad, np, wave  # noqa: E402

try:
    import pandas
    from sklearn.base import clone
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    sys.exit(77)
warnings.simplefilter("ignore")

SOURCE = os.environ.get("BROAD_SOURCE_DIR", ".")


class ScikitLearn(Case):
    def test_tools(self):
        x, y = blobs(150)
        model = broad.BroadClassifier(**FAST)
        self.assertEqual(clone(model).get_params(), model.get_params())
        self.assertGreater(cross_val_score(model, x, y, cv=3, n_jobs=2).mean(), 0.8)
        search = GridSearchCV(make_pipeline(StandardScaler(), model), {"broadclassifier__kind": ["bls", "scn"]}, cv=2, n_jobs=2)
        self.assertGreater(search.fit(x, y).score(x, y), 0.8)
        for ensemble in (BaggingClassifier, AdaBoostClassifier):  # they set random_state
            self.assertGreater(ensemble(clone(model).set_params(seed=1), n_estimators=2).fit(x, y).score(x, y), 0.8)
        frame = pandas.DataFrame(x, columns=list("abcd"))
        pipe = make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough"), model)
        self.assertGreater(pipe.fit(frame, y).score(frame, y), 0.8)
        again = pickle.loads(pickle.dumps(pipe))
        np.testing.assert_array_equal(again.predict_proba(frame), pipe.predict_proba(frame))

    def test_together_with_others(self):
        """Imported before or after libraries with thread pools of their own, it gives the same numbers."""
        use = ("import numpy as np; x = np.random.default_rng(0).normal(size=(700, 5)); "
               "print(broad.BroadRegressor(effort='fast', features='4x10', enhance='50x2').fit(x, x[:, 0] * x[:, 1]).predict(x[:3]).tobytes().hex())")
        expected = self.python("import broad; " + use)
        for other in ("xgboost", "torch", "scipy.linalg"):
            if subprocess.run([sys.executable, "-c", "import " + other], capture_output=True).returncode:
                continue
            for order in ("import broad, %s; ", "import %s, broad; "):
                self.assertEqual(self.python(order % other + use), expected)


class Memory(Case):
    def test_no_growth(self):
        """Many fits, predictions, pickles and failures leave nothing behind."""
        x, y = wave(40)
        model = broad.BroadRegressor(kind="rvfl", enhance="5x1", lambda_=1e-3, loo="no", threads=1)
        bad = np.full_like(x, np.inf)

        def work(times):
            for _ in range(times):
                model.fit(x, y).predict(x)
                pickle.loads(pickle.dumps(model)).predict(np.asfortranarray(x))
                try:
                    model.predict(bad)
                except ValueError:
                    pass

        work(1000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(5000)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print("peak memory grew by %d KiB in 5,000 rounds" % grown)
        self.assertLess(grown, 1024)


class Wheel(Case):
    def test_fresh_environment(self):
        """The wheel installs without a compiler, in an environment of its own."""
        subprocess.run(["make", "wheel"], cwd=SOURCE, check=True, capture_output=True)
        venv = self.path("venv")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv], check=True)
        environment = dict(os.environ, VIRTUAL_ENV=venv, PATH=venv + "/bin", PYTHONPATH="")
        wheel = [name for name in os.listdir(os.path.join(SOURCE, "build")) if name.endswith(".whl")]
        self.assertEqual(len(wheel), 1)
        self.assertIn("-cp311-abi3-", wheel[0])
        python = os.path.join(venv, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", os.path.join(SOURCE, "build", wheel[0])],
                       env=environment, check=True, cwd=self.folder)
        use = "import broad; print(broad.__file__, broad.BroadRegressor().fit([[1.0], [2], [3], [4]], [1, 2, 3, 4]).predict([[2]]))"
        done = subprocess.run([python, "-c", use], env=environment, check=True, capture_output=True, text=True, cwd=self.folder)
        self.assertIn(venv, done.stdout)
        # Below DESTDIR for those who make packages of it; nothing else is touched.
        subprocess.run(["make", "install-python", "DESTDIR=" + self.path("dest"), "PREFIX=/usr"], cwd=SOURCE, check=True, capture_output=True)
        found = [folder for folder, _, files in os.walk(self.path("dest")) if "_native.abi3.so" in files]
        self.assertEqual(len(found), 1)
        done = subprocess.run([sys.executable, "-c", use], env=dict(os.environ, PYTHONPATH=os.path.dirname(found[0])), check=True, capture_output=True,
                              text=True, cwd=self.folder)
        self.assertIn(self.path("dest"), done.stdout)


if __name__ == "__main__":
    unittest.main(argv=["test_python"])
