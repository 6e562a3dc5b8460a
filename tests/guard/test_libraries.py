#!/usr/bin/env python3
"""Libraries come from the system's folders alone: a file of the right name in the current folder is not loaded. What is linked is
hardened, and so is what a plain build compiles.

Usage: test_libraries.py PATH_OF_BROAD. Exits with 77 where readelf is missing (Debian: binutils).
"""
import json
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
    def test_no_search_path(self):
        for path in (TOOL, TOOL.parent / "libbroad.so"):
            self.assertNotRegex(dynamic(path), r"\((RPATH|RUNPATH)\)", path)

    def test_addresses_are_bound_and_random(self):
        for path in (TOOL, TOOL.parent / "libbroad.so"):
            self.assertRegex(dynamic(path), r"FLAGS.*NOW", path)
            parts = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
            self.assertIn("GNU_RELRO", parts, path)
            self.assertIn("Elf file type is DYN", parts, path)

    @unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "a sanitizer has checks of its own")
    def test_a_plain_build_is_hardened(self):
        source = os.environ.get("BROAD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "-S", source, "-B", folder, "-DBROAD_TESTS=OFF"], check=True, capture_output=True)
            entries = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text(encoding="utf-8"))
        self.assertGreater(len(entries), 100)
        for entry in entries:
            for flag in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-O3"):
                self.assertIn(flag, entry["command"], entry["file"])

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
