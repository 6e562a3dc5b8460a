"""The same rows by the same models in every way that there is: the tool, C, Python, JavaScript, exported C, ONNX Runtime; and by the library on
other machines, models of earlier versions among them."""
import base64
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess

from bench import exports, machines
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
# The models that people have, and the tables beside them; those of photos are given rows that are drawn.
GOLDEN = {version: ROOT / "tests" / "store" / f"golden-{version}" for version in ("0.1", "0.2")}
TABLES = ("mixed.csv", "values.csv", "classes.csv", "numbers.csv")
MACHINES = ["x86-64, AVX2", "x86-64, SSE2", *machines.CROSS]
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
        return expanded(self.info, exports.rows(self.info, self.new))


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
    found["golden"] = measure_machines(bench.tool, bench.folder, say)
    return found


# ---- machines ---------------------------------------------------------------------------------------------------------------


def expanded(info, given):
    """Rows as the network has them: of a category one number for each level."""
    for row in given:
        out = []
        for value, (_, levels, _) in zip(row, exports.columns(info)):
            out += [value] if levels is None else [
                float(level == ("(missing)" if value != value else levels[int(value)])) for level in levels]
        yield out


def table_of(info, folder):
    """The one in the folder that has the model's columns; None for photos."""
    names = {name for name, _, _ in exports.columns(info)}
    for path in (folder / name for name in TABLES):
        if path.exists() and names <= set(path.read_text(encoding="utf-8").split("\n", maxsplit=1)[0].split(",")):
            return path
    return None


def golden(tool):
    """(name, model, rows, outputs, what the version that wrote it predicted or None) of every golden model."""
    for version, folder in GOLDEN.items():
        for model in sorted(folder.glob("*.broad")):
            info = json.loads(run([tool, "info", model, "--json"]))
            table, draw = table_of(info, folder), random.Random(3)
            rows = list(expanded(info, exports.rows(info, table))) if table else [[draw.gauss(0, 1) for _ in info["inputs"]] for _ in range(20)]
            wrote = written(info, folder / f"{model.stem}.predicted.csv") if table else None
            yield f"{version}/{model.stem}", model, rows, len(info["outputs"]), wrote


def written(info, path):
    """The numbers of a file of predictions, in the order of predict_bits."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    names = info["outputs"]
    if info["task"] == "classify":
        wanted = [f"score_{name}" for name in names] + [f"proba_{name}" for name in names]
    else:
        wanted = names + [f"{name}_{end}" for name in names for end in ("low", "high")]
    return [[float(line[name]) for name in wanted if name in line] for line in lines]


def compare_machine(found, bits, expected, outputs):
    """Adds one model: rows of which a score, or what follows from the scores, has other bits, and the largest differences."""
    other, same = machines.numbers(bits), machines.numbers(expected)
    found["rows"] += len(bits)
    found["other_scores"] += sum(a[:outputs] != b[:outputs] for a, b in zip(bits, expected, strict=True))
    found["other_more"] += sum(a[outputs:] != b[outputs:] for a, b in zip(bits, expected, strict=True))
    found["scores"] = max(found["scores"], exports.difference([row[:outputs] for row in other], [row[:outputs] for row in same]))
    found["more"] = max(found["more"], exports.difference([row[outputs:] for row in other], [row[outputs:] for row in same]))


def measure_machines(tool, folder, say, only=None):
    """Golden models on every machine against what their version wrote."""
    there = machines.Machines(folder, pathlib.Path(tool).resolve().parent)
    names = [name for name in there.names() if only is None or name in only]
    if not names:
        raise Failure("this machine is none of those that are compared")
    models = [(*one, there.bits(names[0], one[1], one[2])) for one in golden(tool)]
    for label, _, _, _, wrote, bits in models:
        if wrote is not None and machines.numbers(bits) != wrote:
            raise Failure(f"{label}: {names[0]} does not predict what the version that wrote it did")
    found = {}
    for name in names:
        one = found[name] = {"fused": machines.fuses(name), "models": len(models), "rows": 0, "other_scores": 0, "other_more": 0, "scores": 0.0,
                             "more": 0.0}
        for _, model, rows, outputs, _, expected in models:
            compare_machine(one, there.bits(name, model, rows), expected, outputs)
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


def make_machines(found):
    every = list(found["golden"].values())
    first = (f"{every[0]['models']} models that 0.1 and 0.2 have written, {every[0]['rows']:,} rows: how many come out with other bits than on x86-64 with AVX-512 "
             "or AVX2, and the largest difference, relative for numbers above 1. A multiplication and an addition are rounded once; where the processor has no "
             "instruction for it, prediction computes what it would give.")
    rows = [[name, "instruction" if one["fused"] else "computed", f"{one['other_scores']:,}", text_of(one["scores"]), f"{one['other_more']:,}", text_of(one["more"])]
            for name, one in found["golden"].items()]
    return "\n".join([*paragraphs(first), "", *table(["machine", "multiply-add", "other scores, values", "difference", "other probabilities, intervals",
                                                      "difference"], rows)]) + "\n"


def parts(found):
    return {"docs/export.md": {"predictions": make(found), "machines": make_machines(found)}}


def whole(found):
    missing = [name for name in WANTED if name not in found["ways"]] + [name for name in MACHINES if name not in found["golden"]]
    wrong = [name for name in EXACT if name in found["ways"] and (found["ways"][name]["scores"] or found["ways"][name]["more"])]
    wrong += [name for name, one in found["golden"].items() if one["other_scores"]]
    if missing or wrong:
        raise Failure(f"no whole run: without {', '.join(missing) or 'nothing'}, other bits by {', '.join(wrong) or 'none'}")
