#!/usr/bin/env python3
"""Models as ONNX files, 'broad export --onnx': what the graph computes is what 'broad predict' prints.

Usage: cli_export_onnx.py PATH_OF_BROAD. The graph is computed by onnx_numpy.py, which follows the standard; onnx.checker looks at it
where python3-onnx is installed. lab/tests/test_exports.py has ONNX Runtime do the same, for every kind of model.
"""
import csv
import io
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_export import ODD, SMALL, mixed  # noqa: E402
from cli_test import SANITIZED, Case  # noqa: E402

try:
    import numpy as np
    from onnx_numpy import Model
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)
try:
    import onnx
except ImportError:
    onnx = None

DAY = np.datetime64("1970-01-01")


class ExportOnnx(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("class", "value"):
            with open(os.path.join(cls.folder, name + ".csv"), "w") as file:
                file.write(mixed(150, 5, name))
            with open(os.path.join(cls.folder, name + "_new.csv"), "w") as file:
                file.write(mixed(40, 6, name).replace("green", "pink", 1))

    def fit(self, table, *words):
        self.ok("fit", self.path(table), "-o", self.path("m.broad"), *SMALL, *words)
        return self.path("m.broad")

    def rows(self, columns, table):
        """The rows of a table as the graph takes them, by what it says of its columns."""
        found = []
        for row in csv.DictReader(io.StringIO(self.read(table).decode())):
            numbers = []
            for column in columns:
                cell = row[column["name"]]
                if cell == "":
                    numbers.append(np.nan)
                elif column["is"] == "code":
                    numbers.append(column["levels"].index(cell) if cell in column["levels"] else -1)
                elif column["is"].startswith("days"):
                    numbers.append((np.datetime64(cell) - DAY).astype(float))
                else:
                    numbers.append({"yes": 1, "no": 0}[cell] if column["is"] == "truth" else float(cell))
            found.append(numbers)
        return np.array(found)

    def export(self, model, *words):
        file = self.path("m.onnx")
        about = self.ok("export", model, "--onnx", file, "--json", *words).json
        self.assertEqual((about["format"], about["name"], about["bytes"]), ("onnx", None, os.path.getsize(file)))
        if onnx:
            onnx.checker.check_model(onnx.load(file), full_check=True)
        graph = Model(self.read("m.onnx"))
        self.assertEqual((graph.ir, graph.opset, len(graph.nodes)), (7, [13], about["graph_nodes"]))
        return graph

    def compare(self, graph, model, table, tolerance=1e-9):
        classes = "label" in [name for name, _, _ in graph.outputs]
        names = json.loads(graph.metadata["broad.outputs"])
        real = np.float64 if graph.inputs[0][1] == 11 else np.float32
        words = ["--proba"] if classes else ["--interval", "0.9"]
        expected = list(csv.DictReader(io.StringIO(self.ok("predict", model, self.path(table), *words).out)))
        out = graph.run(row=self.rows(json.loads(graph.metadata["broad.columns"]), table).astype(real))
        parts = [("probabilities", "proba_%s"), ("scores", "score_%s")] if classes else \
            [("values", "%s"), ("low", "%s_low"), ("high", "%s_high")]
        for name, form in parts:
            wanted = np.array([[float(row[form % n]) for n in names] for row in expected])
            self.assertEqual(out[name].shape, wanted.shape)
            self.assertLessEqual((np.abs(out[name] - wanted) / np.maximum(1, np.abs(wanted))).max(), tolerance, name)
        if classes:
            self.assertEqual(list(out["label"]), [row["label"] for row in expected])

    def test_classes(self):
        model = self.fit("class.csv")
        graph = self.export(model)
        self.assertEqual(graph.inputs, [("row", 11, ["rows", 5])])
        self.assertEqual(graph.outputs, [("label", 8, ["rows"]), ("probabilities", 11, ["rows", 3]), ("scores", 11, ["rows", 3])])
        self.assertEqual(json.loads(graph.metadata["broad.outputs"]), ["a", ODD, "c"])
        self.compare(graph, model, "class_new.csv")
        self.compare(self.export(model, "--precision", "float"), model, "class_new.csv", 1e-3)

    def test_values(self):
        model = self.fit("value.csv", "--target", "price,left")
        graph = self.export(model)
        self.assertEqual([name for name, _, _ in graph.outputs], ["values", "low", "high"])
        self.assertEqual(graph.metadata["broad.level"], "0.9")
        self.compare(graph, model, "value_new.csv")

    def test_kinds(self):
        cases = [
            ["--kind", "bscrls", "--preset", "chain", "--activation", "sigmoid", "--scale", "none", "--lambda", "1"],
            ["--kind", "bls", "--feature-weights", "autoencoder", "--activation", "relu", "--scale", "rank"],
            ["--kind", "scn", "--enhance", "1x6", "--activation", "gaussian", "--scale", "minmax", "--weights", "joint"],
            ["--kind", "rvfl", "--enhance", "12x1", "--activation", "sine", "--scale", "both"],
            ["--kind", "bscrls", "--activation", "identity", "--feature-activation", "tanh", "--scale", "whole"],
        ]
        for words in cases[:1] if SANITIZED else cases:
            with self.subTest(words=words):
                model = self.fit("class.csv", *words, "--loo", "yes") if "chain" not in words else self.fit("class.csv", *words)
                self.compare(self.export(model), model, "class_new.csv")

    def test_layers_are_one_product(self):
        """The number of nodes does not depend on the number of layers, and layers that were added later are inside."""
        model = self.fit("class.csv", "--preset", "chain", "--enhance", "4x2")
        nodes = len(self.export(model).nodes)
        self.ok("grow", model, self.path("class.csv"), "--features", "2x5", "--enhance", "6", "-q")
        self.ok("grow", model, self.path("class.csv"), "--enhance", "5x9", "-q")
        graph = self.export(model)
        self.assertEqual(len(graph.nodes), nodes)
        layers = self.ok("info", model, "--json").json["layers"]
        told = json.loads(graph.metadata["broad.certificate"])
        self.assertEqual([t["width"] for t in told], [t["width"] for t in layers])
        for here, there in zip(told, layers):
            for field in ("gamma", "mu", "bound", "norm_before", "norm_after", "lambda"):
                self.assertEqual(here[field], there[field])
        out = graph.run(row=self.rows(json.loads(graph.metadata["broad.columns"]), "class.csv"))
        expected = csv.DictReader(io.StringIO(self.ok("predict", model, self.path("class.csv")).out))
        self.assertEqual(list(out["label"]), [row["label"] for row in expected])

    def test_refused(self):
        model, out = self.fit("class.csv"), self.path("refused.onnx")
        self.fails(2, "say what to write", "export", model, "--onnx", out, "--c", self.path("refused.c"))
        self.fails(2, "--name is for --c", "export", model, "--onnx", out, "--name", "x")
        self.fails(2, "--precision int8 is for C", "export", model, "--onnx", out, "--precision", "int8")
        self.fails(2, "--compact is for C", "export", model, "--onnx", out, "--compact")
        self.fails(1, "onnxruntime", "export", model, "--onnx", out, "--check", self.path("class.csv"),
                   env={"NODE_PATH": "/nowhere", "PYTHONPATH": "/nowhere", "PATH": "/bin:/usr/bin", "HOME": self.folder})
        self.assertFalse(os.path.exists(out))
        first = self.ok("export", model, "--onnx", out, "-q") and self.read("refused.onnx")
        self.ok("export", model, "--onnx", out, "-q")
        self.assertEqual(self.read("refused.onnx"), first)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
