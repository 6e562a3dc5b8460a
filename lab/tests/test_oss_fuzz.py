#!/usr/bin/env python3
"""oss-fuzz/build.sh in an environment like that of oss-fuzz: targets that run with what lies in $OUT alone, each with seeds.

Usage: test_oss_fuzz.py PATH_OF_BROAD. Exits with 77 where clang or patchelf is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=address -fsanitize=fuzzer-no-link"


@unittest.skipUnless(shutil.which("clang") and shutil.which("patchelf"), "clang and patchelf are not both installed")
class OssFuzz(unittest.TestCase):
    def test_build(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("src", "work", "out"):
                (root / name).mkdir()
            (root / "src/broad").symlink_to(SOURCE)
            environment = {"PATH": os.environ["PATH"], "HOME": folder, "CC": "clang", "CXX": "clang++", "CFLAGS": FLAGS, "CXXFLAGS": FLAGS,
                           "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer", "SRC": folder + "/src", "WORK": folder + "/work", "OUT": folder + "/out"}
            environment |= {name: value for name, value in os.environ.items() if name.startswith("CCACHE") or name == "CMAKE_C_COMPILER_LAUNCHER"}
            done = subprocess.run([SOURCE / "oss-fuzz/build.sh"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            shutil.rmtree(root / "work")
            for name in sorted(path.stem for path in (SOURCE / "fuzz").glob("fuzz_*.c")):
                with self.subTest(name):
                    self.run_target(root / "out" / name, root / name)

    def run_target(self, program, corpus):
        with zipfile.ZipFile(f"{program}_seed_corpus.zip") as packed:
            self.assertGreater(len(packed.namelist()), 2)
            packed.extractall(corpus)
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("not found", linked)
        if "libjansson" in linked:
            self.assertRegex(linked, rf"libjansson\S* => {program.parent}/lib/")
        done = subprocess.run([program, "-runs=200", corpus], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
