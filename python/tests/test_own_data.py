"""What people have in their tables, and what they are told where it cannot be used."""
import unittest
import warnings

from package_test import FAST, Case, blobs, broad, np, wave


class Tables(Case):
    def setUp(self):
        super().setUp()
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        self.pandas = pandas

    def test_marks_for_missing(self):
        """NA, None and NaN are all missing, in texts, in numbers kept as objects, in whole numbers."""
        x, y = blobs(90)
        pandas, words = self.pandas, np.array(["u", "v"], dtype=object)[y % 2]
        words[5] = None
        frames = [pandas.DataFrame({"a": x[:, 0], "word": column}) for column in
                  (words, pandas.array(words, dtype="string"), pandas.Categorical(words))]
        scores = [broad.BroadClassifier(**FAST).fit(frame, y).decision_function(frame) for frame in frames]
        np.testing.assert_array_equal(scores[0], scores[1])
        np.testing.assert_array_equal(scores[0], scores[2])
        self.assertEqual([broad.BroadClassifier(**FAST).fit(frame, y)._categories for frame in frames], [[(1, ["u", "v"])]] * 3)
        numbers = x[:, 1].astype(object)
        numbers[7] = pandas.NA
        gaps = np.where(np.arange(90) == 7, np.nan, x[:, 1])
        one, other = (broad.BroadClassifier(**FAST).fit(frame, y) for frame in
                      (pandas.DataFrame({"a": x[:, 0], "b": numbers}), pandas.DataFrame({"a": x[:, 0], "b": gaps})))
        self.assertEqual(one._categories, [])
        np.testing.assert_array_equal(one.decision_function(x[:, :2]), other.decision_function(x[:, :2]))

    def test_times(self):
        """Moments in a time zone and spans are days, without a warning for each row."""
        x, y = blobs(90)
        pandas, days = self.pandas, np.arange(90) / 4.0
        moments = pandas.Series(pandas.to_datetime("1970-01-01") + pandas.to_timedelta(days, unit="D"))
        plain = broad.BroadClassifier(**FAST).fit(np.c_[x[:, 0], days], y).decision_function(np.c_[x[:, 0], days])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for column in (moments, moments.dt.tz_localize("UTC"), moments.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
                           pandas.Series(pandas.to_timedelta(days, unit="D"))):
                frame = pandas.DataFrame({"a": x[:, 0], "time": column})
                np.testing.assert_array_equal(broad.BroadClassifier(**FAST).fit(frame, y).decision_function(frame), plain)

    def test_names_with_equals(self):
        """A column "a=b" of categories is one column after loading, too."""
        x, y = blobs(60)
        frame = self.pandas.DataFrame({"a=b": np.array(["p=q", "r"])[y % 2], "a": x[:, 0], "a=c": x[:, 1]})
        model = broad.BroadClassifier(**FAST).fit(frame, y)
        again = broad.from_bytes(model.to_bytes())
        self.assertEqual(list(again.feature_names_in_), ["a=b", "a", "a=c"])
        np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))

    def test_levels_as_numbers(self):
        """Whole numbers that became 3.0 because one is missing are the levels that they were."""
        x, y = blobs(90)
        frame = self.pandas.DataFrame({"a": x[:, 0], "site": self.pandas.Categorical(y)})
        model = broad.BroadClassifier(**FAST).fit(frame, y)
        np.testing.assert_array_equal(model.predict(frame.assign(site=y.astype(float))), model.predict(frame))

    def test_text_for_numbers(self):
        x, y = blobs(60)
        frame = self.pandas.DataFrame({"a": np.array(["p", "r"])[y % 2], "b": x[:, 0]})
        model = broad.BroadClassifier(**FAST).fit(frame, y)
        with self.assertRaisesRegex(ValueError, "column 2 has numbers in the model, and text here: .*'wide'"):
            model.predict(frame.assign(b="wide"))


class Arrays(Case):
    def test_masked(self):
        x, y = wave()
        gaps = np.where(x > 1, np.nan, x)
        np.testing.assert_array_equal(broad.BroadRegressor(**FAST).fit(np.ma.masked_greater(x, 1), y).predict(x),
                                      broad.BroadRegressor(**FAST).fit(gaps, y).predict(x))

    def test_messages(self):
        x, y = blobs(60)
        classify, regress = broad.BroadClassifier(**FAST), broad.BroadRegressor(**FAST)
        some, mixed = np.array(["a", None] * 30, dtype=object), np.array(["a", 1] * 30, dtype=object)
        for call, text in (
                (lambda: classify.fit(x, some), "30 of 60 labels are missing"),
                (lambda: classify.fit(x, mixed), r"several types \(int, str\)"),
                (lambda: classify.fit(np.array([["red", 1]] * 60, dtype=object), y), "'red'. The columns of an array are numbers"),
                (lambda: regress.fit(x, np.array(["up"] * 60)), "'up'. The targets of BroadRegressor are numbers"),
                (lambda: regress.fit(x, np.arange(60).astype("datetime64[D]")), "dates or times"),
                (lambda: broad.BroadClassifier(class_weight={0: 1, 7: 2}, **FAST).fit(x, y), "class_weight: 7 is no class; the classes are 0, 1, 2")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(TypeError, r"BroadClassifier.__init__\(\) got an unexpected keyword argument 'n_jobs'"):
            broad.BroadClassifier(n_jobs=2)
        broad.BroadClassifier(class_weight={0: 2}, **FAST).fit(x, y)  # the others count 1

    def test_seeds(self):
        """random_state counts before seed: ensembles of scikit-learn give each member another one."""
        x, y = wave()
        fits = [broad.BroadRegressor(**FAST, **seeds).fit(x, y).predict(x) for seeds in
                ({"random_state": 4}, {"seed": 1, "random_state": 4}, {"seed": 1}, {"random_state": np.random.default_rng(3)})]
        np.testing.assert_array_equal(fits[0], fits[1])
        self.assertTrue((fits[0] != fits[2]).any() and (fits[0] != fits[3]).any())

    def test_paths(self):
        x, y = blobs(60)
        model = broad.BroadClassifier(**FAST).fit(x, y)
        model.save(self.path("m").encode())
        np.testing.assert_array_equal(broad.load(self.path("m").encode()).predict(x), model.predict(x))

    def test_verbose(self):
        """The last line says what came out."""
        said = self.python("import sys; sys.stderr = sys.stdout\n"
                           "import broad, numpy as np; x = np.random.default_rng(0).normal(size=(60, 3))\n"
                           "model = broad.BroadRegressor(verbose=1, effort='fast').fit(x, x[:, 0])\n"
                           "try: model.fit(x * np.inf, x[:, 0])\n"
                           "except ValueError: pass\n"
                           "broad.BroadRegressor(effort='fast').fit(x, x[:, 0])\n")
        lines = said.strip().split("\n")
        self.assertRegex(lines[0], "^broad:   0 %  ")
        self.assertRegex(lines[-1], r"^broad: 100 %  \d+ nodes; r2 on new rows about [\d.]+; [\d.]+ s$")
        self.assertEqual(said.count("100 %"), 1)


if __name__ == "__main__":
    unittest.main(argv=["test_own_data"])
