"""A browser for the tests that look at pages, and the packages for node with which they drive it (lab/serve/package.json)."""
import os
import pathlib
import shutil
import subprocess
import tempfile

LAB = pathlib.Path(__file__).resolve().parent


def find():
    """The browser; None, with a word about it, where something is missing."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser or not shutil.which("node") or not shutil.which("npm"):
        print("chromium, node and npm are needed; run scripts/setup --browser")
        return None
    return browser


def packages():
    """A folder whose node_modules has what package.json names."""
    place = os.path.join(os.environ.get("BROAD_BINARY_DIR", tempfile.gettempdir()), "serve-lab")
    os.makedirs(place, exist_ok=True)
    shutil.copy(LAB / "serve" / "package.json", place)
    if not os.path.isdir(os.path.join(place, "node_modules", "playwright-core")):
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=place, check=True)
    return place
