"""The JavaScript package in node and in Chromium: predictions, probabilities and intervals of the tool, damaged files, wrong uses, types.

Usage: test_javascript.py PATH_OF_BROAD. Exits with 77 where the compiler for WebAssembly or node is not installed.
"""
import base64
import csv
import functools
import http.server
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = os.environ.get("BROAD_SOURCE_DIR", ".")
HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 40
# WebAssembly has no fused multiplication; where lambda is 1e-8, weights are large and cancel.
NEAR, NEAR_PAPER = 1e-12, 1e-10

WAYS = {
    "auto": [], "chain": ["--preset", "chain"], "paper": ["--preset", "paper", "--enhance", "10x3"], "bls": ["--kind", "bls"],
    "brls": ["--kind", "brls", "--enhance", "10x3"], "scn": ["--kind", "scn", "--enhance", "10x3"], "rvfl": ["--kind", "rvfl"],
    "relu": ["--activation", "relu"], "sine": ["--activation", "sine"],
    "gaussian": ["--activation", "gaussian"], "sigmoid": ["--activation", "sigmoid"], "compact": ["--compact"],
}


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def german(value):
    return "{:,.3f}".format(1000 * value).translate(str.maketrans(",.", ".,"))


def table(rows, classify, seed):
    """Numbers, some missing, some with a decimal comma, a category with missing ones, yes and no, dates."""
    r = random.Random(seed)
    out = []
    for _ in range(rows):
        a, b, colour, flag, day = r.gauss(0, 1), r.gauss(5, 3), r.choice(["red", "blue", "grün", ""]), r.random() < 0.5, r.randint(1, 28)
        value = a * 2 + b * (colour == "red") + flag + day / 10 + 0.1 * r.gauss(0, 1)
        given = "" if r.random() < 0.05 else repr(a)
        out.append([given, german(b), colour, "yes" if flag else "no", "2024-02-%02d" % day, ("high" if value > 3 else "low") if classify else repr(value)])
    return out


HEADER = ["a", "b", "colour", "flag", "day"]


class JavaScript(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="broad-js-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.package = os.path.join(cls.folder, "package")
        built = subprocess.run([os.path.join(SOURCE, "scripts", "build_js"), cls.package], capture_output=True, text=True)
        if built.returncode and "is missing" in built.stderr:
            print(built.stderr)
            sys.exit(77)
        if built.returncode:
            raise AssertionError(built.stderr)
        cls.task, cls.expected = cls.make_task()

    @classmethod
    def tool(cls, *words):
        done = subprocess.run([BROAD, *words], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError("broad %s: %s" % (" ".join(words), done.stderr))
        return done.stdout

    @classmethod
    def make_model(cls, name, words, classify):
        """The model's bytes, its rows for JavaScript, and what the tool predicts for them."""
        data, model, new = (os.path.join(cls.folder, part + name) for part in ("data-", "model-", "new-"))
        write(data, HEADER + ["target"], table(200, classify, 1))
        cls.tool("fit", data, "-o", model, "--target", "target", "-q", "--effort", "fast", *words)
        rows = [row[:-1] for row in table(ROWS, classify, 2)]
        rows[3][2] = "never seen"
        write(new, HEADER, rows)
        more = [] if "paper" in name or "brls" in name else ["--proba"] if classify else ["--interval", "0.8"]
        found = list(csv.DictReader(io.StringIO(cls.tool("predict", model, new, "-q", *more))))
        given = [[float(a) if a else None, b, colour or None, flag == "yes", day] for a, b, colour, flag, day in rows]
        with open(model, "rb") as file:
            return {"model": base64.b64encode(file.read()).decode(), "rows": given, "level": 0.8}, found

    @classmethod
    def make_task(cls):
        models, expected = {}, {}
        for way, words in WAYS.items():
            for classify in (True, False):
                name = "%s-%s" % (way, "classes" if classify else "values")
                models[name], expected[name] = cls.make_model(name, words, classify)
        good = base64.b64decode(models["auto-values"]["model"])
        damaged = {"empty": b"", "short": good[:1000], "header": good[:200] + b"?" + good[201:], "data": good[:-9] + b"?" + good[-8:], "text": b"a,b\n1,2\n"}
        return {"models": models, "damaged": {name: base64.b64encode(data).decode() for name, data in damaged.items()}}, expected

    def near(self, found, text, what):
        allowed = NEAR_PAPER if what[0].startswith(("paper", "brls", "scn")) else NEAR
        self.assertLessEqual(abs(found - float(text)), allowed * max(1, abs(float(text))), what)
        return abs(found - float(text))

    def check_model(self, name, one):
        """The largest difference from the tool."""
        worst, outputs = 0, len(one["labels"] or one["targets"])
        for i, row in enumerate(self.expected[name]):
            scores = one["scores"][i * outputs:(i + 1) * outputs]
            if one["labels"]:
                self.assertEqual(one["predict"][i], row["label"], (name, i))
                pairs = [(score, row["score_" + label]) for score, label in zip(scores, one["labels"])]
                if "proba" in one:
                    pairs += [(p, row["proba_" + label]) for p, label in zip(one["proba"][i], one["labels"])]
            else:
                pairs = [(one["predict"][i], row["target"])]
                if "interval" in one:
                    pairs += list(zip(one["interval"][i], (row["target_low"], row["target_high"])))
            worst = max([worst] + [self.near(found, text, (name, i)) for found, text in pairs])
        self.assertEqual(one["single"], one["scores"][:3 * outputs], name)  # whatever rows come with it
        return worst

    def check(self, found, where):
        self.assertEqual(set(found["models"]), set(self.expected))
        worst = max(self.check_model(name, one) for name, one in found["models"].items())
        known = found["models"]["auto-values"]
        self.assertEqual([column["name"] for column in known["columns"]], HEADER)
        self.assertEqual(known["columns"][2]["categories"], ["(missing)", "blue", "grün", "red"])
        self.assertEqual([column["form"] for column in known["columns"]], ["number", "decimal_comma", "number", "truth", "date"])
        self.assertIn("no estimate of its error", found["models"]["paper-values"]["estimate"])
        for name, message in found["refused"].items():
            path = os.path.join(self.folder, "damaged")
            with open(path, "wb") as file:
                file.write(base64.b64decode(self.task["damaged"][name]))
            said = subprocess.run([BROAD, "info", path], capture_output=True, text=True).stderr
            self.assertTrue(message and message.startswith("BroadError: "), (name, message))
            self.assertIn(message[len("BroadError: "):], said, name)
        wrong = found["wrong"]
        self.assertEqual(wrong.pop(), 0)
        for message, part in zip(wrong, ("4 values where the model has 5 columns", "column 'a' is not there", "array of rows", "no array and no object",
                                         "is not a number", "are not rows of", "has been closed", "", "the bytes of a model file")):
            self.assertTrue(message and message.startswith("BroadError: ") and part in message, (message, part))
        print("%s: %d models, largest difference %.1e, %d damaged files refused" % (where, len(self.expected), worst, len(found["refused"])))

    def test_node(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not installed")
        done = subprocess.run([node, os.path.join(HERE, "javascript_run.mjs"), os.path.join(self.package, "index.js")],
                              input=json.dumps(self.task), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads(done.stdout), "node")

    def test_chromium(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not browser:
            self.skipTest("Chromium is not installed")
        site = os.path.join(self.folder, "site")
        shutil.copytree(self.package, os.path.join(site, "package"))
        shutil.copy(os.path.join(HERE, "javascript_run.mjs"), site)
        with open(os.path.join(site, "task.json"), "w", encoding="utf-8") as file:
            json.dump(self.task, file)
        with open(os.path.join(site, "index.html"), "w", encoding="utf-8") as file:
            file.write("""<!doctype html><meta charset=utf-8><pre id=out></pre><script type=module>
import * as broad from './package/index.js';
import { run } from './javascript_run.mjs';
const task = await (await fetch('task.json')).json();
let text;
try { text = JSON.stringify(await run(broad, task)); } catch (error) { text = String(error.stack); }
await fetch('found', { method: 'POST', body: text });
</script>""")
        found = self.visit(browser, site)
        self.check(json.loads(found), "Chromium")

    def visit(self, browser, site):
        """What the page at index.html of the folder posts."""
        came, posted = threading.Event(), []

        class Handler(http.server.SimpleHTTPRequestHandler):
            extensions_map = dict(http.server.SimpleHTTPRequestHandler.extensions_map, **{".mjs": "text/javascript"})

            def log_message(self, *_):
                pass

            def do_POST(self):
                posted.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
                self.send_response(204)
                self.end_headers()
                came.set()

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        process = subprocess.Popen([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.join(self.folder, "profile"),
                                    "http://127.0.0.1:%d/index.html" % server.server_address[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.assertTrue(came.wait(120), "the page did not answer")
        finally:
            process.terminate()
            process.wait()
            server.shutdown()
            server.server_close()
        return posted[0]

    def test_document(self):
        """The example of docs/javascript.md runs as it stands."""
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not installed")
        place = os.path.join(self.folder, "user")
        shutil.copytree(self.package, os.path.join(place, "node_modules", "broad-predict"))
        r = random.Random(4)
        rows = [[x, y, "up" if x > y else "down"] for x, y in ((r.gauss(0, 1), r.gauss(0, 1)) for _ in range(60))]
        self.tool("fit", write(os.path.join(place, "rows.csv"), ["x", "y", "target"], [["", 1.0, "down"]] + rows), "-o",
                  os.path.join(place, "model.broad"), "-q")
        with open(os.path.join(SOURCE, "docs", "javascript.md"), encoding="utf-8") as file:
            example = file.read().split("```js\n")[1].split("```")[0]
        with open(os.path.join(place, "example.mjs"), "w", encoding="utf-8") as file:
            file.write(example)
        done = subprocess.run([node, "example.mjs"], cwd=place, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("classify [ 'down', 'up' ] [ 'x', 'y' ]\n[ 'up'", done.stdout)

    def test_package(self):
        """npm packs it, and it holds all that it names."""
        npm = shutil.which("npm")
        if not npm:
            self.skipTest("npm is not installed")
        done = subprocess.run([npm, "pack", "--json", "--dry-run"], cwd=self.package, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {entry["path"] for entry in json.loads(done.stdout)[0]["files"]}
        self.assertEqual(files, {"package.json", "index.js", "index.d.ts", "system.js", "broad.wasm.js", "README.md", "LICENSE"})

    def test_types(self):
        """The compiler of TypeScript accepts right uses and refuses wrong ones, where npm can fetch it."""
        npm = shutil.which("npm")
        if not npm or subprocess.run([npm, "install", "--silent", "--prefix", self.folder, "typescript@5"], capture_output=True).returncode:
            self.skipTest("TypeScript cannot be fetched")
        use = ("import Broad, { Model, BroadError } from './package/index.js';\n"
               "const model: Model = await Broad.load(new ArrayBuffer(8));\n"
               "model.predict([[1, null, 'red', true, new Date()]]); model.predict([{ a: 1, b: undefined }]); model.predict(new Float64Array(4));\n"
               "const p: number[][] = model.predictProba([[1]]); const names: readonly string[] | null = model.labels; model.close();\n"
               "model.predictInterval([[1]], 0.5); throw new BroadError('x');\n")
        for text, right in ((use, True), (use + "model.predict(3);", False), (use + "model.labels = [];", False), (use + "Broad.load('x');", False)):
            path = os.path.join(self.folder, "use.mts")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([os.path.join(self.folder, "node_modules", ".bin", "tsc"), "--noEmit", "--strict", "--target", "es2022", "--module",
                                   "nodenext", "--lib", "es2022,dom,dom.iterable", path], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode == 0, right, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=["test_javascript"])
