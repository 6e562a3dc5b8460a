#!/usr/bin/env python3
"""The charts of test_chart as files: each is XML, its colours are classes with a rule, and every mark lies within the picture.

Usage: test_chart_xml.py; BROAD_BINARY_DIR says where the program test_chart is.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PROGRAM = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", "build/dev")) / "tests" / "test_chart"
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Charts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, folder], check=True)
            cls.pictures = {path.stem: xml.parse(path).getroot() for path in pathlib.Path(folder).iterdir()}

    def test_all_there(self):
        self.assertGreater(len(self.pictures), 15)
        for root in self.pictures.values():
            self.assertEqual(root.find(f"{SVG}title").text, "<Title> & more")
            self.assertEqual(len(root.findall(f"{SVG}svg")), 2)

    def test_numbers(self):
        """Every attribute that is a number reads as one, and lies within the frame."""
        for name, root in self.pictures.items():
            for panel in root.findall(f"{SVG}svg"):
                width, height = float(panel.get("width")), float(panel.get("height"))
                for element in panel.iter():
                    for key, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                        if element is not panel and key in element.attrib and element.tag != f"{SVG}text":
                            self.assertTrue(-1 <= float(element.get(key)) <= most + 1, (name, element.attrib))

    def test_paths(self):
        for name, root in self.pictures.items():
            for element in root.iter(f"{SVG}path"):
                rest = NUMBER.sub("", element.get("d"))
                self.assertLessEqual(set(rest), set("MLHVhvlz "), (name, element.get("d")[:200]))

    def test_colours(self):
        root = self.pictures["single"]
        style = root.find(f"{SVG}style").text
        for element in root.iter():
            self.assertFalse({"fill", "stroke", "style"} & set(element.attrib), element.attrib)
            for name in element.get("class", "").split():
                self.assertRegex(style, rf"\.{name}\b")
        self.assertIn("prefers-color-scheme: dark", style)


if __name__ == "__main__":
    if not PROGRAM.exists():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
