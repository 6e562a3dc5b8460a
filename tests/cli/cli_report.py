#!/usr/bin/env python3
"""broad report and predict --heatmap: what is written, that it agrees with predict and with what the renderer knows, and that
nothing is left of a run that fails.

Usage: cli_report.py PATH_OF_BROAD. The page is also opened in Chromium where that is installed.
"""
import base64
import csv
import hashlib
import html
import html.parser
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import xml.etree.ElementTree
import zlib

from cli_render import decode_png

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SOURCE = os.environ.get("BROAD_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZE = 128
FAST = ["--map", "windows", "--kind", "rvfl", "--cache", "no", "-q"]
COLUMNS = ("file verdict correction p_Clean p_Dusty label verdict_probability unsure time latitude longitude altitude "
           "relative_altitude yaw group distance unlike faults picture heatmap").split()
TIMES = COLUMNS[8:14]
VOID = {"meta", "link", "img", "input", "br"}


def run(*arguments, code=0, folder=None, text=None):
    words = [BROAD, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, cwd=folder, input=text)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit {done.returncode}, expected {code}\n{done.stderr.decode()}")
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def read_rows(path):
    with open(path, newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
        return list(csv.DictReader(file))


# ---- metadata ----

def ifd(entries, start):
    """A TIFF directory at `start`, with what does not fit into it behind it."""
    table, rest, free = struct.pack("<H", len(entries)), b"", start + 2 + 12 * len(entries) + 4
    for tag, kind, count, raw in entries:
        where = raw.ljust(4, b"\0") if len(raw) <= 4 else struct.pack("<I", free + len(rest))
        table += struct.pack("<HHI", tag, kind, count) + where
        if len(raw) > 4:
            rest += raw + b"\0" * (len(raw) % 2)
    return table + struct.pack("<I", 0) + rest


def degrees(value):
    value = abs(value)
    whole, minutes = int(value), int(value * 60) % 60
    seconds = round((value * 60 - int(value * 60)) * 60 * 10000)
    return struct.pack("<6I", whole, 1, minutes, 1, seconds, 10000)


def exif(latitude, longitude, altitude, when):
    """An APP1 segment with the time and the place."""
    first = 8 + 2 + 12 * 2 + 4
    camera = ifd([(0x9003, 2, 20, when.encode() + b"\0")], first)
    place = ifd([(1, 2, 2, b"N\0" if latitude >= 0 else b"S\0"), (2, 5, 3, degrees(latitude)),
                 (3, 2, 2, b"E\0" if longitude >= 0 else b"W\0"), (4, 5, 3, degrees(longitude)),
                 (5, 1, 1, b"\0"), (6, 5, 1, struct.pack("<II", round(altitude * 100), 100))], first + len(camera))
    head = ifd([(0x8769, 4, 1, struct.pack("<I", first)), (0x8825, 4, 1, struct.pack("<I", first + len(camera)))], 8)
    body = b"Exif\0\0II*\0" + struct.pack("<I", 8) + head + camera + place
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def xmp(height, yaw):
    body = b"http://ns.adobe.com/xap/1.0/\0" + (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/" '
        f'drone-dji:RelativeAltitude="{height:+.2f}" drone-dji:GimbalYawDegree="{yaw:+.2f}"/></rdf:RDF></x:xmpmeta>'
    ).encode()
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def tag(source, target, *segments):
    with open(source, "rb") as file:
        content = file.read()
    with open(target, "wb") as file:
        file.write(content[:2] + b"".join(segments) + content[2:])


def black_png(side):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(side * (side + 1)))) + chunk(b"IEND", b""))


# ---- the page ----

class Page(html.parser.HTMLParser):
    """Checks the nesting and keeps what the tests ask about."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.sources, self.alts = [], [], [], [], []
        self.cards, self.thumbs, self.rows, self.circles, self.bars = 0, 0, [], 0, 0
        self.text, self.cell = "", None
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, name, attributes):
        given = dict(attributes)
        assert len(given) == len(attributes), f"an attribute twice in {name}"
        if name not in VOID:
            self.open.append(name)
        if "id" in given:
            self.ids.append(given["id"])
        self.links += [given["href"]] if "href" in given else []
        self.cards += name == "article"
        self.thumbs += name == "a" and given.get("class", "").startswith("thumb")
        self.circles += name == "circle"
        if name == "img" and "src" in given:
            self.sources.append(given["src"])
            self.alts.append(given["alt"])
        if name == "tr" and "data-verdict" in given:
            self.rows.append([given["data-verdict"]])
        if name == "td" and self.rows:
            self.cell = ""

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        self.handle_endtag(name)

    def handle_endtag(self, name):
        assert self.open and self.open[-1] == name, f"</{name}> closes {self.open[-3:]}"
        self.open.pop()
        if name == "td" and self.cell is not None:
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            return
        if self.open[-2:] == ["rect", "title"]:
            self.bars += int(data)
        self.text += data
        if self.cell is not None:
            self.cell += data


def rank_auc(scores, truths):
    """Probability that a true one has the larger score."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    ranks = {i: rank + 1 for rank, i in enumerate(order)}
    positive = sum(truths)
    total = sum(ranks[i] for i, truth in enumerate(truths) if truth)
    return (total - positive * (positive + 1) / 2) / (positive * (len(truths) - positive))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.root = cls.keep.name
        cls.model = os.path.join(cls.root, "panels.broad")
        cls.train, cls.test = os.path.join(cls.root, "train"), os.path.join(cls.root, "test")
        run("render", cls.train, "--count", 160, "--size", SIZE, "--seed", 1, "-q")
        run("render", cls.test, "--count", 30, "--size", SIZE, "--seed", 2, "--masks", "-q")
        run("fit", cls.train, "-o", cls.model, *FAST)
        cls.flight = os.path.join(cls.root, "flight")
        os.mkdir(cls.flight)
        for i in range(1, 31):
            kind = "Dusty" if i % 2 == 0 else "Clean"
            source, target = f"{cls.test}/{kind}/{i:06}.jpg", f"{cls.flight}/DJI_{i:04}.JPG"
            if i <= 20:
                tag(source, target, exif(-33.9 + i * 1e-4, 18.4 - i * 2e-4, 120.5 + i, f"2024:05:14 09:{i:02}:07"),
                    xmp(20 + i, -90 - i))
            else:
                shutil.copy(source, target)
        shutil.copy(f"{cls.flight}/DJI_0001.JPG", f"{cls.flight}/<b>'Straße' & \"ü\",.jpg")
        shutil.copy(f"{cls.flight}/DJI_0021.JPG", os.fsencode(f"{cls.flight}/odd_") + b"\xff.jpg")
        with open(f"{cls.flight}/broken.jpg", "wb") as file:
            file.write(b"\xff\xd8\xff\xe0 no picture")
        cls.out = os.path.join(cls.root, "out")
        cls.said = json.loads(run("report", cls.model, cls.flight, "-o", cls.out, "--json", "--cache", "no",
                                  "--title", "Roof <7> & more", "--note", "Site=A & B", "--note", "Place==x")[0])
        with open(f"{cls.out}/report.html", encoding="utf-8") as file:
            cls.html = file.read()
        cls.page = Page(cls.html)
        cls.rows = read_rows(f"{cls.out}/findings.csv")

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def fresh(self, name):
        return os.path.join(self.root, name)

    def assert_nothing_left(self, name):
        left = [entry for entry in os.listdir(self.root) if name in entry]
        self.assertEqual(left, [])

    # ---- tables ----

    def test_files(self):
        self.assertEqual(sorted(os.listdir(self.out)),
                         [".pictures", "findings.csv", "findings.geojson", "report.html", "skipped.csv"])
        with open(f"{self.out}/findings.csv", "rb") as file:
            self.assertEqual(file.read(3), b"\xef\xbb\xbf")
        self.assertEqual(list(self.rows[0]), COLUMNS)
        self.assertEqual(len(self.rows), 32)
        skipped = read_rows(f"{self.out}/skipped.csv")
        self.assertEqual([row["file"] for row in skipped], [f"{self.flight}/broken.jpg"])
        self.assertTrue(skipped[0]["reason"])

    def test_agrees_with_predict(self):
        out = self.fresh("predicted.csv")
        run("predict", self.model, self.flight, "--proba", "-o", out, "--cache", "no", "-q")
        expected = {row["file"]: row for row in read_rows(out)}
        self.assertEqual(set(expected), {row["file"] for row in self.rows})
        for row in self.rows:
            other = expected[row["file"]]
            self.assertEqual(row["label"], other["label"])
            for name in ("Clean", "Dusty"):
                self.assertAlmostEqual(float(row["p_" + name]), float(other["proba_" + name]), delta=1e-4)
            self.assertAlmostEqual(float(row["verdict_probability"]), float(other["proba_" + row["label"]]), delta=1e-4)
            word = "unlike" if row["unlike"] == "yes" else "unsure" if row["unsure"] == "yes" else row["label"]
            self.assertEqual(row["verdict"], word)
            self.assertEqual(row["correction"], "")

    def test_faults_first(self):
        worst = [float(row["p_Dusty"]) for row in self.rows]
        self.assertEqual(worst, sorted(worst, reverse=True))
        self.assertEqual([row[2] for row in self.page.rows],
                         [os.path.basename(row["file"]).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                          for row in self.rows])

    def test_metadata(self):
        rows = {os.path.basename(row["file"]): row for row in self.rows}
        for i in range(1, 31):
            row = rows[f"DJI_{i:04}.JPG"]
            if i > 20:
                self.assertEqual([row[name] for name in TIMES], [""] * 6)
                continue
            self.assertEqual(row["time"], f"2024-05-14T09:{i:02}:07")
            self.assertAlmostEqual(float(row["latitude"]), -33.9 + i * 1e-4, delta=1e-6)
            self.assertAlmostEqual(float(row["longitude"]), 18.4 - i * 2e-4, delta=1e-6)
            self.assertAlmostEqual(float(row["altitude"]), 120.5 + i, delta=0.01)
            self.assertAlmostEqual(float(row["relative_altitude"]), 20 + i, delta=0.01)
            self.assertAlmostEqual(float(row["yaw"]), -90 - i, delta=0.01)

    def test_near_duplicates(self):
        rows = {row["file"]: row["group"] for row in self.rows}
        self.assertEqual(rows[f"{self.flight}/DJI_0001.JPG"], rows[f"{self.flight}/<b>'Straße' & \"ü\",.jpg"])
        self.assertTrue(rows[f"{self.flight}/DJI_0001.JPG"])
        self.assertEqual(rows[f"{self.flight}/DJI_0002.JPG"], "")

    def test_geojson(self):
        with open(f"{self.out}/findings.geojson", encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(found["type"], "FeatureCollection")
        placed = [row for row in self.rows if row["latitude"]]
        self.assertEqual(len(found["features"]), len(placed))
        self.assertEqual(len(placed), 21)
        for feature, row in zip(found["features"], placed):
            self.assertEqual((feature["type"], feature["geometry"]["type"]), ("Feature", "Point"))
            longitude, latitude, altitude = feature["geometry"]["coordinates"]
            for value, name in ((longitude, "longitude"), (latitude, "latitude"), (altitude, "altitude")):
                self.assertAlmostEqual(value, float(row[name]), delta=1e-6)
            self.assertEqual(feature["properties"]["file"], row["file"])
            self.assertEqual(feature["properties"]["label"], row["label"])
            self.assertAlmostEqual(feature["properties"]["p_Dusty"], float(row["p_Dusty"]), delta=1e-9)
            self.assertEqual(feature["properties"]["picture"], row["picture"])

    def test_json(self):
        sure = [row for row in self.rows if float(row["verdict_probability"]) >= 0.65]
        said = self.said
        self.assertEqual(said["command"], "report")
        self.assertEqual((said["findings"], said["positive"], said["skipped_count"]), (32, "Dusty", 1))
        # A probability of 0.65 exactly is told from one just below it by the fifth digit, which the table has not.
        self.assertLessEqual(abs(said["unsure_count"] - (32 - len(sure))), 1 + said["unlike_count"])
        self.assertEqual(said["positive_count"] + said["unsure_count"] + said["negative_count"] + said["unlike_count"], 32)
        self.assertEqual(said["with_place"], 21)
        for name in ("html", "csv", "geojson", "skipped"):
            self.assertTrue(os.path.isfile(said[name]), said[name])
        self.assertEqual(said["photos"]["grouped"], 4)
        self.assertEqual((said["normal"], set(said["verdicts"])), ("Clean", {"Clean", "Dusty"}))
        self.assertEqual(sum(said["verdicts"].values()) + said["unsure_count"] + said["unlike_count"], 32)

    def test_pictures(self):
        """Each photo has a picture that opens, each card a heat map, and nothing else lies in the folder."""
        cards = [row for row in self.rows if row["heatmap"]]
        self.assertEqual(len(cards), self.said["pictures"])
        for row in self.rows:
            self.assertTrue(os.path.isfile(os.fsencode(f"{self.out}/{row['picture']}")), row["picture"])
            self.assertEqual(os.path.realpath(f"{self.out}/{row['picture']}") == os.path.realpath(row["file"]),
                             not row["heatmap"])
        expected = {os.path.basename(row[name]) for row in cards for name in ("picture", "heatmap")}
        self.assertEqual(set(os.listdir(f"{self.out}/.pictures")), expected)

    # ---- page ----

    def test_page_is_whole(self):
        page = self.page
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for link in page.links:
            if link == "data:," or (link[0] == "#" and link[1:] in page.ids):
                continue
            self.assertTrue(os.path.isfile(os.path.join(os.fsencode(self.out), urllib.parse.unquote_to_bytes(link))), link)
        self.assertIsNone(re.search(r"(?i)(src|href|url)\s*[=(]\s*[\"']?\s*(https?:)?//", self.html))
        self.assertNotIn("@import", self.html)
        self.assertFalse("{{" in self.html or "<template" in self.html)
        self.assertEqual(page.cards, self.said["pictures"])
        self.assertEqual(page.thumbs, 32)
        self.assertEqual({f"p{i}" for i in range(1, 33)} - set(page.ids), set())
        self.assertEqual(len(page.sources), 2 * page.cards + page.thumbs)
        self.assertEqual(len(set(page.alts)), len(page.alts))
        for source in page.sources:
            self.assertTrue(source.startswith("data:image/jpeg;base64,"))
            picture = base64.b64decode(source.split(",")[1], validate=True)
            self.assertEqual((picture[:3], picture[-2:]), (b"\xff\xd8\xff", b"\xff\xd9"))

    def test_policy(self):
        """Of scripts only the page's own may run, which is named by its hash."""
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', self.html)[1]
        script = re.search(r"<script>(.*?)</script>", self.html, re.S)[1]
        own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertEqual(policy, f"default-src 'none'; img-src data: 'self' file:; style-src 'unsafe-inline'; script-src 'sha256-{own}'")
        self.assertLess(self.html.index("Content-Security-Policy"), self.html.index("<title>"))

    def test_charts(self):
        """They are XML, their texts too, and all figures of the histogram are in its table."""
        charts = [xml.etree.ElementTree.fromstring(chart) for chart in re.findall(r"<svg.*?</svg>", self.html, re.S)]
        self.assertEqual(len(charts), 2)
        for chart in charts:
            self.assertEqual(chart.get("role"), "img")
            self.assertTrue(chart.find("title").text and chart.find("desc").text)
        names = [title.text for title in charts[1].iter("title")][1:]
        self.assertEqual(len(names), 21)
        self.assertTrue(any("<b>'Straße' & \"ü\",.jpg" in name for name in names))

    def test_page_tells_all(self):
        page = self.page
        self.assertEqual(len(page.rows), 32)
        self.assertEqual(page.bars, 32)
        self.assertEqual(page.circles, 21)
        for word in ("Roof <7> & more", "A & B", "=x", "Dusty", "unsure", "Limits of validity",
                     "2024-05-14 09:01 to 09:20 (only 21 of 32 photos have a time)", "measures power loss", "near-duplicates",
                     "broken.jpg", "Clean (nothing wrong)", "something other than Clean: ",
                     f"broad learn {self.model} --corrections corrections.csv"):
            self.assertIn(word, " ".join(page.text.split()))
        self.assertIn("<b>'Straße' & \"ü\",.jpg", page.text)
        self.assertIn("odd_\ufffd.jpg", page.text)
        for word in ("severity", "area ", "worst"):
            self.assertNotIn(word, page.text.lower())
        unsure = [row for row in page.rows if row[0] == "unsure"]
        self.assertEqual(len(unsure), self.said["unsure_count"])

    def test_same_bytes(self):
        again = self.fresh("again")
        run("report", self.model, self.flight, "-o", again, "--cache", "no", "--title", "Roof <7> & more", "--note", "Site=A & B",
            "--note", "Place==x", "--threads", 1, "-q")
        for name in os.listdir(self.out):
            if name == ".pictures":
                continue
            with open(f"{self.out}/{name}", "rb") as one, open(f"{again}/{name}", "rb") as other:
                self.assertEqual(one.read(), other.read(), name)

    def test_few_pictures_and_folders(self):
        out = self.fresh("few")
        said = json.loads(run("report", self.model, self.test, "-o", out, "--cards", 2, "--json", "--cache", "no", "-q")[0])
        with open(f"{out}/report.html", encoding="utf-8") as file:
            page = Page(file.read())
        # Two of faults and unsure ones, two that are just Clean, a sample of two.
        self.assertEqual((page.cards, said["pictures"], page.thumbs, len(page.rows)), (6, 6, 30, 30))
        self.assertIn("Compared with the folders", page.text)
        rows = read_rows(f"{out}/findings.csv")
        right = sum(row["label"] == row["truth"] for row in rows)
        self.assertTrue(all(f"/{row['truth']}/" in row["file"] for row in rows))
        self.assertGreater(right, 20)
        # Where a photo lies has no part in its verdict.
        flat = {row["file"][-8:-4]: row["p_Dusty"] for row in self.rows if "DJI" in row["file"]}
        for row in rows:
            self.assertAlmostEqual(float(row["p_Dusty"]), float(flat[row["file"][-8:-4]]), delta=1e-4)

    def test_listed_names(self):
        names = "\n".join(f"{self.test}/Dusty/{i:06}.jpg" for i in (2, 4, 6)) + "\n"
        out = self.fresh("listed")
        run("report", self.model, "-", "-o", out, "--cache", "no", "-q", text=names.encode())
        self.assertEqual(len(read_rows(f"{out}/findings.csv")), 3)

    def check_clicks(self, common):
        """A person filters, opens a photo, steps on, corrects it by a key, saves; the page's own policy is lifted for that."""
        script = """<script>
            var said = [], $ = function (id) { return document.getElementById(id); };
            var press = function (key) { document.dispatchEvent(new KeyboardEvent("keydown", {key: key})); };
            var seen = function (what) { return document.querySelectorAll(what + ":not([hidden])").length; };
            document.querySelector("a.tile[data-verdict=Dusty]").click();
            said.push(seen("#findings tbody tr"), seen(".thumb"), seen(".card") < seen(".thumb") + 1, $("borderline").hidden);
            document.querySelector("a.tile[data-verdict=Dusty]").click();
            document.querySelector(".thumb").click();
            said.push($("box").open, $("box-place").textContent, $("box-heat").hidden);
            press("ArrowRight"); press("ArrowRight"); press("ArrowLeft"); said.push($("box-place").textContent);
            press("1"); press("r"); $("box-close").click(); said.push($("box").open);
            $("review").click(); said.push($("box-name").textContent); $("box-close").click();
            URL.createObjectURL = function (blob) { blob.text().then(function (text) {
                said.push(text.split("\\r\\n").length);
                document.title = JSON.stringify(said.concat($("answered").textContent, text)); }); return "data:,"; };
            $("save").click();
            </script></body>"""
        # A class has its number as a key, and R means that the verdict is right; each goes on to the next photo.
        name = f"{self.out}/clicked.html"
        text = re.sub(r"; script-src '[^']*'", "; script-src 'unsafe-inline'", self.html).replace("</body>", script)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*common, "--dump-dom", f"file://{name}"], capture_output=True, text=True, timeout=120)
        os.remove(name)
        said = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout, re.S)[1]))
        dusty = self.said["verdicts"]["Dusty"]
        self.assertEqual(said[:8], [dusty, dusty, True, True, True, "1 of 32", False, "2 of 32"])
        least = min(self.rows, key=lambda row: float(row["verdict_probability"]))
        self.assertEqual(said[8], False)
        self.assertIn(os.path.basename(least["file"]), said[9])
        self.assertEqual(said[10], 4)  # a header, two answers, the end
        self.assertIn("2 answers, ", said[11])
        rows = list(csv.DictReader(said[12].lstrip("\ufeff").splitlines()))
        self.assertEqual([row["file"] for row in rows], [self.rows[1]["file"], self.rows[2]["file"]])
        self.assertEqual([row["correction"] for row in rows], ["Clean", self.rows[2]["label"]])

    @unittest.skipUnless(CHROMIUM, "Chromium is not installed")
    def test_in_a_browser(self):
        common = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                  f"--user-data-dir={self.fresh('browser')}", "--virtual-time-budget=3000"]
        page, pdf = f"file://{self.out}/report.html", self.fresh("report.pdf")
        done = subprocess.run([*common, "--dump-dom", page], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line for line in done.stderr.split("\n") if "CONSOLE" in line], [])
        self.assertIn("32 of 32 shown", done.stdout)
        self.assertEqual(done.stdout.count("<th scope=\"col\""), done.stdout.count("<button type=\"button\">") + 4)
        self.check_clicks(common)
        subprocess.run([*common, f"--print-to-pdf={pdf}", page], capture_output=True, timeout=120)
        with open(pdf, "rb") as file:
            content = file.read()
        self.assertTrue(content.startswith(b"%PDF"))
        self.assertGreater(len(content), 50000)

    # ---- other models ----

    def test_values(self):
        photos, model, out = self.fresh("soiling"), self.fresh("soiling.broad"), self.fresh("values")
        run("render", photos, "--count", 60, "--size", 64, "--severity", "-q")
        run("fit", f"{photos}/photos", "--labels", f"{photos}/labels.csv", "-o", model, *FAST)
        said = json.loads(run("report", model, f"{photos}/photos", "-o", out, "--json", "--worst", 5, "--cache", "no",
                              "-q")[0])
        rows = read_rows(f"{out}/findings.csv")
        with open(f"{out}/report.html", encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual((said["task"], said["findings"], said["positive_count"]), ("regress", 60, None))
        values = [float(row["severity"]) for row in rows]  # the target's own name
        self.assertEqual(values, sorted(values, reverse=True))
        for row in rows:
            self.assertNotIn("verdict", row)
            self.assertTrue(float(row["low"]) < float(row["severity"]) < float(row["high"]))
        self.assertEqual((page.cards, page.bars, len(page.rows)), (10, 60, 60))
        self.assertIn("corrected.csv", page.text)
        self.assertIn("pushes the estimate down", page.text)

    def test_no_probabilities_and_three_classes(self):
        photos, model, out = self.fresh("three"), self.fresh("three.broad"), self.fresh("classes")
        for i in range(1, 61):
            kind = "Dusty" if i % 2 == 0 else "Clean"
            target = os.path.join(photos, "Odd" if i % 6 == 0 else kind)
            os.makedirs(target, exist_ok=True)
            shutil.copy(f"{self.train}/{kind}/{i:06}.jpg", target)
        run("fit", photos, "-o", model, "--loo", "no", "--positive", "Dusty", *FAST)
        said = json.loads(run("report", model, photos, "-o", out, "--json", "--cache", "no", "-q")[0])
        with open(f"{out}/report.html", encoding="utf-8") as file:
            page = Page(file.read())
        self.assertIsNone(said["unsure_count"])
        self.assertEqual(said["positive"], "Dusty")
        self.assertEqual(said["positive_count"] + said["negative_count"], 60)
        self.assertEqual((said["normal"], sum(said["verdicts"].values())), ("Clean", 60))
        self.assertEqual(said["fault_count"], said["verdicts"]["Dusty"] + said["verdicts"]["Odd"])
        self.assertEqual((len(page.rows), page.bars), (60, 60))
        self.assertIn("This model gives no probabilities", " ".join(page.text.split()))

    def test_other_normal(self):
        """What is normal is a choice of the report: the same model, the other way round."""
        out = self.fresh("turned")
        text = run("report", self.model, self.flight, "-o", out, "--normal", "Dusty", "--cache", "no", "-q")[0]
        self.assertRegex(text, r"verdicts  \d+ Clean, \d+ unsure, \d+ Dusty\n")
        rows = read_rows(f"{out}/findings.csv")
        self.assertEqual([row["p_Clean"] for row in rows], sorted((row["p_Clean"] for row in rows), reverse=True))
        with open(f"{out}/report.html", encoding="utf-8") as file:
            self.assertIn("Dusty, but only just", Page(file.read()).text)
        _, errors = run("report", self.model, self.flight, "-o", self.fresh("unmade"), "--normal", "Muddy", code=2)
        self.assertIn("Muddy", errors)

    def check_mistakes(self, page, model, photos):
        """The training page shows and names the photos that were judged incorrectly."""
        rows = csv.DictReader(run("predict", model, photos, "--cache", "no", "-q")[0].splitlines())
        wrong = {os.path.relpath(row["file"], photos) for row in rows if f"/{row['label']}/" not in row["file"]}
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(wrong)
        self.assertEqual(set(re.findall(r"<figcaption><b>(.*?)</b><br>", text)), wrong)
        self.assertEqual(text.count("data:image/jpeg;base64,"), len(wrong))

    def test_corrections_are_learned(self):
        """What a person answers on the page, by the command that the page shows; no two of these photos are alike."""
        photos, model, out = self.fresh("learned_from"), self.fresh("learner.broad"), self.fresh("to_correct")
        for i in range(1, 41):
            kind = "Dusty" if i % 2 == 0 else "Clean"
            os.makedirs(f"{photos}/{kind}", exist_ok=True)
            shutil.copy(f"{self.train}/{kind}/{i:06}.jpg", f"{photos}/{kind}")
        shutil.copy(f"{self.train}/Clean/000001.jpg", f"{photos}/Clean/again.jpg")
        shutil.copy(f"{self.train}/Dusty/000060.jpg", f"{photos}/Clean/mislabelled.jpg")
        page = self.fresh("learner.html")
        run("fit", photos, "-o", model, "--map", "windows", "--features", "2x10", "--enhance", "10x1", "--cache", "no", "-q",
            "--report", page)
        self.check_mistakes(page, model, photos)
        told = json.loads(run("report", model, self.test, "-o", out, "--test", self.test, "--cache", "no", "-q", "--json")[0])
        rows = read_rows(f"{out}/findings.csv")
        self.assertAlmostEqual(told["test"]["accuracy"], sum(row["label"] == row["truth"] for row in rows) / len(rows))
        with open(f"{out}/report.html", encoding="utf-8") as file:
            self.assertRegex(Page(file.read()).text, "% of verdicts correct on 30 test photos")
        wrong = [row for row in rows if row["label"] != row["truth"]][:5] or rows[:2]
        saved = self.fresh("corrections.csv")
        with open(saved, "w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([["file", "correction"], *([row["file"], row["truth"]] for row in wrong)])
        said = json.loads(run("learn", model, "--corrections", saved, "--cache", "no", "--json")[0])
        self.assertEqual(said["new"]["rows"], len(wrong))
        self.assertEqual(said["new"]["accuracy"], 1)

    def test_unlike(self):
        """A lens cap is no clean panel: it has a verdict, a tile and a section of its own."""
        photos, out = self.fresh("cap"), self.fresh("unlike")
        os.mkdir(photos)
        shutil.copy(f"{self.test}/Dusty/000002.jpg", photos)
        with open(f"{photos}/cap.png", "wb") as file:
            file.write(black_png(120))
        model = self.fresh("likeness.broad")
        run("fit", self.train, "-o", model, "--map", "windows", "--features", "2x10", "--enhance", "10x1", "--cache", "no", "-q")
        said = json.loads(run("report", model, photos, "-o", out, "--json", "--cache", "no", "-q")[0])
        rows = {os.path.basename(row["file"]): row for row in read_rows(f"{out}/findings.csv")}
        self.assertEqual((rows["cap.png"]["verdict"], rows["cap.png"]["faults"]), ("unlike", "too dark"))
        self.assertEqual(said["unlike_count"], sum(row["unlike"] == "yes" for row in rows.values()))
        with open(f"{out}/report.html", encoding="utf-8") as file:
            page = Page(file.read())
        self.assertIn("unlike", page.ids)
        self.assertIn("Not like the training photos", page.text)

    def test_replace(self):
        """Only a report is replaced, and only where nothing else lies in its folder."""
        out, names = self.fresh("again_and_again"), f"{self.test}/Dusty/000002.jpg\n".encode()
        command = ["report", self.model, "-", "-o", out, "--replace", "--cache", "no", "-q"]
        for _ in range(2):
            run(*command, text=names)
        self.assertEqual(len(read_rows(f"{out}/findings.csv")), 1)
        _, errors = run(*[word for word in command if word != "--replace"], text=names, code=73)
        self.assertIn("give --replace to replace it", errors)
        with open(f"{out}/corrections.csv", "w", encoding="utf-8") as file:
            file.write("file,correction\n")
        _, errors = run(*command, text=names, code=73)
        self.assertIn("corrections.csv", errors)
        self.assertTrue(os.path.isfile(f"{out}/corrections.csv"))
        other = self.fresh("not_a_report")
        os.mkdir(other)
        with open(f"{other}/report.html", "w", encoding="utf-8") as file:
            file.write("mine")
        _, errors = run("report", self.model, self.flight, "-o", other, "--replace", code=73)
        self.assertIn("was not made by", errors)
        self.assertEqual(os.listdir(other), ["report.html"])
        _, errors = run("report", self.model, self.flight, "-o", other, code=73)
        self.assertNotIn("--replace", errors)
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".")], [])

    def test_two_at_once(self):
        """The second run into a folder ends before it reads a photo; the first one goes on."""
        out, names = self.fresh("shared"), f"{self.test}/Dusty/000002.jpg\n".encode()
        command = ["report", self.model, "-", "-o", out, "--cache", "no", "-q"]
        first = subprocess.Popen([BROAD, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while not any(name.startswith(".shared.") for name in os.listdir(self.root)) and time.monotonic() < until:
            time.sleep(0.02)
        for more in [], ["--replace"]:
            _, errors = run(*command, *more, text=names, code=73)
            self.assertIn("another run is writing it", errors)
        _, errors = first.communicate(names, timeout=120)
        self.assertEqual((first.returncode, errors), (0, b""))
        self.assertEqual(len(read_rows(f"{out}/findings.csv")), 1)

    # ---- heat maps ----

    def heat_cells(self, folder):
        cells = {}
        for row in read_rows(f"{folder}/cells.csv"):
            cells.setdefault(row["picture"], []).append(
                [float(row[name]) for name in ("left", "top", "right", "bottom", "opinion")])
        return cells

    def test_heat_is_where_the_dirt_is(self):
        folder, out = self.fresh("heat"), self.fresh("heat.csv")
        run("predict", self.model, self.test, "--heatmap", folder, "-o", out, "--cache", "no", "-q")
        files = [row["file"] for row in read_rows(out)]
        cells = self.heat_cells(folder)
        names = [f"{i + 1:06}-{os.path.basename(file)}" for i, file in enumerate(files)]
        self.assertEqual([row["heatmap"] for row in read_rows(out)], names)
        self.assertEqual(sorted(os.listdir(folder)), sorted([*names, "cells.csv"]))
        self.assertEqual(list(cells), names)
        opinions, dirty, dusty = [], [], []
        for name, file in zip(names, files):
            with open(f"{self.test}/.masks/dirt/{os.path.basename(file)[:-4]}.png", "rb") as mask:
                _, _, lines = decode_png(mask.read())
            self.assertEqual(len(cells[name]), (SIZE // 32) ** 2)
            for left, top, right, bottom, opinion in cells[name]:
                part = [lines[y][3 * x] for y in range(round(top * SIZE), round(bottom * SIZE))
                        for x in range(round(left * SIZE), round(right * SIZE))]
                opinions.append(opinion)
                dirty.append(sum(part) / len(part) > 0.05 * 255)
                dusty.append("/Dusty/" in file)
        all_cells = rank_auc(opinions, dirty)
        among = [i for i, is_dusty in enumerate(dusty) if is_dusty]
        dusty_cells = rank_auc([opinions[i] for i in among], [dirty[i] for i in among])
        print(f"AUC of dirty against other cells: {all_cells:.3f} of all photos, {dusty_cells:.3f} of dusty ones",
              file=sys.stderr)
        with open(f"{SOURCE}/docs/photos-report.md", encoding="utf-8") as file:
            told = re.search(r"an AUC of (\d\.\d+), and from\s+the other cells of dusty photos alone with (\d\.\d+)", file.read())
        for value, figure in zip((all_cells, dusty_cells), told.groups()):
            self.assertAlmostEqual(value, float(figure), delta=0.01)

    def test_heat_adds_up(self):
        """By its definition the mean opinion of the cells is about that of the whole, before smoothing at the border."""
        folder, out = self.fresh("sums"), self.fresh("sums.csv")
        run("predict", self.model, self.test, "--heatmap", folder, "--proba", "-o", out, "--cache", "no", "-q")
        off = []
        for row, cells in zip(read_rows(out), self.heat_cells(folder).values()):
            p = float(row["proba_Dusty"])
            off.append(abs(sum(cell[4] for cell in cells) / len(cells) - math.log(p / (1 - p))))
        self.assertLess(sorted(off)[len(off) // 2], 1.5)

    def test_heatmap_refused(self):
        folder = self.fresh("taken")
        os.mkdir(folder)
        with open(f"{folder}/here", "w", encoding="utf-8") as file:
            file.write("x")
        _, errors = run("predict", self.model, self.test, "--heatmap", folder, "-q", code=73)
        self.assertIn("not empty", errors)
        self.assertEqual(os.listdir(folder), ["here"])
        self.assert_table_model_refused("predict", "--heatmap", self.fresh("never"))

    # ---- what goes wrong ----

    def assert_table_model_refused(self, command, option, folder):
        table, model = self.fresh("table.csv"), self.fresh("table.broad")
        with open(table, "w", encoding="utf-8") as file:
            file.write("a,b,y\n" + "".join(f"{i},{i % 3},{'pq'[i % 2]}\n" for i in range(20)))
        run("fit", table, "-o", model, "--kind", "rvfl", "-q")
        data = table if command == "predict" else self.flight
        _, errors = run(command, model, data, option, folder, code=2)
        self.assertIn("not trained on photos", errors)
        self.assertFalse(os.path.exists(folder))

    def test_usage(self):
        self.assert_table_model_refused("report", "-o", self.fresh("unmade"))
        _, errors = run("report", self.model, self.flight, code=2)
        self.assertIn("-o", errors)
        _, errors = run("report", self.model, self.flight, "-o", self.fresh("unmade"), "--worst", 5000, code=2)
        self.assertIn("1000", errors)
        _, errors = run("report", self.model, self.flight, "-o", self.fresh("unmade"), "--note", "Site", code=2)
        self.assertIn("Site=Roof 7", errors)
        run("report", self.model, self.fresh("missing"), "-o", self.fresh("unmade"), code=66)
        run("report", self.fresh("missing.broad"), self.flight, "-o", self.fresh("unmade"), code=66)
        run("report", self.model, self.flight, "-o", self.fresh("unmade"), "--strict", "--cache", "no", code=65)
        self.assert_nothing_left("unmade")

    def test_place_taken(self):
        before = sorted(os.listdir(self.out))
        _, errors = run("report", self.model, self.flight, "-o", self.out, "-q", code=73)
        self.assertIn("not empty", errors)
        self.assertEqual(sorted(os.listdir(self.out)), before)
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".out")], [])

    def test_interrupted(self):
        many = self.fresh("many")
        os.mkdir(many)
        for i in range(1500):
            os.symlink(f"{self.test}/Dusty/{2 + 2 * (i % 15):06}.jpg", f"{many}/{i}.jpg")
        for command in (["report", self.model, many, "-o", self.fresh("stopped")],
                        ["predict", self.model, many, "-o", self.fresh("stopped.csv"), "--heatmap", self.fresh("stopped")]):
            process = subprocess.Popen([BROAD, *command, "--cache", "no"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)
            end = time.time() + 60
            while time.time() < end and not any(n.startswith(".stopped") for n in os.listdir(self.root)):
                self.assertIsNone(process.poll(), "ended before it could be interrupted")
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assert_nothing_left("stopped")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
