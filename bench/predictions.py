"""The same rows by the same models in every way that there is: the tool, C, Python, JavaScript, exported C, ONNX Runtime."""
import base64
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess

from bench import exports
from bench.images.report import table
from bench.marks import paragraphs
from bench.tool import Failure

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS, TRAINING = 100, 300
# Of each, classes and values. The paper's lambda of 1e-8 makes weights that cancel: it is counted by itself.
WAYS = {"auto": [], "chain": ["--preset", "chain"], "bls": ["--kind", "bls"], "rvfl": ["--kind", "rvfl"], "scn": ["--kind", "scn"],
        "brls": ["--kind", "brls"], "paper": ["--preset", "paper", "--enhance", "20x5"]}
PAPER = "paper"
EXACT = ["C", "Python"]
WANTED = [*EXACT, "JavaScript", "exported C, x86-64", "ONNX Runtime"]

PYTHON = """
import csv, json, sys, warnings
import numpy as np
import broad
warnings.simplefilter("ignore")
model = broad.load(sys.argv[1])
text = [[cell or None for cell in line] for line in list(csv.reader(open(sys.argv[2], encoding="utf-8")))[1:]]
rows = [[float(a) if a else None, float(b), colour, float(flag == "yes"), (np.datetime64(day) - np.datetime64("1970-01-01")).astype(float)]
        for a, b, colour, flag, day in text]
rows = np.array(rows, dtype=object)
out = {"scores": model._scores(rows).tolist(), "more": []}
if model.estimate_ is not None and hasattr(model, "classes_"):
    out["more"] = model.predict_proba(rows).tolist()
elif model.estimate_ is not None:
    out["more"] = model.predict_interval(rows, 0.9).tolist()
print(json.dumps(out))
"""
NODE = """
import { readFileSync } from 'node:fs';
const { Broad } = await import(process.argv[2]);
const { model, rows } = JSON.parse(readFileSync(0, 'utf8'));
const loaded = await Broad.load(Uint8Array.from(atob(model), (letter) => letter.charCodeAt(0)));
const scores = Array.from(loaded.scores(rows)), each = scores.length / rows.length;
const out = { scores: rows.map((_, i) => scores.slice(i * each, (i + 1) * each)), more: [] };
try { out.more = loaded.task === 'classify' ? loaded.predictProba(rows) : loaded.predictInterval(rows, 0.9); } catch (error) {}
console.log(JSON.stringify(out));
"""
HEADER = ["a", "b", "colour", "flag", "day"]


def make_rows(count, seed):
    """Numbers, some missing, categories, yes and no, dates; and a target."""
    r = random.Random(seed)
    for _ in range(count):
        a, b, colour, flag, day = r.gauss(0, 1), r.gauss(5, 3), r.choice(["red", "blue", "grün", ""]), r.random() < 0.5, r.randint(1, 28)
        value = a * 2 + b * (colour == "red") + flag + day / 10 + 0.3 * r.gauss(0, 1)
        yield ["" if r.random() < 0.05 else repr(a), repr(b), colour, "yes" if flag else "no", f"2024-02-{day:02d}"], value


def write(path, classes, count, seed, target):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER + ["target"] * target)
        for row, value in make_rows(count, seed):
            writer.writerow(row + ([("high" if value > 5 else "low") if classes else repr(value)] if target else []))
    return path


def run(words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise Failure(done.stderr.strip() or f"{words[0]} ended with {done.returncode}")
    return done.stdout


class Case:
    """One model and rows for it."""

    def __init__(self, bench, way, classes):
        name = f"{way}{'c' if classes else 'v'}"
        self.bench, self.way, self.folder = bench, way, bench.folder
        train = write(self.folder / f"{name}.csv", classes, TRAINING, 1, True)
        self.new = write(self.folder / f"{name}.new.csv", classes, ROWS, 2, False)
        self.model = self.folder / f"{name}.broad"
        run([bench.tool, "fit", train, "-o", self.model, "--target", "target", "-q", "--effort", "fast", *WAYS[way]])
        self.info = json.loads(run([bench.tool, "info", self.model, "--json"]))
        self.expected = exports.predicted(bench.tool, self.model, self.new, self.info)

    def inputs(self):
        """Rows as the network has them: of a category one number for each level."""
        for row in exports.rows(self.info, self.new):
            out = []
            for value, (_, levels, _) in zip(row, exports.columns(self.info)):
                out += [value] if levels is None else [
                    float(level == ("(missing)" if value != value else levels[int(value)])) for level in levels]
            yield out


class Bench:
    def __init__(self, tool, folder, package, javascript):
        self.tool, self.folder = pathlib.Path(tool).resolve(), pathlib.Path(folder)
        self.package, self.javascript = package, javascript

    def c(self, case):
        program = self.folder / "predict_row"
        if not program.exists():
            build = self.tool.parent
            run(["cc", "-I", ROOT / "include", ROOT / "examples" / "predict_row.c", build / "libbroad.so", f"-Wl,-rpath,{build}", "-o", program])
        lines = run([program, case.model], input="\n".join(" ".join("%.17g" % x for x in row) for row in case.inputs())).splitlines()
        words = [line.split() for line in lines]
        return {"scores": [[float(x) for x in line[1 if case.info["task"] == "classify" else 0:]] for line in words], "more": None}

    def python(self, case):
        return json.loads(run(["/usr/bin/python3", "-c", PYTHON, case.model, case.new], env=dict(os.environ, PYTHONPATH=self.package)))

    def node(self, case):
        script = self.folder / "run.mjs"
        script.write_text(NODE, encoding="utf-8")
        rows = [[None if value != value else value for value in row] for row in exports.rows(case.info, case.new)]
        named = exports.columns(case.info)
        rows = [[value if levels is None or value is None else levels[int(value)] for value, (_, levels, _) in zip(row, named)] for row in rows]
        task = {"model": base64.b64encode(case.model.read_bytes()).decode(), "rows": rows}
        return json.loads(run(["node", script, pathlib.Path(self.javascript, "index.js").resolve()], input=json.dumps(task)))

    def exported_c(self, case, machine):
        path = self.folder / "m.c"
        run([self.tool, "export", case.model, "--c", path, "-q"])
        return exports.run_c(path, "m", exports.rows(case.info, case.new), machine)

    def onnx(self, case):
        path = self.folder / "m.onnx"
        run([self.tool, "export", case.model, "--onnx", path, "-q"])
        return exports.run_onnx([(path, exports.rows(case.info, case.new))], self.folder)[0]

    def ways(self):
        found = {"C": self.c}
        if self.package:
            found["Python"] = self.python
        if self.javascript and shutil.which("node"):
            found["JavaScript"] = self.node
        for machine in exports.machines():
            found[f"exported C, {machine}"] = lambda case, machine=machine: self.exported_c(case, machine)
        if hasattr(exports, "run_onnx") and exports.have_runtime():
            found["ONNX Runtime"] = self.onnx
        return found


def flat(rows):
    """Intervals of one target may be pairs."""
    return [[x for cell in row for x in (cell if isinstance(cell, list) else [cell])] for row in rows]


def measure(bench, say):
    cases = [Case(bench, way, classes) for way in WAYS for classes in (True, False)]
    found = {"models": len(cases), "rows": ROWS, "ways": {}}
    for name, predict in bench.ways().items():
        one = {"labels": 0, "scores": 0.0, "more": 0.0, "paper": 0.0}
        for case in cases:
            out, expected = predict(case), case.expected
            kind = "paper" if case.way == PAPER else "scores"
            one[kind] = max(one[kind], exports.difference(out["scores"], expected["scores"]))
            if case.info["task"] == "classify":
                one["labels"] += exports.other_labels(out["scores"], expected["scores"])
            if out["more"] and expected["more"] and one["more"] is not None:
                one["more"] = max(one["more"], exports.difference(flat(out["more"]), expected["more"]))
            one["more"] = None if out["more"] is None else one["more"]
        found["ways"][name] = one
        say(f"{name}: {one}")
    return found


# ---- pages ------------------------------------------------------------------------------------------------------------------


def text_of(value):
    return "" if value is None else "equal bits" if value == 0 else f"{value:.0e}"


def make(found):
    first = (f"{found['models']} models, classes and values of every kind, {found['rows']} rows each, with categories, dates and missing values: the largest "
             "differences from `broad predict`, relative for numbers above 1. Preset `paper` has a λ of 1e-8, and weights that cancel.")
    rows = [[name, str(one["labels"]), text_of(one["scores"]), text_of(one["more"]), text_of(one["paper"])] for name, one in found["ways"].items()]
    return "\n".join([*paragraphs(first), "", *table(["", "other labels", "scores, values", "probabilities, intervals", "preset paper"], rows)]) + "\n"


def parts(found):
    return {"docs/export.md": {"predictions": make(found)}}


def whole(found):
    missing = [name for name in WANTED if name not in found["ways"]]
    wrong = [name for name in EXACT if name in found["ways"] and (found["ways"][name]["scores"] or found["ways"][name]["more"])]
    if missing or wrong:
        raise Failure(f"no whole run: without {', '.join(missing) or 'nothing'}, other bits by {', '.join(wrong) or 'none'}")
