#!/usr/bin/env python3
"""Two builds of one commit that differ in folder, time, locale, umask, user are the same bytes, in the short form (scripts/check_reproducible
--quick); and the comparison sees what differs.

Usage: test_reproducible.py PATH_OF_BROAD. Exits with 77 where this is no clone of the repository.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
CHECK = SOURCE / "scripts/check_reproducible"


def run(*words):
    done = subprocess.run([CHECK, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


class Reproducible(unittest.TestCase):
    def compare(self, change):
        """Two equal folders, of which the second is changed."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                root = pathlib.Path(folder) / name
                (root / "lib").mkdir(parents=True)
                (root / "lib/x y").write_text("same", encoding="utf-8")
                (root / "lib/z").symlink_to("x y")
            change(root)
            return run("--compare", pathlib.Path(folder) / "a", root)

    def test_comparison(self):
        code, output = self.compare(lambda root: None)
        self.assertEqual((code, output), (0, "check_reproducible: 1 files, all of them equal\n"))
        changes = (lambda root: (root / "lib/x y").write_text("Same", encoding="utf-8"),
                   lambda root: (root / "lib/x y").chmod(0o600),
                   lambda root: (root / "lib").chmod(0o700),
                   lambda root: (root / "lib/more").touch(),
                   lambda root: (root / "lib/z").unlink(),
                   lambda root: ((root / "lib/z").unlink(), (root / "lib/z").symlink_to("other")))
        for number, change in enumerate(changes):
            code, output = self.compare(change)
            self.assertEqual(code, 1, f"change {number}: {output}")

    def test_two_builds(self):
        code, output = run("--quick")
        if code == 77:
            self.skipTest(output)
        self.assertEqual(code, 0, output[-4000:])
        self.assertIn("all of them equal", output)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
