"""Every script of examples/python runs, and prints what is stored in examples/python/output.

Usage: test_python_examples.py PATH_OF_BROAD [--update]. --update stores what they print.
"""
import glob
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "python", "tests"))
sys.path.insert(0, os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "tests", "docs"))
import shown  # noqa: E402
from package_test import Case  # noqa: E402

FOLDER = os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "examples", "python")


class Examples(Case):
    def test_all(self):
        scripts = sorted(glob.glob(os.path.join(FOLDER, "*.py")))
        self.assertEqual(len(scripts), 8)
        for script in scripts:
            with self.subTest(os.path.basename(script)), open(script, encoding="utf-8") as file:
                text = file.read()
                self.assertLessEqual(text.count("\n"), 45)
                try:
                    done = self.python("import runpy, sys\nsys.argv = [%r, %r]\nrunpy.run_path(%r)" % (script, self.folder, script))
                except subprocess.CalledProcessError as error:
                    self.assertEqual(error.returncode, 77, error.stderr)  # what it needs is not installed
                else:
                    shown.check(self, pathlib.Path(script), "python3 " + os.path.basename(script), done, "--update" in sys.argv)


if __name__ == "__main__":
    unittest.main(argv=["test_python_examples"])
