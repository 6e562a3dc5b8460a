#!/usr/bin/env python3
"""What docs/serve.md says of speed: a session on photos, learning steps, and load.

usage: measure.py PATH_OF_BROAD PHOTOS [--count 10000] [--minutes 60] [--kills 500] [--only NAMES] -o FILE.json

PHOTOS has one folder per class. Half of them, by groups of near-duplicates, trains a model, of which a third is held out; the others are judged,
and those judged incorrectly are corrected by keys in a browser. Then 'scripts/check_figures --take serve FILE.json' stores it.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests"))
import kills  # noqa: E402
import load  # noqa: E402
from test_serve_browser import packages  # noqa: E402

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}


def tool(*words):
    subprocess.run([kills.BROAD, *map(str, words)], **QUIET)


def told(*words):
    return json.loads(subprocess.run([kills.BROAD, *map(str, words), "--json", "-q"], capture_output=True, check=True).stdout)


def settle(server):
    while server.ask("GET", "status")[1]["counts"]["waiting"]:
        time.sleep(0.02)


def add(server, files):
    ids = {}
    for file in files:
        ids[server.ask("POST", "photos?name=" + file.name, file.read_bytes())[1]["id"]] = file
    settle(server)
    return ids


def work(server, path, body=None):
    code, said = server.ask("POST", path, body or {})
    assert code == 202, said
    while True:
        now = server.ask("GET", "status")[1]["work"]
        if now["task"] is None:
            assert now["last"]["state"] == "done", now
            return now["last"]["result"]
        time.sleep(0.02)


def page(server, *words):
    address = f"http://127.0.0.1:{server.port}/?token={server.token}"
    end = subprocess.run(["node", str(HERE / "page_speed.mjs"), address, os.path.join(packages(), "node_modules"), *words],
                         capture_output=True, text=True, check=True)
    return json.loads(end.stdout)


def photos_below(folder):
    return sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png"))


# ---- a session ----

def halves(folder, seed=1):
    """Two halves of the photos; near-duplicates stay together."""
    files, group = photos_below(folder), {}
    for members in told("data", folder)["photos"]["near_duplicates"]:
        for name in members:
            group[os.path.realpath(name)] = members[0]
    sides = {}
    rng = random.Random(seed)
    return [[f for f in files if sides.setdefault(group.get(os.path.realpath(f), str(f)), rng.random() < 0.5) == side] for side in (True, False)]


def start_project(folder, training):
    for file in training:
        place = folder / "training" / file.parent.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    (folder / "project").mkdir()
    tool("fit", folder / "training", "--holdout", "0.33", "-o", folder / "project" / "model.broad", "-q")
    return kills.Server(str(folder / "project"))


def session(source, work_folder):
    folder = work_folder / "session"
    first, second = halves(source)
    server = start_project(folder, first)
    began = time.time()
    ids = add(server, second)
    came = time.time() - began
    rows = server.ask("GET", "photos?limit=1000")[1]["photos"]
    classes = server.ask("GET", "status")[1]["classes"]
    wrong = [[r["id"], str(1 + classes.index(ids[r["id"]].parent.name))] for r in rows if r["label"] != ids[r["id"]].parent.name]
    seen = page(server, json.dumps(wrong))
    result = server.ask("GET", "versions")[1]["versions"][0]["result"]
    after = server.ask("GET", "photos?limit=1000")[1]["photos"]
    now = sum(r["label"] != ids[r["id"]].parent.name for r in after)
    server.kill()
    return {"trained": len(first), "judged": len(second), "seconds_in": came, "wrong": len(wrong), "wrong_after": now, "page": seen,
            "held_out": result["held_out"], "held_out_before": result["held_out_before"], "seconds": result["seconds"]}


def steps(work_folder, counts=(300, 2000)):
    """A learning step after corrections, in projects of this many drawn photos, half of them trained on."""
    found = []
    for count in counts:
        folder = work_folder / f"steps{count}"
        folder.mkdir()
        tool("render", folder / "all", "--count", count, "--size", 128, "--seed", 3)
        files = photos_below(folder / "all")
        server = start_project(folder, files[::2])
        ids = add(server, files[1::2])
        rows = server.ask("GET", "photos?limit=1000&sort=uncertainty")[1]["photos"][:20]
        for row in rows:
            server.ask("POST", "review", {"photos": [row["id"]], "label": ids[row["id"]].parent.name})
        wrong = [r for r in rows if r["label"] != ids[r["id"]].parent.name]
        if not wrong:  # any correction takes the same time
            server.ask("POST", "review", {"photos": [rows[0]["id"]], "label": "Clean" if rows[0]["label"] == "Dusty" else "Dusty"})
        result = work(server, "learn")
        found.append({"photos": count, "seconds": result["seconds"] + result["seconds_judging"], "learned": result["learned"]})
        server.kill()
    return found


# ---- load ----

def many(work_folder, count):
    """A project with this many photos: drawn ones, each with some bytes of its own behind it."""
    folder = work_folder / "many"
    folder.mkdir()
    tool("render", folder / "drawn", "--count", 200, "--size", 256, "--seed", 4)
    (folder / "photos").mkdir()
    drawn = [file.read_bytes() for file in photos_below(folder / "drawn")]
    for number in range(count):
        (folder / "photos" / f"{number:06d}.jpg").write_bytes(drawn[number % len(drawn)] + number.to_bytes(4, "big"))
    server = start_project(folder, photos_below(folder / "drawn")[::2])
    began = time.time()
    server.ask("POST", "watch", {"folder": str(folder / "photos")})
    while server.ask("GET", "status")[1]["counts"]["judged"] < count:
        time.sleep(0.5)
    return server, time.time() - began


def thumbnails(server, photos, seconds=5, threads=4):
    """Requests per second."""
    rng, counts = random.Random(1), []

    def ask():
        link, done = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30), 0
        end = time.time() + seconds
        while time.time() < end:
            link.request("GET", f"/api/v1/photos/{rng.randint(1, photos)}/thumbnail", headers={"Authorization": "Bearer " + server.token})
            answer = link.getresponse()
            answer.read()
            assert answer.status == 200
            done += 1
        counts.append(done / seconds)
    group = [threading.Thread(target=ask) for _ in range(threads)]
    for one in group:
        one.start()
    for one in group:
        one.join()
    return sum(counts)


def slow(server, count=1000):
    """Milliseconds of a normal request, alone and beside connections that send a byte now and then."""
    def normal():
        times = []
        for _ in range(30):
            began = time.time()
            assert server.ask("GET", "status")[0] == 200
            times.append(1000 * (time.time() - began))
        return statistics.median(times)
    alone, links = normal(), []
    for _ in range(count):
        link = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        link.sendall(b"GET /api/v1/status HTTP/1.1\r\nX-Slow: ")
        links.append(link)
    for link in links:
        link.sendall(b"a")
    beside = normal()
    for link in links:
        link.close()
    return {"connections": count, "alone": alone, "beside": beside}


# ---- coming in ----

def used():
    """Seconds of processors that ended children, and theirs, took."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime


def until_judged(server, folder, count):
    """Seconds from naming the folder until all its photos have verdicts, by the server's own events."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    link.request("GET", "/api/v1/events", headers={"Authorization": "Bearer " + server.token})
    events, began, judged, name = link.getresponse(), time.time(), 0, b""
    server.ask("POST", "watch", {"folder": str(folder)})
    while judged < count:
        line = events.readline()
        assert line, "the events ended"
        if line.startswith(b"event: "):
            name = line[7:].strip()
        elif line.startswith(b"data: ") and name == b"judged":
            judged += len(json.loads(line[6:])["photos"])
    return time.time() - began


def incoming(work_folder, count=1000, rounds=5):
    """Photos of two megapixels: seconds by the server and by 'broad predict', in turns; and what both took of the processors."""
    folder = work_folder / "incoming"
    folder.mkdir()
    tool("render", folder / "old", "--count", 100, "--size", 256, "--seed", 7)
    tool("fit", folder / "old", "--holdout", "0.2", "-o", folder / "model.broad", "-q")
    tool("render", folder / "drawn", "--count", 40, "--size", 1414)
    (folder / "photos").mkdir()
    drawn = [file.read_bytes() for file in photos_below(folder / "drawn")]
    for number in range(count):
        (folder / "photos" / f"{number:04d}.jpg").write_bytes(drawn[number % len(drawn)] + number.to_bytes(4, "big"))
    found = []
    for _ in range(rounds):
        shutil.rmtree(folder / "project", ignore_errors=True)
        (folder / "project").mkdir()
        shutil.copy(folder / "model.broad", folder / "project")
        before = used()
        server = kills.Server(str(folder / "project"))
        serve = until_judged(server, folder / "photos", count)
        server.process.terminate()
        server.process.wait()
        serve_used, before, began = used() - before, used(), time.time()
        tool("predict", folder / "model.broad", folder / "photos", "-q", "--cache", "no")
        found.append({"serve": serve, "predict": time.time() - began, "serve_used": serve_used, "predict_used": used() - before, "busy": os.getloadavg()[0]})
    median = {name: statistics.median(one[name] for one in found) for name in found[0]}
    return {"photos": count, "rounds": found, **median, "ratio": statistics.median(one["serve"] / one["predict"] for one in found),
            "ratio_used": statistics.median(one["serve_used"] / one["predict_used"] for one in found)}


def loaded(work_folder, count):
    server, seconds = many(work_folder, count)
    try:
        return {"photos": count, "seconds_in": seconds, "page": page(server), "thumbnails": thumbnails(server, count), "slow": slow(server)}
    finally:
        server.kill()


def soaked(work_folder, minutes):
    (work_folder / "soak").mkdir()
    server, drawn = load.project(work_folder / "soak", 1000)
    try:
        return load.load(server, 1000, drawn, minutes, 15)
    finally:
        server.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broad")
    parser.add_argument("photos")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--only", help="of session, steps, incoming, load, soak and kills, with commas; the others stay as FILE has them")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    kills.BROAD = os.path.abspath(options.broad)
    work_folder, output = pathlib.Path(tempfile.mkdtemp(prefix="broad-measure-")), pathlib.Path(options.output)
    ways = {"session": lambda: session(options.photos, work_folder), "steps": lambda: steps(work_folder), "incoming": lambda: incoming(work_folder),
            "load": lambda: loaded(work_folder, options.count), "soak": lambda: soaked(work_folder, options.minutes), "kills": lambda: kills.run(options.kills)}
    chosen = options.only.split(",") if options.only else list(ways)
    found = json.loads(output.read_text(encoding="utf-8")) if options.only and output.exists() else {}
    found.update({"size": "full", "processors": os.cpu_count(),
                  "version": subprocess.run([kills.BROAD, "version"], capture_output=True, text=True, check=True).stdout.split()[-1]})
    try:
        for name in chosen:
            found[name] = ways[name]()
            found.setdefault("busy", {})[name] = os.getloadavg()[0]
            output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
