#!/usr/bin/env python3
"""A few damaged models to every program that is installed (lab/damage/damage.py): broad refuses all of them.

Usage: test_damage.py PATH_OF_BROAD.
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "damage"))
import damage  # noqa: E402

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")


class Damage(unittest.TestCase):
    def test_ways(self):
        """Every damage changes something, and the same ones come again."""
        content = bytes(range(256)) * 8
        self.assertEqual(damage.ways(40), damage.ways(40))
        self.assertTrue(all(damage.damaged(content, way) != content for way in damage.ways(400)))

    def test_broad(self):
        found = damage.run(BROAD, 60, only=["broad"])["programs"]["broad"]
        self.assertEqual((found["refused"], found["files"]), (60, 60))

    def test_others(self):
        """That they can be judged at all; what they do is theirs."""
        for name, found in damage.run(BROAD, 4, seconds=30)["programs"].items():
            self.assertEqual(sum(found[how] for how in ("refused", "accepted", "crashed", "hung")), 4, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
