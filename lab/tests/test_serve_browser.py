#!/usr/bin/env python3
"""The page of `broad serve` in a real browser (lab/serve/browser.mjs).

Usage: test_serve_browser.py PATH_OF_BROAD [--pictures]. --pictures writes the screenshots of docs/serve.md.
"""
import os
import subprocess
import sys
import tempfile

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(SOURCE, "lab", "serve")
sys.path.insert(0, SOURCE)

from lab.browser import find, packages  # noqa: E402


def main():
    browser = find()
    if not browser:
        return 77
    if subprocess.run([BROAD, "serve", "--port", "70000"], capture_output=True).returncode == 1:
        print("this build has no server")
        return 77
    place = packages()
    pictures = [os.path.join(SOURCE, "docs", "images")] if "--pictures" in sys.argv else []
    with tempfile.TemporaryDirectory(dir=place) as work:
        photos = os.path.join(work, "photos")
        subprocess.run([BROAD, "render", photos, "--count", "40", "--size", "128", "--seed", "5", "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        inner = os.path.join(work, "projects")
        os.mkdir(inner)
        os.symlink(os.path.join(place, "node_modules"), os.path.join(work, "node_modules"))
        return subprocess.run(["node", os.path.join(LAB, "browser.mjs"), BROAD, inner, photos, *pictures],
                              env={**os.environ, "CHROMIUM": browser}, timeout=280).returncode


if __name__ == "__main__":
    sys.exit(main())
