#!/usr/bin/env python3
"""Nothing is lost, in short: failing calls and allocations, kills, losses of power (lab/faults/losses.py). The long form:
lab/faults/losses.py build/release/broad --serve-kills 500 --serve-faults 450 --json losses.json.

Usage: test_losses.py PATH_OF_BROAD.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "lab" / "faults"))
import losses  # noqa: E402
import power  # noqa: E402

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")


class Losses(unittest.TestCase):
    def test_commands(self):
        found = losses.run(BROAD, faults=60, allocations=20, kills=60, say=print)
        self.assertEqual(found["lost"], [])
        self.assertGreater(found["faults"], 300)
        self.assertGreater(found["kills"], 300)
        self.assertGreater(found["states"], 1000)

    def test_server(self):
        if subprocess.run([BROAD, "serve", "--port", "70000"], capture_output=True, check=False).returncode == 1:
            self.skipTest("this build has no server")
        found = losses.run(BROAD, commands=(), serve_kills=8, serve_faults=12, say=print)
        self.assertEqual(found["lost"], [])
        self.assertEqual(found["serve_faults"], 12)
        self.assertGreater(found["serve_kills"], 4)


class Power(unittest.TestCase):
    """The simulation itself: what it must find."""

    def play(self, *lines):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "m").write_bytes(b"old")
            log = pathlib.Path(folder, "log")
            log.write_text("".join(f"{letter}\t{folder}/{name}\t{folder}/{other}\t{place}\t{data.hex()}\n"
                                   for letter, name, other, place, data in lines).replace(f"{folder}/.\t", f"{folder}\t"))
            disk = power.Disk(folder)
            return power.judge(disk, log, "m", (b"old", b"newer"))

    careful = (("C", "t", "", 0, b""), ("W", "t", "", 0, b"newer"), ("S", "t", "", 0, b""), ("R", "t", "m", 0, b""), ("S", ".", "", 0, b""))

    def test_careful(self):
        moments, states, lost, last = self.play(*self.careful)
        self.assertEqual((moments, lost, last), (5, [], {b"newer"}))
        self.assertGreater(states, 10)

    def test_careless(self):
        """No sync of the file; no sync of the folder; written in place."""
        self.assertTrue(self.play(*self.careful[:2], *self.careful[3:])[2])
        self.assertEqual(self.play(*self.careful[:4])[3], {b"old", b"newer"})
        self.assertTrue(self.play(("T", "m", "", 0, b""), ("W", "m", "", 0, b"newer"), ("S", "m", "", 0, b""))[2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
