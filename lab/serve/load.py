#!/usr/bin/env python3
"""Mixed load on `broad serve` for a time: does it grow?

usage: load.py PATH_OF_BROAD [--minutes 60] [--photos 1000] [--rate 20] [-o FILE.json]

A project of drawn photos; two pages listen to events, and a client asks for all that pages and programs ask for: lists, pictures, heat maps,
reviews, undo, new photos, photos that cannot be read, verdicts, exports, learning steps, doubts, connections that break off. Every ten
seconds the server's own memory, that of its decoders and its open files are noted. The first sixth of the time is for getting warm; the
trend of the rest, a least-squares line, is what it grows by in an hour.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kills  # noqa: E402


def megabytes(process, what="Pss"):
    """Of a process and its children: memory, where what is shared is shared out."""
    total, members = 0, [process]
    for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            members += [int(child) for child in (thread / "children").read_text().split()]
        except OSError:  # it has ended meanwhile
            continue
    for number in members:
        try:
            text = pathlib.Path(f"/proc/{number}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(what + ":"))
    return total / 1024


def own_megabytes(process):
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))


class Page(threading.Thread):
    """Listens to events, as a page does."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.heard = server, 0

    def run(self):
        try:
            link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=600)
            link.request("GET", "/api/v1/events", headers={"Authorization": "Bearer " + self.server.token})
            for line in link.getresponse():
                self.heard += line.startswith(b"event:")
        except (OSError, ValueError, http.client.HTTPException):
            pass


class Client:
    """fresh: how many different photos of each drawn one it may add; the project then grows no further."""

    def __init__(self, server, photos, drawn, seed=3, fresh=2**64):
        self.server, self.photos, self.drawn, self.fresh = server, photos, drawn, fresh
        self.rng, self.codes, self.sent = random.Random(seed), {}, 0

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        link.request(method, "/api/v1/" + path, json.dumps(body) if isinstance(body, dict) else body, {"Authorization": "Bearer " + self.server.token})
        answer = link.getresponse()
        answer.read()
        link.close()
        self.codes[answer.status] = self.codes.get(answer.status, 0) + 1
        assert answer.status < 500, (path, answer.status)
        self.sent += 1

    def break_off(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as link:
            link.sendall(b"POST /api/v1/photos HTTP/1.1\r\nContent-Length: 100000\r\nHost: 127.0.0.1")

    def step(self):
        rng, number = self.rng, self.rng.randint(1, self.photos)
        photo = rng.choice(self.drawn)
        ways = [
            (8, lambda: self.ask("GET", "status")),
            (8, lambda: self.ask("GET", "photos?limit=200&offset=%d&sort=%s" % (number, rng.choice(("uncertainty", "severity", "name"))))),
            (4, lambda: self.ask("GET", "photos?limit=100&stacks=1&review=" + rng.choice(("none", "agreed", "corrected")))),
            (30, lambda: self.ask("GET", "photos/%d/thumbnail" % number)),
            (6, lambda: self.ask("GET", "photos/%d/image?side=400" % number)),
            (4, lambda: self.ask("GET", "photos/%d/heatmap?side=300" % number)),
            (6, lambda: self.ask("GET", "photos/%d" % number)),
            (14, lambda: self.ask("POST", "review", {"photos": [number], "label": rng.choice(("Clean", "Dusty"))})),
            (3, lambda: self.ask("POST", "review", {"photos": [number, number % self.photos + 1], "agree": True})),
            (3, lambda: self.ask("POST", "undo", {})),
            (2, lambda: self.ask("POST", "photos?name=new.jpg", photo + b"%d" % rng.randrange(self.fresh))),
            (2, lambda: self.ask("POST", "photos?name=known.jpg", photo)),
            (1, lambda: self.ask("POST", "photos?name=bad.jpg", b"\xff\xd8\xff\xe0 no photo %d" % rng.randint(1, 20))),
            (3, lambda: self.ask("POST", "judge", photo)),
            (1, lambda: self.ask("POST", "judge", b"no photo")),
            (1, lambda: self.ask("GET", "export/" + rng.choice(("csv", "spreadsheet", "geojson", "kml", "model")))),
            (0.1, lambda: self.ask("GET", "export/" + rng.choice(("report", "tree")))),
            (0.5, lambda: self.ask("POST", "learn", {})),
            (0.1, lambda: self.ask("POST", "doubts", {})),
            (1, lambda: self.ask("GET", "versions")),
            (1, lambda: self.ask("GET", "actions?limit=100")),
            (1, lambda: self.ask("GET", "places")),
            (1, self.break_off),
        ]
        rng.choices([way for _, way in ways], [weight for weight, _ in ways])[0]()


def trend(times, values):
    """What it grows by in an hour."""
    mean_t, mean_v = statistics.fmean(times), statistics.fmean(values)
    spread = sum((t - mean_t) ** 2 for t in times)
    return 3600 * sum((t - mean_t) * (v - mean_v) for t, v in zip(times, values)) / spread if spread else 0.0


def load(server, photos, drawn, minutes, rate):
    """A running server with this many photos: what it needed while it was asked."""
    pages = [Page(server) for _ in range(2)]
    for page in pages:
        page.start()
    client, begun, noted, due = Client(server, photos, drawn), time.time(), [], 0.0
    number, at_first = server.process.pid, os.path.getsize(f"{server.folder}/project.db") / 2**20
    while time.time() - begun < 60 * minutes:
        now = time.time() - begun
        if now >= due:
            noted.append((now, own_megabytes(number), megabytes(number), len(os.listdir(f"/proc/{number}/fd"))))
            due += min(10, 60 * minutes / 60)
        client.step()
        ahead = begun + client.sent / rate - time.time()
        if ahead > 0:
            time.sleep(min(1, ahead))
    later = [note for note in noted if note[0] >= 10 * minutes]
    tenth = max(1, len(later) // 10)
    database = os.path.getsize(f"{server.folder}/project.db") / 2**20
    return {"minutes": minutes, "requests": client.sent, "photos_more": client.codes.get(201, 0), "database": {"before": at_first, "after": database}, "events": sum(page.heard for page in pages), "codes": client.codes,
            "before": statistics.median(note[1] for note in later[:tenth]), "after": statistics.median(note[1] for note in later[-tenth:]),
            "most": max(note[1] for note in noted), "per_hour": trend([n[0] for n in later], [n[1] for n in later]),
            "with_decoders": {"before": statistics.median(note[2] for note in later[:tenth]), "after": statistics.median(note[2] for note in later[-tenth:])},
            "course": [round(note[1], 1) for note in noted[::max(1, len(noted) // 30)]],
            "files": {"before": later[0][3], "after": later[-1][3]}}


def project(folder, photos):
    """A server with photos that a model of its own has judged, and some of the drawn files."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run([kills.BROAD, "render", f"{folder}/old", "--count", "100", "--size", "96"], **quiet)
    subprocess.run([kills.BROAD, "render", f"{folder}/new", "--count", str(photos), "--size", "96", "--seed", "2"], **quiet)
    os.mkdir(f"{folder}/project")
    subprocess.run([kills.BROAD, "fit", f"{folder}/old", "--holdout", "0.2", "-o", f"{folder}/project/model.broad", "-q"], **quiet)
    server = kills.Server(f"{folder}/project")
    server.ask("POST", "watch", {"folder": f"{folder}/new"})
    while server.ask("GET", "status")[1]["counts"]["judged"] < photos:
        time.sleep(0.2)
    return server, [path.read_bytes() for path in sorted(pathlib.Path(folder, "new").rglob("*.jpg"))[:50]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broad")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--photos", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    kills.BROAD = os.path.abspath(options.broad)
    folder, server = tempfile.mkdtemp(prefix="broad-soak-"), None
    try:
        server, drawn = project(folder, options.photos)
        found = load(server, options.photos, drawn, options.minutes, options.rate)
    finally:
        if server:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
