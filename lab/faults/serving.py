"""The server of `broad serve` through one short day: photos in, verdicts, corrections, undo, learning, an export; and what may not be lost of it.

A day is the same requests in the same order. Somewhere in it a call or an allocation fails, or the server is killed (faults.c). What fails must say
why. Afterwards a server without faults opens the project: every photo and every action that was confirmed is there, every version that was
announced, and model.broad is the version in use (lab/serve/kills.py).
"""
import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import time

import kills as serving

WAITING = 20  # seconds until learning is done, or will not be


class Day:
    """What was confirmed, and of the request that was not answered, what may have happened."""

    def __init__(self, server):
        self.server, self.confirmed, self.pending, self.photos, self.silent = server, {}, {}, set(), []

    def ask(self, method, path, body=None):
        code, said = self.server.ask(method, path, body)
        if code >= 500 and not said.get("error"):
            self.silent.append(f"{method} {path}: {code} without a word")
        return code, said

    def review(self, path, body, what):
        self.pending = what
        code, said = self.ask("POST", path, body)
        if code == 200:
            self.confirmed.update({photo["id"]: photo["human"] for photo in said["photos"]})
        if code < 500:
            self.pending = {}

    def settled(self):
        end = time.time() + WAITING
        while time.time() < end:
            code, said = self.ask("GET", "status")
            if code == 200 and not {"counts", "work"} <= set(said):
                self.silent.append("a status without its counts, and no word about it")
                return
            if code != 200 or not (said["counts"]["waiting"] or said["work"]["task"]):
                return
            time.sleep(0.02)

    def run(self, photos, more):
        one, two = photos[0], photos[1]
        for name, content in more:
            code, said = self.ask("POST", "photos?name=" + name, content)
            if code in (200, 201):
                self.photos.add(said["id"])
        self.settled()
        self.review("review", {"photos": [one], "label": "Dusty"}, {one: "Dusty"})
        self.review("review", {"photos": [two], "label": "Clean"}, {two: "Clean"})
        self.review("undo", {}, {photo: "?" for photo in photos})
        self.ask("POST", "learn", {"agreed": True})
        self.settled()
        self.review("review", {"photos": [one, two], "label": "Clean"}, {one: "Clean", two: "Clean"})
        self.ask("GET", "versions")


class Served:
    """A project with a model and photos; every day begins with a copy of it."""

    def __init__(self, tool, library, room):
        serving.BROAD, self.library = tool, library
        self.base, self.folder = os.path.join(room, "serve-base"), os.path.join(room, "serve")
        self.drawn = os.path.join(room, "drawn")
        self.call("render", self.drawn, "--count", "14", "--size", "48")
        os.mkdir(self.base)
        self.call("fit", self.drawn, "-o", self.base + "/model.broad", "-q", "--map", "pixels", "--features", "1x2", "--enhance", "2x1",
                  "--kind", "brls", "--cache", "no")
        files = sorted(pathlib.Path(self.drawn).rglob("*.jpg"))
        contents = [(path.name, path.read_bytes()) for path in files]
        self.more = contents[-2:]
        server = serving.Server(self.base)
        day = Day(server)
        for name, content in contents[:-2]:
            server.ask("POST", "photos?name=" + name, content)
        day.settled()
        self.photos = sorted(photo["id"] for photo in server.ask("GET", "photos?limit=100")[1]["photos"])
        self.versions = {version["id"] for version in server.ask("GET", "versions")[1]["versions"]}
        server.stop()

    def call(self, *words):
        subprocess.run([serving.BROAD, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def environment(self, faults):
        return dict(os.environ, LD_PRELOAD=self.library, FAULTS=faults, FAULTS_ROOT=self.folder, FAULTS_COUNT=self.folder + ".count",
                    FAULTS_LOG="/dev/null")

    def count(self):
        self.day("count")
        return [int(word) for word in pathlib.Path(self.folder + ".count").read_bytes().split()]

    def day(self, faults):
        """(what is wrong, how the server ended: None where it had to be stopped)."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.base, self.folder)
        try:
            server = serving.Server(self.folder, self.environment(faults))
        except serving.NotStarted as error:
            if error.code >= 0 and not str(error).strip():
                return [f"{faults}: it does not start, without a word"], error.code
            return self.check(None, faults), error.code
        day = Day(server)
        try:
            day.run(self.photos, self.more)
        except (OSError, http.client.HTTPException, ValueError):
            pass
        code = server.stop()
        return self.check(day, faults) + [f"{faults}: {text}" for text in day.silent], code

    def check(self, day, faults):
        """By a server without faults."""
        try:
            server = serving.Server(self.folder)
        except serving.NotStarted as error:
            return [f"{faults}: the project cannot be opened again: {error}"]
        wrong, day = [], day or Day(server)
        try:
            serving.check(server, day, set(self.versions))
            Day(server).settled()  # photos that wait are in no list
            listed = {photo["id"] for photo in server.ask("GET", "photos?limit=100")[1]["photos"]}
            listed |= {photo["id"] for photo in server.ask("GET", "unreadable")[1]["photos"]}
            if not listed >= day.photos | set(self.photos):
                wrong.append(f"{faults}: photos are lost: {sorted((day.photos | set(self.photos)) - listed)}")
        except AssertionError as error:
            wrong.append(f"{faults}: {error}")
        server.stop()
        return wrong


def try_server(served, spread, errors, most, found):
    """Calls, allocations and kills, as many of each as `most` says; what is counted is added to found."""
    calls, allocations = served.count()
    ways = [f"fail:{n}:{errors[i % len(errors)]}" if i % (len(errors) + 1) else f"short:{n}"
            for i, n in enumerate(spread(calls, most["faults"]))]
    ways += [f"alloc:{n}" for n in spread(allocations, most["allocations"])] + [f"kill:{n}" for n in spread(calls + allocations, most["kills"])]
    for way in ways:
        wrong, code = served.day(way)
        kind = way.split(":")[0]
        if kind == "kill":
            found["serve_kills"] += code == -signal.SIGKILL
        else:
            found["serve_faults"] += 1
            if code is not None and code < 0:
                wrong.append(f"{way}: ended by signal {-code}")
        found["lost"] += [f"serve, {text} of {calls} calls, {allocations} allocations" for text in wrong]
