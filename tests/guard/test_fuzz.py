#!/usr/bin/env python3
"""Every fuzz target on the seeds of fuzz/seeds.py, on the inputs that are stored in fuzz/corpus/ and on a few changes of them: nothing
breaks, and they reach what the target is for. `make fuzz` searches further.

Usage: test_fuzz.py PATH_OF_BROAD. Exits with 77 where clang is missing, and in instrumented builds: the targets are
built anew with sanitizers of their own, so that one run of them is enough.
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
import zipfile

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARIES = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", pathlib.Path(BROAD).parent))
# Beside the builds of other presets it is that of `make fuzz`, which then need not build it again.
BUILD = BINARIES.with_name("fuzz") if BINARIES.parent == SOURCE / "build" else BINARIES / "fuzz-targets"
MORE_RUNS = 200
STORED_MOST = 1 << 20
sys.path.insert(0, str(SOURCE / "fuzz"))
import seeds as fuzz_seeds  # noqa: E402

# Of the functions in these files, the part that a target must enter from its seeds and stored inputs alone.
REACHED = {"fuzz_arrays": {"npy.c": 1.0, "idx.c": 1.0, "matrix.c": 0.8, "matrix_rows.c": 0.6}, "fuzz_exif": {"exif.c": 0.9},
           "fuzz_data": {"csv_open.c": 0.9, "csv_fill.c": 0.8, "csv_scan.c": 0.9, "libsvm.c": 0.8, "npy.c": 0.9, "idx.c": 0.9},
           "fuzz_export": {"onnx.c": 0.6, "c_source.c": 0.6, "flat.c": 0.8}, "fuzz_boxes": {"boxes.c": 0.7},
           "fuzz_image": {"decode_jpeg.c": 0.8, "decode_png.c": 0.8, "decode_webp.c": 0.8, "decode_tiff.c": 0.8, "decode_heif.c": 0.7},
           "fuzz_model": {"container.c": 0.8, "describe.c": 0.8, "store.c": 0.6}, "fuzz_options": {"option_text.c": 0.8, "arguments.c": 0.8},
           "fuzz_query": {"filter.c": 0.9, "api_photos.c": 0.3, "rows.c": 0.9}, "fuzz_body": {"reviews.c": 0.9, "api_reviews.c": 0.5},
           "fuzz_stats": {"store_stats.c": 0.6, "stats.c": 0.8}, "fuzz_lists": {"photos_labels.c": 0.5, "corrections_file.c": 0.9, "tune_state.c": 0.6}}


@unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "an instrumented build")
@unittest.skipUnless(shutil.which("clang") and shutil.which("cmake"), "clang and cmake are not both installed")
class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for words in (["cmake", "--preset", "fuzz", "-B", BUILD], ["cmake", "--build", BUILD, "-j", "2"]):
            done = subprocess.run(words, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise RuntimeError(done.stdout[-4000:])

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="broad-fuzz-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def run_target(self, name, seeds, *options):
        """What the target printed, after it has come through unharmed."""
        corpus = tempfile.mkdtemp(dir=self.folder)
        for i, seed in enumerate(seeds):
            with open(os.path.join(corpus, "seed%d" % i), "wb") as f:
                f.write(seed)
        # An input that breaks something stays in the build folder.
        words = [BUILD / "fuzz" / name, "-artifact_prefix=%s/crash-%s-" % (BUILD, name), "-timeout=20",
                 "-rss_limit_mb=2048", "-print_final_stats=1", *options, corpus]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return done.stdout

    def covered(self, output):
        return int(re.search(r"INITED cov: (\d+)", output).group(1))

    def check_reached(self, name, output):
        """The files that a target is for are entered by what it begins with."""
        functions = re.findall(r"^(UN)?COVERED_FUNC: hits: \d+ edges: \d+/\d+ \S+ (\S+?):\d+", output, re.M)
        for file, least in REACHED.get(name, {}).items():
            mine = [missed for missed, path in functions if path.endswith("/" + file)]
            if mine:  # otherwise the build has no such library
                self.assertGreaterEqual(mine.count("") / len(mine), least, f"{name} reaches too little of {file}")

    def check(self, name, seeds):
        noise = self.run_target(name, [b"\x00noise"], "-runs=1")
        output = self.run_target(name, seeds, "-runs=%d" % (len(seeds) + MORE_RUNS), "-seed=1", "-print_coverage=1")
        self.check_reached(name, output)
        # The seeds must come further than noise does, or the run proves little.
        self.assertGreater(self.covered(output), 1.5 * self.covered(noise))
        runs = int(re.search(r"number_of_executed_units: (\d+)", output).group(1))
        self.assertGreaterEqual(runs, MORE_RUNS)
        print("%s: %d inputs, %d places covered" % (name, runs, int(re.findall(r"cov: (\d+)", output)[-1])))

    def test_targets(self):
        seeds = fuzz_seeds.all_seeds(BROAD, self.folder)
        targets = {path.stem for path in (SOURCE / "fuzz").glob("fuzz_*.c")}
        self.assertEqual(targets, set(seeds), "a target without seeds")
        for name, some in seeds.items():
            with self.subTest(name):
                with zipfile.ZipFile(SOURCE / "fuzz" / "corpus" / (name + ".zip")) as stored:
                    some = some + [stored.read(input_name) for input_name in stored.namelist()]
                self.check(name, some)

    def test_stored_inputs(self):
        """One archive for each target, and together not much."""
        archives = list((SOURCE / "fuzz" / "corpus").glob("*.zip"))
        self.assertEqual({path.stem for path in archives}, {path.stem for path in (SOURCE / "fuzz").glob("fuzz_*.c")})
        self.assertLess(sum(path.stat().st_size for path in archives), STORED_MOST)


class Record(unittest.TestCase):
    """What scripts/run_fuzz counts, of programs that only say what a target says."""
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="broad-fuzz-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / "build").mkdir()
        (self.folder / "build" / "broad").symlink_to(BROAD)

    def target(self, build, name, executions, edges, code=0):
        path = self.folder / build / "fuzz" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"""#!/bin/sh
echo "#3 INITED cov: 1 ft: 1"
echo "#9 DONE cov: {edges} ft: 1"
echo "stat::number_of_executed_units: {executions}"
echo "$LD_LIBRARY_PATH" >"{self.folder}/{name}.libraries"
[ {code} = 0 ] || echo "SUMMARY: libFuzzer: deadly signal"
exit {code}
""")
        path.chmod(0o755)

    def run_fuzz(self, *options):
        store = self.folder / "stored.json"
        done = subprocess.run([sys.executable, SOURCE / "scripts" / "run_fuzz", self.folder / "build", "--record", "2", "--store", store, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout, json.loads(store.read_text())["runs"] if store.exists() else []

    def test_counts(self):
        self.target("build", "fuzz_json", 100, 7)
        self.target("plain", "fuzz_json", 900, 9)
        code, said, runs = self.run_fuzz("--plain", self.folder / "plain")
        mine = runs[0]["targets"]["fuzz_json"]
        self.assertEqual((code, len(runs), mine["executions"], mine["plain"], mine["edges"], mine["findings"]), (0, 1, 1000, 900, 7, 0), said)
        self.target("build", "fuzz_json", 50, 6)
        mine = self.run_fuzz()[2][0]["targets"]["fuzz_json"]  # the same commit: added to its run
        self.assertEqual((mine["executions"], mine["plain"], mine["edges"]), (1050, 900, 7))

    def test_findings(self):
        self.target("build", "fuzz_json", 100, 7)
        self.target("plain", "fuzz_json", 900, 9, code=77)
        code, said, runs = self.run_fuzz("--plain", self.folder / "plain")
        self.assertEqual((code, runs[0]["targets"]["fuzz_json"]["findings"]), (1, 1), said)
        self.assertIn("deadly signal", said)

    def test_codecs(self):
        """They are for the targets of pictures, and must be there."""
        for name in ("fuzz_image", "fuzz_json"):
            self.target("build", name, 1, 1)
        codecs = self.folder / "codecs"
        code, said, _ = self.run_fuzz("--codecs", codecs)
        self.assertEqual(code, 1)
        self.assertIn("build_fuzz_codecs", said)
        library = codecs / "usr" / "lib" / "libpng16.so.16"
        library.parent.mkdir(parents=True)
        library.touch()
        self.target("plain", "fuzz_image", 1, 1)
        plain = self.folder / "plain" / "fuzz" / "fuzz_image"  # which cannot load them
        plain.write_text(plain.read_text().replace("#!/bin/sh", '#!/bin/sh\n[ -z "$LD_LIBRARY_PATH" ] || exit 127'))
        code, said, _ = self.run_fuzz("--codecs", codecs, "--plain", self.folder / "plain", "--only", "fuzz_image")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.run_fuzz("--codecs", codecs)[0], 0)
        self.assertEqual((self.folder / "fuzz_image.libraries").read_text().strip(), str(library.parent))
        self.assertNotIn(str(codecs), (self.folder / "fuzz_json.libraries").read_text())


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1, exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
