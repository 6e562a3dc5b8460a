#!/usr/bin/env python3
"""Long and hard: one process that trains, learns and predicts from 64 threads, and a server under load, at the same time.

usage: soak.py BROAD TEST_SOAK [--hours H]

TEST_SOAK is the program of tests/api/test_soak.c. The server gets photos, reviews, learning, pages, exports and mistakes from eight clients;
its memory and its open files are sampled, and must be in the last quarter of the time what they were in the second. Exit status 1: they
grew, something failed, or an answer was not what it should be.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
import kills  # noqa: E402

CLIENTS = 8
GROWTH_MOST = 0.25  # of the memory; what is learned is kept as versions, whose list grows
FILES_MOST = 8
# What a client may be told: also that there is nothing to undo, or that something is at work.
EXPECTED = {200, 201, 202, 400, 404, 409, 413, 415, 429}


def facts(pid):
    """Memory in bytes, and open files."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as text:
        pages = int(text.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd"))


class Client(threading.Thread):
    def __init__(self, server, photos, end, seed):
        super().__init__()
        self.server, self.photos, self.end, self.draw = server, photos, end, random.Random(seed)
        self.done, self.wrong = 0, []

    def run(self):
        while time.time() < self.end and len(self.wrong) < 5:
            try:
                code, said = self.step()
                if code not in EXPECTED:
                    self.wrong.append(f"{code}: {str(said)[:200]}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.wrong.append(repr(error))
            self.done += 1

    def step(self):
        draw, some = self.draw, self.draw.sample(self.photos, 2)
        way = draw.random()
        if way < 0.3:
            return self.server.ask("GET", f"photos?limit={draw.randint(1, 200)}")
        if way < 0.5:
            return self.server.ask("POST", "review", {"photos": some, "label": draw.choice(("Clean", "Dusty"))})
        if way < 0.55:
            return self.server.ask("POST", "undo", {})
        if way < 0.8:
            return self.server.ask("GET", draw.choice(("status", "versions", "photos/%d" % some[0])))
        if way < 0.85:
            return self.server.ask("POST", "photos?name=x.jpg", b"\xff\xd8" + bytes([draw.randint(0, 4)]) * 50)  # no picture; five of them
        if way < 0.9:
            return self.server.ask("POST", "review", b"{" * draw.randint(1, 50))
        if way < 0.92:
            return self.server.ask("POST", "learn", {"agreed": True})
        return self.server.ask("GET", "no/such/thing/%d" % draw.randint(0, 9))


def soak_server(seconds):
    """What went wrong, and what was measured."""
    with tempfile.TemporaryDirectory(prefix="broad-soak-") as work:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
        for name, count in (("old", 40), ("new", 20)):
            subprocess.run([kills.BROAD, "render", f"{work}/{name}", "--count", str(count), "--size", "64", "--seed", str(count)], **quiet)
        os.mkdir(work + "/project")
        subprocess.run([kills.BROAD, "fit", work + "/old", "-o", work + "/project/model.broad", "-q"], **quiet)
        server = kills.Server(work + "/project")
        for path in pathlib.Path(work, "new").rglob("*.jpg"):
            server.ask("POST", "photos?name=" + path.name, path.read_bytes())
        while server.ask("GET", "status")[1]["counts"]["waiting"]:
            time.sleep(0.05)
        photos = [photo["id"] for photo in server.ask("GET", "photos?limit=1000")[1]["photos"]]
        samples, end = [], time.time() + seconds
        clients = [Client(server, photos, end, seed) for seed in range(CLIENTS)]
        for client in clients:
            client.start()
        while time.time() < end and server.process.poll() is None:
            samples.append(facts(server.process.pid))
            time.sleep(max(0.2, seconds / 400))
        for client in clients:
            client.join()
        wrong = [text for client in clients for text in client.wrong]
        if server.process.poll() is not None:
            wrong.append(f"the server ended with {server.process.returncode}")
        server.kill()
    return wrong, {"requests": sum(client.done for client in clients), **flat(samples, wrong)}


def flat(samples, wrong):
    """Medians of the second and the last quarter; what grew is added to what is wrong."""
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter:2 * quarter] or samples, samples[-quarter:]
    memory, files = ([statistics.median(sample[i] for sample in part) for part in (early, late)] for i in (0, 1))
    if memory[1] > memory[0] * (1 + GROWTH_MOST):
        wrong.append(f"memory grew from {memory[0] / 1e6:.1f} to {memory[1] / 1e6:.1f} MB")
    if files[1] > files[0] + FILES_MOST:
        wrong.append(f"open files grew from {files[0]} to {files[1]}")
    return {"megabytes": [round(value / 1e6, 1) for value in memory], "files": files}


def run(tool, program, seconds):
    kills.BROAD = os.path.abspath(tool)
    life = subprocess.Popen([program], env=dict(os.environ, BROAD_SOAK_SECONDS=str(seconds)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
    wrong, measured = soak_server(seconds)
    said = life.communicate()[0]
    if life.returncode:
        wrong.append(f"the process that trains and predicts: {said[-600:]}")
    print(json.dumps(measured), *[line for line in said.splitlines() if "rounds" in line], sep="\n")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="BROAD")
    parser.add_argument("program", metavar="TEST_SOAK")
    parser.add_argument("--hours", type=float, default=1)
    given = parser.parse_args()
    wrong = run(given.tool, given.program, 3600 * given.hours)
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
