"""The flags that the presets promise reach the compiler: read from compile_commands.json, then tried with planted faults."""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["BROAD_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BROAD_BINARY_DIR"])


def option(name):
    """The value of a CMake cache entry."""
    for line in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + ":"):
            return line.partition("=")[2]
    return ""


SANITIZE = option("BROAD_SANITIZE")
WERROR = option("BROAD_WERROR") in ("ON", "TRUE", "1")
COVERAGE = option("BROAD_COVERAGE") in ("ON", "TRUE", "1")

LEAK = "#include <stdlib.h>\nvoid *volatile p;\nint main(void) { p = malloc(7); p = 0; return 0; }\n"
USE_AFTER_FREE = """\
#include <stdlib.h>
int main(void)
{
    char *volatile p = calloc(4, 1);
    free(p);
    return p[1];
}
"""
OVERFLOW = "#include <limits.h>\nint main(int c, char **v) { (void)v; volatile int x = INT_MAX; return (x + c) == 0; }\n"
RACE = """\
#include <pthread.h>
static int shared;
static void *add(void *x)
{
    for (int i = 0; i < 100000; i++) shared++;
    return x;
}
int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, add, 0);
    add(0);
    pthread_join(other, 0);
    return 0;
}
"""


def commands(folder):
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    return {entry["file"]: shlex.split(entry["command"]) for entry in entries
            if pathlib.Path(entry["file"]).is_relative_to(SOURCE / folder)}


class Flags(unittest.TestCase):
    def setUp(self):
        self.commands = commands("src")
        self.assertTrue(self.commands)

    def run_planted(self, text, name="planted.c", link=True):
        """Compiles `text` exactly as a file of the library and runs it: (compiler's status, its messages, run's status)."""
        command = next(iter(self.commands.values()))
        flags = command[: command.index("-o")]
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder) / name, pathlib.Path(folder) / "planted"
            source.write_text(text, encoding="utf-8")
            link_flags = ["-pthread"] + [flag for flag in flags if flag.startswith("-fsanitize=") or flag == "--coverage"]
            mode = link_flags if link else ["-c"]
            done = subprocess.run(flags + [str(source), "-o", str(program)] + mode, capture_output=True, text=True)
            if done.returncode != 0 or not link:
                return done.returncode, done.stderr, None
            # Without the run-time options of the tests: the flags alone must do it.
            plain = {name: value for name, value in os.environ.items() if not name.endswith("SAN_OPTIONS")}
            run = subprocess.run([program], capture_output=True, text=True, cwd=folder, env=plain)
            return 0, run.stderr, run.returncode

    def test_every_file_has_the_numeric_flags(self):
        for folder in ("src", "cli", "serve"):
            for file, command in commands(folder).items():
                with self.subTest(file=file):
                    for flag in ("-std=c11", "-ffp-contract=off", "-fno-math-errno", "-D_GNU_SOURCE"):
                        self.assertIn(flag, command)
                    self.assertFalse({"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(command))

    def test_every_file_has_the_warnings(self):
        promised = "-Wall -Wextra".split()
        if WERROR:
            promised += ("-Wshadow -Wconversion -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla "
                         "-Wformat=2 -Werror").split()
        for folder in ("src", "cli", "serve"):
            for file, command in commands(folder).items():
                with self.subTest(file=file):
                    self.assertFalse(set(promised) - set(command))

    @unittest.skipUnless(WERROR, "only with BROAD_WERROR")
    def test_warnings_are_errors(self):
        for fault in ("int broad__f(double x) { return x; }", "int f(void) { return 1; }",
                      "static int f(int x) { { int x = 1; return x; } }"):
            self.assertNotEqual(self.run_planted(fault + "\n", link=False)[0], 0, fault)
        self.assertEqual(self.run_planted("int main(void) { return 0; }\n")[0], 0)

    def test_sound_program_runs(self):
        self.assertEqual(self.run_planted("int main(void) { return 0; }\n")[2], 0)

    @unittest.skipUnless("address" in SANITIZE and "undefined" in SANITIZE, "only under the address sanitizer")
    def test_address_sanitizer(self):
        for fault, fragment in ((LEAK, "LeakSanitizer"), (USE_AFTER_FREE, "heap-use-after-free"),
                                (OVERFLOW, "signed integer overflow")):
            compiled, messages, code = self.run_planted(fault)
            self.assertEqual(compiled, 0, messages)
            self.assertNotEqual(code, 0, fragment)
            self.assertIn(fragment, messages)

    @unittest.skipUnless("thread" in SANITIZE, "only under the thread sanitizer")
    def test_thread_sanitizer(self):
        compiled, messages, code = self.run_planted(RACE)
        self.assertEqual(compiled, 0, messages)
        self.assertNotEqual(code, 0)
        self.assertIn("data race", messages)

    @unittest.skipUnless(SANITIZE, "only under a sanitizer")
    def test_library_is_instrumented(self):
        mark = "__tsan_" if "thread" in SANITIZE else "__asan_"
        symbols = subprocess.run(["nm", "-u", BUILD / "libbroad.a"], capture_output=True, text=True, check=True).stdout
        self.assertIn(mark, symbols)

    @unittest.skipUnless("address" in SANITIZE, "only under the address sanitizer")
    def test_kernels_are_instrumented(self):
        """They have flags of their own, and still every load is checked."""
        listed = subprocess.run(["nm", "-u", BUILD / "libbroad.a"], capture_output=True, text=True, check=True).stdout
        members = dict(part.split(":\n", 1) for part in listed.split("\n\n") if ":\n" in part)
        kernels = {name: symbols for name, symbols in members.items() if "kernel_" in name or "activation_" in name}
        self.assertGreaterEqual(len(kernels), 3)
        for name, symbols in kernels.items():
            if "__asan_init" in symbols:  # not empty on this processor
                self.assertRegex(symbols, r"__asan_(report_)?load", name)

    @unittest.skipUnless(COVERAGE, "only with BROAD_COVERAGE")
    def test_coverage(self):
        self.assertTrue(all("--coverage" in command for command in self.commands.values()))

    @unittest.skipIf(SANITIZE or COVERAGE, "only without instruments")
    def test_release_is_optimised(self):
        if option("CMAKE_BUILD_TYPE") == "Release":
            self.assertTrue(all("-O3" in command for command in self.commands.values()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
