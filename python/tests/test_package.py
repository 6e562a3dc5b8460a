"""The Python package: the bits of the tool, any layout of arrays, weights, pandas, growth, files, errors, Ctrl-C."""
import base64
import concurrent.futures
import json
import os
import pickle
import signal
import unittest

from package_test import FAST, INSTRUMENTS, Case, blobs, broad, np, wave


class Bits(Case):
    def test_same_model_as_the_tool(self):
        """The file of the tool's fit and the one that save() writes predict the same bits; so do tool and package."""
        for classify in (True, False):
            x, y = (blobs if classify else wave)(120)
            names = ["a%d" % j for j in range(x.shape[1])]
            target = ["c%d" % c for c in y] if classify else [repr(float(v)) for v in y]
            data = self.write_table("rows.csv", x, target)
            options = ["--effort", "fast", "--features", "4x10", "--enhance", "20x2", "--max-layers", "2"]
            self.tool("fit", data, "-o", self.path("tool.broad"), "-q", "--task", "classify" if classify else "regress", *options)
            estimator = (broad.BroadClassifier if classify else broad.BroadRegressor)(**FAST)
            frame = np.array(x)
            estimator.fit(frame, np.array(target) if classify else y)
            estimator.save(self.path("package.broad"))
            theirs = broad.load(self.path("tool.broad"))
            self.assertEqual(list(theirs.feature_names_in_), names)
            fresh = np.random.default_rng(1).normal(size=(50, 4))
            theirs.__dict__.pop("feature_names_in_")
            np.testing.assert_array_equal(theirs._scores(fresh), estimator._scores(fresh))
            printed = self.tool("predict", self.path("package.broad"), self.write_table("new.csv", fresh, target[:50]))
            last = [line.split(",")[1] for line in printed.strip().split("\n")[1:]]
            if classify:
                self.assertEqual(last, list(estimator.predict(fresh)))
            else:
                np.testing.assert_array_equal([float(value) for value in last], estimator.predict(fresh))

    def test_layouts(self):
        """Any strides, orders and types: the numbers count, not where they lie."""
        x, y = wave()
        whole = np.random.default_rng(3).normal(size=(2 * len(x), 11))
        whole[::2, 1:9:2] = x
        model = broad.BroadRegressor(**FAST).fit(x, y)
        expected = model.predict(x)
        frozen = x.copy()
        frozen.flags.writeable = False
        for same in (np.asfortranarray(x), whole[::2, 1:9:2], x[::-1][::-1], np.array(x[::-1])[::-1], frozen,
                     x.astype(">f8"), x.tolist(), x.astype(object)):
            np.testing.assert_array_equal(model.predict(same), expected)
            np.testing.assert_array_equal(broad.BroadRegressor(**FAST).fit(same, y).predict(x), expected)
        single = x.astype(np.float32)
        np.testing.assert_array_equal(model.predict(single), model.predict(single.astype(float)))
        many = np.tile(x, (40, 1))
        np.testing.assert_array_equal(model.predict(many), np.tile(expected, 40))
        small = np.arange(40, dtype=np.uint8).reshape(10, 4)
        np.testing.assert_array_equal(model.predict(small), model.predict(small.astype(float)))

    def test_importances(self):
        """Those of a learned metric, one for each column; without a metric there are none, rather than equal ones."""
        random = np.random.default_rng(4)
        x = random.normal(size=(800, 5))
        y = np.sin(2 * x[:, 1]) + 0.1 * random.normal(size=800)
        model = broad.BroadRegressor(**FAST).fit(x, y)
        self.assertEqual(len(model.feature_importances_), 5)
        self.assertAlmostEqual(model.feature_importances_.sum(), 1)
        self.assertEqual(model.feature_importances_.argmax(), 1)
        for words, rows in ({"preset": "paper", "features": (2, 10)}, 800), (FAST, 100):
            plain = broad.BroadRegressor(**{"enhance": (10, 2), **words}).fit(x[:rows], y[:rows])
            self.assertFalse(hasattr(plain, "feature_importances_"))
            with self.assertRaisesRegex(AttributeError, "without a learned metric.*permutation_importance"):
                plain.feature_importances_

    def test_weights(self):
        """Rows of weight 0 are no rows; rows in another order are the same rows."""
        x, y = blobs()
        moved = np.random.default_rng(5).permutation(2 * len(y))
        two, other, weights = np.vstack([x, x + 1])[moved], np.r_[y, 2 - y][moved], np.r_[np.ones(len(y)), np.zeros(len(y))][moved]
        first = broad.BroadClassifier(**FAST).fit(x, y)
        second = broad.BroadClassifier(**FAST).fit(two, other, sample_weight=weights)
        np.testing.assert_allclose(first.decision_function(x), second.decision_function(x), rtol=1e-9, atol=1e-11)
        for wrong in (-np.ones(len(y)), np.zeros(len(y)), np.full(len(y), np.nan), np.ones((len(y), 2)), np.ones(3)):
            with self.assertRaises(ValueError):
                first.fit(x, y, sample_weight=wrong)


class Conventions(Case):
    def test_parameters(self):
        model = broad.BroadClassifier(preset="chain", lambda_=1e-3, random_state=4)
        self.assertEqual(repr(model), "BroadClassifier(lambda_=0.001, preset='chain', random_state=4)")
        x, y = wave()
        one, other = (broad.BroadRegressor(**FAST, **name).fit(x, y).predict(x) for name in ({"seed": 4}, {"random_state": 4}))
        np.testing.assert_array_equal(one, other)
        self.assertEqual(broad.BroadClassifier(**model.get_params()).get_params(), model.get_params())
        self.assertIs(model.set_params(kind="bls"), model)
        with self.assertRaisesRegex(ValueError, "Invalid parameter 'deep'"):
            model.set_params(deep=3)
        for name in model.get_params():
            self.assertIn(name + " : ", broad.BroadClassifier.__doc__)
        self.assertNotIn("class_weight", broad.BroadRegressor().get_params())
        x, y = wave()
        with self.assertRaisesRegex(broad.UsageError, "lambda"):
            broad.BroadRegressor(lambda_="much").fit(x, y)
        np.testing.assert_array_equal(broad.BroadRegressor(**dict(FAST, features=(4, 10))).fit(x, y).predict(x),
                                      broad.BroadRegressor(**FAST).fit(x, y).predict(x))

    def test_classes(self):
        x, y = blobs()
        texts = np.array(["ü", "b c", "a,b"])[y]
        for labels in (texts, texts.astype(object), y + 10, y.astype(float), y - 1):
            model = broad.BroadClassifier(**FAST).fit(x, labels)
            np.testing.assert_array_equal(model.classes_, np.unique(labels))
            np.testing.assert_array_equal(model.classes_[model.predict_proba(x).argmax(1)], model.predict(x))
            np.testing.assert_array_equal(model.classes_[model.decision_function(x).argmax(1)], model.predict(x))
            self.assertGreater(model.score(x, labels), 0.8)
        two = y > 0
        model = broad.BroadClassifier(class_weight={True: 1, False: 5}, **FAST).fit(x, two)
        np.testing.assert_array_equal(model.decision_function(x) > 0, model.predict(x))
        self.assertAlmostEqual(model.loo_score_, model.estimate_["accuracy"])

    def test_several_targets_and_intervals(self):
        x, y = wave(150)
        model = broad.BroadRegressor(**FAST).fit(x, np.c_[y, -y])
        self.assertEqual(model.predict(x).shape, (150, 2))
        self.assertEqual(model.predict_interval(x).shape, (150, 2, 2))
        model.fit(x, y)
        low, high = model.predict_interval(x, level=0.8).T
        self.assertGreater(np.mean((low <= y) & (y <= high)), 0.7)
        self.assertFalse(hasattr(broad.BroadRegressor(preset="paper"), "predict_interval"))
        self.assertFalse(hasattr(broad.BroadRegressor(preset="paper", enhance="5x2").fit(x, y), "predict_interval"))

    def test_pandas_and_scipy(self):
        try:
            import pandas
            import scipy.sparse
        except ImportError:
            self.skipTest("pandas or scipy is not installed")
        x, y = blobs(120)
        frame = pandas.DataFrame(x, columns=list("abcd"))
        frame["kind"] = pandas.Categorical(np.array(["red", "green", "blue"])[y])
        frame["text"] = np.array(["yes", "no"])[y % 2]
        frame.loc[3, "a"] = np.nan
        model = broad.BroadClassifier(**FAST).fit(frame, y)
        self.assertEqual(list(model.feature_names_in_), list(frame.columns))
        self.assertGreater(model.score(frame, y), 0.95)
        model.save(self.path("m.broad"))
        again = broad.load(self.path("m.broad"))
        self.assertEqual(list(again.feature_names_in_), list(frame.columns))
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
        model.predict(frame.assign(kind="never seen"))
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            model.predict(frame.rename(columns={"a": "z"}))
        with self.assertWarnsRegex(UserWarning, "does not have valid feature names"):
            broad.BroadClassifier(**FAST).fit(frame[list("abcd")], y).predict(x)
        # Further rows have further levels; dates and marks for missing numbers are numbers.
        model = broad.BroadClassifier(**FAST).partial_fit(frame[:60], y[:60])
        more = frame[60:].assign(kind=["violet"] * 60)
        model.partial_fit(more, y[60:])
        self.assertEqual(model._model.categories[0], ("kind", ["blue", "green", "red", "violet"]))
        self.assertGreater(model.score(frame[:60], y[:60]), 0.9)
        days = pandas.DataFrame({"day": pandas.date_range("2020-01-01", periods=120), "count": pandas.array(y, dtype="Int64")})
        days.loc[5, "count"] = pandas.NA
        plain = np.c_[18262.0 + np.arange(120), y]
        plain[5, 1] = np.nan
        np.testing.assert_array_equal(broad.BroadClassifier(**FAST).fit(days, y).decision_function(days),
                                      broad.BroadClassifier(**FAST).fit(plain, y).decision_function(plain))
        sparse = scipy.sparse.csr_matrix(np.where(x > 0.5, x, 0))
        model = broad.BroadClassifier(**FAST).fit(sparse, y)
        np.testing.assert_array_equal(model.predict(sparse), model.predict(sparse.toarray()))


    def test_missing_categories(self):
        """A model of the tool has a level for missing categories: None is that one, as in the tool."""
        r = np.random.default_rng(4)
        colours = r.choice(["red", "blue", ""], 90)
        numbers = r.normal(size=90).tolist()
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write("a,colour,y\n" + "".join("%r,%s,%r\n" % (a, c, a + (c == "") * 2) for a, c in zip(numbers, colours)))
        self.tool("fit", self.path("t.csv"), "-o", self.path("m"), "--target", "y", "-q", "--effort", "fast")
        said = [float(line.split(",")[1]) for line in self.tool("predict", self.path("m"), self.path("t.csv"), "-q").splitlines()[1:]]
        rows = np.array([numbers, [c or None for c in colours]], dtype=object).T
        with self.assertWarns(UserWarning):  # they have no names
            np.testing.assert_array_equal(broad.load(self.path("m")).predict(rows), said)

    def test_tags(self):
        """What scikit-learn 1.6 and later ask for, by classes with the fields of theirs."""
        stub = """
import sys, types
from dataclasses import dataclass, field
utils = types.ModuleType("sklearn.utils")
def add(name, **fields):
    made = dataclass(type(name, (), dict({"__annotations__": {f: object for f in fields}}, **{f: v for f, v in fields.items() if v is not ...})))
    setattr(utils, name, made)
add("InputTags", one_d_array=False, two_d_array=True, three_d_array=False, sparse=False, categorical=False, string=False, dict=False,
    positive_only=False, allow_nan=False, pairwise=False)
add("TargetTags", required=..., one_d_labels=False, two_d_labels=False, positive_only=False, multi_output=False, single_output=True)
add("ClassifierTags", poor_score=False, multi_class=True, multi_label=False)
add("RegressorTags", poor_score=False)
add("Tags", estimator_type=..., target_tags=..., transformer_tags=None, classifier_tags=None, regressor_tags=None, array_api_support=False,
    no_validation=False, non_deterministic=False, requires_fit=True, _skip_test=False, input_tags=None)
sys.modules["sklearn"], sys.modules["sklearn.utils"] = types.ModuleType("sklearn"), utils
import broad
for made in (broad.BroadClassifier(), broad.BroadRegressor()):
    t = made.__sklearn_tags__()
    print(t.estimator_type, t.target_tags.required, t.target_tags.multi_output, t.target_tags.single_output, t.input_tags.allow_nan,
          t.input_tags.sparse, t.classifier_tags is not None, t.regressor_tags is not None)
"""
        self.assertEqual(self.python(stub), "classifier True False True True True True False\nregressor True True True True True False True\n")


class Models(Case):
    def test_without_a_layer(self):
        """Inputs that never change: no layer is kept, and what was done is not advised again."""
        for estimator, y, method in ((broad.BroadClassifier, np.arange(60) % 2, "predict_proba"),
                                     (broad.BroadRegressor, np.arange(60) % 7 + 0.5, "predict_interval")):
            model = estimator(loo="yes").fit(np.ones((60, 2)), y)
            self.assertEqual(model.n_layers_, 0)
            with self.assertRaisesRegex(AttributeError, "no layer, as none explained the targets.*%s needs .layer 1: no draw" % method):
                getattr(model, method)

    def test_growth(self):
        x, y = wave(150)
        model = broad.BroadRegressor(**FAST).fit(x, y)
        nodes = model.n_nodes_
        self.assertTrue(model.verify(x, y)["holds"])
        self.assertEqual(model.verify(x, y)["since_layer"], 1)
        self.assertFalse(model.verify(x, -y)["holds"])
        model.set_params(max_layers=None).add_enhancement(nodes=10, layers=2)
        self.assertEqual(model.n_nodes_, nodes + 20)
        loaded = broad.from_bytes(model.to_bytes())
        loaded.add_features(x, y, 1, 5, 10)
        self.assertEqual(loaded.n_nodes_, nodes + 20 + 15)
        with self.assertRaisesRegex(broad.DataError, "row"):
            loaded.add_enhancement(x[1:], y[1:])
        with self.assertRaisesRegex(ValueError, "are not here"):
            loaded.partial_fit(x, y)

    def test_partial_fit(self):
        x, y = blobs(240)
        parts = broad.BroadClassifier(**FAST)
        for first in range(0, 240, 80):
            parts.partial_fit(x[first:first + 80], y[first:first + 80], classes=[0, 1, 2, 3])
        self.assertEqual(parts.predict_proba(x).shape, (240, 4))
        self.assertGreater(parts.score(x, y), 0.85)
        self.assertEqual(parts._model.rows, 240)
        again = pickle.loads(pickle.dumps(parts))
        again.partial_fit(x[:5] + 9, [3] * 5)
        self.assertEqual(list(again.predict(x[:5] + 9)), [3] * 5)
        # The nodes of the first rows with the weights of all: a ridge regression over all rows, whichever came first.
        values = wave(200)
        model = broad.BroadRegressor(**FAST).fit(values[0][:150], values[1][:150])
        self.assertEqual(model.partial_fit(values[0][150:], values[1][150:])._model.rows, 200)

    def test_partial_fit_of_one_class_first(self):
        """Rows of one class wait for a second; then the model is the one of all rows."""
        x, y = blobs(240)
        names = np.array(["a", "b", "c"])[y]
        x, names = x[np.argsort(y, kind="stable")], names[np.argsort(y, kind="stable")]
        with self.assertRaisesRegex(ValueError, "one class only.*classes="):
            broad.BroadClassifier(**FAST).partial_fit(x[:20], names[:20])
        model = broad.BroadClassifier(**FAST)
        model.partial_fit(x[:20], names[:20], classes=["c", "a", "b"]).partial_fit(x[20:60], names[20:60])
        self.assertTrue(model.__sklearn_is_fitted__())
        self.assertEqual(list(model.predict(x[:7])), ["a"] * 7)
        np.testing.assert_array_equal(model.predict_proba(x[:2]), [[1, 0, 0], [1, 0, 0]])
        self.assertEqual((list(model.classes_), model.n_features_in_), (["a", "b", "c"], x.shape[1]))
        with self.assertRaisesRegex(ValueError, "not fitted"):
            model.add_enhancement(x[:60], names[:60])
        with self.assertRaisesRegex(ValueError, "features"):
            model.partial_fit(x[:, 1:], names)
        with self.assertRaisesRegex(ValueError, "not in classes"):
            model.partial_fit(x[:2], ["a", "z"], classes=["a", "b", "c"])
        model = pickle.loads(pickle.dumps(model))
        model.partial_fit(x[60:130], names[60:130])
        whole = broad.BroadClassifier(**FAST).fit(x[:130], names[:130])
        np.testing.assert_array_equal(model.predict(x), whole.predict(x))
        self.assertEqual(model.predict_proba(x).shape, (240, 3))
        self.assertGreater(model.partial_fit(x[130:], names[130:]).score(x, names), 0.85)

    def test_files_and_pickles(self):
        x, y = blobs()
        model = broad.BroadClassifier(**FAST).fit(x, y)
        scores = model.decision_function(x)
        for same in (pickle.loads(pickle.dumps(model)), broad.from_bytes(model.to_bytes()),
                     broad.BroadClassifier.from_bytes(model.to_bytes(compact=True))):
            np.testing.assert_array_equal(same.decision_function(x), scores)
            np.testing.assert_array_equal(same.classes_, model.classes_)
        with self.assertRaisesRegex(ValueError, "task classify"):
            broad.BroadRegressor.from_bytes(model.to_bytes())
        with self.assertRaises(broad.ModelError):
            broad.from_bytes(b"no model")
        with self.assertRaises(FileNotFoundError):
            broad.load(self.path("nothing.broad"))
        with self.assertRaises(broad.FileError):
            model.save(self.path("no/such/folder"))
        self.assertIn("layers", model.certificate_)

    def test_golden_pickles(self):
        """Those of 0.2 load and predict what they did."""
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden_pickles.json"), encoding="utf-8") as file:
            golden = json.load(file)
        for name in ("classifier", "regressor"):
            model = pickle.loads(base64.b64decode(golden[name]["pickle"]))
            np.testing.assert_array_equal(model.predict(golden["rows"]), golden[name]["predicted"])
            self.assertEqual(model.get_params()["kind"], "rvfl")

    def test_threads_and_fork(self):
        x, y = blobs(600)
        model = broad.BroadClassifier(**FAST).fit(x, y)
        expected = model.predict_proba(x)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for found in pool.map(lambda _: model.predict_proba(x), range(64)):
                np.testing.assert_array_equal(found, expected)
        if "address" in INSTRUMENTS:
            return  # its allocator may be locked by a thread that is ending: the child would hang in it
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if (model.predict_proba(x) == expected).all() else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Photos(Case):
    def test_as_the_tool(self):
        """The tool's model of the same photos gives the same verdicts; probabilities and distances have the same bits."""
        folder = self.path("panels")
        self.tool("render", folder, "--count", "24", "--size", "64", "-q")
        self.tool("fit", folder, "-o", self.path("m.broad"), "-q", "--effort", "fast")
        theirs = broad.photos.load(self.path("m.broad"))
        model = broad.photos.train(folder, effort="fast")
        verdicts = model.judge([os.path.join(folder, "Clean"), os.path.join(folder, "Dusty")])
        self.assertEqual(verdicts[0]["file"], os.path.join(folder, "Clean", "000001.jpg"))
        self.assertEqual(len(verdicts), 24)
        for one, other in zip(verdicts, theirs.judge([verdict["file"] for verdict in verdicts])):
            for name in ("file", "label", "probabilities", "distance", "faults"):
                self.assertEqual(one[name], other[name])
        heat = model.heat_map(verdicts[0]["file"], "Dusty")
        np.testing.assert_array_equal(heat, -model.heat_map(verdicts[0]["file"], "Clean"))
        with self.assertRaises(FileNotFoundError):
            model.judge(self.path("no.jpg"))
        with self.assertRaisesRegex(TypeError, "depth"):
            broad.photos.train(folder, depth=3)


class Calls(Case):
    def test_import(self):
        """It brings neither numpy nor scikit-learn."""
        self.assertEqual(self.python("import sys, broad; print('numpy' in sys.modules, 'sklearn' in sys.modules)"), "False False\n")

    def test_progress(self):
        x, y = wave(400)
        seen = []
        model = broad.BroadRegressor(effort="fast").fit(x, y, progress=lambda *report: seen.append(report))
        self.assertTrue(seen)
        self.assertEqual(len(seen[0]), 6)
        self.assertEqual(model.outcome_, "complete")
        with self.assertRaises(ZeroDivisionError):
            model.fit(x, y, progress=lambda *report: 1 // 0)
        with self.assertRaises(broad.InterruptedRunError):
            model.fit(x, y, progress=lambda *report: True)

    def test_ctrl_c(self):
        source = ("import _thread, threading, time, broad, numpy as np\n"
                  "x = np.random.default_rng(0).normal(size=(20000, 40)); y = np.sin(x).sum(1)\n"
                  "threading.Timer(0.5, _thread.interrupt_main).start()\n"
                  "began = time.monotonic()\n"
                  "try: broad.BroadRegressor(features='10x100', enhance='100x50').fit(x, y)\n"
                  "except KeyboardInterrupt: print('ended')\n"
                  "assert time.monotonic() - began < 30\n")
        self.assertEqual(self.python(source), "ended\n")

    def test_errors(self):
        x, y = blobs()
        model = broad.BroadClassifier(**FAST)
        with self.assertRaisesRegex(AttributeError, "not fitted"):
            model.predict(x)
        model.fit(x, y)
        for wrong, text in ((x[:, :2], "expecting 4 features"), (x[0], "Reshape your data"), (x[:0], "0 sample"),
                            (np.where(x > 1, np.inf, x), "row 1, input 1: inf"),
                            (np.vstack([np.tile(x, (9, 1)), x * np.inf]), "row 811, input 1: "), (x + 1j, "Complex")):
            with self.assertRaisesRegex(ValueError, text):
                model.predict(wrong)
        for wrong, text in (([0, 1], "inconsistent"), (y + 0.5, "Unknown label type"), (None, "requires y"), (y * 0, "one class")):
            with self.assertRaisesRegex(ValueError, text):
                model.fit(x, wrong)
        with self.assertRaisesRegex(broad.DataError, "row 1, input 1"):
            model.fit(np.full_like(x, np.inf), y)
        self.assertTrue(issubclass(broad.DataError, (broad.Error, ValueError)))


if __name__ == "__main__":
    unittest.main(argv=["test_package"])
