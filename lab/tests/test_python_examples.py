"""Every script of examples/python runs, and prints what its first lines promise."""
import glob
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "python", "tests"))
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
                    self.assertTrue(done.strip())


if __name__ == "__main__":
    unittest.main(argv=["test_python_examples"])
