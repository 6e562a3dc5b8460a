#!/usr/bin/env python3
"""A minute of what `make soak` does for hours (lab/soak/soak.py).

Usage: test_soak_minute.py PATH_OF_BROAD.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "soak"))
import soak  # noqa: E402

if __name__ == "__main__":
    tool = os.path.abspath(sys.argv[1])
    program = os.path.join(os.path.dirname(tool), "tests", "test_soak")
    if not os.path.exists(program) or subprocess.run([tool, "serve", "--port", "70000"], capture_output=True).returncode == 1:
        print("this build has no server, or no tests")
        sys.exit(77)
    wrong = soak.run(tool, program, 60)["wrong"]
    print(*wrong, sep="\n")
    sys.exit(1 if wrong else 0)
