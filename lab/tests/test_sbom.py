#!/usr/bin/env python3
"""The list of what a build consists of (scripts/make_sbom) against what the loader says of it.

Usage: test_sbom.py PATH_OF_BROAD. Exits with 77 where readelf or ldd is missing.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get("BROAD_BINARY_DIR") or pathlib.Path(sys.argv[1]).resolve().parent)
CC = os.environ.get("CC") or "cc"


def make(build):
    done = subprocess.run([SOURCE / "scripts/make_sbom", build], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def linked(document, name):
    """Names of all libraries that the file is linked to, by itself or by way of others."""
    packages = {entry["SPDXID"]: set(entry.get("comment", "").removeprefix("libraries: ").split()) for entry in document["packages"]}
    reached = {entry["SPDXID"] for entry in document["files"] if entry["fileName"] == "./" + name}
    while True:
        more = {one["relatedSpdxElement"] for one in document["relationships"]
                if one["spdxElementId"] in reached and one["relationshipType"] in ("DYNAMIC_LINK", "DEPENDS_ON")}
        if more <= reached:
            return set().union(*(packages.get(one, set()) for one in reached))
        reached |= more


def loaded(path):
    """The same, from the loader that shows what it loads."""
    environment = dict(os.environ, LD_TRACE_LOADED_OBJECTS="1")
    program = [path] if not path.name.endswith(".so") and ".so." not in path.name else ["/lib64/ld-linux-x86-64.so.2", "--list", path]
    lines = subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    names = {os.path.basename(line.split()[0]) for line in lines}
    return {name for name in names if not name.startswith("linux-vdso")}


@unittest.skipIf(os.environ.get("BROAD_INSTRUMENTS"), "a sanitizer is linked, too")
class Sbom(unittest.TestCase):
    def test_this_build(self):
        document = make(BUILD)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        for field in ("dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
            self.assertTrue(document[field], field)
        identities = [entry["SPDXID"] for entry in document["packages"] + document["files"]] + ["SPDXRef-DOCUMENT"]
        self.assertEqual(len(identities), len(set(identities)))
        for identity in identities:
            self.assertRegex(identity, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for relation in document["relationships"]:
            self.assertIn(relation["spdxElementId"], identities)
            self.assertIn(relation["relatedSpdxElement"], identities)
        names = [entry["fileName"].removeprefix("./") for entry in document["files"]]
        self.assertIn("broad", names)
        for entry, name in zip(document["files"], names):
            content = (BUILD / name).read_bytes()
            sums = {one["algorithm"]: one["checksumValue"] for one in entry["checksums"]}
            self.assertEqual(sums, {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()})
            if not name.endswith(".a"):
                self.assertEqual(linked(document, name), loaded((BUILD / name).resolve()), name)

    def test_headers_and_what_is_loaded_later(self):
        document = make(BUILD)
        by_word = {}
        for relation in document["relationships"]:
            by_word.setdefault(relation["relationshipType"], set()).update((relation["spdxElementId"], relation["relatedSpdxElement"]))
        self.assertTrue(any("xxhash" in name for name in by_word["STATIC_LINK"]))
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        if re.search(r"^BROAD_HEIF_FOUND:\w+=1$", cache, flags=re.M):
            self.assertTrue(any("heif" in name for name in by_word["OPTIONAL_DEPENDENCY_OF"]))

    def test_another_library(self):
        """A tool that is linked to one more, and names another."""
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "CMakeCache.txt").touch()
            (build / "extra.c").write_text("int extra(void) { return 1; }\n", encoding="utf-8")
            (build / "broad.c").write_text('#include <stdio.h>\nint extra(void);\n'
                                           'int main(void) { return puts("libstrange.so.9") + extra(); }\n', encoding="utf-8")
            subprocess.run([CC, "-shared", "-fPIC", "-Wl,-soname,libextra.so.3", "extra.c", "-o", "libextra.so.3"], cwd=build, check=True)
            subprocess.run([CC, "broad.c", "-o", "broad", "./libextra.so.3", "-Wl,-rpath,$ORIGIN"], cwd=build, check=True)
            document = make(build)
        self.assertIn("libextra.so.3", linked(document, "broad"))
        later = [one["spdxElementId"] for one in document["relationships"] if one["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"]
        self.assertEqual(later, ["SPDXRef-Package-libstrange.so.9"])


if __name__ == "__main__":
    if not shutil.which("readelf") or not shutil.which("ldd"):
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
