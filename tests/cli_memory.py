#!/usr/bin/env python3
"""The tool where memory is limited: it ends in time, with exit code 0 or 71 and a message, and leaves nothing half-written."""
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
SECONDS = 120
NO_MEMORY = 71
MEGABYTES = (64, 100, 140, 180, 200, 230, 260, 300, 400, 800)

failures = []


def check(holds, text):
    if not holds:
        failures.append(text)
        print("FAILED", text)


def run(limit_mb, folder, *words):
    def limit():
        if limit_mb:
            resource.setrlimit(resource.RLIMIT_AS, (limit_mb << 20, limit_mb << 20))

    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS", "BROAD_REEXEC"))}
    try:
        return subprocess.run([TOOL, *map(str, words)], cwd=folder, env=environment, preexec_fn=limit, timeout=SECONDS,
                              capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        failures.append(f"{limit_mb} MB: {words} hangs")
        print("FAILED", failures[-1])
        return None


def write_table(path, rows=1500):
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("a,b,c,y\n")
        for _ in range(rows):
            a, b, c = (draw.gauss(0, 1) for _ in range(3))
            file.write(f"{a:.4f},{b:.4f},{c:.4f},{'up' if a * b > c else 'down'}\n")


def judge(done, name, output):
    """0 with its output, or 71 with a message and nothing at its place."""
    if done is None:
        return False
    check(done.returncode in (0, NO_MEMORY), f"{name}: exit code {done.returncode}: {done.stderr[-300:]}")
    if done.returncode == 0:
        check(output is None or output.exists(), f"{name}: no output")
    else:
        check("memory" in done.stderr, f"{name}: says {done.stderr!r}")
        check(output is None or not output.exists(), f"{name}: {output} was left behind")
    return done.returncode == 0


def main():
    if "address" in os.environ.get("BROAD_INSTRUMENTS", "") or "thread" in os.environ.get("BROAD_INSTRUMENTS", ""):
        print("a sanitizer needs all addresses there are")
        return 77
    with tempfile.TemporaryDirectory(prefix="broad-test-") as name:
        folder = pathlib.Path(name)
        write_table(folder / "rows.csv")
        small = ["--features", "2x5", "--enhance", "20x3", "--weights", "joint"]
        base = run(0, folder, "fit", "rows.csv", "-o", "base.broad", "-q", *small)
        check(base and base.returncode == 0, "no base model")
        before = (folder / "base.broad").read_bytes()
        worked = []
        for limit in MEGABYTES:
            out = folder / "out.broad"
            commands = {
                "version": (["version"], None),
                "fit": (["fit", "rows.csv", "-o", "out.broad", "-q", *small], out),
                "large": (["fit", "rows.csv", "-o", "out.broad", "-q", "--force", "--features", "10x20", "--enhance",
                           "300x2"], out),
                "grow": (["grow", "base.broad", "rows.csv", "--enhance", "10x1", "-o", "out.broad", "-q"], out),
                "predict": (["predict", "base.broad", "rows.csv", "-o", "scores.csv"], folder / "scores.csv"),
                "verify": (["verify", "base.broad", "rows.csv"], None),
                "json": (["eval", "base.broad", "rows.csv", "--json"], None),
            }
            for title, (words, output) in commands.items():
                if judge(run(limit, folder, *words), f"{limit} MB: {title}", output):
                    worked.append((limit, title))
                if output and output.exists():
                    output.unlink()
            left = sorted(p.name for p in folder.iterdir())
            check(left == ["base.broad", "rows.csv"], f"{limit} MB: left behind: {left}")
            check((folder / "base.broad").read_bytes() == before, f"{limit} MB: the model was changed")
        check((MEGABYTES[-1], "fit") in worked, "fit never worked")
        check((MEGABYTES[0], "fit") not in worked, "fit worked in no memory at all: the limit does nothing")
        print(len(worked), "of", 7 * len(MEGABYTES), "had enough memory")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
