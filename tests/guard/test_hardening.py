#!/usr/bin/env python3
"""Everything that is installed is hardened, and scripts/check_hardening sees what is not.

Usage: test_hardening.py PATH_OF_BROAD. Exits with 77 where readelf is missing (Debian: binutils).
"""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("BROAD_BINARY_DIR") or pathlib.Path(sys.argv[1]).resolve().parent)
CC = os.environ.get("CC") or "cc"
PROGRAM = """\
#include <stdio.h>
#include <string.h>
int main(int count, char **words)
{
    char text[40];
    snprintf(text, sizeof text, "%s", words[count - 1]);
    strcpy(text + 3, words[0]);
    return puts(text) < 0;
}
"""
COMPILE = "-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2".split()
LINK = "-pie -Wl,-z,relro,-z,now,-z,noexecstack".split()


def check(*paths):
    done = subprocess.run([SOURCE / "scripts/check_hardening", *paths], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "a sanitizer has checks of its own")
class Installed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def test_what_is_installed(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.root], check=True, capture_output=True)
        expected = {"bin/broad", "lib/libbroad.a"}
        expected |= {"libexec/broad/broad-serve"} if (BUILD / "broad-serve").exists() else set()
        for name in expected:
            self.assertTrue((self.root / name).exists(), name)
        count = len(expected) + 1 + (BUILD / "libbroad-mpi.so").exists()  # libbroad.so
        extensions = list((BUILD / "python/broad").glob("_native*.so"))
        code, output = check(self.root, *extensions)
        self.assertEqual(code, 0, output)
        self.assertIn(f"check_hardening: {count + len(extensions)} programs and libraries, 0 faults", output)

    def test_a_plain_build(self):
        """What no file shows once it is linked: the level of the checks, and that no file is left out."""
        subprocess.run(["cmake", "-S", SOURCE, "-B", self.root, "-DBROAD_TESTS=OFF"], check=True, capture_output=True)
        entries = json.loads((self.root / "compile_commands.json").read_text(encoding="utf-8"))
        self.assertGreater(len(entries), 100)
        level = 3 if self.knows_level_3() else 2
        for entry in entries:
            for flag in ("-fstack-protector-strong", "-O3"):
                self.assertIn(flag, entry["command"], entry["file"])
            self.assertRegex(entry["command"], " -f(PIC|PIE) ", entry["file"])
            last = re.findall(r"-[DU]_FORTIFY_SOURCE\S*", entry["command"])[-1]
            kernel = "/cpu/kernel_" in entry["file"]
            self.assertEqual(last, f"-D_FORTIFY_SOURCE={2 if kernel else level}", entry["file"])

    def knows_level_3(self):
        words = [CC, "-Werror", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-x", "c", "-", "-c", "-o", self.root / "o"]
        return subprocess.run(words, input="#include <stdio.h>\n", text=True, capture_output=True).returncode == 0


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "program.c").write_text(PROGRAM, encoding="utf-8")
        (self.root / "both.s").write_text('.section .both,"awx"\n.byte 0\n.section .note.GNU-stack\n', encoding="utf-8")

    def build(self, *more, without=()):
        words = [word for word in COMPILE + LINK if word not in without]
        done = subprocess.run([CC, *words, self.root / "program.c", "-o", self.root / "program", *more], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.root / "program"

    def test_sound(self):
        code, output = check(self.build())
        self.assertEqual((code, output), (0, "check_hardening: 1 programs and libraries, 0 faults\n"))

    def test_nothing_to_check(self):
        """A library without any call that has a checked form."""
        (self.root / "program.c").write_text("int main(int count, char **words) { volatile char text[40]; int i = 0; while (i < count)\n"
                                             "text[i++] = *words[0]; return text[count - 1]; }\n", encoding="utf-8")
        code, output = check(self.build())
        self.assertEqual(code, 0, output)

    def test_faults(self):
        for flags, without, fragment in (
                (["-Wl,-z,lazy"], (), "bound when first called"),
                (["-Wl,-z,norelro"], (), "stay writable"),
                (["-Wl,-z,execstack"], (), "stack can be run"),
                (["-Wl,-rpath,/opt"], (), "searches a folder of its own"),
                (["-Wl,--disable-new-dtags,-rpath,$ORIGIN"], (), "searches a folder of its own"),
                (["-no-pie", "-fno-pie"], ("-pie", "-fPIE"), "a fixed place"),
                (["-fno-stack-protector"], ("-fstack-protector-strong",), "stack is not guarded"),
                (["-U_FORTIFY_SOURCE"], (), "not checked (_FORTIFY_SOURCE)"),
                ([self.root / "both.s"], (), "both written and run")):
            with self.subTest(flags):
                code, output = check(self.build(*flags, without=without))
                self.assertEqual(code, 1, output)
                self.assertIn(fragment, output)

    @unittest.skipUnless(platform.machine() == "x86_64", "only x86-64 has such marks")
    def test_archive(self):
        for protection, code in (("full", 0), ("none", 1)):
            words = [CC, "-c", f"-fcf-protection={protection}", self.root / "program.c", "-o", self.root / f"{protection}.o"]
            subprocess.run(words, check=True)
            archive = self.root / f"{protection}.a"
            subprocess.run(["ar", "rcs", archive, self.root / "full.o", self.root / f"{protection}.o"], check=True)
            found, output = check(archive)
            self.assertEqual(found, code, output)
        self.assertIn("none.o) does not mark where a jump may land", output)

    def test_nothing_to_look_at(self):
        self.assertEqual(check(self.root / "program.c")[0], 1)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
