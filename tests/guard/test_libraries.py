#!/usr/bin/env python3
"""Libraries come from the system's folders alone: a file of the right name in the current folder is not loaded.

Usage: test_libraries.py PATH_OF_BROAD. Exits with 77 where readelf is missing (Debian: binutils).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ.get("BROAD_TOOL") or sys.argv[1]).resolve()
INTRUDER = '#include <unistd.h>\n__attribute__((constructor)) static void take_over(void) { _exit(42); }\n'


def dynamic(path):
    return subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout


class Libraries(unittest.TestCase):
    @unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "a sanitizer wants to be loaded first")
    def test_current_folder(self):
        needed = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic(TOOL)) if not name.startswith(("libc.", "ld-"))]
        self.assertIn("libjansson.so.4", needed)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "intruder.c"
            source.write_text(INTRUDER, encoding="utf-8")
            for name in needed:
                subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", source, "-o", pathlib.Path(folder) / name],
                               check=True)
            done = subprocess.run([TOOL, "version"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
