#!/usr/bin/env python3
"""The server as programs meet it, over real HTTP: who gets in, what goes in and out, and what a kill leaves.

Usage: cli_serve.py PATH_OF_BROAD [--update]. --update writes docs/serve-openapi.json and the table of docs/serve-api.md.
"""
import contextlib
import csv
import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import urllib.parse
import xml.dom.minidom
import zlib

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOW = 4 if any(s in os.environ.get("BROAD_INSTRUMENTS", "") for s in ("address", "thread")) else 1
WORK = tempfile.mkdtemp(prefix="broad-serve-")
PHOTOS, MODEL = os.path.join(WORK, "photos"), os.path.join(WORK, "model.broad")
EVIL = '../../etc/<img src=x onerror=alert(1)>\x01=HYPERLINK("x").jpg'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, seconds=20, pause=0.02):
    end = time.time() + seconds * SLOW
    while time.time() < end:
        value = what()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError("it did not happen within %d s" % seconds)


class Server:
    """A project and the process that serves it."""

    def __init__(self, name, *words, model=True, before=(), prepare=None):
        """before: words of a program that starts it; prepare: what the new process does first."""
        self.folder = os.path.join(WORK, name)
        self.before, self.prepare = before, prepare
        os.makedirs(self.folder, exist_ok=True)
        if model and not os.path.exists(self.folder + "/model.broad"):
            shutil.copy(MODEL, self.folder + "/model.broad")
        self.words = words
        self.start()

    def start(self):
        self.port = free_port()
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*self.before, BROAD, "serve", self.folder, "--port", str(self.port), "--no-browser", *self.words],
                                        stdout=subprocess.PIPE, stderr=self.said, text=True, preexec_fn=self.prepare)
        for line in self.process.stdout:
            if "token=" in line:
                self.token = line.strip().rsplit("token=", 1)[1]
            if "Ctrl-C" in line:
                return
        raise AssertionError("the server did not start: code %s" % self.process.wait())

    def ask(self, method, path, body=None, headers=None, token=True):
        """(code, headers, bytes)."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * SLOW)
        sent = {"Authorization": "Bearer " + self.token} if token else {}
        sent.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        link.request(method, path, body, sent)
        answer = link.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        link.close()
        return result

    def get(self, path, code=200):
        got, _, body = self.ask("GET", "/api/v1/" + path)
        assert got == code, (path, got, body[:300])
        return json.loads(body)

    def post(self, path, body=None, code=(200, 201, 202)):
        got, _, answer = self.ask("POST", "/api/v1/" + path, body if body is not None else {})
        assert got in (code if isinstance(code, tuple) else (code,)), (path, got, answer[:300])
        return json.loads(answer)

    def add(self, data, name):
        return self.post("photos?" + urllib.parse.urlencode({"name": name}), data)

    def add_all(self, files):
        ids = {}
        for file in files:
            with open(file, "rb") as photo:
                ids[file] = self.add(photo.read(), os.path.relpath(file, PHOTOS))["id"]
        self.settle()
        return ids

    def settle(self):
        wait_for(lambda: self.get("status")["counts"]["waiting"] == 0)

    def work(self, path, body=None):
        """Work that goes on after the answer: its result."""
        self.post(path, body)
        last = wait_for(lambda: (lambda w: w["task"] is None and w["last"])(self.get("status")["work"]))
        assert last["state"] == "done", last
        return last["result"]

    def end(self, how=signal.SIGTERM):
        started = time.time()
        self.process.send_signal(how)
        code = self.process.wait(timeout=20 * SLOW)
        self.process.stdout.close()
        self.said.close()
        return code, time.time() - started

    def notes(self):
        """What it wrote to stderr."""
        self.said.seek(0)
        return self.said.read()

    def decoders(self):
        """Numbers of the processes that decode photos."""
        found = []
        for thread in os.listdir("/proc/%d/task" % self.process.pid):
            try:
                with open("/proc/%d/task/%s/children" % (self.process.pid, thread), encoding="ascii") as file:
                    found += [int(number) for number in file.read().split()]
            except OSError:  # the thread has ended meanwhile
                continue
        return found


def command_of(process):
    with open("/proc/%d/cmdline" % process, "rb") as file:
        return file.read()


def photos(folder="new", classes=("Clean", "Dusty")):
    return [os.path.join(PHOTOS, folder, c, f) for c in classes for f in sorted(os.listdir(os.path.join(PHOTOS, folder, c)))]


def png(width, height, rows=b""):
    """A PNG that claims this size."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def with_exif(photo, texts):
    """A JPEG that says these texts of itself, {tag: text}."""
    entries, data, at = b"", b"", 8 + 2 + 12 * len(texts) + 4
    for tag, text in sorted(texts.items()):
        value = text.encode() + b"\0"
        entries += struct.pack("<HHII", tag, 2, len(value), at + len(data))
        data += value
    body = b"Exif\0\0II*\0" + struct.pack("<IH", 8, len(texts)) + entries + struct.pack("<I", 0) + data
    return photo[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + photo[2:]


def setUpModule():
    def run(*words):
        subprocess.run([BROAD, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.mkdir(PHOTOS)
    run("render", PHOTOS + "/old", "--count", "60", "--size", "64", "--seed", "1")
    run("render", PHOTOS + "/new", "--count", "24", "--size", "64", "--seed", "2")
    run("fit", PHOTOS + "/old", "--holdout", "0.2", "-o", MODEL, "-q")


def tearDownModule():
    shutil.rmtree(WORK, ignore_errors=True)


class Doors(unittest.TestCase):
    """Who gets in."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("doors")

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def cookie(self):
        code, headers, _ = self.server.ask("GET", "/?token=" + self.server.token, token=False)
        self.assertEqual((code, headers["Location"]), (303, "/"))
        self.assertIn("HttpOnly", headers["Set-Cookie"])
        self.assertIn("SameSite=Strict", headers["Set-Cookie"])
        return headers["Set-Cookie"].split(";")[0]

    def test_strangers(self):
        s = self.server
        for path in ("/", "/app.js", "/api/v1/photos", "/nowhere"):
            self.assertEqual(s.ask("GET", path, token=False)[0], 401, path)
        for token in ("", "x", s.token[:-1], s.token + "0", s.token.upper() + "é", "0" * 64):
            bearer = {"Authorization": ("Bearer " + token).encode("utf-8")}
            self.assertEqual(s.ask("GET", "/api/v1/photos", headers=bearer, token=False)[0], 401, token)
            address = "/?token=" + urllib.parse.quote(token)
            self.assertEqual(s.ask("GET", address, token=False)[0], 401, token)
        self.assertEqual(s.ask("GET", "/api/v1/photos?token=" + s.token, token=False)[0], 401)

    def test_other_names_and_origins(self):
        s = self.server
        own = "127.0.0.1:%d" % s.port
        for host in ("evil.example", "evil.example:%d" % s.port, "127.0.0.1", "127.0.0.1:1", "", own + ".evil.example"):
            self.assertEqual(s.ask("GET", "/api/v1/photos", headers={"Host": host})[0], 403, host)
        for host in (own, "localhost:%d" % s.port, "LOCALHOST:%d" % s.port):
            self.assertEqual(s.ask("GET", "/api/v1/photos", headers={"Host": host})[0], 200, host)
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://" + own + ".evil.example", ""):
            self.assertEqual(s.ask("POST", "/api/v1/undo", {}, {"Origin": origin})[0], 403, origin)
        self.assertEqual(s.ask("GET", "/api/v1/photos", headers={"Origin": "http://" + own})[0], 200)

    def test_cookie_and_page_token(self):
        s = self.server
        cookie = {"Cookie": "other=1; " + self.cookie()}
        code, headers, body = s.ask("GET", "/api/v1/session", headers=cookie, token=False)
        self.assertEqual(code, 200)
        self.assertFalse([h for h in headers if h.lower().startswith("access-control")])
        page = json.loads(body)["page_token"]
        self.assertNotIn(s.token, body.decode())
        for path in (r["path"] for r in routes(s) if r["method"] == "POST"):
            self.assertEqual(s.ask("POST", path.replace("{number}", "1"), {}, cookie, token=False)[0], 403, path)
        wrong = {**cookie, "X-Broad-Token": page[:-1] + "x"}
        self.assertEqual(s.ask("POST", "/api/v1/undo", {}, wrong, token=False)[0], 403)
        right = {**cookie, "X-Broad-Token": page}
        self.assertEqual(s.ask("POST", "/api/v1/undo", {}, right, token=False)[0], 404)  # there is nothing to undo
        self.assertEqual(s.ask("POST", "/api/v1/undo", {}, {**right, "Sec-Fetch-Site": "cross-site"}, token=False)[0], 403)
        self.assertEqual(s.ask("GET", "/api/v1/photos", headers={"Cookie": cookie["Cookie"][:-1]}, token=False)[0], 401)

    def test_every_route_needs_a_token(self):
        for route in routes(self.server):
            path = route["path"].replace("{number}", "1").replace("{name}", "csv")
            self.assertEqual(self.server.ask(route["method"], path, token=False)[0], 401, path)

    def test_headers(self):
        pages = ["/" + name for name in os.listdir(SOURCE + "/serve/page") if name != "index.html"]
        for path in ("/", "/api/v1/status", "/nowhere", "/api/v1/nowhere", "/api/v1/export/report", "/api/v1/export/csv", *pages):
            headers = self.server.ask("GET", path)[1]
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_map_tiles(self):
        policy = self.server.ask("GET", "/")[1]["Content-Security-Policy"]
        self.assertIn("img-src 'self' blob: data:;", policy)
        self.assertIsNone(self.server.get("session")["tiles"])
        address = "https://tiles.example.org:8443/a/{z}/{x}/{y}.png?key=1"
        s = Server("tiles", "--tiles", address)
        self.assertIn("img-src 'self' blob: data: https://tiles.example.org:8443;", s.ask("GET", "/")[1]["Content-Security-Policy"])
        self.assertEqual(s.get("session")["tiles"], address)
        s.end()
        for bad in ("tiles", "ftp://x/{z}/{x}/{y}", "https://x/{z}/{x}", "https://x/{z}/{x}/{y}; script-src *", "https://x'/{z}/{x}/{y}",
                    "https://{z}/{x}/{y}/", "https:///{z}/{x}/{y}", "https://x@y/{z}/{x}/{y}", "https://x/{z}/{x}/{y}," + "a" * 600):
            end = subprocess.run([BROAD, "serve", WORK + "/none", "--no-browser", "--tiles", bad], capture_output=True, text=True)
            self.assertEqual((end.returncode, "--tiles: give the address" in end.stderr), (2, True), (bad, end.stderr))

    def test_paths(self):
        s = self.server
        for path in ("/../project.db", "/..%2fproject.db", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/v1/photos/1/../../x",
                     "/api/v1/photos/-1", "/api/v1/photos/1e9", "/api/v1/photos/99999999999999999999", "/api/v1/export/../x",
                     "/api/v1/versions/0/model", "/api/v1/export/%2e%2e", "/project.db", "/api/v1/photos/1%00"):
            self.assertIn(s.ask("GET", path)[0], (400, 404), path)
        self.assertEqual(s.ask("GET", "/api/v1/learn")[0], 405)
        self.assertEqual(s.ask("POST", "/api/v1/photos/1", {})[0], 405)
        self.assertEqual(s.ask("DELETE", "/api/v1/photos")[0], 405)

    def test_malformed(self):
        s = self.server
        host = b"Host: 127.0.0.1:%d\r\n" % s.port
        token = b"Authorization: Bearer " + s.token.encode() + b"\r\n"
        bodies = [b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / \r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 64, b"\xff\xfe" * 40,
                  b"GET / HTTP/1.1\r\n" + b"A" * 70000, b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
                  b"GET / HTTP/1.1\r\n" + host + b"X: y\r\n" * 9000 + b"\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
                  b"POST / HTTP/1.1\r\n" + host + token + b"Content-Length: -1\r\n\r\n",
                  b"POST / HTTP/1.1\r\n" + host + token + b"Content-Length: 99999999999999999999999\r\n\r\n",
                  b"POST /api/v1/review HTTP/1.1\r\n" + host + token + b"Content-Length: 5\r\n\r\n{",
                  b"POST /api/v1/review HTTP/1.1\r\n" + host + token + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                  b"POST /api/v1/review HTTP/1.1\r\n" + host + token + b"Transfer-Encoding: chunked\r\n\r\n"
                  b"ffffffffffffffff\r\nx", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET http://evil/ HTTP/1.1\r\n" + host + b"\r\n"]
        bodies += [bytes((i * 37 + j * j) % 256 for j in range(200)) for i in range(33)]
        self.assertGreaterEqual(len(bodies), 50)
        for body in bodies:
            with socket.create_connection(("127.0.0.1", s.port), timeout=5) as link:
                try:
                    link.sendall(body)
                    link.shutdown(socket.SHUT_WR)
                    answer = link.recv(4096)
                except OSError:
                    continue
                self.assertFalse(answer.startswith(b"HTTP/1.1 200"), (body[:60], answer[:60]))
        self.assertEqual(s.ask("GET", "/api/v1/status")[0], 200)
        for body in ('[]', '"x"', '{', '{"photos": 1}', '{"photos": [1]}', '{"photos": ["1"], "label": "x"}', '{"a":1,"a":2}',
                     '{"photos": [1], "label": "../x"}', '{"photos": [1], "label": "a\\u0000b"}', '[' * 5000,
                     '{"photos": [99], "label": "x"}', '{"photos": [1], "label": "' + "x" * 300 + '"}'):
            self.assertIn(s.ask("POST", "/api/v1/review", body)[0], (400, 404), body[:60])

    def test_too_large(self):
        s = self.server
        for path, length, rest in (("photos", 65 << 20, b""), ("review", 5 << 20, b""),
                                   ("review", 0, b"400000\r\n" + b"x" * 0x400000 + b"\r\n1\r\n")):
            size = "Content-Length: %d" % length if length else "Transfer-Encoding: chunked"
            with socket.create_connection(("127.0.0.1", s.port), timeout=10) as link:
                link.sendall(("POST /api/v1/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n" %
                              (path, s.port, s.token, size)).encode() + rest + (b"xy\r\n0\r\n\r\n" if rest else b""))
                self.assertIn(b" 413 " if length else b" 400 ", link.recv(100))

    def test_no_second_server(self):
        s = self.server
        for folder, port, reason in ((s.folder, free_port(), "process %d" % s.process.pid),
                                     (os.path.join(WORK, "other"), s.port, "another port")):
            end = subprocess.run([BROAD, "serve", folder, "--port", str(port), "--no-browser"], capture_output=True, text=True)
            self.assertEqual(end.returncode, 73, end.stderr)
            self.assertIn(reason, end.stderr)
        self.assertFalse(os.path.exists(os.path.join(WORK, "other")))  # nothing is left of a project that could not be served
        end = subprocess.run([BROAD, "serve", s.folder, "--port", str(s.port), "--no-browser"], capture_output=True, text=True)
        self.assertIn("process %d" % s.process.pid, end.stderr)  # which says more than that the port is in use
        with open(MODEL, "rb") as model:
            before = model.read()
        end = subprocess.run([BROAD, "serve", MODEL, "--port", str(free_port()), "--no-browser"], capture_output=True, text=True)
        self.assertEqual((end.returncode, "is a file, but PROJECT is a folder" in end.stderr), (2, True), end.stderr)
        with open(MODEL, "rb") as model:
            self.assertEqual(model.read(), before)
        link = os.path.join(WORK, "token")
        with open(link, "w", encoding="utf-8") as file:
            file.write("t" * 40)
        os.chmod(link, 0o644)
        for words, reason in ((["--listen", "0.0.0.0"], "--token-file"), (["--token-file", link], "chmod 600"),
                              (["--listen", "here"], "no address"), (["--port", "70000"], "1 to 65535")):
            end = subprocess.run([BROAD, "serve", WORK + "/x", "--no-browser", *words], capture_output=True, text=True)
            self.assertEqual((end.returncode, reason in end.stderr), (2, True), end.stderr)


def routes(server):
    paths = server.get("openapi.json")["paths"]
    return [{"path": p, "method": m.upper(), **about} for p, methods in paths.items() for m, about in methods.items()]


class Session(unittest.TestCase):
    """A project with a model: photos in, verdicts, corrections, learning, exports."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("session")
        cls.files = photos()
        cls.ids = cls.server.add_all(cls.files)

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def rows(self, query=""):
        return self.server.get("photos?limit=1000&" + query)["photos"]

    def test_verdicts_are_those_of_predict(self):
        end = subprocess.run([BROAD, "predict", MODEL, *self.files, "--proba", "-q"], capture_output=True, text=True, check=True)
        said = {r["file"]: r for r in csv.DictReader(io.StringIO(end.stdout))}
        seen = {r["id"]: r for r in self.rows()}
        for file in self.files:
            row = seen[self.ids[file]]
            self.assertEqual(row["label"], said[file]["label"])
            self.assertAlmostEqual(row["certainty"], float(said[file]["proba_" + row["label"]]), places=9)
            self.assertAlmostEqual(row["distance"], float(said[file]["distance"]), places=9)
        with open(self.files[0], "rb") as photo:
            judged = self.server.post("judge", photo.read())
        self.assertAlmostEqual(judged["probabilities"]["Dusty"], float(said[self.files[0]]["proba_Dusty"]), places=9)
        self.assertEqual(judged["label"], said[self.files[0]]["label"])

    def test_lists(self):
        sure = [r["certainty"] for r in self.rows("sort=uncertainty")]
        self.assertEqual(sure, sorted(sure))
        fault = [r["fault"] for r in self.rows("sort=severity")]
        self.assertEqual(fault, sorted(fault, reverse=True))
        names = [(r["folder"], r["name"]) for r in self.rows("sort=name")]
        self.assertEqual(names, sorted(names))
        pages = [self.server.get("photos?sort=added&limit=7&offset=%d" % at)["photos"] for at in range(0, 28, 7)]
        self.assertEqual([r["id"] for page in pages for r in page], [r["id"] for r in self.rows("sort=added")])
        dusty = self.rows("class=Dusty")
        self.assertTrue(dusty and all((r["human"] or r["label"]) == "Dusty" for r in dusty))
        self.assertEqual(len(self.rows("folder=new/Clean")), 12)
        self.assertEqual(self.rows("text=0001.j"), [r for r in self.rows() if "0001.j" in r["name"]])
        self.server.get("photos?sort=colour", 400)
        self.server.get("photos?limit=x", 400)
        for query in ("review=bad", "review=", "order=x", "sort=name&order=", "unlike=yes", "faults=2", "pending=-1", "stacks=x", "changed=last",
                      "stack=1.5", "from=yesterday", "from=2026-5-31", "to=2026-05-310"):
            name = query.split("&")[-1].split("=")[0]
            self.assertIn(name + ": give ", self.server.get("photos?" + query, 400)["error"]["message"])
        self.server.get("export/csv?review=bad", 400)
        self.server.get("places?unlike=yes", 400)
        for query in ("review=reviewed", "sort=name&order=down", "unlike=0", "stacks=0", "changed=1", "from=2026-05-31&to=2026-06-01"):
            self.server.get("photos?" + query)
        self.assertEqual(self.server.get("photos?class=' OR 1=1 --".replace(" ", "%20"))["total"], 0)

    def test_pictures(self):
        number = self.ids[self.files[0]]
        for path, least in (("thumbnail", 500), ("image?side=200", 500), ("heatmap", 500), ("heatmap?class=Clean", 500)):
            code, headers, body = self.server.ask("GET", "/api/v1/photos/%d/%s" % (number, path))
            self.assertEqual((code, headers["Content-Type"], body[:2]), (200, "image/jpeg", b"\xff\xd8"), path)
            self.assertGreater(len(body), least)
        self.server.get("photos/%d/heatmap?class=Blue" % number, 400)
        with open(self.files[0], "rb") as photo:
            self.assertEqual(self.server.ask("GET", "/api/v1/photos/%d/file" % number)[2], photo.read())
        self.assertEqual(self.server.get("photos/%d" % number)["name"], os.path.basename(self.files[0]))
        self.server.get("photos/9999", 404)

    def test_reviews(self):
        s = self.server
        one, two = self.rows("sort=added&review=none")[:2]
        other = {"Clean": "Dusty", "Dusty": "Clean"}[one["label"]]
        heard = Listener(s)
        done = s.post("review", {"photos": [one["id"]], "label": other, "who": "anna"})
        self.assertEqual(done["photos"], [{"id": one["id"], "review": "corrected", "human": other}])
        s.post("review", {"photos": [one["id"], two["id"]], "agree": True, "who": "ben"})
        self.assertEqual(s.get("photos/%d" % one["id"])["review"], "agreed")
        s.post("undo", {"who": "anna"})  # what ben has done since stays
        self.assertEqual(s.get("photos/%d" % one["id"])["review"], "agreed")
        s.post("undo", {"who": "ben"})
        now = s.get("photos/%d" % one["id"])
        self.assertEqual((now["review"], now["human"]), ("corrected", other))
        s.post("review", {"photos": [one["id"]], "clear": True})
        self.assertEqual(s.get("photos/%d" % one["id"])["review"], "none")
        self.assertEqual(s.get("photos/%d" % two["id"])["review"], "none")
        s.post("undo", {"who": "anna"}, 404)
        wait_for(lambda: len(heard.of("reviewed")) == 5)
        self.assertEqual(heard.of("reviewed")[0]["photos"][0]["human"], other)
        heard.close()
        self.assertEqual([a["kind"] for a in s.get("actions?limit=3")["actions"]], ["clear", "agree", "label"])

    def test_what_cannot_be_read(self):
        s = self.server
        before = s.get("status")["counts"]["unreadable"]
        bad = [(b"GIF89a....", "a.gif"), (b"\xff\xd8\xff\xe0 no more", "cut.jpg"), (png(60000, 60000), "bomb.png"),
               (b"plain words", EVIL), (png(30000, 30000, b"\0" * 1000), "bomb2.png")]
        for data, name in bad:
            s.add(data, name)
        s.settle()
        listed = s.get("unreadable")["photos"]
        self.assertEqual(len(listed), before + len(bad))
        self.assertTrue(all(r["reason"] for r in listed), listed)
        self.assertEqual([r["name"] for r in listed if "onerror" in r["name"]], [EVIL.rsplit("/", 1)[1].replace("\x01", " ")])
        self.assertFalse([n for n in os.listdir(s.folder + "/photos") if not re.fullmatch("[0-9a-f]{32}", n)])
        self.assertEqual(s.post("judge", b"GIF89a....", 422)["error"]["status"], "bad_data")
        self.assertEqual(s.post("photos?name=empty", b"", 400)["error"]["status"], "usage")

    def test_decoder_born_stuck(self):
        """A new decoder that does not answer is replaced, and the photo is not blamed."""
        s = Server("stuck")
        try:
            for attempt in range(10):
                before = set(s.decoders())
                for number in before:
                    os.kill(number, signal.SIGKILL)
                s.add(png(4000, 4000, (bytes([0]) + bytes([60 + attempt, 90, 120]) * 4000) * 4000), "large.png")
                number = wait_for(lambda: next(iter(set(s.decoders()) - before), None), pause=0)
                os.kill(number, signal.SIGSTOP)
                if s.get("status")["counts"]["waiting"]:
                    break
                os.kill(number, signal.SIGKILL)
            else:
                self.fail("no decoder was stopped before it had answered")
            s.settle()
            self.assertEqual(s.get("status")["counts"]["unreadable"], 0)
            self.assertNotIn(number, s.decoders())
        finally:
            s.end()

    def test_script_in_exif(self):
        s, evil = self.server, "<script>alert(1)</script>"
        with open(self.files[2], "rb") as photo:
            data = with_exif(photo.read(), {0x010e: evil, 0x010f: evil, 0x0110: evil, 0x0132: evil, 0x013b: evil})
        number = s.add(data, "exif.jpg")["id"]
        s.settle()
        self.assertIsNone(s.get("photos/%d" % number)["time"])
        for path in ("photos/%d" % number, "photos?limit=100", "export/report", "export/csv", "export/kml", "export/geojson"):
            self.assertNotIn(evil.encode(), s.ask("GET", "/api/v1/" + path)[2], path)
        s.post("review", {"photos": [number], "clear": True})

    def test_exports(self):
        s = self.server
        with open(self.files[1], "rb") as photo:
            s.add(photo.read() + b"\0", EVIL)  # the same picture, other bytes
        s.settle()
        def export(name):
            code, headers, body = s.ask("GET", "/api/v1/export/" + name)
            self.assertEqual(code, 200, name)
            self.assertIn("attachment", headers["Content-Disposition"])
            return body
        rows = list(csv.DictReader(io.StringIO(export("csv").decode())))
        self.assertEqual(len(rows), s.get("photos?limit=1")["total"])
        self.assertTrue(all(os.path.exists(r["file"]) for r in rows))
        self.assertTrue(any("HYPERLINK" in r["name"] for r in rows))
        safe = list(csv.DictReader(io.StringIO(export("spreadsheet").decode("utf-8-sig"))))
        self.assertFalse([c for r in safe for c in r.values() if c[:1] in "=+@" and c])
        self.assertEqual(json.loads(export("geojson"))["type"], "FeatureCollection")
        xml.dom.minidom.parseString(export("kml"))
        report = export("report").decode()
        self.assertNotIn("<img src=x", report)
        self.assertIn("&lt;img src=x", report)
        with tarfile.open(fileobj=io.BytesIO(export("tree"))) as tree:
            members = tree.getmembers()
        self.assertEqual(len(members), len(rows))
        for member in members:
            self.assertRegex(member.name, r"^(Clean|Dusty)/\d{6}-[^/]+$")
        with open(s.folder + "/model.broad", "rb") as model:
            self.assertEqual(export("model"), model.read())
        self.assertEqual(s.get("export/colour", 404)["error"]["status"], "no_input")
        self.assertEqual(len(self.rows("stacks=1")), len({r["stack"] for r in self.rows()}))
        self.assertEqual(max(r["stacked"] for r in self.rows("stacks=1")), 2)


class Listener:
    """A page that listens to events."""

    def __init__(self, server):
        self.events = []
        self.link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        self.link.request("GET", "/api/v1/events", headers={"Authorization": "Bearer " + server.token})
        self.answer = self.link.getresponse()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        name = ""
        try:
            for line in self.answer:
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                if line.startswith("data: "):
                    self.events.append((name, json.loads(line[6:])))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):  # it was closed
            pass

    def close(self):
        self.link.sock.shutdown(socket.SHUT_RDWR) if self.link.sock else None
        self.answer.close()
        self.link.close()

    def of(self, name):
        return [data for event, data in self.events if event == name]


class Learning(unittest.TestCase):
    def test_learn_versions_and_kill(self):
        s = Server("learning")
        files = photos()
        ids = s.add_all(files)
        wrong = [f for f in files if s.get("photos/%d" % ids[f])["label"] != f.split("/")[-2]] or files[:1]
        for file in wrong:
            truth = {"Clean": "Dusty", "Dusty": "Clean"}[s.get("photos/%d" % ids[file])["label"]]
            s.post("review", {"photos": [ids[file]], "label": truth})
        self.assertEqual(s.get("status")["pending"], len(wrong))
        done = s.work("learn")
        self.assertEqual((done["version"], done["learned"], done["held_out"]["rows"]), (2, len(wrong), 12))
        self.assertIn("accuracy", done["held_out_before"])
        self.assertEqual(s.get("status")["pending"], 0)
        for file in wrong:
            row = s.get("photos/%d" % ids[file])
            self.assertEqual((row["label"], row["version"], row["review"]), (row["human"], 2, "corrected"))
        changed = {r["id"] for r in s.get("versions/2/changes")["photos"]}
        self.assertLessEqual({ids[f] for f in wrong}, changed)
        self.assertEqual(done["changed"], len(changed))
        self.assertTrue(s.work("versions/2/verify")["holds"])
        found = s.work("doubts")["count"]
        self.assertEqual(len(s.get("doubts")["doubts"]["photos"]), found)
        if found:
            self.assertEqual(s.ask("GET", "/api/v1/doubts/0/image")[2][:2], b"\xff\xd8")
        self.assertEqual(s.post("learn", {}, 202), {"done": False})
        wait_for(lambda: (s.get("status")["work"]["last"] or {}).get("state") == "failed")
        self.assertIn("nothing to learn", s.get("status")["work"]["last"]["message"])
        self.command_line_agrees(s, files, ids)
        before = [v["id"] for v in s.get("versions")["versions"]]
        self.killed_between(s)
        self.assertEqual([v["id"] for v in s.get("versions")["versions"]], before)
        self.assertEqual(s.get("photos/%d" % ids[wrong[0]])["review"], "corrected")
        s.post("versions/1/use")
        self.assertEqual(s.get("status")["model"]["version"], 1)
        self.assertNotEqual(s.get("photos/%d" % ids[wrong[0]])["label"], s.get("photos/%d" % ids[wrong[0]])["human"])
        self.assertEqual(s.get("status")["pending"], len(wrong))
        with open(s.folder + "/model.broad", "rb") as now, open(MODEL, "rb") as first:
            self.assertEqual(now.read(), first.read())
        s.post("versions/7/use", {}, 404)
        code, seconds = s.end()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 2 * SLOW)

    def killed_between(self, s):
        """Killed after version 2 was in the database, and before or after it was in model.broad; then put there by another program."""
        for model in (MODEL, s.folder + "/versions/000002.broad"):
            s.end(signal.SIGKILL)
            with sqlite3.connect(s.folder + "/project.db") as database:
                database.execute("UPDATE settings SET value=1 WHERE name='written'")
            database.close()
            shutil.copy(model, s.folder + "/model.broad")
            s.start()
            self.assertEqual(s.get("status")["model"]["version"], 2)
            with open(s.folder + "/model.broad", "rb") as now, open(s.folder + "/versions/000002.broad", "rb") as second:
                self.assertEqual(now.read(), second.read())

    def command_line_agrees(self, s, files, ids):
        end = subprocess.run([BROAD, "predict", s.folder + "/model.broad", *files, "-q"], capture_output=True, text=True, check=True)
        for row in csv.DictReader(io.StringIO(end.stdout)):
            self.assertEqual(row["label"], s.get("photos/%d" % ids[row["file"]])["label"])

    def test_steps_keep_what_they_learn(self):
        """Once each, whatever follows: going back to a version leaves the corrections of later ones to be learned again."""
        s = Server("lessons")
        ids = sorted(s.add_all(photos()).values())

        def correct(photo):
            label = {"Clean": "Dusty", "Dusty": "Clean"}[s.get("photos/%d" % photo)["label"]]
            s.post("review", {"photos": [photo], "label": label})
            return s.work("learn")["version"], photo, label

        def pending():
            listed = [row["id"] for row in s.get("photos?pending=1&limit=100&sort=added")["photos"]]
            self.assertEqual(s.get("status")["pending"], len(listed))
            return sorted(listed)

        def kept():
            with contextlib.closing(sqlite3.connect("file:%s/project.db?mode=ro" % s.folder, uri=True)) as database:
                return database.execute("SELECT version, photo, label FROM learned ORDER BY version, photo").fetchall()

        steps = [correct(ids[i]) for i in (0, 1, 0, 2)]  # the third takes back the first
        versions = [version for version, _, _ in steps]
        self.assertEqual(kept(), steps)
        numbers = {v["id"]: v["learned"] for v in s.get("versions")["versions"]}
        self.assertEqual([numbers[v] for v in [1, *versions]], [0, 1, 2, 2, 3])
        self.assertEqual(pending(), [])
        for version, left in ((versions[1], [ids[0], ids[2]]), (1, ids[:3]), (versions[2], [ids[2]])):
            s.post("versions/%d/use" % version)
            self.assertEqual(pending(), left)
        aside = s.work("learn")["version"]  # another way on from the third step
        self.assertEqual((pending(), kept()[-1]), ([], (aside, *steps[3][1:])))
        self.learned_by_earlier_builds(s, pending, aside, ids[1])
        s.end()

    def learned_by_earlier_builds(self, s, pending, version, photo):
        """Which kept all of it once more for every version, and no number."""
        s.end()
        with contextlib.closing(sqlite3.connect(s.folder + "/project.db")) as database, database:
            database.execute("INSERT OR IGNORE INTO learned SELECT ?, photo, label FROM learned WHERE version<? ORDER BY version DESC",
                             (version, version - 1))
            database.execute("ALTER TABLE versions DROP COLUMN learned")
        s.start()
        self.assertEqual(pending(), [])
        self.assertEqual(s.get("versions")["versions"][0]["learned"], 3)
        s.post("review", {"photos": [photo], "label": "Odd"})
        self.assertEqual(pending(), [photo])

    def test_names_of_classes(self):
        s = Server("names")
        s.post("classes", {"name": "ä" * 127 + "b"})
        for name in ("ä" * 128, "b" * 256, "", " a", "a ", ".a", "a\\b"):
            self.assertIn("1 to 255 bytes", s.post("classes", {"name": name}, 400)["error"]["message"])
        s.end()

    def test_from_nothing(self):
        s = Server("nothing", "--no-copy", model=False)
        os.symlink("/etc/passwd", PHOTOS + "/new/Clean/link.jpg")
        os.symlink("/etc", PHOTOS + "/new/folder")
        try:
            s.post("watch", {"folder": "new"}, 400)
            s.post("watch", {"folder": s.folder}, 400)
            s.post("watch", {"folder": PHOTOS + "/new"})
            wait_for(lambda: s.get("status")["counts"]["judged"] == 24)
            self.assertEqual(s.get("status")["counts"]["unreadable"], 0)
            self.assertTrue(all(os.path.islink(s.folder + "/photos/" + n) for n in os.listdir(s.folder + "/photos")))
            rows = s.get("photos?limit=100")["photos"]
            self.assertEqual({r["label"] for r in rows}, {None})
            s.post("judge", b"x", 404)
            s.post("review", {"photos": [rows[0]["id"]], "agree": True})  # there is nothing to agree with
            self.assertEqual(s.get("photos/%d" % rows[0]["id"])["review"], "none")
            s.post("classes", {"name": "Clean"})
            s.post("classes", {"name": "a/b"}, 400)
            for label in ("Clean", "Dusty"):
                s.post("review", {"photos": [r["id"] for r in rows if r["folder"].endswith(label)][:10], "label": label})
            done = s.work("learn")
            self.assertEqual((done["version"], done["learned"]), (1, 20))
            s.settle()
            self.assertEqual({r["label"] for r in s.get("photos?limit=100")["photos"]}, {"Clean", "Dusty"})
            s.post("settings", {"learn_after": 1, "title": "Roof 7"})
            left = s.get("photos?review=none")["photos"][0]
            s.post("review", {"photos": [left["id"]], "label": "Broken"})  # a class that the model does not know
            wait_for(lambda: (s.get("status")["model"] or {}).get("version") == 2)
            self.assertEqual(s.get("status")["classes"], ["Clean", "Dusty", "Broken"])
            self.assertEqual(s.get("status")["title"], "Roof 7")
        finally:
            os.unlink(PHOTOS + "/new/Clean/link.jpg")
            os.unlink(PHOTOS + "/new/folder")
            s.end()


class Gone(unittest.TestCase):
    """Files of a watched folder that stay where they are, and are gone when they should be learned."""

    def test_left_out(self):
        folder = os.path.join(WORK, "leaving")
        shutil.copytree(PHOTOS + "/old", folder)
        s = Server("leaving_project", "--no-copy", model=False)
        self.addCleanup(s.end)
        s.post("watch", {"folder": folder})
        wait_for(lambda: s.get("status")["counts"]["judged"] == 60)
        rows = s.get("photos?limit=100&sort=name")["photos"]
        by_class = {label: [row for row in rows if row["folder"].endswith(label)] for label in ("Clean", "Dusty")}

        def label(which):
            for name, listed in by_class.items():
                s.post("review", {"photos": [row["id"] for row in listed[which]], "label": name})

        def lose(row, content=None):
            file = os.path.join(os.path.dirname(folder), row["folder"], row["name"])
            os.unlink(file)
            if content is not None:
                with open(file, "wb") as left:
                    left.write(content)

        def names(done):
            return [(photo["photo"], photo["name"], photo["folder"], photo["reason"]) for photo in done["left_out"]]

        label(slice(0, 20))
        lost = by_class["Dusty"][0]
        lose(lost)  # before the first model
        done = s.work("learn")
        self.assertEqual((done["learned"], names(done)), (39, [(lost["id"], lost["name"], lost["folder"], "its file is gone")]))
        self.assertEqual(s.get("versions")["versions"][0]["learned"], 39)
        self.assertEqual(s.get("versions")["versions"][0]["result"]["left_out"], done["left_out"])
        s.settle()
        self.assertEqual([photo["id"] for photo in s.get("unreadable")["photos"]], [lost["id"]])  # when the new model looked at it
        label(slice(20, 22))
        gone = by_class["Dusty"][21]
        lose(gone)
        done = s.work("learn")
        self.assertEqual(done["learned"], 3)
        self.assertEqual(names(done), [(gone["id"], gone["name"], gone["folder"], "its file is gone")])
        s.post("learn", {}, 202)
        last = wait_for(lambda: (lambda w: w["task"] is None and w["last"])(s.get("status")["work"]))
        self.assertEqual(last["state"], "failed")
        self.assertIn("there is nothing to learn: these photos are gone, or cannot be read: %s" % gone["name"], last["message"])
        self.anew(s, by_class, label, lose, names)

    def anew(self, s, by_class, label, lose, names):
        """All of it in a new model: what was learned before and is gone, or is no photo any more, is left out too."""
        label(slice(22, 24))
        before, spoiled = by_class["Clean"][1], by_class["Clean"][2]
        lose(before)
        lose(spoiled, b"no photo")
        done = s.work("learn")
        self.assertEqual(done["learned"], 4)
        self.assertIn((before["id"], before["name"], before["folder"], "its file is gone since it was learned"), names(done))
        done = s.work("train")
        self.assertEqual({name for _, name, _, _ in names(done)}, {row["name"] for row in (before, spoiled, by_class["Dusty"][21])})
        version = s.get("versions")["versions"][0]
        self.assertEqual((done["learned"], version["learned"]), (44, 44))
        self.assertEqual(version["rows"] + done["held_out"]["rows"], 44)


class Memory(unittest.TestCase):
    """What the server holds, in megabytes, after large answers and models are gone again."""

    VERSIONS, LISTS = 1000, 24

    def fill(self, s):
        """The second version many times over, as if it had been learned so often."""
        s.add_all(photos())
        s.post("review", {"photos": [1, 2, 3], "label": "Clean"})
        s.post("review", {"photos": [4, 5, 6], "label": "Dusty"})
        s.work("learn")
        s.end()
        with sqlite3.connect(s.folder + "/project.db") as database:
            for number in range(3, self.VERSIONS + 1):
                database.execute("INSERT INTO versions SELECT ?, made, kind, hash, parent, lineage, rows, result, learned FROM versions WHERE id=2", (number,))
                database.execute("INSERT INTO learned SELECT ?, photo, label FROM learned WHERE version=2", (number,))
        database.close()
        s.start()

    def megabytes(self, s):
        with open("/proc/%d/status" % s.process.pid, encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def test_lists_leave_little_behind(self):
        s = Server("memory")
        self.fill(s)
        s.get("status")
        before = self.megabytes(s)
        askers = [threading.Thread(target=lambda: [s.get("versions") for _ in range(self.LISTS // 4)]) for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        grown = self.megabytes(s) - before
        listed = s.get("versions")["versions"]
        self.assertEqual([v["id"] for v in listed], list(range(self.VERSIONS, 0, -1)))
        self.assertEqual({json.dumps(dict(v, id=0, in_use=0)) for v in listed[:-2]}, {json.dumps(dict(listed[0], id=0, in_use=0))})
        if SLOW == 1:  # sanitizers keep what is freed
            self.assertLess(grown, 4)
        s.end()

    def test_learning_leaves_little_behind(self):
        s = Server("steps")
        ids, sizes = list(s.add_all(photos()).values()), []
        for photo in ids[:5]:
            s.post("review", {"photos": [photo], "label": "Other"})
            s.work("learn")
            sizes.append(self.megabytes(s))
        if SLOW == 1:
            self.assertLess(max(sizes) - sizes[0], 2, sizes)
        s.end()


class Doubts(unittest.TestCase):
    """Labels of training photos, put right on the page."""

    def test_labels_put_right(self):
        old = os.path.join(WORK, "mislabelled")
        shutil.copytree(PHOTOS + "/old", old)
        wrong = sorted(os.listdir(old + "/Clean"))[:3]
        for name in wrong:
            shutil.move(old + "/Clean/" + name, old + "/Dusty/" + name)
        os.mkdir(WORK + "/doubts")
        subprocess.run([BROAD, "fit", old, "--holdout", "0.2", "-o", WORK + "/doubts/model.broad", "-q"], check=True)
        s = Server("doubts")
        s.post("doubts/0/review", {"keep": True}, 404)  # there is no list yet
        s.work("doubts")
        listed = s.get("doubts")["doubts"]["photos"]
        self.assertEqual([photo["name"] for photo in listed], [os.path.basename(photo["file"]) for photo in listed])
        planted = [i for i, photo in enumerate(listed) if os.path.basename(photo["file"]) in wrong]
        others = [i for i in range(len(listed)) if i not in planted]
        self.assertTrue(planted and others, listed)
        for i in planted:
            done = s.post("doubts/%d/review" % i, {"label": "Clean", "who": "anna"})
            self.assertEqual((done["photos"][0]["review"], done["photos"][0]["human"]), ("corrected", "Clean"))
        for i in others:
            self.assertEqual(s.post("doubts/%d/review" % i, {"keep": True, "who": "anna"})["photos"][0]["review"], "agreed")
        for body in ({}, {"keep": False}, {"keep": True, "label": "Clean"}, {"label": "a/b"}):
            s.post("doubts/0/review", body, 400)
        s.post("doubts/9999/review", {"keep": True}, 404)
        s.post("undo", {"who": "anna"})
        now = s.get("doubts")["doubts"]["photos"]
        self.assertNotIn("review", now[others[-1]])
        self.assertEqual([now[i]["human"] for i in planted], ["Clean"] * len(planted))
        status = s.get("status")
        self.assertEqual((status["pending"], status["counts"]["judged"]), (len(planted), 0))  # no photos of the project
        self.assertEqual(len(s.ask("GET", "/api/v1/export/csv")[2].splitlines()), 1)
        rows = s.work("learn")["rows"]
        with open(sorted(os.scandir(s.folder + "/labels"), key=lambda e: e.name)[-1].path, encoding="utf-8") as file:
            learned = [line["file"] for line in csv.DictReader(file)]
        self.assertEqual(sorted(learned), sorted(listed[i]["file"] for i in planted))
        info = json.loads(subprocess.run([BROAD, "verify", s.folder + "/model.broad", "--doubts", "--json"], capture_output=True, check=True).stdout)
        self.assertFalse([d for d in info["doubts"] if os.path.basename(d["file"]) in learned and d["label"] == "Dusty"])
        self.assertEqual(rows, s.get("versions")["versions"][0]["rows"])
        self.assertEqual(s.post("doubts/0/review", {"keep": True}, 409)["error"]["status"], "failed")  # a list of the version before
        self.assertTrue(s.work("versions/2/verify")["holds"])
        with open(listed[planted[0]]["file"], "rb") as photo:  # it joins the photos when it is added as one
            s.add(photo.read(), "again.jpg")
        s.settle()
        self.assertEqual(s.get("photos?limit=10")["total"], 1)
        s.end()


class ByHand(unittest.TestCase):
    """What a person comes across who tries things out."""

    def test_without_a_model(self):
        s = Server("bare", model=False)
        try:
            ids = s.add_all(photos())
            first = next(iter(ids.values()))
            done = s.post("review", {"photos": [first], "agree": True})  # nothing to agree with, so nothing was done
            self.assertEqual((done["action"], done["photos"], s.get("actions")["actions"]), (None, [], []))
            s.post("undo", {}, 404)
            os.mkdir(s.folder + "2")  # not the project, whose name it begins with
            s.post("watch", {"folder": s.folder + "2"})
            s.post("watch", {"folder": s.folder + "/photos"}, 400)
            unreadable = s.add(b"dear all,\nplease find the photos\n", "notes.jpg")["id"]
            s.settle()
            self.assertIn("a text, not a picture", [p["reason"] for p in s.get("unreadable")["photos"] if p["id"] == unreadable][0])
            truth = {file: file.split("/")[-2] for file in ids}
            swapped = [[f for f in ids if truth[f] == label][0] for label in ("Clean", "Dusty")]
            for file in swapped:
                truth[file] = {"Clean": "Dusty", "Dusty": "Clean"}[truth[file]]
            for label in ("Clean", "Dusty"):
                s.post("review", {"photos": [ids[f] for f in ids if truth[f] == label], "label": label})
            s.work("learn")
            self.assertGreater(s.work("doubts")["count"], 0)
            names = {(os.path.basename(f), os.path.dirname(os.path.relpath(f, PHOTOS))) for f in ids}
            for photo in s.get("doubts")["doubts"]["photos"]:  # by the names that they came with
                self.assertIn((photo["name"], photo["folder"]), names)
        finally:
            s.end()

    def test_long_names_of_classes(self):
        """Folders were named in full sentences."""
        names = {"Clean": "clean, washed by the night shift " * 6 + "Clean", "Dusty": "dusty, to be washed at the next opportunity " * 5 + "Dusty"}
        folder = os.path.join(WORK, "sentences")
        for short, long in names.items():
            shutil.copytree(os.path.join(PHOTOS, "old", short), os.path.join(folder, long))
        s = Server("long", model=False)
        try:
            s.end()
            subprocess.run([BROAD, "fit", folder, "--preset", "paper", "--features", "2x10", "--enhance", "10x2", "-q", "-o", s.folder + "/model.broad"], check=True)
            s.start()
            ids = list(s.add_all(photos()).values())
            s.post("review", {"photos": ids, "agree": True})
            self.assertEqual({s.get("photos/%d" % i)["human"] for i in ids} - set(names.values()), set())
            s.post("review", {"photos": ids[:1], "label": names["Dusty"]})
            self.assertEqual(s.get("photos/%d" % ids[0])["human"], names["Dusty"])
        finally:
            s.end()

    def test_model_replaced(self):
        """By another program, while the server runs: it is a new version, and nothing is overwritten."""
        other = os.path.join(WORK, "other.broad")
        subprocess.run([BROAD, "fit", PHOTOS + "/old", "-o", other, "-q", "--seed", "7", "--effort", "fast"], check=True)
        s = Server("replaced")
        try:
            files = photos()[:4]
            ids = s.add_all(files)
            shutil.copy(other, s.folder + "/new")
            os.rename(s.folder + "/new", s.folder + "/model.broad")
            wait_for(lambda: (s.get("status")["model"] or {}).get("version") == 2)
            s.settle()
            self.assertEqual([v["kind"] for v in s.get("versions")["versions"]], ["given", "given"])
            said = subprocess.run([BROAD, "predict", other, *files], check=True, capture_output=True, text=True).stdout
            labels = [row["label"] for row in csv.DictReader(said.splitlines())]
            self.assertEqual([s.get("photos/%d" % ids[f])["label"] for f in files], labels)
            with open(other, "rb") as theirs, open(s.folder + "/model.broad", "rb") as ours:
                self.assertEqual(theirs.read(), ours.read())
            with open(s.folder + "/model.broad", "wb") as file:  # not a model: said once, and the one in use stays
                file.write(b"nothing")
            wait_for(lambda: "not a broad model" in s.notes())
            time.sleep(2.5)
            self.assertEqual((s.notes().count("not a broad model"), s.get("status")["model"]["version"]), (1, 2))
            self.assertIn("not a broad model", s.get("status")["trouble"])
            self.assertIn("Version 2 stays in use", s.get("status")["trouble"])
            s.post("versions/1/use")  # written again
            self.assertIsNone(s.get("status")["trouble"])
            with open(MODEL, "rb") as theirs, open(s.folder + "/model.broad", "rb") as ours:
                self.assertEqual(theirs.read(), ours.read())
        finally:
            s.end()


    def test_model_damaged_before_start(self):
        """The version in use takes its place again, and the file is kept; where there is none, the message says what to do."""
        s = Server("damaged")
        try:
            s.end()
            with open(s.folder + "/model.broad", "r+b") as model:
                model.seek(-100, os.SEEK_END)
                model.write(bytes(50))
            with open(s.folder + "/model.broad", "rb") as model:
                damaged = model.read()
            s.start()
            status = s.get("status")
            self.assertEqual(status["model"]["version"], 1)
            self.assertRegex(status["trouble"], "Version 1, the latest in use, has its place again; the file is kept as .*/model.broad.unusable-[0-9]+$")
            self.assertIn("has its place again", s.notes())
            with open(status["trouble"].rsplit(" ", 1)[1], "rb") as kept, open(MODEL, "rb") as first, open(s.folder + "/model.broad", "rb") as now:
                self.assertEqual((kept.read(), now.read()), (damaged, first.read()))
        finally:
            s.end()
        folder = os.path.join(WORK, "damaged_anew")
        os.mkdir(folder)
        with open(folder + "/model.broad", "wb") as model:
            model.write(damaged)
        end = subprocess.run([BROAD, "serve", folder, "--port", str(free_port()), "--no-browser"], capture_output=True, text=True)
        self.assertEqual(end.returncode, 76, end.stderr)
        self.assertIn("Remove this file, or put a model there: without one, the project begins with photos that you label", end.stderr)

    def test_model_replaced_while_learning(self):
        """Within the step itself: what was learned is in use, the other model is a version, and the user is told."""
        other = os.path.join(WORK, "meanwhile.broad")
        subprocess.run([BROAD, "fit", PHOTOS + "/old", "-o", other, "-q", "--seed", "8", "--effort", "fast"], check=True)
        s = Server("overtaken")
        self.addCleanup(s.end)
        ids = s.add_all(photos()[:4])
        listener = Listener(s)
        self.addCleanup(listener.close)
        for number in ids.values():
            s.post("review", {"photos": [number], "label": {"Clean": "Dusty", "Dusty": "Clean"}[s.get("photos/%d" % number)["label"]]})
        s.post("learn", {}, 202)
        tool = wait_for(lambda: [child for child in s.decoders() if b"--corrections" in command_of(child)])[0]
        os.kill(tool, signal.SIGSTOP)
        shutil.copy(other, s.folder + "/new")
        os.rename(s.folder + "/new", s.folder + "/model.broad")
        os.kill(tool, signal.SIGCONT)
        last = wait_for(lambda: (lambda w: w["task"] is None and w["last"])(s.get("status")["work"]))
        self.assertEqual((last["state"], last["result"]["version"]), ("done", 2), last)
        self.assertEqual([v["kind"] for v in s.get("versions")["versions"]], ["given", "learned", "given"])
        self.assertEqual(s.get("status")["model"]["version"], 2)
        said = "another program has replaced model.broad meanwhile; its model is kept as version 3"
        self.assertIn(said, s.notes())
        wait_for(lambda: said in [event["message"] for event in listener.of("trouble")])
        for name, expected in (("versions/000003.broad", other), ("model.broad", s.folder + "/versions/000002.broad")):
            with open(s.folder + "/" + name, "rb") as ours, open(expected, "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read(), name)
        time.sleep(2.5)  # longer than a file is left alone: it is not taken again
        listed = s.get("versions")["versions"]
        self.assertEqual([(v["id"], v["learned"]) for v in listed], [(3, 0), (2, len(ids)), (1, 0)])
        s.post("versions/3/use")  # which has learned nothing here
        s.settle()
        self.assertEqual(s.get("status")["pending"], len(ids))


class Described(unittest.TestCase):
    def test_documents_name_every_route(self):
        s = Server("described")
        described = s.get("openapi.json")
        s.end()
        with open(SOURCE + "/docs/serve-openapi.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file), described, "run tests/cli/cli_serve.py BROAD --update")
        with open(SOURCE + "/docs/serve-api.md", encoding="utf-8") as file:
            self.assertIn(table(described), file.read(), "run tests/cli/cli_serve.py BROAD --update")


def table(described):
    lines = ["| request | what it does |", "|---|---|"]
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            lines.append("| `%s %s` | %s |" % (method.upper(), path, about["summary"].replace("|", "\\|")))
    return "\n".join(lines) + "\n"


def update():
    setUpModule()
    s = Server("described")
    described = s.get("openapi.json")
    s.end()
    tearDownModule()
    with open(SOURCE + "/docs/serve-openapi.json", "w", encoding="utf-8") as file:
        json.dump(described, file, indent=1)
        file.write("\n")
    path = SOURCE + "/docs/serve-api.md"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?<=<!-- routes -->\n)(.*?)(?=<!-- end of routes -->)", lambda _: table(described), text, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(tests):
    """Skips, or runs all tests."""
    if subprocess.run([BROAD, "serve", "--port", "70000"], capture_output=True).returncode == 1:
        print("this build has no server")
        sys.exit(77)
    if "thread" in os.environ.get("BROAD_INSTRUMENTS", ""):
        print("a process that was forked from several threads hangs under the thread sanitizer")
        sys.exit(77)
    if "--update" in sys.argv:
        update()
    else:
        tests.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main(unittest)
