#!/usr/bin/env python3
"""Long and hard: one process that trains, learns and predicts from 64 threads, and a server under load, at the same time.

usage: soak.py BROAD TEST_SOAK [--hours H] [--json FILE]

TEST_SOAK is the program of tests/api/test_soak.c. The server is asked by eight clients and two pages for all that lab/serve/load.py asks
for; its memory, that of its decoders and its open files are sampled, and must be in the last quarter of the time what they were in the second. Exit
status 1: they grew, something failed, or an answer was not what it should be.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))
import kills  # noqa: E402
import load  # noqa: E402

CLIENTS, PHOTOS, FRESH = 8, 60, 3
GROWTH_MOST = 0.25  # of the memory; what is learned is kept as versions, whose list grows
DECODERS_MOST = 0.5  # the same with decoders, of which there are now more, now fewer
FILES_MOST = 8
PAUSE = 0.05  # between two requests of a client, and between two rounds: both halves shall come to work, whatever they share
ROUNDS = re.compile(r"(\d+) rounds, (\d+) threads: (\d+) files open, then (\d+); ([\d.]+) MB, then ([\d.]+) MB")


class Client(threading.Thread):
    """Asks without end; what should not happen is kept."""

    def __init__(self, server, drawn, end, seed):
        super().__init__()
        self.client, self.end, self.wrong = load.Client(server, PHOTOS, drawn, seed, FRESH), end, []

    def run(self):
        while time.time() < self.end and len(self.wrong) < 5:
            try:
                self.client.step()
            except (OSError, http.client.HTTPException, AssertionError) as error:
                self.wrong.append(repr(error)[:200])
            time.sleep(PAUSE)


def facts(pid):
    """Megabytes of its own, megabytes with its decoders, open files."""
    return load.own_megabytes(pid), load.megabytes(pid), len(os.listdir(f"/proc/{pid}/fd"))


def soak_server(seconds):
    """What went wrong, and what was measured."""
    with tempfile.TemporaryDirectory(prefix="broad-soak-") as work:
        server, drawn = load.project(work, PHOTOS)
        samples, end = [], time.time() + seconds
        clients = [Client(server, drawn, end, seed) for seed in range(CLIENTS)]
        for thread in [load.Page(server) for _ in range(2)] + clients:
            thread.start()
        while time.time() < end and server.process.poll() is None:
            samples.append(facts(server.process.pid))
            time.sleep(max(0.2, seconds / 400))
        for client in clients:
            client.join()
        wrong = [text for client in clients for text in client.wrong]
        if server.process.poll() is not None:
            wrong.append(f"the server ended with {server.process.returncode}")
        else:
            versions = len(server.ask("GET", "versions")[1]["versions"])
            server.kill()
    codes = sum((list(client.client.codes.items()) for client in clients), [])
    measured = {"requests": sum(client.client.sent for client in clients), "versions": versions if not wrong else 0,
                "codes": {str(code): sum(n for c, n in codes if c == code) for code in sorted({c for c, _ in codes})}}
    return wrong, {**measured, **flat(samples, wrong)}


def flat(samples, wrong):
    """Medians of the second and the last quarter; what grew is added to what is wrong."""
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter:2 * quarter] or samples, samples[-quarter:]
    own, whole, files = ([statistics.median(sample[i] for sample in part) for part in (early, late)] for i in range(3))
    for name, memory, most in (("the server's memory", own, GROWTH_MOST), ("memory with that of decoders", whole, DECODERS_MOST)):
        if memory[1] > memory[0] * (1 + most):
            wrong.append(f"{name} grew from {memory[0]:.1f} to {memory[1]:.1f} MB")
    if files[1] > files[0] + FILES_MOST:
        wrong.append(f"open files grew from {files[0]} to {files[1]}")
    return {"megabytes": [round(value, 1) for value in own], "with_decoders": [round(value, 1) for value in whole], "files": files}


def life_of(said):
    """What the process that trains and predicts has told of itself."""
    told = ROUNDS.search(said)
    if not told:
        return {}
    rounds, threads, before, after = (int(told[i]) for i in range(1, 5))
    return {"rounds": rounds, "threads": threads, "files": [before, after], "megabytes": [float(told[5]), float(told[6])]}


def run(tool, program, seconds):
    kills.BROAD = os.path.abspath(tool)
    life = subprocess.Popen([program], env=dict(os.environ, BROAD_SOAK_SECONDS=str(seconds), BROAD_SOAK_PAUSE=str(PAUSE)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
    wrong, server = soak_server(seconds)
    said = life.communicate()[0]
    if life.returncode:
        wrong.append(f"the process that trains and predicts: {said[-600:]}")
    measured = {"seconds": round(seconds), "processors": os.cpu_count(), "server": server, "library": life_of(said), "wrong": wrong}
    print(json.dumps(measured))
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="BROAD")
    parser.add_argument("program", metavar="TEST_SOAK")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    measured = run(given.tool, given.program, 3600 * given.hours)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(*measured["wrong"][:20], sep="\n")
    return 1 if measured["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
