"""Models for other programs: the files of the tool, C that computes the same scores, rows with codes of categories."""
import os
import subprocess
import unittest

from package_test import FAST, Case, blobs, broad, np, wave

PROGRAM = """
#include <stdio.h>
#include "net.c"
int main(void)
{
    double row[NET_COLUMNS], scores[NET_OUTPUTS];
    for (;;) {
        for (int j = 0; j < NET_COLUMNS; j++)
            if (scanf("%lf", &row[j]) != 1) return 0;
        if (net_predict(row, scores)) return 1;
        for (int q = 0; q < NET_OUTPUTS; q++) printf("%.17g ", scores[q]);
    }
}
"""


class Exports(Case):
    def test_as_the_tool(self):
        """The bytes that the tool writes for the same model and options."""
        for make, table, words, options in (
                (broad.BroadClassifier, blobs, [], {}), (broad.BroadClassifier, blobs, ["--precision", "float"], {"precision": "float"}),
                (broad.BroadRegressor, wave, ["--interval", "0.8"], {"level": 0.8})):
            x, y = table(60)
            model = make(**FAST).fit(x, y)
            model.save(self.path("m.broad"))
            for form in ("c", "onnx"):
                self.tool("export", self.path("m.broad"), "--" + form, self.path("2nd try.x"), "-q", *words)
                made = getattr(model, "to_" + form)(self.path("own.x"), **options)
                made = made.encode() if form == "c" else made
                with open(self.path("own.x"), "rb") as file:
                    self.assertEqual(file.read(), made)
                with open(self.path("2nd try.x"), "rb") as file:
                    theirs = file.read()
                self.assertEqual(made, theirs.replace(b"_2nd_try", b"own").replace(b"_2ND_TRY", b"OWN") if form == "c" else theirs)
                os.rename(self.path("own.x"), self.path("2nd try.x"))
                getattr(model, "to_" + form)(self.path("2nd try.x"), **options)
                with open(self.path("2nd try.x"), "rb") as file:
                    self.assertEqual(file.read(), theirs)
        for words, options in ((["--compact"], {"compact": True}), (["--precision", "int8", "--name", "net"], {"precision": "int8", "name": "net"})):
            self.tool("export", self.path("m.broad"), "--c", self.path("model.c"), "-q", *words)
            with open(self.path("model.c"), encoding="utf-8") as file:
                self.assertEqual(model.to_c(**options), file.read())

    def test_compiled(self):
        """Scores of a compiled file, for rows with categories and missing values."""
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        x, y = wave(80)
        colours = np.array(["red", "green", None], dtype=object)[np.arange(80) % 3]
        frame = pandas.DataFrame({"a": x[:, 0], "colour": colours, "b": x[:, 1]})
        frame.loc[4, "b"] = np.nan
        model = broad.BroadRegressor(**FAST).fit(frame, y)
        rows = model.export_rows(frame)
        self.assertEqual(rows.shape, (80, 3))
        np.testing.assert_array_equal(rows[:, [0, 2]], frame[["a", "b"]])
        levels = dict(model._model.categories)["colour"]
        self.assertEqual([levels[int(code)] for code in rows[colours != None, 1]], list(colours[colours != None]))  # noqa: E711
        self.assertEqual(model.export_rows(frame.assign(colour="never seen"))[0, 1], -1)
        model.to_c(self.path("net.c"))
        with open(self.path("main.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([os.environ.get("CC", "cc"), "-O1", self.path("main.c"), "-lm", "-o", self.path("net")], check=True)
        given = " ".join(repr(float(value)) for value in rows.ravel())
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run([self.path("net")], input=given, check=True, capture_output=True, text=True, env=environment)
        np.testing.assert_allclose(np.array(done.stdout.split(), dtype=float), model.predict(frame), rtol=1e-10, atol=1e-10)

    def test_errors(self):
        x, y = blobs(60)
        model = broad.BroadClassifier(**FAST)
        with self.assertRaisesRegex(AttributeError, "not fitted"):
            model.to_onnx()
        model.fit(x, y)
        for call, text in ((lambda: model.to_onnx(precision="half"), "precision is one of"), (lambda: model.to_c(level=90), "between 0 and 1"),
                           (lambda: model.to_onnx(precision="int8"), "int8"), (lambda: model.to_c(name="a b"), "name")):
            with self.assertRaisesRegex(broad.UsageError, text):
                call()
        with self.assertRaises(FileNotFoundError):
            model.to_onnx(self.path("no/such/folder.onnx"))
        with self.assertRaises(TypeError):
            model.to_c(compact="yes", other=1)

    def test_photos(self):
        folder = self.path("panels")
        self.tool("render", folder, "--count", "16", "--size", "32", "-q")
        model = broad.photos.train(folder, effort="fast")
        model.save(self.path("m.broad"))
        self.tool("export", self.path("m.broad"), "--onnx", self.path("m.onnx"), "-q")
        with open(self.path("m.onnx"), "rb") as file:
            self.assertEqual(model.to_onnx(), file.read())
        self.assertIn("model_predict", model.to_c())


if __name__ == "__main__":
    unittest.main(argv=["test_exported"])
