#!/usr/bin/env python3
"""broad report --training and --report of fit, grow and learn: that the page is whole and stands alone, that its figures are those
of info, eval and verify, and that nothing is left of a run that fails.

Usage: cli_training_report.py PATH_OF_BROAD. Pages are also opened in Chromium where that is installed.
"""
import html.parser
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "link", "img", "input", "br"}
CHAIN = ["--preset", "paper", "--features", "3x5", "--enhance", "10x8"]
ONE_STEP = ["--features", "4x5", "--enhance", "40x1"]
ODD = ["<b>&\"quote\"'s</b>", "</script><script>alert(1)</script>", "Gr\u00fc\u00dfe", "a, b"]
NUMBERS = "gamma mu bound norm_before norm_after ratio tested lambda range".split()


def run(*arguments, code=0, path=None):
    words = [BROAD, *map(str, arguments)]
    environment = dict(os.environ, **({"PATH": path} if path is not None else {}))
    done = subprocess.run(words, capture_output=True, env=environment)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit {done.returncode}, expected {code}\n{done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def ask(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more)[0])


class Page(html.parser.HTMLParser):
    """Checks the nesting and keeps tables by where they are, each cell with the number that stands for it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.source = text
        self.open, self.ids, self.links, self.labelled = [], [], [], []
        self.section = self.figure = ""
        self.tables, self.table, self.cell = [], None, None
        self.headings, self.styles, self.text, self.svgs, self.classes = [], "", "", 0, set()
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, name, attributes):
        given = dict(attributes)
        assert len(given) == len(attributes), f"an attribute twice in {name}"
        assert name not in ("script", "img", "iframe", "object", "use"), name
        assert "style" not in given and "src" not in given and not any(key.startswith("on") for key in given), given
        if "svg" in self.open:
            assert not {"fill", "stroke", "color"} & set(given), f"a fixed colour: {given}"
            self.classes |= set(given.get("class", "").split())
        if name not in VOID:
            self.open.append(name)
        if "id" in given:
            self.ids.append(given["id"])
        self.links += [given["href"]] if "href" in given else []
        if name == "section":
            self.section = given["id"]
        elif name == "figure":
            self.figure = given["id"]
        elif name == "svg":
            hidden = given.get("aria-hidden") == "true"  # a bar beside the number that it shows
            self.svgs += not hidden
            assert hidden or given["role"] == "img"
            self.labelled += [] if hidden else [given["aria-labelledby"], given["aria-describedby"]]
        elif name == "table":
            self.table = []
            self.tables.append((self.section, self.figure, given.get("id"), self.table))
        elif name == "tr":
            self.table.append([])
        elif name in ("td", "th"):
            self.cell = {"text": ""}
        elif name == "data" and self.cell is not None:
            self.cell["value"] = float(given["value"])

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        self.handle_endtag(name)

    def handle_endtag(self, name):
        assert self.open and self.open[-1] == name, f"</{name}> closes {self.open[-3:]}"
        self.open.pop()
        if name in ("td", "th"):
            self.table[-1].append(self.cell.get("value", self.cell["text"].strip()))
            self.cell = None
        elif name == "figure":
            self.figure = ""

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.styles += data
            return
        self.text += data
        if self.open and self.open[-1] in ("h2", "h3"):
            self.headings.append(data)
        if self.cell is not None:
            self.cell["text"] += data

    def by_id(self, name):
        return next(table for _, _, given, table in self.tables if given == name)

    def of_figure(self, name):
        """Columns of a picture's table by their heads."""
        table = next(table for _, figure, _, table in self.tables if figure == name)
        rows = [[float(cell) if cell else math.nan for cell in row] for row in table[1:]]
        return {head: [row[i] for row in rows] for i, head in enumerate(table[0])}

    def confusions(self):
        return [[[int(cell or 0) for cell in row[1:-1]] for row in table[1:]]
                for section, _, given, table in self.tables if section == "confusion" and given not in ("measures", "by-class")]


def read(path):
    with open(path, encoding="utf-8") as file:
        return Page(file.read())


def write_classes(path, names, rows, seed):
    """Rings around the middle, one per class, so that no line separates them."""
    pick = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,y,class\n")
        for i in range(rows):
            k = i % len(names)
            radius, angle = 1 + k + pick.gauss(0, 0.35), pick.uniform(0, 2 * math.pi)
            label = names[k].replace('"', '""')
            file.write(f'{radius * math.cos(angle):.5f},{radius * math.sin(angle):.5f},"{label}"\n')


def write_values(path, rows, seed, targets=1):
    pick = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write("a,b," + ",".join(f"<y{j}>" for j in range(targets)) + "\n")
        for _ in range(rows):
            a, b = pick.uniform(-1, 1), pick.uniform(-1, 1)
            values = [math.sin(3 * a) + b * b + j * a + pick.gauss(0, 0.05) for j in range(targets)]
            file.write(",".join(f"{v:.5f}" for v in [a, b, *values]) + "\n")


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="broad-training-")
        cls.count = 0
        cls.rows, cls.more = cls.place("rows.csv"), cls.place("more.csv")
        write_classes(cls.rows, ["inner", "outer"], 240, 1)
        write_classes(cls.more, ["inner", "outer"], 80, 2)
        cls.model, cls.html = cls.place("chain.broad"), cls.place("chain.html")
        cls.fitted = ask("fit", cls.rows, "--holdout", 0.3, *CHAIN, "-o", cls.model, "--report", cls.html, "-q")
        cls.page = read(cls.html)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def place(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def fresh(cls, end):
        cls.count += 1
        return cls.place(f"{cls.count}{end}")

    def make(self, model, *arguments, **more):
        path = self.fresh(".html")
        run("report", "--training", model, *arguments, "-o", path, **more)
        return read(path)

    def check_alone(self, page):
        """Nothing from outside, and nothing twice."""
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for link in page.links:
            self.assertTrue(link == "data:," or link[0] == "#" and link[1:] in page.ids, link)
        for word in ("http:", "https:", "{{", "<template", "@import", "url(", "xlink", "<?xml"):
            self.assertFalse(word in page.source, f"{word} is in the page")
        for name in page.labelled:
            self.assertIn(name, page.ids)
        self.assertIn("content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\"", page.source)
        for name in page.classes:
            self.assertRegex(page.styles, rf"\.{name}[ .,]")
        for chart in re.findall(r"<svg.*?</svg>", page.source, re.S):
            self.check_chart(xml.etree.ElementTree.fromstring(chart))
        self.assertLess(len(page.source), 2e6)

    def check_chart(self, chart):
        """Every mark has its place within the picture."""
        if chart.get("aria-hidden") != "true":
            self.assertTrue(chart.find("desc").text)
        width, height = map(float, chart.get("viewBox").split()[2:])
        for element in chart.iter():
            for key, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                self.assertTrue(0 <= float(element.get(key, 0)) <= most, element.attrib)
            self.assertNotRegex(element.get("d", "") + element.get("points", ""), "nan|inf")

    # ---- the page ----

    def test_stands_alone(self):
        self.check_alone(self.page)
        for heading in ("Summary", "How training went", "Correct and incorrect verdicts", "Time", "Settings", "The certificate",
                        "What the figures mean", "Check it yourself"):
            self.assertIn(heading, self.page.headings)
        self.assertEqual(self.fitted["report"], self.html)

    def test_light_and_dark(self):
        self.assertEqual(self.page.svgs, 6)
        light, dark = re.split(r"@media screen and \(prefers-color-scheme: dark\)", self.page.styles, maxsplit=1)
        for name in ("--ink", "--paper", "--line", "--soft", "--k1", "--k2"):
            found = [re.search(rf"{name}: (#\w+)", part)[1] for part in (light, dark)]
            self.assertNotEqual(found[0], found[1])
        self.assertFalse("rgb(" in self.page.source)

    def test_certificate(self):
        info, verdict = ask("info", self.model), ask("verify", self.model, self.rows)
        table = self.page.by_id("layers")
        self.assertEqual(len(table) - 1, len(info["layers"]))
        for number, (row, layer) in enumerate(zip(table[1:], info["layers"]), 1):
            self.assertEqual((int(row[0]), row[1], int(row[2])), (number, layer["origin"], layer["width"]))
            self.assertEqual(row[3:12], [layer[name] for name in NUMBERS])
            self.assertEqual((int(row[12]), int(row[13]), row[14], row[15]),
                             (layer["tries"], layer["relaxed"], layer["test"], "yes" if layer["passed"] else "no"))
        facts = re.search(r'id="verdict">(.*?)</dl>', self.page.source, re.S)[1]
        self.assertTrue(verdict["holds"])
        self.assertEqual([float(value) for value in re.findall(r'<data value="([^"]+)"', facts)],
                         [verdict["reached"], verdict["product_bound"], verdict["worst_norm_error"]])

    def test_measures(self):
        table = {row[0]: row[1:] for row in self.page.by_id("measures")[1:]}
        names = dict(zip("accuracy,precision,recall,F1,false positive rate,false negative rate".split(","),
                         "accuracy precision recall f1 false_positive false_negative".split()))
        for shown, name in names.items():
            self.assertEqual(table[shown][:2], [self.fitted["test"][name], self.fitted["train"][name]])
        for shown, name in (("balanced accuracy", "balanced_accuracy"), ("MCC", "mcc"), ("ROC AUC", "roc_auc"),
                            ("PR AUC", "pr_auc"), ("baseline", "baseline")):
            self.assertEqual(table[shown][0], self.fitted["test"][name])
        by_class = {row[0]: row[1:] for row in self.page.by_id("by-class")[1:]}
        for of in self.fitted["test"]["by_class"]:
            self.assertEqual(by_class[of["class"]][1:], [of[name] for name in ("precision", "recall", "f1", "roc_auc", "pr_auc")])
        self.assertEqual(self.page.confusions(), [self.fitted["test"]["confusion"], self.fitted["train"]["confusion"]])
        self.assertIn("72 rows that the network had not seen", " ".join(self.page.text.split()))

    def test_probabilities(self):
        html_path = self.fresh(".html")
        fitted = ask("fit", self.rows, "--holdout", 0.3, *ONE_STEP, "-o", self.fresh(".broad"), "--report", html_path, "-q")
        test, loo, page = fitted["test"], fitted["loo"], read(html_path)
        self.check_alone(page)
        table = {row[0]: row[1:] for row in page.by_id("probabilities")[1:]}
        self.assertEqual(table["test rows"], [test["brier"], test["log_loss"], test["calibration_error"]])
        self.assertEqual((table["leave-one-out"][0], table["leave-one-out"][2]), (loo["brier"], loo["calibration_error"]))
        bins = page.of_figure("reliability")
        said, share, low, high, right = bins.values()
        self.assertAlmostEqual(sum(share), 1, places=5)
        for part, count, bottom, top in zip(right, (s * test["rows"] for s in share), low, high):
            for edge in (bottom, top):  # where a normal test of that part would just reject it
                if 1e-6 < edge < 1 - 1e-6:
                    self.assertAlmostEqual(abs(part - edge) / math.sqrt(edge * (1 - edge) / count), 1.96, delta=0.001)
            self.assertTrue(bottom <= part <= top, (bottom, part, top, count))
        error = sum(s * abs(r - p) for p, s, r in zip(said, share, right))
        self.assertAlmostEqual(error, test["calibration_error"], places=5)
        self.assertAlmostEqual(sum(s * r for s, r in zip(share, right)), test["accuracy"], places=5)

    def test_curves(self):
        layers = ask("info", self.model)["layers"]
        norms, drops = self.page.of_figure("norms"), self.page.of_figure("drops")
        self.assertEqual(norms["layer"], list(range(len(layers) + 1)))
        reached, promised = norms["norm of the error"], norms["guaranteed by the bounds"]
        bound = layers[0]["norm_before"]
        for i, layer in enumerate(layers):
            bound *= layer["bound"]
            self.assertAlmostEqual(reached[i + 1] / layer["norm_after"], 1, places=5)
            self.assertAlmostEqual(promised[i + 1] / bound, 1, places=5)
            self.assertLessEqual(reached[i + 1], promised[i + 1])
            self.assertAlmostEqual(drops["part of the error removed (1 - ratio)"][i] / (1 - layer["ratio"]), 1, places=5)
        errors, accuracy = self.page.of_figure("errors"), self.page.of_figure("accuracy")
        root = math.sqrt(self.fitted["rows"])
        for i, layer in enumerate(layers):
            self.assertAlmostEqual(errors["training rows"][i] * root / layer["norm_after"], 1, places=5)
            self.assertGreater(errors["training rows, each left out in turn"][i], errors["training rows"][i])
        for rows, part in (("training rows", "train"), ("test rows, not seen in training", "test")):
            self.assertAlmostEqual(accuracy[rows][-1], self.fitted[part]["accuracy"], places=5)
        self.assertEqual(self.page.of_figure("draws")["draws"], [layer["tries"] for layer in layers])

    def test_time_and_settings(self):
        time = {row[0]: row[1] for section, _, _, table in self.page.tables if section == "time" for row in table[1:]}
        for name, member in (("feature nodes", "features"), ("layers: draws, tests, weights", "layers"),
                             ("reading the rows", "read")):
            self.assertEqual(time[name], self.fitted["seconds"][member])
        settings = {row[0]: row[1] for section, _, _, table in self.page.tables if section == "settings" for row in table}
        stored = ask("info", self.model)["stored"]["settings"]
        self.assertEqual((settings["supervise"], settings["activation"], settings["features"]),
                         (stored["supervise"], stored["activation"], "3x5"))
        self.assertEqual((float(settings["lambda"]), settings["gamma"], settings["holdout"]), (1e-8, "harmonic: 0.005", "0.3"))
        for name in stored:
            if not name.endswith("_auto") and name != "gamma_form":
                self.assertIn("learned-metric" if name == "metric" else name.replace("_", "-"), settings)

    def test_the_same_from_the_file(self):
        """From model and rows alone it is the same page, but for the times."""
        page = self.make(self.model, self.rows)
        self.assertIn("model files hold no times", page.text)
        for name in ("layers", "measures", "stages"):
            self.assertEqual(page.by_id(name), self.page.by_id(name))
        for name in ("norms", "drops", "accuracy", "errors", "draws", "ranges"):
            self.assertEqual(str(page.of_figure(name)), str(self.page.of_figure(name)))
        for line in re.findall(r"^broad (verify|info) (.*)$", page.text, re.M):
            run(line[0], *line[1].split())

    def test_model_alone(self):
        page = self.make(self.model)
        self.check_alone(page)
        self.assertEqual(page.by_id("layers"), self.page.by_id("layers"))
        self.assertIn("not checked here", page.text)
        self.assertNotIn("confusion", page.ids)
        self.assertIn("made from the model file alone", " ".join(page.text.split()))

    def test_other_test_rows(self):
        said = ask("report", "--training", self.model, self.rows, "--test", self.more, "-o", self.fresh(".html"))
        other = ask("eval", self.model, self.more)["test"]
        self.assertEqual(said["test"], other)
        self.assertEqual(read(said["html"]).confusions()[0], other["confusion"])
        self.assertTrue(said["verify"]["holds"])
        self.assertEqual(said["train"], self.fitted["train"])

    # ---- other networks ----

    def test_grown(self):
        model, page = self.fresh(".broad"), self.fresh(".html")
        run("grow", self.model, self.rows, "--features", "1x5", "--enhance", 10, "-o", model, "-q")
        run("learn", model, self.more, "--with", self.rows, "--enhance", "10x2", "--report", page, "-q")
        page, info = read(page), ask("info", model)
        self.check_alone(page)
        self.assertEqual([row[1] for row in page.by_id("stages")[1:]], [stage["origin"] for stage in info["stages"]])
        self.assertIn("data", [stage["origin"] for stage in info["stages"]])
        norms = page.of_figure("norms")["norm of the error"]
        self.assertEqual(len(norms), len(info["layers"]) + 2)  # it starts twice: on the first rows, and on all
        self.assertIn("since rows were added", page.text)
        self.assertIn(f"broad verify {model} {self.rows} {self.more}", page.text)

    def test_kinds(self):
        for more in (["--kind", "bls", "--features", "3x5", "--enhance", "20x1"], ["--kind", "rvfl", "--enhance", "20x1"],
                     ["--kind", "scn", "--enhance", "5x6"], ["--kind", "scn", "--enhance", "5x6", "--weights", "window"],
                     ["--kind", "brls", *CHAIN], ["--weights", "joint", *CHAIN],
                     ["--supervise", "loo", "--gamma", "constant:0.5", *CHAIN]):
            model, html_path = self.fresh(".broad"), self.fresh(".html")
            fitted = ask("fit", self.rows, "--holdout", 0.3, *more, "-o", model, "--report", html_path, "-q")
            page = read(html_path)
            self.check_alone(page)
            self.assertEqual(len(page.by_id("layers")) - 1, len(fitted["layers"]))
            self.assertEqual(page.confusions()[0], fitted["test"]["confusion"])
            figures = {figure for _, figure, _, _ in page.tables}
            chain = fitted["fitting"] == "chain" and len(fitted["layers"]) > 1
            self.assertEqual("accuracy" in figures, chain, more)
            if fitted["status"] == "stalled":
                self.assertIn("Training ended early", page.text)
            if "brls" in more:
                self.assertNotIn("guaranteed by the bounds", page.of_figure("norms"))

    def test_values(self):
        rows, model, html_path = self.fresh(".csv"), self.fresh(".broad"), self.fresh(".html")
        write_values(rows, 200, 3, targets=2)
        fitted = ask("fit", rows, "--target", "<y0>,<y1>", *ONE_STEP, "--holdout", 0.3, "-o", model, "--report", html_path, "-q")
        page, test = read(html_path), fitted["test"]
        self.check_alone(page)
        table = {row[0]: row[1:] for row in page.by_id("measures")[1:]}
        self.assertEqual(table["test rows"], [test["rmse"], test["mae"], test["r2"]])
        self.assertEqual(table["leave-one-out"], [fitted["loo"][name] for name in ("rmse", "mae", "r2")])
        by_target = {row[0]: row[1:] for row in page.by_id("by-target")[1:]}
        for of in test["targets"]:
            self.assertEqual(by_target[of["target"]], [of[name] for name in (
                "rmse", "baseline", "mae", "r2", "coverage", "interval_width")])
        self.assertIn("<y1>", page.headings)
        for j in (1, 2):
            self.assertEqual(sum(page.of_figure(f"residuals{j}")["rows"]), test["rows"])
        levels = page.of_figure("coverage")
        at = dict(zip(*levels.values()))
        self.assertAlmostEqual(at[0.9], test["coverage"], places=5)

    def test_odd_names(self):
        rows, model, html_path = self.fresh(".csv"), self.fresh(".broad"), self.fresh(".html")
        write_classes(rows, ODD, 160, 4)
        run("fit", rows, "--features", "3x5", "--enhance", "20x1", "-o", model, "--report", html_path, "-q")
        page = read(html_path)
        self.check_alone(page)
        head = next(table[0] for section, _, _, table in page.tables if section == "confusion")
        self.assertEqual(sorted(head[1:-1]), sorted(ODD))
        page = self.make(model, rows, "--title", ODD[0])
        self.assertIn(ODD[0], page.text)

    def test_many(self):
        """Many classes, and many layers."""
        rows, html_path = self.fresh(".csv"), self.fresh(".html")
        write_classes(rows, [f"number {i}" for i in range(50)], 300, 5)
        fitted = ask("fit", rows, "--preset", "paper", "--kind", "brls", "--features", "2x5", "--enhance", "2x200", "-o",
                     self.fresh(".broad"), "--report", html_path, "-q")
        page = read(html_path)
        self.check_alone(page)
        self.assertEqual(page.confusions(), [fitted["train"]["confusion"]])
        self.assertEqual(len(page.of_figure("norms")["layer"]), 201)
        self.assertIn("Most often confused", page.text)

    # ---- pictures ----

    def test_no_other_program(self):
        """Pictures need nothing but the tool."""
        empty, path = self.fresh("-empty"), self.fresh(".html")
        os.mkdir(empty)
        said, remark = run("report", "--training", self.model, self.rows, "-o", path, "--json", path=empty)
        self.assertEqual((remark, json.loads(said)["pictures"], json.loads(said)["no_pictures"]), ("", 6, None))
        self.assertEqual(read(path).svgs, 6)

    # ---- what goes wrong ----

    def test_other_rows(self):
        path = self.fresh(".html")
        said, remark = run("report", "--training", self.model, self.more, "-o", path, "--json", code=1)
        self.assertFalse(json.loads(said)["verify"]["holds"])
        self.assertIn("does not hold", remark)
        self.assertIn("does not hold", read(path).text)

    def test_failures_leave_nothing(self):
        folder = self.fresh("-out")
        os.mkdir(folder)
        out, bad, words = f"{folder}/page.html", self.fresh(".broad"), self.fresh(".csv")
        with open(out, "w", encoding="utf-8") as file:
            file.write("as it was")
        with open(bad, "w", encoding="utf-8") as file:
            file.write("no model")
        with open(words, "w", encoding="utf-8") as file:
            file.write("x,y,class\n1,word,inner\n")
        for code, arguments in ((66, ["--training", self.place("none.broad"), "-o", out]),
                                (76, ["--training", bad, "-o", out]),
                                (65, ["--training", self.model, words, "-o", out]),
                                (66, ["--training", self.model, self.place("none.csv"), "-o", out]),
                                (66, ["--training", self.model, "--test", self.place("none.csv"), "-o", out]),
                                (73, ["--training", self.model, "-o", f"{folder}/none/page.html"])):
            run("report", *arguments, code=code)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), "as it was")
            self.assertEqual(os.listdir(folder), ["page.html"])

    def test_usage(self):
        out = self.fresh(".html")
        for arguments, words in (
                (["report", "--training", self.model], "-o training.html"),
                (["report", self.model, "-o", out], "--training"),
                (["report", self.model, self.folder, "--test", self.rows, "-o", out], "--training"),
                (["report", "--training", self.model, "--worst", 3, "-o", out], "--worst"),
                (["report", "--training", self.model, "--test-labels", self.rows, "-o", out], "--test"),
                (["report", "--training", self.model, "-o", self.model], "another name"),
                (["report", "--training", self.model, self.rows, "-o", self.rows], "another name"),
                (["report", "--training", self.model, "-o", "-", "--json"], "--json"),
                (["fit", self.rows, "--report", "-", "-o", self.fresh(".broad")], "standard output"),
                (["fit", self.rows, "--report", self.rows, "-o", self.fresh(".broad")], "overwrite"),
                (["fit", self.rows, "--report", out, "-o", out], "overwrite")):
            before = sorted(os.listdir(self.folder))
            self.assertIn(words, run(*arguments, code=2)[1])
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        run("fit", self.rows, *CHAIN, "-o", self.fresh(".broad"), "--report", self.place("none/page.html"), code=73)

    def test_to_standard_output(self):
        said, _ = run("report", "--training", self.model, "-o", "-")
        self.check_alone(Page(said))
        model = self.fresh(".broad")
        with open(model, "wb") as file:
            subprocess.run([BROAD, "fit", self.rows, *CHAIN, "-o", "-", "--report", self.fresh(".html"), "-q"], stdout=file,
                           check=True)
        self.assertEqual(ask("info", model)["rows"], 240)
        self.check_alone(read(self.place(f"{self.count}.html")))

    # ---- in a browser ----

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed")
    def test_in_a_browser(self):
        """No faults, and nothing wider than a phone: a script of our own asks, as the page has none."""
        common = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--hide-scrollbars",
                  f"--user-data-dir={self.fresh('-browser')}"]
        page, locked = self.fresh(".html"), self.fresh(".html")
        own = self.page.source.replace("<details>", "<details open>").replace(
            "</body>", "<script>document.title=document.documentElement.scrollWidth+'/'+innerWidth</script></body>")
        with open(locked, "w", encoding="utf-8") as file:
            file.write(own)
        with open(page, "w", encoding="utf-8") as file:
            file.write(re.sub(r"<meta http-equiv[^>]*>", "", own))
        done = subprocess.run([*common, "--dump-dom", f"file://{locked}"], capture_output=True, text=True, timeout=120)
        self.assertIn("<title>Training report</title>", done.stdout)  # the policy lets no script run
        for width in (500, 1280):  # headless Chromium has no smaller window
            done = subprocess.run([*common, f"--window-size={width},2000", "--dump-dom", f"file://{page}"],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([line for line in done.stderr.split("\n") if "CONSOLE" in line], [])
            wide, window = map(int, re.search(r"<title>(\d+)/(\d+)</title>", done.stdout).groups())
            self.assertLessEqual(wide, window)
            self.assertEqual(window, width)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
