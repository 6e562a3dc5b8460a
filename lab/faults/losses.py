#!/usr/bin/env python3
"""Nothing is lost: failing allocations and system calls, kills, and losses of power, over the commands that write.

usage: losses.py BROAD [--kills N] [--faults N] [--allocations N] [--serve-kills N] [--serve-faults N] [--only COMMANDS] [--json FILE]

Every command works in a folder of its own, in which an older model or result lies (faults.c stands between it and the system).
 - faults: call n fails with ENOSPC, EIO or EINTR, or writes half; every n, or as many as --faults allows;
 - allocations: allocation n gives nothing;
 - kills: SIGKILL before event n (allocation or call; of a write half was done);
 - power: the log of one run, replayed in every legal order (power.py);
 - the server: the same over a short day of it (serving.py), and kills at random moments while it works (../serve/kills.py).
Each time the file that is replaced must be the old one or the new one, byte for byte; what fails must say why, and end by
itself; and what remains, of a killed run or where removing failed, the next run must remove. Exit status 1: something was lost.
"""
import argparse
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "serve")]
import kills as kills_of_server  # noqa: E402
import power  # noqa: E402
import serving  # noqa: E402

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EINTR": errno.EINTR}
SMALL = "--kind brls --features 1x2 --enhance 2x2 --threads 1 -q".split()
# Of each command: its words, and what it replaces.
COMMANDS = {
    "fit": (["fit", "table.csv", "-o", "m.broad", "--seed", "2", *SMALL], "m.broad"),
    "learn": (["learn", "m.broad", "more.csv", "--with", "table.csv", "--threads", "1", "-q"], "m.broad"),
    "grow": (["grow", "m.broad", "table.csv", "--enhance", "2x1", "--threads", "1", "-q"], "m.broad"),
    "predict": (["predict", "m.broad", "table.csv", "-o", "out.csv"], "out.csv"),
    "cv": (["cv", "table.csv", "--folds", "2", *SMALL], "table.csv"),
    "tune": (["tune", "table.csv", "--trials", "1", "--folds", "2", "--threads", "1", "-q", "-o", "m.broad"], "m.broad"),
    "report": (["report", "photos.broad", "photos", "-o", "page", "-q", "--threads", "1", "--cache", "no"], "page/findings.csv"),
}


SKIPPED = "photos were skipped, and named"


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return None


def result(folder, name):
    """A file; of a report that names photos which could not be read, that it is so."""
    skipped = read(os.path.join(folder, os.path.dirname(name), "skipped.csv")) if "/" in name else None
    return SKIPPED if skipped and skipped.count(b"\n") > 1 else read(os.path.join(folder, name))


def listing(folder):
    return {name for name in os.listdir(folder)}


class Case:
    """One command, the folder it begins with, and what it leaves."""

    def __init__(self, tool, library, room, name):
        self.tool, self.library, self.name = tool, library, name
        self.words, self.replaced = COMMANDS[name]
        self.base, self.run = os.path.join(room, name + "-base"), os.path.join(room, name)
        os.makedirs(self.base)
        self.prepare()
        self.old = read(os.path.join(self.base, self.replaced))
        done = self.start()
        if done.returncode:
            sys.exit(f"{name} fails by itself: {done.stderr.decode()}")
        self.new, self.names = read(os.path.join(self.run, self.replaced)), listing(self.run) | listing(self.base)

    def call(self, *words):
        subprocess.run([self.tool, *words], cwd=self.base, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def prepare(self):
        rows = [f"{i % 7},{i * i % 11},{'uv'[i * 3 % 5 > 2]}" for i in range(24)]
        pathlib.Path(self.base, "table.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
        pathlib.Path(self.base, "more.csv").write_text("a,b,y\n9,1,u\n8,2,v\n7,5,u\n")
        pathlib.Path(self.base, "out.csv").write_text("an older result\n")
        if self.name == "report":
            self.call("render", "photos", "--count", "12", "--size", "48")
            self.call("fit", "photos", "-o", "photos.broad", "-q", "--map", "pixels", "--kind", "brls", "--features", "1x2", "--enhance",
                      "2x1", "--cache", "no")
        else:
            self.call("fit", "table.csv", "-o", "m.broad", *SMALL)

    def start(self, faults=None, log=None, words=None):
        """In a fresh copy of the folder, unless other words are given, which go on with what is there."""
        if not words:
            shutil.rmtree(self.run, ignore_errors=True)
            shutil.copytree(self.base, self.run)
        environment = dict(os.environ, HOME=self.run, TMPDIR=tempfile.gettempdir())
        environment.pop("XDG_CACHE_HOME", None)
        if faults:
            environment |= {"LD_PRELOAD": self.library, "FAULTS": faults, "FAULTS_ROOT": self.run, "FAULTS_COUNT": self.run + ".count",
                            "FAULTS_LOG": log or "/dev/null"}
        return subprocess.run([self.tool, *(words or self.words)], cwd=self.run, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=120)

    def count(self):
        self.start("count")
        return [int(word) for word in read(self.run + ".count").split()]

    def judge(self, done, what):
        """What is wrong after a run that ended by itself."""
        now, left = result(self.run, self.replaced), listing(self.run) - self.names
        # A model may be put beside one that cannot be compared any more; then the message says where it is.
        left -= {name for name in left if name.encode() in done.stderr}
        if done.returncode < 0:
            yield f"{what}: ended by signal {-done.returncode}"
        if done.returncode > 0 and not done.stderr.strip():
            yield f"{what}: failed without a word"
        if done.returncode == 0 and now not in (self.new, SKIPPED):
            yield f"{what}: exit status 0, and the result is not the one it should be"
        if now not in (self.old, self.new, SKIPPED):
            yield f"{what}: {self.replaced} is lost"
        if left:
            yield from self.judge_next(now, what)

    def judge_killed(self, what):
        """What is wrong after a kill, and after the next run."""
        now = result(self.run, self.replaced)
        if now not in (self.old, self.new, SKIPPED):
            yield f"{what}: {self.replaced} is lost"
        if listing(self.run) - self.names:
            yield from self.judge_next(now, what)

    def judge_next(self, now, what):
        """Something remains: the next run removes it."""
        if self.name == "report":
            shutil.rmtree(os.path.join(self.run, "page"), ignore_errors=True)  # which it would not replace
        again = self.words if now == self.old or self.name in ("report", "predict") else COMMANDS["fit"][0]
        done = self.start(words=again)
        left = listing(self.run) - self.names
        if done.returncode:
            yield f"{what}: the next run fails: {done.stderr.decode().strip()}"
        if left:
            yield f"{what}: the next run leaves {' '.join(sorted(left))}"


def spread(last, most):
    """All of 1 to last, or as many as allowed, evenly."""
    if most < 1:
        return []
    if last <= most:
        return range(1, last + 1)
    return sorted({1 + i * (last - 1) // max(1, most - 1) for i in range(most)})


def try_faults(case, most, found):
    calls, _ = case.count()
    ways = [f"fail:{{}}:{number}" for number in ERRORS.values()] + ["short:{}"]
    for way in ways:
        for n in spread(calls, max(1, most // len(ways))):
            found["faults"] += 1
            found["lost"] += case.judge(case.start(way.format(n)), f"{case.name}, {way.format(n)} of {calls}")


def try_allocations(case, most, found):
    _, allocations = case.count()
    for n in spread(allocations, most):
        found["allocations"] += 1
        found["lost"] += case.judge(case.start(f"alloc:{n}"), f"{case.name}, allocation {n} of {allocations}")


def try_kills(case, most, found):
    events = sum(case.count())
    for n in spread(events, most):
        done = case.start(f"kill:{n}")
        if done.returncode == -signal.SIGKILL:
            found["kills"] += 1
            found["lost"] += case.judge_killed(f"{case.name}, killed at {n} of {events}")


def try_power(case, found):
    log = case.run + ".log"
    if "/" in case.replaced or case.name == "cv":
        return
    if os.path.exists(log):
        os.remove(log)
    done = case.start("log", log)
    disk = power.Disk(case.base)
    disk.folder = case.run
    moments, states, lost, last = power.judge(disk, log, case.replaced, (case.old, case.new))
    found["moments"] += moments
    found["states"] += states
    found["lost"] += [f"{case.name}, loss of power {text}" for text in lost]
    if done.returncode or last != {case.new}:
        found["lost"].append(f"{case.name}: what was reported as done may be gone after a loss of power")


def build(room):
    library = os.path.join(room, "faults.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, str(HERE / "faults.c")], check=True)
    return library


def run(tool, commands=tuple(COMMANDS), faults=40, allocations=20, kills=40, serve_kills=0, serve_faults=0, say=lambda text: None):
    """The limits are for each command; of all that is counted, what was lost is listed. Half of the server's kills are at chosen events."""
    found = {name: 0 for name in ("faults", "allocations", "kills", "moments", "states", "serve_kills", "serve_faults")} | {"lost": []}
    with tempfile.TemporaryDirectory(prefix="broad-losses-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as room:
        library = build(room)
        for name in commands:
            case, before = Case(os.path.abspath(tool), library, room, name), len(found["lost"])
            try_faults(case, faults, found)
            try_allocations(case, allocations, found)
            try_kills(case, kills, found)
            try_power(case, found)
            say(f"{name}: " + ", ".join(f"{found[key]} {key}" for key in ("faults", "allocations", "kills", "states")) +
                f" so far, {len(found['lost']) - before} losses here")
        if serve_kills or serve_faults:
            limits = {"faults": serve_faults - serve_faults // 3, "allocations": serve_faults // 3, "kills": serve_kills - serve_kills // 2}
            serving.try_server(serving.Served(os.path.abspath(tool), library, room), spread, list(ERRORS.values()), limits, found)
            say(f"serve: {found['serve_faults']} faults, {found['serve_kills']} kills at chosen events")
    if serve_kills // 2:
        kills_of_server.BROAD = os.path.abspath(tool)
        found["serve_kills"] += kills_of_server.run(serve_kills // 2)["kills"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="BROAD")
    parser.add_argument("--only", default=",".join(COMMANDS))
    for name, most in (("faults", 400), ("allocations", 200), ("kills", 1500), ("serve-kills", 0), ("serve-faults", 0)):
        parser.add_argument("--" + name, type=int, default=most)
    parser.add_argument("--json")
    given = parser.parse_args()
    found = run(given.tool, given.only.split(","), given.faults, given.allocations, given.kills, given.serve_kills,
                given.serve_faults, lambda text: print(text, flush=True))
    print(*found["lost"][:40], sep="\n")
    print({name: len(value) if name == "lost" else value for name, value in found.items()})
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(found | {"commands": given.only.split(",")}, indent=1) + "\n")
    return 1 if found["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
