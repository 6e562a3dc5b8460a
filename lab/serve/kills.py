#!/usr/bin/env python3
"""Kills at random moments: whatever the server of `broad serve` has confirmed is there after a restart.

usage: kills.py PATH_OF_BROAD [KILLS]

One thread gives classes, agrees, undoes and lets the model learn, and writes down what was confirmed; the server is killed (SIGKILL) at a
random moment and started again. Then every photo has the state that was confirmed last, or that of the one request whose answer
had not come; every version that was announced is there; and model.broad is the version in use.
"""
import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BROAD = os.environ.get("BROAD_TOOL", "broad")


class NotStarted(RuntimeError):
    def __init__(self, text, code):
        super().__init__("the server did not start: " + text)
        self.code = code


class Server:
    def __init__(self, folder, environment=None):
        self.folder = folder
        self.start(environment)

    def start(self, environment=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen([BROAD, "serve", self.folder, "--port", str(self.port), "--no-browser"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stdout:
            if "token=" in line:
                self.token = line.strip().rsplit("token=", 1)[1]
            if "Ctrl-C" in line:
                return
        said = self.process.stderr.read()
        self.close()
        raise NotStarted(said, self.process.returncode)

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.request(method, "/api/v1/" + path, body if isinstance(body, (bytes, type(None))) else json.dumps(body),
                         {"Authorization": "Bearer " + self.token})
            answer = link.getresponse()
            said = json.loads(answer.read())
            return answer.status, said
        finally:
            link.close()

    def close(self):
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def kill(self):
        self.process.kill()
        self.close()

    def stop(self):
        """As Ctrl-C does; how it ended."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.close()
        return self.process.returncode


class Worker(threading.Thread):
    """What was confirmed, and what may have come after it."""

    def __init__(self, server, photos, confirmed, rng):
        super().__init__()
        self.server, self.photos, self.confirmed, self.rng = server, photos, confirmed, rng
        self.pending, self.done, self.learned = {}, 0, 0

    def run(self):
        try:
            while True:
                self.step()
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def step(self):
        some = self.rng.sample(self.photos, self.rng.choice((1, 1, 1, 2, 5)))
        way = self.rng.random()
        if way < 0.04:
            code, _ = self.server.ask("POST", "learn", {"agreed": True})
            self.learned += code == 202
            return
        if way < 0.8:
            label = self.rng.choice(("Clean", "Dusty"))
            path, body = "review", {"photos": some, "label": label}
            self.pending = {photo: label for photo in some}
        elif way < 0.9:
            path, body = "review", {"photos": some, "clear": True}
            self.pending = {photo: None for photo in some}
        else:
            path, body = "undo", {}
            self.pending = {photo: "?" for photo in self.photos}
        code, said = self.server.ask("POST", path, body)
        if code == 200:
            self.confirmed.update({photo["id"]: photo["human"] for photo in said["photos"]})
            self.done += 1
        self.pending = {}


def check(server, worker, versions):
    code, said = server.ask("GET", "photos?limit=1000")
    assert code == 200, said
    now = {photo["id"]: photo["human"] for photo in said["photos"]}
    lost = [(photo, was, now.get(photo)) for photo, was in worker.confirmed.items()
            if now.get(photo) != was and worker.pending.get(photo, was) not in ("?", now.get(photo))]
    assert not lost, f"lost: {lost}"
    worker.confirmed.update(now)
    listed = server.ask("GET", "versions")[1]["versions"]
    assert {v["id"] for v in listed} >= versions, "a version is lost"
    used = [v for v in listed if v["in_use"]][0]["id"]
    with open(server.folder + "/model.broad", "rb") as model, open(f"{server.folder}/versions/{used:06d}.broad", "rb") as version:
        assert hashlib.sha256(model.read()).digest() == hashlib.sha256(version.read()).digest(), "model.broad is another version"
    versions.update(v["id"] for v in listed)


def run(kills):
    """What there was to lose, and was not."""
    rng = random.Random(8)
    work = tempfile.mkdtemp(prefix="broad-kills-")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run([BROAD, "render", work + "/old", "--count", "40", "--size", "64"], **quiet)
    subprocess.run([BROAD, "render", work + "/new", "--count", "30", "--size", "64", "--seed", "2"], **quiet)
    os.mkdir(work + "/project")
    subprocess.run([BROAD, "fit", work + "/old", "--holdout", "0.2", "-o", work + "/project/model.broad", "-q"], **quiet)
    server = Server(work + "/project")
    for folder, _, files in os.walk(work + "/new"):
        for name in files:
            if name.endswith(".jpg"):
                with open(os.path.join(folder, name), "rb") as photo:
                    server.ask("POST", "photos?name=" + name, photo.read())
    while server.ask("GET", "status")[1]["counts"]["waiting"]:
        time.sleep(0.05)
    photos = [photo["id"] for photo in server.ask("GET", "photos?limit=1000")[1]["photos"]]
    confirmed, versions, actions, learned = {}, set(), 0, 0
    for _ in range(kills):
        worker = Worker(server, photos, confirmed, rng)
        worker.start()
        time.sleep(rng.uniform(0.01, 0.4))
        server.kill()
        worker.join()
        actions += worker.done
        learned += worker.learned
        server.start()
        check(server, worker, versions)
    server.kill()
    shutil.rmtree(work)
    return {"kills": kills, "actions": actions, "learning": learned, "versions": len(versions)}


if __name__ == "__main__":
    BROAD = os.path.abspath(sys.argv[1])
    print(json.dumps(run(int(sys.argv[2]) if len(sys.argv) > 2 else 20)))
