#!/usr/bin/env python3
"""Twenty kills at random moments: what the server of `broad serve` has confirmed is there (lab/serve/kills.py).

Usage: test_serve_kills.py PATH_OF_BROAD.
"""
import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "lab", "serve"))
import kills  # noqa: E402

if __name__ == "__main__":
    kills.BROAD = os.path.abspath(sys.argv[1])
    if subprocess.run([kills.BROAD, "serve", "--port", "70000"], capture_output=True).returncode == 1:
        print("this build has no server")
        sys.exit(77)
    done = kills.run(20)
    print(done)
    sys.exit(0 if done["actions"] > 20 else 1)
