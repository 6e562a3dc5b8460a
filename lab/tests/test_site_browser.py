#!/usr/bin/env python3
"""The site in a real browser, opened from a folder (lab/site/browser.mjs).

Usage: test_site_browser.py PATH_OF_BROAD [PICTURES]. With PICTURES, screenshots of some pages are written into that folder.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE))

from lab.browser import find, packages  # noqa: E402


def main():
    browser = find()
    if not browser:
        return 77
    place = packages()
    with tempfile.TemporaryDirectory(prefix="site with blanks ") as work:
        site = pathlib.Path(work, "site")
        subprocess.run([sys.executable, SOURCE / "scripts" / "make_site", site], check=True)
        return subprocess.run(["node", SOURCE / "lab" / "site" / "browser.mjs", place, site, *sys.argv[2:]],
                              env={**os.environ, "CHROMIUM": browser}, timeout=280).returncode


if __name__ == "__main__":
    sys.exit(main())
