#!/usr/bin/env python3
"""The short form of `make numbers` (lab/run_numbers): its suites run, and what they say is counted; one that fails ends it.

Usage: test_numbers.py PATH_OF_BROAD.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench import extremes  # noqa: E402


def run(broad, drift, json_file):
    words = [sys.executable, ROOT / "lab" / "run_numbers", broad, drift, "--extremes", "4", "--increments", "600", "--networks", "12", "--json", json_file]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def main():
    broad = os.path.abspath(sys.argv[1])
    drift = os.path.join(os.path.dirname(broad), "tests", "test_drift")
    try:
        import numpy  # noqa: F401
    except ImportError:
        drift = ""
    if not os.path.exists(drift):
        print("this build has no tests, or there is no numpy")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        end = run(broad, drift, folder + "/out.json")
        assert end.returncode == 0, end.stdout + end.stderr
        found = json.loads(pathlib.Path(folder, "out.json").read_text(encoding="utf-8"))
        extremes.whole(found)
        assert found["extremes"] > 4 and found["fitted"] > 0 and found["increments"] == 600 and 0 < found["networks"] <= 12, found
        assert f"{found['rows']:,} rows" in extremes.parts(found)[extremes.PAGE]["counts"]
        end = run(broad, "/bin/false", folder + "/none.json")
        assert end.returncode == 1 and "/bin/false ended with 1" in end.stderr and not os.path.exists(folder + "/none.json"), end.stderr
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
