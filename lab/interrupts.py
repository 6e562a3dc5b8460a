#!/usr/bin/env python3
"""Interrupts at random moments of fit, learn, cv, tune and report: how soon each is answered, and what it leaves.

usage: lab/interrupts.py BROAD [--count N] [--seed S] [--table FILE] [--photos DIR] [--json FILE]

Of every run: seconds from the signal to its end, by the clock and of its processor time; the exit code; whether something was
said; whether a model that was there is intact or replaced by one that loads; whether files remained. Ends with 1 if an
answer took longer than --most seconds of processor time, or anything was lost.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def make_table(path, rows, inputs, seed):
    draw = random.Random(seed)
    with open(path, "w") as out:
        out.write(",".join(f"x{j}" for j in range(inputs)) + ",y\n")
        for _ in range(rows):
            x = [draw.gauss(0, 1) for _ in range(inputs)]
            label = "ab"[x[0] * x[1] + x[2] > 0] if draw.random() < 0.95 else "b"
            out.write(",".join(f"{v:.5f}" for v in x) + f",{label}\n")


def processor_seconds(pid):
    """Of a process that lives, or has ended and was not waited for."""
    try:
        with open(f"/proc/{pid}/stat") as text:
            fields = text.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except OSError:
        return 0.0


def digest(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as data:
        return hashlib.sha256(data.read()).hexdigest()


class Trial:
    """A command in a folder of its own, with what must survive it."""

    def __init__(self, broad, folder, table, photos):
        self.broad, self.folder, self.table, self.photos = broad, folder, table, photos
        self.model = os.path.join(folder, "m.broad")

    def prepare(self):
        base = os.path.join(self.folder, "base")
        os.makedirs(base)
        fit = [self.broad, "fit", self.table, "-q", "-o", os.path.join(base, "m.broad")]
        subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
        self.more = os.path.join(base, "more.csv")
        with open(self.table) as lines, open(self.more, "w") as out:
            head, *rows = lines.read().splitlines()
            out.write("\n".join([head, *(row.replace("1", "2") for row in rows[:30])]) + "\n")
        if self.photos:
            subprocess.run([self.broad, "fit", self.photos, "-q", "-o", os.path.join(base, "photos.broad")], check=True,
                           stdout=subprocess.DEVNULL)
        self.base = base

    def words(self, command):
        if command == "fit":
            return ["fit", self.table, "-o", self.model]
        if command == "learn":
            return ["learn", self.model, self.more, "--with", self.table]
        if command == "grow":
            return ["grow", self.model, self.table, "--enhance", "50x2"]
        if command == "cv":
            return ["cv", self.table, "--folds", "3"]
        if command == "tune":
            return ["tune", self.table, "--trials", "2", "-o", self.model]
        return ["report", os.path.join(self.base, "photos.broad"), self.photos, "-o",
                os.path.join(self.folder, "run", "page")]

    def start(self, command):
        run = os.path.join(self.folder, "run")
        shutil.rmtree(run, ignore_errors=True)
        os.makedirs(run)
        self.model = os.path.join(run, "m.broad")
        if command in ("learn", "grow", "tune"):
            shutil.copy(os.path.join(self.base, "m.broad"), self.model)
        return run, subprocess.Popen([self.broad, *self.words(command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     cwd=run)

    def length(self, command):
        _, process = self.start(command)
        began = time.time()
        out, err = process.communicate()
        if process.returncode:
            sys.exit(f"{command} fails by itself: {err.decode()}")
        return time.time() - began

    def interrupt(self, command, after, number):
        run, process = self.start(command)
        before = digest(self.model)
        time.sleep(after)
        used, began = processor_seconds(process.pid), time.time()
        os.kill(process.pid, number)  # Popen.send_signal() would wait for one that has ended
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds, processor = time.time() - began, processor_seconds(process.pid) - used
        out, err = process.communicate()
        return self.judge(run, process.returncode, before, out, err) | {
            "command": command, "after": after, "seconds": seconds, "processor": processor}

    def judge(self, run, code, before, out, err):
        names = set(os.listdir(run)) - {"m.broad", "m.broad~", "page"}
        page = os.path.join(run, "page")
        kept = digest(self.model)
        loads = kept is None or subprocess.run([self.broad, "info", self.model], stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, check=False).returncode == 0
        return {"code": code, "said": bool(err.strip()) or (code == 0 and bool(out)),
                "model": "none" if kept is None else "intact" if kept == before else "new", "loads": loads,
                "left": sorted(names), "page": os.path.exists(page) and not os.listdir(page),
                "text": err.decode(errors="replace").strip().splitlines()[-1:] or [""]}


def faults(result, most):
    found = []
    if result["code"] not in (0, 130, 143):
        found.append(f"exit code {result['code']}")
    if result["processor"] > most:
        found.append(f"{result['processor']:.1f} s of processor time")
    for what, wrong in (("nothing was said", not result["said"]), ("model does not load", not result["loads"]),
                        ("remains: " + " ".join(result["left"]), result["left"]), ("an empty page", result["page"])):
        if wrong:
            found.append(what)
    return found


def show(results, most):
    print(f"{'command':8} {'runs':>5} {'ended first':>12} {'longest s':>10} {'processor s':>12} {'median s':>9} {'faults':>7}")
    for command in dict.fromkeys(r["command"] for r in results):
        mine = [r for r in results if r["command"] == command]
        cut = sorted(r["seconds"] for r in mine if r["code"] != 0) or [0.0]
        wrong = sum(bool(faults(r, most)) for r in mine)
        print(f"{command:8} {len(mine):5} {sum(r['code'] == 0 for r in mine):12} {cut[-1]:10.2f} "
              f"{max(r['processor'] for r in mine if r['code'] != 0 or len(mine) == 1):12.2f} {cut[len(cut) // 2]:9.2f} {wrong:7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("broad")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table")
    parser.add_argument("--photos")
    parser.add_argument("--commands", default="fit,learn,cv,tune,report")
    parser.add_argument("--most", type=float, default=1.0)
    parser.add_argument("--json")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    commands = [c for c in given.commands.split(",") if c != "report" or given.photos]
    with tempfile.TemporaryDirectory(prefix="broad-interrupts-") as folder:
        table = given.table or os.path.join(folder, "table.csv")
        if not given.table:
            make_table(table, 600, 4, given.seed)
        trial = Trial(os.path.abspath(given.broad), folder, os.path.abspath(table),
                      given.photos and os.path.abspath(given.photos))
        trial.prepare()
        lengths = {command: trial.length(command) for command in commands}
        results = []
        for i in range(given.count):
            command = commands[i % len(commands)]
            result = trial.interrupt(command, draw.uniform(0, 1.05 * lengths[command]),
                                     draw.choice((signal.SIGINT, signal.SIGTERM)))
            results.append(result)
            for fault in faults(result, given.most):
                print(f"{command} after {result['after']:.2f} s: {fault}; {result['text'][0]}", flush=True)
    show(results, given.most)
    if given.json:
        with open(given.json, "w") as out:
            json.dump({"lengths": lengths, "results": results}, out, indent=1)
    print(f"load {os.getloadavg()[0]:.1f}")
    return any(faults(r, given.most) for r in results)


if __name__ == "__main__":
    sys.exit(main())
