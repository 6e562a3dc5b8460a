#!/usr/bin/env python3
"""Half a minute of mixed load on `broad serve` (lab/serve/load.py), and a decoder that hangs: the server neither grows nor waits for it.

Usage: test_serve_soak.py PATH_OF_BROAD.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "lab", "serve"))
import kills  # noqa: E402
import load  # noqa: E402


def children(process):
    return [int(child) for thread in pathlib.Path(f"/proc/{process}/task").iterdir() for child in (thread / "children").read_text().split()]


def stop_and_send(server, photo, number):
    """All decoders stop, as if a photo had them in a loop; the reasons why the next photo cannot be read."""
    for child in children(server.process.pid):
        os.kill(child, signal.SIGSTOP)
    before = {one["id"] for one in server.ask("GET", "unreadable")[1]["photos"]}
    code, added = server.ask("POST", "photos?name=hangs.jpg", photo + b"hangs%d" % number)
    assert code == 201, added
    end = time.time() + 60
    while server.ask("GET", "status")[1]["counts"]["waiting"]:
        assert time.time() < end, "the server waits for a decoder that hangs"
        time.sleep(0.5)
    return [one["reason"] for one in server.ask("GET", "unreadable")[1]["photos"] if one["id"] not in before]


def hang(server, photo):
    """A decoder that hangs is given up after 30 s, with the reason. One that is born for the photo, since the model is
    new or no other was needed so far, still runs and reads it: it is stopped before the next photo."""
    for number in range(2 * os.cpu_count() + 4):
        listed = stop_and_send(server, photo, number)
        if listed:
            break
    assert listed == ["decoding takes longer than 30 s"], listed


def main():
    kills.BROAD = os.path.abspath(sys.argv[1])
    if subprocess.run([kills.BROAD, "serve", "--port", "70000"], capture_output=True).returncode == 1:
        print("this build has no server")
        return 77
    folder, server = tempfile.mkdtemp(prefix="broad-soak-"), None
    try:
        server, drawn = load.project(folder, 100)
        found = load.load(server, 100, drawn, 0.5, 20)
        print(found)
        assert found["requests"] > 100 and set(found["codes"]) >= {200, 201, 422}, found
        assert found["after"] < found["before"] + 30 and found["files"]["after"] <= found["files"]["before"] + 10, found
        hang(server, drawn[0])
    finally:
        if server:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
