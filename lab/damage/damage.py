#!/usr/bin/env python3
"""The same damage to model files of several programs: who notices?

usage: damage.py BROAD [--count N] [--json FILE] [--seconds LIMIT]

Every program trains a model on the same rows and saves it. Its file is then damaged in N (400) ways, the same for all: half are single flipped
bits, a quarter are cut short, a quarter have two blocks of bytes exchanged; places are fractions of the file. Each damaged file is loaded, and
the rows are predicted, in a process of its own with limits on time and memory:

  refused     an error was reported: nothing was predicted
  accepted    it was loaded and predicted without a word; `changed` of these gave other predictions
  crashed     the process ended by a signal
  hung        it was still at work after the limit

Programs that are not installed are left out: scripts/setup --damage installs them, lab/damage/build_lightgbm builds LightGBM.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MEMORY = 8 << 30
SHELF = pathlib.Path(os.environ.get("BROAD_NPM") or os.path.join(os.environ.get("HOME", "/tmp"), ".cache", "broad", "npm")) / "node_modules"


def ways(count, seed=1):
    """(kind, fraction, other fraction, number) of every damage."""
    draw = random.Random(seed)
    kinds = ["flip"] * (count // 2) + ["cut"] * (count // 4)
    kinds += ["swap"] * (count - len(kinds))
    return [(kind, draw.random(), draw.random(), draw.randrange(8)) for kind in kinds]


def damaged(content, way):
    kind, place, other, number = way
    at = int(place * len(content))
    if kind == "cut":
        return content[:at]
    if kind == "flip":
        return content[:at] + bytes([content[at] ^ 1 << number]) + content[at + 1:]
    size = min(8 << number % 4, len(content) // 4)
    blocks = len(content) // size
    one, two = int(place * blocks), int(other * blocks)
    for step in range(blocks):  # the next block that differs
        two = (two + (step > 0)) % blocks
        if content[one * size:(one + 1) * size] != content[two * size:(two + 1) * size]:
            break
    changed = bytearray(content)
    changed[one * size:(one + 1) * size], changed[two * size:(two + 1) * size] = \
        content[two * size:(two + 1) * size], content[one * size:(one + 1) * size]
    return bytes(changed)


def rows(count=200):
    draw = random.Random(2)
    for _ in range(count):
        x = [draw.gauss(0, 1) for _ in range(4)]
        yield x, int(x[0] * x[1] + x[2] > 0)


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Program:
    """A program with commands to train and to predict, in the folder that it works in."""
    name = needs = ""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds
        self.data()

    def there(self):
        return shutil.which(self.needs)

    def data(self):
        pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, lines):
        pathlib.Path(self.path(name)).write_text("\n".join(lines) + "\n")

    def run(self, words, check=False):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=self.seconds, preexec_fn=limits, check=False)
        if check and done.returncode:
            sys.exit(f"{self.name}: {done.stderr.decode()[-300:]}")
        return done

    def predict(self):
        """(code, predictions); a negative code is a signal."""
        out = self.path("out")
        if os.path.exists(out):
            os.remove(out)
        done = self.run(self.command())
        said = pathlib.Path(out).read_bytes() if os.path.exists(out) else done.stdout
        return done.returncode, said

    def judge(self, content):
        pathlib.Path(self.path("model")).write_bytes(content)
        try:
            return self.predict()
        except subprocess.TimeoutExpired:
            return None, b""


class Broad(Program):
    name, tool = "broad", ""

    def there(self):
        return True

    def data(self):
        self.write("t.csv", ["a,b,c,d,y", *(",".join([*map(repr, x), "uv"[y]]) for x, y in rows())])
        self.write("x.csv", ["a,b,c,d", *(",".join(map(repr, x)) for x, _ in rows())])

    def train(self):
        self.run([self.tool, "fit", "t.csv", "-o", "model", "-q", "--threads", "1", "--features", "2x5", "--enhance", "20x1", "--kind", "bls"], True)

    def command(self):
        return [self.tool, "predict", "model", "x.csv", "--threads", "1"]

    def version(self):
        return self.run([self.tool, "version"]).stdout.decode().split()[1]


class Svm(Program):
    """libsvm and liblinear: one text form."""
    package = ""

    def data(self):
        self.write("t", [" ".join([f"{2 * y - 1:+d}", *(f"{i + 1}:{v!r}" for i, v in enumerate(x))]) for x, y in rows()])

    def version(self):
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", self.package], capture_output=True, text=True, check=False).stdout


class LibSvm(Svm):
    name, needs, package = "libsvm", "svm-train", "libsvm-tools"

    def train(self):
        self.run(["svm-train", "-q", "-b", "1", "t", "model"], True)

    def command(self):
        return ["svm-predict", "-b", "1", "t", "model", "out"]


class LibLinear(Svm):
    name, needs, package = "liblinear", "liblinear-train", "liblinear-tools"

    def train(self):
        self.run(["liblinear-train", "-q", "-s", "0", "t", "model"], True)

    def command(self):
        return ["liblinear-predict", "-b", "1", "t", "model", "out"]


class FastText(Svm):
    name, needs, package = "fastText", "fasttext", "fasttext"

    def data(self):
        words = ("low", "mid", "high")
        self.write("t", [f"__label__{'uv'[y]} " + " ".join(f"{words[(v > -0.5) + (v > 0.5)]}{i}" for i, v in enumerate(x)) for x, y in rows()])

    def train(self):
        self.run(["fasttext", "supervised", "-input", "t", "-output", "m", "-dim", "4", "-thread", "1", "-bucket", "0", "-verbose", "0"], True)
        os.replace(self.path("m.bin"), self.path("model"))

    def command(self):
        return ["fasttext", "predict-prob", "model", "t"]


class Xgboost(Program):
    """In a process that has loaded the library and forks for each file."""
    name, form = "XGBoost (UBJSON)", "ubj"

    def there(self):
        try:
            import xgboost  # noqa: PLC0415, F401
            return True
        except ImportError:
            return False

    def data(self):
        if not self.there():
            return
        import numpy as np  # noqa: PLC0415
        import xgboost  # noqa: PLC0415
        self.library = xgboost
        pairs = list(rows())
        self.x, self.y = np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])

    def version(self):
        return self.library.__version__

    def inside(self, work):
        """Runs in a process of its own; (code, bytes)."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                limits()
                signal.alarm(self.seconds)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1), os.dup2(null, 2)
                said = work()
                os.write(write, said)
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return (None, b"") if code == -signal.SIGALRM else (code, said)

    def train(self):
        def work():
            booster = self.library.train({"nthread": 1, "objective": "binary:logistic", "max_depth": 4},
                                         self.library.DMatrix(self.x, self.y, nthread=1), 10)
            booster.save_model(self.path("m." + self.form))
            return b""
        if self.inside(work)[0]:
            sys.exit(f"{self.name}: it cannot be trained")
        os.replace(self.path("m." + self.form), self.path("model"))

    def predict(self):
        path = self.path("damaged." + self.form)
        shutil.copy(self.path("model"), path)

        def work():
            booster = self.library.Booster({"nthread": 1}, model_file=path)
            return booster.predict(self.library.DMatrix(self.x, nthread=1)).tobytes()
        return self.inside(work)


class XgboostJson(Xgboost):
    name, form = "XGBoost (JSON)", "json"


class LightGbm(Program):
    """Its program, which lab/damage/build_lightgbm makes."""
    name, tool = "LightGBM", SHELF.parent / "lightgbm" / "lightgbm"

    def there(self):
        return self.tool.is_file()

    def data(self):
        self.write("t.csv", [",".join([str(y), *map(repr, x)]) for x, y in rows()])

    def call(self, *words):
        return [str(self.tool), "data=t.csv", "header=false", "num_threads=1", "verbosity=-1", *words]

    def train(self):
        self.run(self.call("task=train", "objective=binary", "num_trees=10", "num_leaves=15", "min_data_in_leaf=5", "output_model=model"), True)

    def command(self):
        return self.call("task=predict", "input_model=model", "output_result=out")

    def version(self):
        return (self.tool.parent / "VERSION.txt").read_text().strip()


class OnnxRuntime(Broad):
    """The model of broad as ONNX."""
    name = "ONNX Runtime"

    def there(self):
        return shutil.which("node") and (SHELF / "onnxruntime-node").is_dir()

    def train(self):
        super().train()
        self.run([self.tool, "export", "model", "--onnx", "m.onnx"], True)
        os.replace(self.path("m.onnx"), self.path("model"))
        self.write("x.json", [json.dumps([x for x, _ in rows()])])

    def command(self):
        return ["node", str(HERE / "onnx.mjs"), str(SHELF), "model", "x.json"]

    def version(self):
        return json.loads((SHELF / "onnxruntime-node" / "package.json").read_text())["version"]

    def run(self, words, check=False):  # which reserves more addresses than the limit, and starts slowly
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=6 * self.seconds, check=False)
        if check and done.returncode:
            sys.exit(f"{self.name}: {done.stderr.decode()[-300:]}")
        return done


PROGRAMS = (Broad, XgboostJson, Xgboost, LightGbm, LibSvm, LibLinear, FastText, OnnxRuntime)


def try_program(program, count):
    program.train()
    content = pathlib.Path(program.path("model")).read_bytes()
    code, expected = program.judge(content)
    if code or not expected:
        sys.exit(f"{program.name}: the model that was not damaged is not read ({code})")
    found = {"version": program.version(), "bytes": len(content), "files": 0, "refused": 0, "accepted": 0, "changed": 0, "crashed": 0, "hung": 0}
    for way in ways(count):
        code, said = program.judge(damaged(content, way))
        found["files"] += 1
        crashed = code is not None and (code < 0 or code in (134, 136, 139))
        how = "hung" if code is None else "crashed" if crashed else "refused" if code else "accepted"
        found[how] += 1
        found["changed"] += how == "accepted" and said != expected
    return found


def run(tool, count, seconds=10, only=None, say=print):
    Broad.tool, found = os.path.abspath(tool), {}
    for kind in PROGRAMS:
        if only and kind.name not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="broad-damage-") as folder:
            program = kind(folder, seconds)
            if not program.there():
                say(f"{kind.name}: not installed")
                continue
            found[kind.name] = try_program(program, count)
            say(f"{kind.name}: {found[kind.name]}")
    return {"files": count, "seconds": seconds, "programs": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="BROAD")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only")
    parser.add_argument("--json")
    given = parser.parse_args()
    found = run(given.tool, given.count, given.seconds, given.only and given.only.split(","), lambda text: print(text, flush=True))
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(found, indent=1) + "\n")
    own = found["programs"].get("broad", {})
    return 1 if own.get("accepted") or own.get("crashed") or own.get("hung") else 0


if __name__ == "__main__":
    sys.exit(main())
