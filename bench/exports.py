"""Exported models, run: C compiled for this machine or for another one under qemu, ONNX by ONNX Runtime.

Rows go in as numbers, what comes out is {"scores": rows of numbers, "more": probabilities, or low and high ends, or []}.
"""
import csv
import datetime
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess

from bench.tool import Failure

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
# Name of a machine -> compiler, and what runs its programs here.
MACHINES = {
    "x86-64": (["gcc"], []),
    "arm, 32 bits": (["arm-linux-gnueabihf-gcc"], ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"]),
    "s390x, big-endian": (["s390x-linux-gnu-gcc"], ["qemu-s390x", "-L", "/usr/s390x-linux-gnu"]),
}
PROGRAM = r"""
#include <stdio.h>
#define %(upper)s_DECLARE
#include "%(name)s.c"
int main(void)
{
    static %(upper)s_ROW row[%(upper)s_COLUMNS];
    static %(name)s_real scores[%(upper)s_OUTPUTS], low[%(upper)s_OUTPUTS], high[%(upper)s_OUTPUTS];
    double number;
    for (int i = 0; scanf("%%lf", &number) == 1;) {
        row[i++] = (%(upper)s_ROW)number;
        if (i < %(upper)s_COLUMNS) continue;
        printf("%%d", %(name)s_predict(row, scores));
        for (int c = 0; c < %(upper)s_OUTPUTS; c++) printf(" %%.17g", (double)scores[c]);
        %(more)s
        for (int c = 0; c < %(upper)s_OUTPUTS; c++) printf(" %%.17g %%.17g", (double)low[c], (double)high[c]);
        printf("\n");
        i = 0;
    }
    return 0;
}
"""
DAY = datetime.date(1970, 1, 1)


def machines():
    """Those that can be compiled for and run here."""
    return [name for name, (compiler, runner) in MACHINES.items()
            if shutil.which(compiler[0]) and (not runner or shutil.which(runner[0]))]


def columns(info):
    """(name, levels or None, form) of each column, from 'broad info --json'."""
    stored, found, at = info["stored"], [], 0
    levels = {c["first"]: c for c in stored["categories"]}
    forms = {f["input"]: f["form"] for f in stored.get("forms", [])}
    while at < len(info["inputs"]):
        here = levels.get(at)
        found.append((here["name"] if here else info["inputs"][at], here["levels"] if here else None, forms.get(at, "number")))
        at += len(here["levels"]) if here else 1
    return found


def cell(text, levels, form):
    if levels is not None:
        return math.nan if text == "" else levels.index(text) if text in levels else -1
    if text in ("", "NA"):
        return math.nan
    if form == "truth":
        return float(text in ("yes", "true", "1"))
    return float((datetime.date.fromisoformat(text) - DAY).days) if form.startswith("date") else float(text)


def rows(info, table, most=None):
    """The rows of a CSV file as exported models take them."""
    with open(table, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))[:most]
    return [[cell(line[name], levels, form) for name, levels, form in columns(info)] for line in lines]


def run_c(path, name, given, machine="x86-64"):
    """The file, compiled with all warnings as errors. Also the bytes that `size` counts of it: "text"."""
    compiler, runner = MACHINES[machine]
    path = pathlib.Path(path).resolve()
    text = path.read_text(encoding="utf-8")
    more = "%s_probabilities(scores, low);" if "_probabilities(" in text else "%s_interval(scores, low, high);" \
        if "_interval(" in text else ""
    program = path.with_name("main.c")
    program.write_text(PROGRAM % {"name": name, "upper": name.upper(), "more": more % name if more else ""})
    built, made = path.with_suffix(".o"), path.with_suffix(".run")
    for words in ([*compiler, *STRICT, "-c", path, "-o", built], [*compiler, *STRICT, "-o", made, program, built, "-lm"]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(done.stderr)
    numbers = "\n".join(" ".join("%.17g" % x for x in row) for row in given)
    done = subprocess.run([*runner, made], input=numbers, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{made} ended with {done.returncode}: {done.stderr}")
    lines = [[float(x) for x in line.split()] for line in done.stdout.splitlines()]
    outputs = (len(lines[0]) - 1) // 3
    size = subprocess.run([compiler[0].replace("gcc", "size"), built], capture_output=True, text=True, check=True).stdout
    pairs = [list(zip(line[1 + outputs::2], line[2 + outputs::2])) for line in lines]
    ends = [[x for pair in row for x in pair] for row in pairs] if "_interval(" in more else \
        [[pair[0] for pair in row] for row in pairs] if more else []
    return {"faults": [int(line[0]) for line in lines], "scores": [line[1:1 + outputs] for line in lines], "more": ends,
            "text": int(size.splitlines()[1].split()[0])}


def predicted(tool, model, table, info, most=None):
    """What the library computes for the rows of a table: labels, scores, and what follows from them."""
    classes = info["task"] == "classify"
    known = info["loo"] is not None
    words = (["--proba"] if classes else ["--interval", "0.9"]) if known else []
    result = subprocess.run([tool, "predict", model, table, "--format", "jsonl", *words], capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failure(result.stderr)
    lines = [json.loads(line) for line in result.stdout.splitlines()[:most]]
    names = info["outputs"]
    found = {"scores": [[line["scores" if classes else "values"][n] for n in names] for line in lines], "more": []}
    if classes:
        found["labels"] = [line["label"] for line in lines]
    if known and classes:
        found["more"] = [[line["probabilities"][n] for n in names] for line in lines]
    elif known:
        found["more"] = [[end for n in names for end in line["intervals"][n]] for line in lines]
    return found


def difference(found, expected, relative=True):
    """The largest, over numbers above 1 relative to them."""
    return max((abs(a - b) / (max(1, abs(b)) if relative else 1) for x, y in zip(found, expected, strict=True)
                for a, b in zip(x, y, strict=True)), default=0.0)


def best(scores):
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def other_labels(found, expected):
    return sum(best(x) != best(y) for x, y in zip(found, expected, strict=True))


# ---- ONNX ------------------------------------------------------------------------------------------------------------------

NPM = pathlib.Path(os.environ.get("BROAD_NPM", pathlib.Path.home() / ".cache" / "broad" / "npm"))  # as scripts/setup --export
RUN_ONNX = """
const fs = require("fs"), ort = require(process.argv[1]);
(async () => {
    for (const job of JSON.parse(fs.readFileSync(0))) {
        const session = await ort.InferenceSession.create(new Uint8Array(fs.readFileSync(job.file)), {logSeverityLevel: 3});
        const given = session.inputMetadata[0], bytes = fs.readFileSync(job.rows);
        const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
        const array = given.type === "uint8" ? new Uint8Array(data) : new Float64Array(data);
        const tensor = new ort.Tensor(given.type, given.type === "float32" ? Float32Array.from(array) : array, job.shape);
        const found = await session.run({[given.name]: tensor}), out = {};
        for (const name in found) out[name] = Array.from(found[name].data, x => typeof x === "bigint" ? Number(x) : x);
        console.log(JSON.stringify(out));
    }
})().catch(error => { console.error(error.message); process.exit(1); });
"""


def have_runtime(runtime="onnxruntime-node"):
    return shutil.which("node") and (NPM / "node_modules" / runtime).is_dir()


def run_onnx(jobs, folder, runtime="onnxruntime-node"):
    """[(file, rows)] by ONNX Runtime in one process, for node or for the web. rows: of numbers, or (bytes, shape) of pictures."""
    listed = []
    for number, (file, given) in enumerate(jobs):
        path = pathlib.Path(folder) / f"rows{number}"
        if isinstance(given, tuple):
            content, shape = given
        else:
            content = struct.pack("=%dd" % sum(map(len, given)), *(x for row in given for x in row))
            shape = [len(given), len(given[0])]
        path.write_bytes(content)
        listed.append({"file": str(file), "rows": str(path), "shape": list(shape)})
    done = subprocess.run(["node", "-e", RUN_ONNX, runtime], input=json.dumps(listed), capture_output=True, text=True, check=False,
                          env={**os.environ, "NODE_PATH": str(NPM / "node_modules")})
    if done.returncode:
        raise Failure(done.stderr)
    return [arrange(json.loads(line), job["shape"][0]) for line, job in zip(done.stdout.splitlines(), listed, strict=True)]


def arrange(out, rows_given):
    """Flat arrays by name as what run_c() gives, and the labels."""
    def cut(numbers):
        each = len(numbers) // rows_given
        return [numbers[i * each:(i + 1) * each] for i in range(rows_given)]

    found = {"scores": cut(out.get("scores", out.get("values"))), "more": []}
    if "label" in out:
        found["labels"] = out["label"]
    if "probabilities" in out:
        found["more"] = cut(out["probabilities"])
    if "low" in out:
        found["more"] = [[x for pair in zip(low, high) for x in pair] for low, high in zip(cut(out["low"]), cut(out["high"]))]
    return found
