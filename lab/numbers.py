#!/usr/bin/env python3
"""Never a wrong number in silence: the three suites that draw at random, for longer than `make test` lets them.

usage: numbers.py BROAD TEST_DRIFT [--extremes N] [--increments N] [--networks N] [--seed N] [--json FILE]

 - extremes: columns, targets and settings of every size (tests/cli/cli_numbers.py): fitted, verified, predicted from, or refused with a reason;
 - increments: rows that arrive a few at a time, against all rows together (tests/model/test_drift.c);
 - networks: all kinds with options drawn at random, against numpy (tests/model/test_numpy_any.py).
--seed: the first of the extremes and of the networks. Exit status 1: one of them has found something.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(words, pattern, **environment):
    """What a suite says of itself; its groups as text."""
    end = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    said = end.stdout + end.stderr
    found = re.search(pattern, said)
    if end.returncode or not found:
        sys.exit(f"{' '.join(map(str, words))} ended with {end.returncode}:\n{said[-4000:]}")
    print(found.group(0), flush=True)
    return found.groups()


def measure(given):
    broad = os.path.abspath(given.broad)
    tried, fitted = run([sys.executable, ROOT / "tests/cli/cli_numbers.py", broad, given.extremes, given.seed], r"(\d+) combinations, (\d+) fitted, 0 faults")
    done, rows, drift = run([given.test_drift], r"(\d+) increments, (\d+) rows: worst relative drift of the weights (\S+)", BROAD_INCREMENTS=str(given.increments))
    kinds = json.loads(run([sys.executable, ROOT / "tests/model/test_numpy_any.py", broad], r"networks compared with numpy: (\{.*\})",
                           BROAD_TRIALS=str(given.networks), BROAD_TRIALS_SEED=str(given.seed))[0].replace("'", '"'))
    return {"extremes": int(tried), "fitted": int(fitted), "increments": int(done), "rows": int(rows), "drift": float(drift), "networks": sum(kinds.values()), "kinds": kinds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("broad")
    parser.add_argument("test_drift")
    for name, count in (("extremes", 2000), ("increments", 1000000), ("networks", 1000), ("seed", 100000)):
        parser.add_argument(f"--{name}", type=int, default=count, metavar="N")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    measured = measure(given)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
