#!/usr/bin/env python3
"""broad doctor: what it says in words and as JSON, under limits, and when something is off.

Usage: cli_doctor.py PATH_OF_BROAD.
"""
import os
import resource
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import SANITIZED, Case  # noqa: E402


class Doctor(Case):
    def test_text(self):
        text = self.ok("doctor", "--quick").out
        for label in ("broad", "processor", "memory", "temporary", "kernels", "self-test", "devices", "ranks", "advice"):
            self.assertRegex(text, r"(?m)^%s +\S" % label)
        self.assertNotIn("GFLOP/s", text)

    def test_figures(self):
        began = time.time()
        found = self.ok("doctor", "--json").json
        self.assertLess(time.time() - began, 60)
        speed = found["speed"]
        for name in ("dgemm", "layer", "nodes", "gram", "read", "copy"):
            self.assertGreater(speed[name]["one"], 0, name)
            self.assertGreater(speed[name]["all"], 0, name)
        if speed["instructions"] and not SANITIZED:
            # Nothing computes faster than its peak; some room for a clock that changes meanwhile.
            for name in ("dgemm", "layer", "nodes", "gram"):
                self.assertLess(speed[name]["one"], 1.3 * speed["peak"]["one"], name)
        self.assertTrue(0 <= speed["busy"] <= 1 and 0 <= speed["spread"] <= 1)
        cpu = found["devices"][0]
        self.assertEqual((cpu["name"], cpu["gflops"], cpu["bandwidth"]), ("cpu", speed["peak"]["all"], speed["read"]["all"]))
        self.assertEqual(found["ranks"]["ranks"], 1)
        self.assertEqual(found["ranks"]["possible"], found["ranks"]["mpi"] is not None)

    def test_threads(self):
        self.assertEqual(self.ok("doctor", "--json", "--threads", "1").json["speed"]["threads"], 1)
        self.fails(2, "threads", "doctor", "--threads", "few")

    def test_processors(self):
        """Processors are those this process may run on, not those there are."""
        allowed = os.sched_getaffinity(0)
        found = self.ok("doctor", "--quick", "--json").json
        self.assertEqual(found["processors"], len(allowed))
        self.assertGreaterEqual(found["processors_online"], len(allowed))
        os.sched_setaffinity(0, {min(allowed)})
        try:
            self.assertEqual(self.ok("doctor", "--quick", "--json").json["processors"], 1)
        finally:
            os.sched_setaffinity(0, allowed)

    def test_kernels(self):
        found = self.ok("doctor", "--quick", "--json").json
        self.assertIn(found["kernels"], ("avx512", "avx2", "plain"))
        os.environ["BROAD_KERNELS"] = "plain"
        try:
            found = self.ok("doctor", "--quick", "--json").json
            self.assertEqual(found["kernels"], "plain")
            self.assertTrue(any("BROAD_KERNELS=plain" in text for text in found["advice"]))
        finally:
            del os.environ["BROAD_KERNELS"]

    def test_no_blas(self):
        """A program gets what the tool gets: nothing is left to the build of a library, or to its environment."""
        found = self.ok("doctor", "--quick", "--json").json
        self.assertFalse([name for name in found if "blas" in name or "core" in name])
        libraries = subprocess.run(["ldd", os.environ["BROAD_TOOL"]], capture_output=True, text=True).stdout
        self.assertIn("libc.so", libraries)
        for name in ("blas", "lapack", "gfortran"):
            self.assertNotIn(name, libraries)

    def test_temporary(self):
        folder = self.path("place")
        os.makedirs(folder, exist_ok=True)
        os.environ["TMPDIR"], before = folder, os.environ.get("TMPDIR")
        try:
            found = self.ok("doctor", "--quick", "--json").json["temporary"]
        finally:
            del os.environ["TMPDIR"]
            if before:
                os.environ["TMPDIR"] = before
        self.assertEqual(found["folder"], folder)
        space = os.statvfs(folder)
        self.assertLess(abs(found["free"] - space.f_bavail * space.f_frsize), 0.2 * space.f_bavail * space.f_frsize + 1e9)

    @unittest.skipIf(SANITIZED, "a sanitizer needs all addresses there are")
    def test_limit(self):
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (900 << 20, before[1]))
        try:
            found = self.ok("doctor", "--quick", "--json").json
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        self.assertEqual(found["limits"]["addresses"], 900 << 20)
        self.assertTrue(any("ulimit -v" in text for text in found["advice"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
