#!/usr/bin/env python3
"""The tool as a user meets it: every command, every class of error, every form of output.

Usage: cli_test.py PATH_OF_BROAD. The data is made here; results are checked by arithmetic of this file's own.
"""
import csv
import gzip
import io
import json
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
# Suites try less where every load and store is checked; the other build tries all.
SANITIZED = any(s in os.environ.get("BROAD_INSTRUMENTS", "") for s in ("address", "thread"))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = ["fit", "cv", "tune", "grow", "learn", "undo", "predict", "eval", "report", "info", "verify", "export",
            "data", "demo", "render", "serve", "plan", "doctor", "version", "help"]
SMALL = ["--features", "2x5", "--enhance", "10x4"]
LAYER_FIELDS = set("origin width first_row rows gamma mu bound norm_before norm_after ratio tested lambda range tries "
                   "relaxed test passed".split())
CLASS_FIELDS = set("rows accuracy precision recall f1 false_positive false_negative classes confusion".split())


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    @property
    def json(self):
        return json.loads(self.out)


def read_terminal(leader):
    """All that comes until the other side is closed, which then is too."""
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return seen.decode().replace("\r\n", "\n")


def run(*words, stdin=None, cwd=None, text=True, env=None):
    kind = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return Result(subprocess.run([BROAD, *words], capture_output=True, text=text, cwd=cwd, timeout=240,
                                 env={**os.environ, **env} if env else None, **kind))


def blobs(rows, seed=1, header=True, classes=("ant", "bee", "cat")):
    """Rows of three noisy clusters with a text label in the last column."""
    rng = random.Random(seed)
    lines = ["a,b,kind"] if header else []
    for i in range(rows):
        c = i % len(classes)
        angle = 2 * math.pi * c / len(classes)
        a, b = math.cos(angle) + rng.gauss(0, 0.35), math.sin(angle) + rng.gauss(0, 0.35)
        lines.append("%.5f,%.5f,%s" % (a, b, classes[c]))
    return "\n".join(lines) + "\n"


def curve(rows, seed=2):
    """A smooth function with a numeric target named y."""
    rng = random.Random(seed)
    lines = ["u,v,y"]
    for _ in range(rows):
        u, v = rng.uniform(-2, 2), rng.uniform(-2, 2)
        lines.append("%.6f,%.6f,%.6f" % (u, v, math.sin(u) + 0.5 * v * v + rng.gauss(0, 0.01)))
    return "\n".join(lines) + "\n"


def npy(rows, descr="<f8", code="d"):
    columns = len(rows[0])
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (descr, len(rows), columns)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    flat = [x for row in rows for x in row]
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    return start + struct.pack("<%d%s" % (len(flat), code), *flat)


def wait_for_work(process, seconds):
    """Until the process has used that many seconds of processor time, or has ended."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        with open("/proc/%d/stat" % process.pid) as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        if int(user) + int(system) >= ticks:
            return
        time.sleep(0.01)


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="broad-cli-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def ok(self, *words, **more):
        result = run(*words, **more)
        self.assertEqual(result.code, 0, (words, result.err))
        return result

    def fails(self, code, needle, *words, **more):
        result = run(*words, **more)
        self.assertEqual(result.code, code, (words, result.out, result.err))
        self.assertIn(needle, result.err)
        for line in result.err.splitlines():
            self.assertTrue(line.startswith("broad: "), line)
        return result


class Help(Case):
    def test_overview_names_every_command(self):
        overview = self.ok("help").out
        for name in COMMANDS:
            self.assertRegex(overview, r"(?m)^  %s\b" % name)
        self.assertEqual(overview, self.ok("--help").out)
        self.assertEqual(overview, self.ok("-h").out)
        bare = run()
        self.assertEqual((bare.code, bare.out), (2, overview))

    def test_each_command_explains_itself(self):
        for name in COMMANDS:
            text = self.ok("help", name).out
            self.assertIn("Usage: broad " + name, text)
            self.assertIn("Examples", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, name)
            self.assertEqual(text, self.ok(name, "--help").out)
            self.assertEqual(text, self.ok(name, "-h").out)

    def test_help_lists_what_the_parser_takes(self):
        table = {c["name"]: c for c in self.ok("help", "--json").json["commands"]}
        self.assertEqual(list(table), COMMANDS)
        for name, command in table.items():
            text = self.ok("help", name).out
            names = [o["name"] for o in command["options"]]
            self.assertEqual(len(names), len(set(names)), name)
            self.assertIn("json", names)
            for option in names:
                self.assertRegex(text, r"--%s\b" % option)
        fit = {o["name"]: o for o in table["fit"]["options"]}
        for name in ("kind preset features enhance activation feature-activation scale scale-target lambda range "
                     "range-unit supervise gamma tries range-steps relax relax-count select positive normal seed threads "
                     "holdout test group labels target task missing header separator compact output quiet until "
                     "until-accuracy max-layers max-nodes max-seconds patience checkpoint plan force "
                     "keep-stats").split():
            self.assertIn(name, fit)
        self.assertEqual(fit["output"]["letter"], "o")

    def test_manual_pages(self):
        folder = self.path("man")
        self.ok("help", "--write-man", folder)
        expected = {"broad.1"} | {"broad-%s.1" % name for name in COMMANDS}
        self.assertEqual(set(os.listdir(folder)), expected)
        with open(os.path.join(folder, "broad-fit.1")) as f:
            page = f.read()
        self.assertEqual(page, self.ok("help", "--man", "fit").out)
        self.assertTrue(page.startswith(".TH BROAD\\-FIT 1 "))
        self.assertIn("\\-\\-lambda", page)
        if shutil.which("mandoc"):
            for name in expected:
                words = ["mandoc", "-Tlint", "-Werror", os.path.join(folder, name)]
                lint = subprocess.run(words, capture_output=True, text=True)
                self.assertEqual((lint.returncode, lint.stdout), (0, ""), name)
        self.fails(73, "no/such", "help", "--write-man", self.path("no/such/folder"))

    def test_completion(self):
        bash = self.ok("help", "--completion", "bash").out
        script = bash + "\n".join([
            "", "ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); _broad; echo \"${COMPREPLY[*]}\"; }",
            "ask broad pre", "ask broad fit --supervise l", "ask broad fit --hold", "ask broad help ver"])
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split("\n")[:4], ["predict", "loo", "--holdout", "verify version"])
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            text = self.ok("help", "--completion", shell).out
            self.assertIn("--holdout" if shell == "zsh" else "-l holdout", text)
            if shutil.which(shell):
                path = self.write("completion." + shell, text)
                self.assertEqual(subprocess.run(check + [path]).returncode, 0)
        self.fails(2, "bash, zsh or fish", "help", "--completion", "tcsh")

    def test_reference_is_up_to_date(self):
        with open(os.path.join(SOURCE, "docs", "commands.md")) as f:
            self.assertEqual(f.read(), self.ok("help", "--markdown").out,
                             "make it anew: broad help --markdown > docs/commands.md")

    def test_version(self):
        with open(os.path.join(SOURCE, "VERSION")) as f:
            number = f.read().strip()
        self.assertEqual(self.ok("version").out, "broad %s\n" % number)
        self.assertEqual(self.ok("--version").out, "broad %s\n" % number)
        self.assertEqual(self.ok("version", "--json").json, {"command": "version", "version": number,
                                                               "pictures": self.ok("doctor", "--quick", "--json").json["pictures"]})

    def test_doctor(self):
        text = self.ok("doctor", "--quick").out
        self.assertIn("self-test  passed", text)
        found = self.ok("doctor", "--quick", "--json").json
        self.assertEqual(found["command"], "doctor")
        self.assertTrue(found["self_test"])
        self.assertGreater(found["processors"], 0)
        self.assertIsInstance(found["advice"], list)


class Usage(Case):
    def test_commands(self):
        self.fails(2, "did you mean 'fit'?", "fti")
        self.fails(2, "did you mean 'predict'?", "predcit")
        self.fails(2, "unknown command 'xyzzy'", "xyzzy")
        self.fails(2, "did you mean 'verify'?", "help", "verfy")

    def test_options(self):
        self.fails(2, "did you mean '--lambda'?", "fit", "x.csv", "--lamda", "1")
        self.fails(2, "did you mean '--features'?", "fit", "x.csv", "--feat", "1x1")
        self.fails(2, "see 'broad help fit'", "fit", "x.csv", "--zzzzzz")
        self.fails(2, "has no option '-z'", "fit", "x.csv", "-z")
        self.fails(2, "'--lambda' needs a value: NUMBER or auto", "fit", "x.csv", "--lambda")
        self.fails(2, "'--quiet' takes no value", "fit", "x.csv", "--quiet=1")
        self.fails(2, "'tanhh'", "fit", "x.csv", "--activation", "tanhh")
        self.fails(2, "did you mean 'tanh'?", "fit", "x.csv", "--activation=tanhh")
        self.fails(2, "--lambda: 'abc' is not a number; give a number >= 0 or auto", "fit", "x.csv", "--lambda", "abc")
        self.fails(2, "fraction", "fit", "x.csv", "--holdout", "30")
        self.fails(2, "fraction", "fit", "x.csv", "--holdout", "0.3x")
        self.fails(2, "choose one", "fit", "x.csv", "--holdout", "0.3", "--test", "y.csv")
        self.fails(2, "--test-labels", "fit", "x.npy", "--labels", "l.npy", "--test", "y.npy")
        self.fails(2, "1024", "predict", "m", "d", "--threads", "99999")

    def test_positional(self):
        self.fails(2, "usage: broad fit DATA", "fit")
        self.fails(2, "usage: broad predict MODEL DATA...", "predict", "model.broad")
        self.fails(2, "unexpected argument", "info", "a", "b")
        self.fails(66, "--weird", "info", "--", "--weird")

    def test_error_as_json(self):
        result = self.fails(2, "did you mean", "fit", "--json", "--lamda", "1")
        self.assertEqual(result.json["error"]["status"], "usage")
        self.assertEqual(result.json["error"]["code"], 2)
        self.assertIn("did you mean", result.json["error"]["message"])
        result = self.fails(66, "nowhere.csv", "fit", self.path("nowhere.csv"), "--json", "-o", self.path("m"))
        self.assertEqual(result.json["command"], "fit")
        self.assertEqual(result.json["error"]["status"], "no_input")


class Errors(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="broad-cli-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def test_inputs(self):
        model = self.path("m.broad")
        self.fails(66, "nowhere.csv", "fit", self.path("nowhere.csv"), "-o", model)
        self.fails(65, "bad.csv", "fit", self.write("bad.csv", "a,b\n1,2\n3\n4,5\n"), "-o", model)
        self.fails(65, "empty.csv", "fit", self.write("empty.csv", ""), "-o", model)
        good = self.write("good.csv", blobs(60))
        self.fails(65, "nope", "fit", good, "--target", "nope", "-o", model)
        self.fails(66, "notest.csv", "fit", good, "--test", self.path("notest.csv"), "-o", model)
        self.fails(2, "zebra", "fit", good, "--positive", "zebra", "-o", model)
        self.assertFalse(os.path.exists(model))
        self.fails(66, "nomodel", "info", self.path("nomodel"))
        self.fails(76, "good.csv", "info", good)

    def test_outputs(self):
        good = self.write("good.csv", blobs(60))
        for where in (self.path("no/such/dir/m.broad"), self.folder):
            started = time.time()
            self.fails(73, self.folder, "fit", good, "-o", where, "--kind", "brls", "--enhance", "200x20000")
            self.assertLess(time.time() - started, 5)
        self.fails(2, "would overwrite the input", "fit", good, "-o", good)
        self.fails(2, "would overwrite the input", "fit", good, "--test", self.write("t.csv", blobs(30)), "-o", self.path("t.csv"))
        self.assertEqual(self.read("good.csv").decode(), blobs(60))
        model = self.path("m.broad")
        self.ok("fit", good, "-o", model, *SMALL)
        self.fails(2, "would overwrite the input", "predict", model, good, "-o", good)
        self.fails(2, "would overwrite the input", "predict", model, good, "-o", model)
        self.fails(73, "no/such", "predict", model, good, "-o", self.path("no/such/p.csv"))
        self.fails(73, "no/such", "demo", self.path("no/such/demo"), "--what", "spirals")
        self.assertEqual(sorted(os.listdir(self.folder)), ["good.csv", "m.broad", "t.csv"])

    def test_full_disk(self):
        good, model = self.write("good.csv", blobs(60)), self.path("m.broad")
        self.ok("fit", good, "-o", model, *SMALL)
        for words in (["predict", model, good], ["predict", model, good, "--json"], ["eval", model, good], ["help"],
                      ["info", model, "--json"], ["fit", good, "-o", "-", *SMALL]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BROAD, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 74, (words, done.stderr))
            self.assertIn("broad: cannot write", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_reader_leaves(self):
        words = ["bash", "-c", '"$0" help fit | true; echo "${PIPESTATUS[0]}"', BROAD]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertIn(done.stdout.strip(), ("0", "141"))
        self.assertEqual(done.stderr, "")

    def test_operator_cannot_hold(self):
        many, few = self.write("many.csv", blobs(300)), self.write("few.csv", blobs(45))
        started = time.time()
        result = run("fit", many, "--supervise", "operator", "-o", self.path("o.broad"), *SMALL)
        self.assertLess(time.time() - started, 5)
        self.assertNotEqual(result.code, 0)
        self.assertIn("residual", result.err)
        self.assertFalse(os.path.exists(self.path("o.broad")))
        report = self.ok("fit", few, "--supervise", "operator", "--features", "10x10", "--enhance", "100x3", "-o",
                         self.path("o.broad"), "--json").json
        self.assertEqual({layer["test"] for layer in report["layers"]}, {"operator"})


class Fit(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data = case.write("blobs.csv", blobs(300))
        cls.numbers = case.write("curve.csv", curve(300))
        cls.model = case.path("blobs.broad")
        cls.report = case.ok("fit", cls.data, "--holdout", "0.3", "-o", cls.model, "--json", *SMALL).json

    def test_json(self):
        report = self.report
        for name in "kind task rows inputs outputs nodes seed layers status reason train test seconds model".split():
            self.assertIn(name, report)
        self.assertEqual((report["command"], report["kind"], report["task"]), ("fit", "bscrls", "classify"))
        self.assertEqual((report["rows"], report["inputs"], report["outputs"], report["seed"]), (210, 2, 3, 0))
        self.assertEqual(report["model"], self.model)
        self.assertEqual(set(report["seconds"]), {"read", "features", "layers", "total"})
        self.assertIn(report["status"], ("complete", "stalled", "target_reached"))
        self.assertEqual((report["train"]["rows"], report["test"]["rows"]), (210, 90))
        for part in (report["train"], report["test"]):
            self.assertTrue(CLASS_FIELDS <= set(part))
            table = part["confusion"]
            self.assertEqual(sum(map(sum, table)), part["rows"])
            self.assertAlmostEqual(sum(table[i][i] for i in range(3)) / part["rows"], part["accuracy"], places=12)
            self.assertGreater(part["accuracy"], 0.8)

    def test_certificate_adds_up(self):
        before = None
        self.assertTrue(self.report["layers"])
        for m, layer in enumerate(self.report["layers"], 1):
            self.assertEqual(set(layer), LAYER_FIELDS)
            self.assertAlmostEqual(layer["bound"], layer["gamma"] + layer["mu"], places=14)
            self.assertAlmostEqual(layer["mu"], (1 - layer["gamma"]) / (m + 1), places=14)
            self.assertAlmostEqual(layer["ratio"], layer["norm_after"] / layer["norm_before"], places=12)
            self.assertLessEqual(layer["norm_after"], layer["norm_before"])
            if before is not None:
                self.assertAlmostEqual(layer["norm_before"], before, places=9)
            if layer["passed"] and layer["test"] != "none":
                self.assertLessEqual(layer["tested"], layer["bound"])
                self.assertLessEqual(layer["ratio"], layer["bound"] * (1 + 1e-12))
            before = layer["norm_after"]

    def test_text(self):
        out = self.ok("fit", self.data, "--holdout", "0.3", "-o", self.path("t.broad"), *SMALL).out
        for needle in ("300 rows, 2 inputs; 210 to train on, 90 held out", "classes  3: ant, bee, cat", "train    accuracy",
                       "test     accuracy", "estimate accuracy", "model    ", "broad predict", "broad verify"):
            self.assertIn(needle, out)
        quiet = run("fit", self.numbers, "-q", "-o", self.path("t.broad"), *SMALL)
        self.assertEqual((quiet.code, quiet.err), (0, ""))

    def test_every_thread_count_gives_the_same_bytes(self):
        for data, extra in ((self.data, []), (self.numbers, ["--preset", "paper"])):
            seen = set()
            for threads in (1, 2, 3, 8):
                self.ok("fit", data, "-o", self.path("x.broad"), "--threads", str(threads), *SMALL, *extra)
                seen.add(self.read("x.broad"))
            self.assertEqual(len(seen), 1)
            self.ok("fit", data, "-o", self.path("x.broad"), "--seed", "1", *SMALL, *extra)
            self.assertNotIn(self.read("x.broad"), seen)

    def test_order_of_options_does_not_matter(self):
        one = "--feature-activation sine --activation relu --lambda 0.01 --kind brls --preset paper".split()
        two = "--preset paper --kind brls --lambda 0.01 --activation relu --feature-activation sine".split()
        for words, name in ((one, "1.broad"), (two, "2.broad")):
            report = self.ok("fit", self.data, *words, *SMALL, "--json", "-o", self.path(name)).json
            self.assertEqual({layer["lambda"] for layer in report["layers"]}, {0.01})
        self.assertEqual(self.read("1.broad"), self.read("2.broad"))
        words = ["--supervise", "loo", "--kind", "brls", "-o", self.path("1.broad")]
        self.fails(2, "--supervise none", "fit", self.data, *words)

    def test_brls_is_unsupervised(self):
        report = self.ok("fit", self.data, "--kind=brls", "--json", "-o" + self.path("b.broad"), *SMALL).json
        self.assertEqual(report["kind"], "brls")
        self.assertEqual(len(report["layers"]), 4)
        self.assertEqual({layer["test"] for layer in report["layers"]}, {"none"})

    def test_standard_input_and_gzip(self):
        words = [*SMALL, "--no-names"]
        self.ok("fit", self.data, "-o", self.path("a.broad"), *words)
        self.ok("fit", "-", "-o", self.path("b.broad"), *words, stdin=blobs(300))
        packed = self.write("blobs.csv.gz", gzip.compress(blobs(300).encode()))
        self.ok("fit", packed, "-o", self.path("c.broad"), *words)
        self.assertEqual(self.read("a.broad"), self.read("b.broad"))
        self.assertEqual(self.read("a.broad"), self.read("c.broad"))
        piped = run("fit", self.data, "-o", "-", *words, text=False)
        self.assertEqual((piped.code, piped.out), (0, self.read("a.broad")))

    def test_test_file(self):
        test = self.write("other.csv", blobs(99, seed=5))
        report = self.ok("fit", self.data, "--test", test, "-o", self.path("d.broad"), "--json", *SMALL).json
        self.assertEqual((report["rows"], report["test"]["rows"]), (300, 99))
        again = self.ok("eval", self.path("d.broad"), test, "--json").json
        self.assertEqual(again["test"], report["test"])
        self.assertIsNone(self.ok("fit", self.data, "-o", self.path("d.broad"), "--json", *SMALL).json["test"])
        bad = self.write("bad-test.csv", "a,b,kind\n1,2,dog\n")
        os.remove(self.path("d.broad"))
        self.fails(65, "dog", "fit", self.data, "--test", bad, "-o", self.path("d.broad"), *SMALL)
        self.assertFalse(os.path.exists(self.path("d.broad")))

    def test_labels_apart(self):
        rng = random.Random(3)
        rows = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(120)]
        inputs = self.write("x.npy", npy(rows))
        labels = self.write("y.npy", npy([[int(a > b)] for a, b in rows], "<i8", "q"))
        model = self.path("npy.broad")
        words = ["--labels", labels, "--task", "classify", "--test", inputs, "--test-labels", labels]
        report = self.ok("fit", inputs, *words, "-o", model, "--json", *SMALL).json
        self.assertEqual((report["task"], report["outputs"]), ("classify", 2))
        self.assertEqual(list(report["train"]), list(report["test"]))
        for key, value in report["train"].items():  # by what the fit has left, and by prediction
            if isinstance(value, float):
                self.assertAlmostEqual(value, report["test"][key], 12, key)
            elif key != "by_class":
                self.assertEqual(value, report["test"][key], key)
        self.ok("verify", model, inputs, "--labels", labels)

    def test_groups_stay_together(self):
        lines = blobs(200, header=False).splitlines()
        grouped = ["a,b,who,kind"] + ["%s,p%d,%s" % (line.rsplit(",", 1)[0], i // 10, line.rsplit(",", 1)[1])
                                      for i, line in enumerate(lines)]
        data = self.write("grouped.csv", "\n".join(grouped) + "\n")
        model = self.path("g.broad")
        report = self.ok("fit", data, "--group", "who", "--holdout", "0.3", "-o", model, "--json", *SMALL).json
        self.assertEqual(report["inputs"], 2)
        self.assertEqual(report["rows"] % 10, 0)
        self.assertEqual(report["rows"] + report["test"]["rows"], 200)
        self.ok("verify", model, data)

    def test_stalls(self):
        words = ["fit", self.data, "--gamma", "constant:0.01", "-o", self.path("s.broad"), *SMALL]
        report = self.ok(*words, "--json").json
        self.assertEqual(report["status"], "stalled")
        self.assertIn("bound", report["reason"])
        self.ok("info", self.path("s.broad"))
        self.assertIn("stalled: ", self.ok(*words).out)

    def test_hint_about_classes(self):
        lines = ["a,b,digit"] + ["%d,%d,%d" % (i % 7, i % 5, i % 3) for i in range(100)]
        data = self.write("digits.csv", "\n".join(lines) + "\n")
        words = ["fit", data, "-o", self.path("h.broad"), *SMALL]
        self.assertIn("--task classify", self.ok(*words).err)
        self.assertEqual(self.ok(*words, "--task", "classify").err, "")
        self.assertEqual(self.ok(*words, "-q").err, "")
        self.assertNotIn("--task", self.ok("fit", self.numbers, "-o", self.path("h.broad"), *SMALL).err)

    def test_compact_predicts_the_same(self):
        self.ok("fit", self.data, "-o", self.path("full.broad"), *SMALL)
        self.ok("fit", self.data, "-o", self.path("lean.broad"), "--compact", *SMALL)
        self.assertLess(len(self.read("lean.broad")), len(self.read("full.broad")))
        full, lean = (self.ok("predict", self.path(n), self.data).out for n in ("full.broad", "lean.broad"))
        self.assertEqual(full, lean)

    def test_default_name(self):
        self.ok("fit", self.data, *SMALL, cwd=self.folder)
        self.assertTrue(os.path.exists(self.path("model.broad")))
        os.remove(self.path("model.broad"))


class Use(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data, cls.numbers = case.write("blobs.csv", blobs(150)), case.write("curve.csv", curve(200))
        cls.model, cls.line = case.path("blobs.broad"), case.path("curve.broad")
        case.ok("fit", cls.data, "-o", cls.model, *SMALL)
        case.ok("fit", cls.numbers, "-o", cls.line, "--features", "5x5", "--enhance", "20x10")

    def test_predict_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("predict", self.model, self.data).out)))
        self.assertEqual(list(rows[0]), ["row", "label", "score_ant", "score_bee", "score_cat"])
        self.assertEqual([r["row"] for r in rows], [str(i) for i in range(1, 151)])
        truth = [line.rsplit(",", 1)[1] for line in blobs(150).splitlines()[1:]]
        hits = sum(r["label"] == t for r, t in zip(rows, truth))
        for r in rows:
            scores = {n: float(r["score_" + n]) for n in ("ant", "bee", "cat")}
            self.assertEqual(max(scores, key=scores.get), r["label"])
        measured = self.ok("eval", self.model, self.data, "--json").json["test"]
        self.assertAlmostEqual(hits / 150, measured["accuracy"], places=12)

    def test_predict_forms_agree(self):
        table = list(csv.DictReader(io.StringIO(self.ok("predict", self.model, self.data).out)))
        lines = [json.loads(x) for x in self.ok("predict", self.model, self.data, "--format", "jsonl").out.splitlines()]
        whole = self.ok("predict", self.model, self.data, "--json").json
        self.assertEqual((whole["command"], whole["rows"]), ("predict", 150))
        self.assertEqual(whole["predictions"], lines)
        for a, b in zip(table, lines):
            self.assertEqual((int(a["row"]), a["label"]), (b["row"], b["label"]))
            self.assertEqual({n: float(a["score_" + n]) for n in b["scores"]}, b["scores"])

    def test_predict_to_file(self):
        text = self.ok("predict", self.model, self.data).out
        self.ok("predict", self.model, self.data, "-o", self.path("p.csv"))
        self.assertEqual(self.read("p.csv").decode(), text)
        self.assertEqual(self.ok("predict", self.model, self.data, "-o", "-").out, text)
        summary = self.ok("predict", self.model, self.data, "-o", self.path("p.csv"), "--json").json
        self.assertEqual((summary["output"], summary["predictions"]), (self.path("p.csv"), None))
        self.assertEqual(self.read("p.csv").decode(), text)

    def test_predict_without_targets_and_in_other_order(self):
        text = self.ok("predict", self.model, self.data).out
        rows = [line.split(",") for line in blobs(150).splitlines()[1:]]
        swapped = ["b,extra,a"] + ["%s,7,%s" % (b, a) for a, b, _ in rows]
        self.assertEqual(self.ok("predict", self.model, "-", stdin="\n".join(swapped) + "\n").out, text)
        bare = ["%s,%s" % (a, b) for a, b, _ in rows]
        self.assertEqual(self.ok("predict", self.model, "-", "--header", "no", stdin="\n".join(bare) + "\n").out, text)
        semicolons = "a;b\n" + "\n".join(bare).replace(",", ";") + "\n"
        self.assertEqual(self.ok("predict", self.model, "-", "--separator", ";", stdin=semicolons).out, text)
        self.fails(65, "b", "predict", self.model, "-", stdin="a,z\n1,2\n")

    def test_labels_are_quoted(self):
        names = ('so,so', 'say "hi"', "plain")
        rows = []
        for i, line in enumerate(blobs(60, header=False).splitlines()):
            rows.append(line.rsplit(",", 1)[0].split(",") + [names[i % 3]])
        text = io.StringIO()
        csv.writer(text).writerows([["a", "b", "kind"]] + rows)
        data, model = self.write("quoted.csv", text.getvalue()), self.path("q.broad")
        self.ok("fit", data, "-o", model, *SMALL)
        table = list(csv.DictReader(io.StringIO(self.ok("predict", model, data).out)))
        self.assertTrue({r["label"] for r in table} <= set(names))
        self.assertEqual(set(table[0]), {"row", "label"} | {"score_" + n for n in names})

    def test_regression(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("predict", self.line, self.numbers).out)))
        self.assertEqual(list(rows[0]), ["row", "y"])
        truth = [float(x.rsplit(",", 1)[1]) for x in curve(200).splitlines()[1:]]
        errors = [float(r["y"]) - t for r, t in zip(rows, truth)]
        found = self.ok("eval", self.line, self.numbers, "--json").json
        self.assertEqual((found["command"], found["task"], found["rows"]), ("eval", "regress", 200))
        self.assertEqual(set(found["test"]),
                         set("rows rmse mae r2 level coverage interval_width log_likelihood baseline interval targets".split()))
        mean = sum(truth) / 200
        self.assertAlmostEqual(found["test"]["rmse"], math.sqrt(sum(e * e for e in errors) / 200), places=9)
        self.assertAlmostEqual(found["test"]["mae"], sum(map(abs, errors)) / 200, places=9)
        spread = sum((t - mean) ** 2 for t in truth)
        self.assertAlmostEqual(found["test"]["r2"], 1 - sum(e * e for e in errors) / spread, places=9)
        self.assertIn("RMSE", self.ok("eval", self.line, self.numbers).out)

    def test_eval(self):
        text = self.ok("eval", self.model, self.data).out
        for needle in ("accuracy", "false negative", "rows: true class, columns: predicted class", "ant"):
            self.assertIn(needle, text)
        bare = self.write("bare.csv", "a,b\n1,2\n")
        self.fails(65, "target", "eval", self.model, bare)

    def test_info(self):
        text = self.ok("info", self.model).out
        for needle in ("bscrls", "classes  3: ant, bee, cat", "inputs   2 (a, b)", "on 150 rows"):
            self.assertIn(needle, text)
        found = self.ok("info", self.model, "--json").json
        self.assertEqual((found["command"], found["inputs"]), ("info", ["a", "b"]))
        self.assertEqual(found["outputs"], ["ant", "bee", "cat"])
        self.assertEqual(found["bytes"], os.path.getsize(self.model))
        self.assertTrue(all(set(layer) == LAYER_FIELDS for layer in found["layers"]))
        self.assertIsInstance(found["stored"], dict)
        listed = self.ok("info", self.model, "--layers").out
        for i in range(1, len(found["layers"]) + 1):
            self.assertRegex(listed, r"(?m)^ +%d " % i)

    def test_info_says_what_was_chosen(self):
        """An input that says nothing about the target counts less than the one that decides it."""
        rng, data, model = random.Random(4), self.path("one.csv"), self.path("one.broad")
        with open(data, "w", encoding="utf-8") as f:
            f.write("useless,useful,y\n")
            for _ in range(300):
                a, b = rng.uniform(-1, 1), rng.uniform(-1, 1)
                f.write("%.6f,%.6f,%.6f\n" % (a, b, math.sin(6 * b)))
        self.ok("fit", data, "-o", model, "--features", "4x40", "--enhance", "10x1")
        found = self.ok("info", model, "--json").json
        self.assertEqual((found["scale"], found["features"], found["fitting"]), ("both", "sampled", "joint"))
        useless, useful = found["relevance"]
        self.assertLess(useless, useful)
        self.assertAlmostEqual((useless ** 2 + useful ** 2) / 2, 1)
        self.assertRegex(self.ok("info", model).out, r"(?m)^columns  useful \d\.\d+ ± \d\.\d+ \(.*no other counts")

    def test_info_has_the_pilot(self):
        """Without a metric, the style is one of the two that did best with few nodes."""
        model = self.path("pilot.broad")
        self.ok("fit", self.data, "-o", model, "--features", "4x40", "--enhance", "10x1", "--learned-metric", "no")
        stored = self.ok("info", model, "--json").json["stored"]
        errors = {style: stored["pilot_" + style] for style in ("mix", "dense", "difference", "sparse")}
        self.assertTrue(all(0 < error for error in errors.values()), errors)
        self.assertIn(stored["style"], sorted(errors, key=errors.get)[:2])

    def test_info_without_sampled_nodes(self):
        model = self.path("scn.broad")
        self.ok("fit", self.data, "-o", model, "--kind", "scn", "--enhance", "5x3")
        found = self.ok("info", model, "--json").json
        self.assertEqual((found["features"], found["relevance"]), ("direct", [1, 1]))
        self.assertEqual({layer["test"] for layer in found["layers"]}, {"output"})

    def test_verify(self):
        self.assertIn("certificate holds", self.ok("verify", self.model, self.data).out)
        found = self.ok("verify", self.model, self.data, "--json").json
        self.assertEqual((found["command"], found["holds"], found["reason"]), ("verify", True, ""))
        self.assertLess(found["worst_norm_error"], 1e-9)
        self.ok("verify", self.line, self.numbers)

    def test_the_normal_class_is_said_where_it_means_something(self):
        for classes, words, line in ((("ant", "bee", "cat"), [], None), (("ant", "bee"), [], "ant (the most frequent; "),
                                     (("ant", "bee", "none"), [], "none (by its name; "),
                                     (("ant", "bee", "cat"), ["--normal", "bee"], "bee (as given; ")):
            data, model = self.write("normal.csv", blobs(60, classes=classes)), self.path("normal.broad")
            text = self.ok("fit", data, "-o", model, *words, *SMALL).out
            told = self.ok("info", model)
            if line:
                self.assertIn("normal   " + line, text)
                self.assertIn("normal   " + line.split(";")[0], told.out)
            else:
                self.assertNotIn("normal  ", text + told.out)
                self.assertIn(self.ok("info", model, "--json").json["normal"], classes)

    def test_verify_rejects_other_rows(self):
        other = self.write("other.csv", blobs(150, seed=9))
        text = run("verify", self.model, other)
        self.assertEqual((text.code, text.err), (1, ""))
        self.assertIn("NOT hold", text.out)
        found = run("verify", self.model, other, "--json")
        self.assertEqual((found.code, found.json["holds"]), (1, False))
        self.assertTrue(found.json["reason"])

    def test_verify_after_holdout(self):
        model = self.path("held.broad")
        for seed in ("0", "5"):
            self.ok("fit", self.data, "--holdout", "0.25", "--seed", seed, "-o", model, *SMALL)
            self.assertIn("holds", self.ok("verify", model, self.data).out)

    def test_damaged_model(self):
        content = bytearray(self.read("blobs.broad"))
        content[len(content) // 2] ^= 1
        for words in (["info"], ["predict"], ["eval"], ["verify"]):
            data = [] if words == ["info"] else [self.data]
            self.fails(76, "bad.broad", *words, self.write("bad.broad", bytes(content)), *data)
            self.fails(76, "cut.broad", *words, self.write("cut.broad", bytes(content[:100])), *data)


class Interrupt(Case):
    def stop(self, number, code, data, *words, after=None):
        """The JSON and the messages of a run of very many layers that is sent the signal, once that file is there."""
        process = subprocess.Popen([BROAD, "fit", data, "--kind", "brls", "--enhance", "200x2000", "--json", *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for_work(process, 0.3)
        while after and not os.path.exists(after) and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, err)
        return json.loads(out), err

    def check(self, number, code):
        data, model = self.write("rows.csv", blobs(3000)), self.path("stopped-%d.broad" % number)
        told, err = self.stop(number, code, data, "--features", "10x10", "--weights", "chain", "--checkpoint", "2",
                              "-o", model, after=model)
        self.assertIn("saved", err)
        self.assertEqual(told["status"], "stopped")
        self.ok("info", model)
        self.ok("predict", model, data)
        self.check_files(model)

    def check_files(self, *models):
        """Nothing is left beside the table and the models of the tests before."""
        names = [name for name in os.listdir(self.folder) if not re.fullmatch(r"rows\.csv|stopped-\d+\.broad", name)]
        self.assertEqual((names, [os.path.exists(path) for path in models]), ([], [True] * len(models)))

    def test_sigint_saves(self):
        self.check(signal.SIGINT, 130)

    @unittest.skipIf(SANITIZED, "the same code as for SIGINT")
    def test_sigterm_saves(self):
        self.check(signal.SIGTERM, 143)

    def test_nothing_to_save(self):
        """All weights are solved together at the end: until then there is no model."""
        data, model = self.write("rows.csv", blobs(3000)), self.path("none.broad")
        told, err = self.stop(signal.SIGINT, 130, data, "--weights", "joint", "-o", model)
        self.assertEqual(told["error"], {"status": "interrupted", "code": 130, "message": "interrupted; nothing was saved"})
        self.assertIn("interrupted; nothing was saved", err)
        self.check_files()


class Spirals(Case):
    """The other demonstration is in cli_demo.py."""

    def test_demo(self):
        folder = self.path("show")
        text = self.ok("demo", folder, "--what", "spirals").out
        for needle in ("brls", "bscrls", "accuracy", "certificate holds", "what to try next"):
            self.assertIn(needle, text)
        self.assertEqual(sorted(os.listdir(folder)), ["spirals.broad", "spirals.csv", "spirals.svg"])
        with open(os.path.join(folder, "spirals.csv")) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["spiral"] for r in rows}, {"blue", "orange"})
        svg = xml.dom.minidom.parse(os.path.join(folder, "spirals.svg"))
        self.assertEqual(svg.documentElement.tagName, "svg")
        lines = [path for path in svg.getElementsByTagName("path") if path.getAttribute("class").startswith("line")]
        self.assertEqual(len([path for path in lines if path.getAttribute("d").count("L") > 10]), 2)
        self.assertEqual(len(svg.getElementsByTagName("circle")), len(rows) * 3 // 10)  # those held out
        self.ok("verify", os.path.join(folder, "spirals.broad"), os.path.join(folder, "spirals.csv"))

    @unittest.skipIf(SANITIZED, "the same run with another seed")
    def test_json(self):
        found = self.ok("demo", self.path("show"), "--what", "spirals", "--json", "--seed", "3").json
        self.assertEqual(found["what"], "spirals")
        self.assertEqual([n["kind"] for n in found["networks"]], ["brls", "bscrls"])
        self.assertTrue(found["holds"])
        self.assertGreater(found["networks"][1]["accuracy"], 0.9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
