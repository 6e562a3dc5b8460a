#!/usr/bin/env python3
"""What docs/serve.md says of speed: a session on photos, learning steps, and load.

usage: measure.py PATH_OF_BROAD PHOTOS [--photos 10000] [--minutes 2] [--kills 500] -o FILE.json

PHOTOS has one folder per class. Half of them, by groups of near-duplicates, trains a model, of which a third is held out; the others are judged,
and those judged incorrectly are corrected by keys in a browser. Then 'scripts/check_figures --take serve FILE.json' stores it.
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests"))
import kills  # noqa: E402
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


def memory(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def mixed(server, photos, minutes):
    """Megabytes of the server after a first minute's warmth and at the end, under lists, pictures, reviews and exports."""
    rng, begun, first, requests = random.Random(2), time.time(), None, 0
    while time.time() - begun < 60 * minutes:
        number = rng.randint(1, photos)
        path = rng.choice(("status", "photos?limit=200&offset=%d" % number, "photos/%d/thumbnail" % number, "photos/%d/image?side=400" % number,
                           "photos/%d/heatmap?side=300" % number, "photos/%d" % number))
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        link.request("GET", "/api/v1/" + path, headers={"Authorization": "Bearer " + server.token})
        link.getresponse().read()
        link.close()
        if requests % 10 == 0:
            server.ask("POST", "review", {"photos": [number], "label": rng.choice(("Clean", "Dusty"))})
        if requests % 200 == 0:
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            link.request("GET", "/api/v1/export/csv", headers={"Authorization": "Bearer " + server.token})
            link.getresponse().read()
            link.close()
        requests += 1
        if first is None and time.time() - begun > min(60, 20 * minutes):
            first = memory(server)
    return {"minutes": minutes, "requests": requests, "before": first, "after": memory(server)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broad")
    parser.add_argument("photos")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    kills.BROAD = os.path.abspath(options.broad)
    work_folder = pathlib.Path(tempfile.mkdtemp(prefix="broad-measure-"))
    found = {"size": "full", "version": subprocess.run([kills.BROAD, "version"], capture_output=True, text=True, check=True).stdout.split()[-1],
             "processors": os.cpu_count(), "busy": os.getloadavg()[0]}
    try:
        found["session"] = session(options.photos, work_folder)
        found["steps"] = steps(work_folder)
        server, seconds = many(work_folder, options.count)
        found["load"] = {"photos": options.count, "seconds_in": seconds, "page": page(server), "thumbnails": thumbnails(server, options.count), "slow": slow(server)}
        found["load"]["mixed"] = mixed(server, options.count, options.minutes)
        server.kill()
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)
    if options.kills:
        found["kills"] = kills.run(options.kills)
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
