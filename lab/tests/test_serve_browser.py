#!/usr/bin/env python3
"""The page of `broad serve` in a real browser (lab/serve/browser.mjs).

Usage: test_serve_browser.py PATH_OF_BROAD [--pictures]. --pictures writes the screenshots of docs/serve.md.
"""
import os
import shutil
import subprocess
import sys
import tempfile

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(SOURCE, "lab", "serve")


def packages():
    """A folder whose node_modules has what package.json names."""
    place = os.path.join(os.environ.get("BROAD_BINARY_DIR", tempfile.gettempdir()), "serve-lab")
    os.makedirs(place, exist_ok=True)
    shutil.copy(os.path.join(LAB, "package.json"), place)
    if not os.path.isdir(os.path.join(place, "node_modules", "playwright-core")):
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=place, check=True)
    return place


def main():
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser or not shutil.which("node") or not shutil.which("npm"):
        print("chromium, node and npm are needed; run scripts/setup --browser")
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
