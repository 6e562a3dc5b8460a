#!/usr/bin/env python3
"""A program compiled against an older broad.h runs with today's library.

The older header is today's with the last field of every sized struct cut. The same program against a library whose
copies go by its own size alone must fail: otherwise this test would prove nothing.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["BROAD_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BROAD_BINARY_DIR"])
CC = os.environ.get("CC", "cc")
# Results that only photos and a wrong model lead to.
ELSEWHERE = ("broad_map_choice", "broad_correction", "broad_explanation")
COPY = "memcpy(out, full, smaller(size, own));"


def last_field_cut(body):
    """The fields of a struct without the last; a field may be a struct itself."""
    fields, depth, start = [], 0, 0
    for place, letter in enumerate(body):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            fields.append(body[start : place + 1])
            start = place + 1
    return "".join(fields[:-1])


def older(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    pattern = re.compile(r"typedef struct (broad_\w+) \{(\s*size_t size;.*?)\n\} \1;", flags=re.S)
    names = [match.group(1) for match in pattern.finditer(text)]
    cut = pattern.sub(lambda m: f"typedef struct {m.group(1)} {{{last_field_cut(m.group(2))}\n}} {m.group(1)};", text)
    return cut, names


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def build(command):
    done = run(command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def needed(shared):
    dynamic = run(["readelf", "-d", shared]).stdout
    return ["-l:" + name for name in re.findall(r"NEEDED.*\[(.*?)\]", dynamic)]


def faulty_library(folder):
    """Today's library, except that results are copied in their full size."""
    text = (SOURCE / "src/api/api_check.c").read_text(encoding="utf-8")
    if COPY not in text:
        sys.exit(f"src/api/api_check.c has no line '{COPY}' to plant a fault in")
    planted = folder / "planted.c"
    planted.write_text(text.replace(COPY, "memcpy(out, full, own);"), encoding="utf-8")
    includes = ["-I", SOURCE / "src", "-I", SOURCE / "include"]
    build([CC, "-std=gnu11", "-O1", "-c", planted, "-o", folder / "planted.o", *includes])
    return [folder / "planted.o", "-Wl,-z,muldefs", BUILD / "libbroad.a", *needed(BUILD / "libbroad.so")]


def main():
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("a plain program cannot be linked to an instrumented library")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cut, names = older((SOURCE / "include/broad/broad.h").read_text(encoding="utf-8"))
        if len(names) < 20:
            sys.exit(f"only {len(names)} structs with a size were found: {names}")
        program = (SOURCE / "tests/consumer/old_program.c").read_text(encoding="utf-8")
        missing = [name for name in names if name not in program and name not in ELSEWHERE]
        if missing:
            sys.exit(f"old_program.c uses no {', '.join(missing)}")
        (folder / "broad").mkdir()
        (folder / "broad/broad.h").write_text(cut, encoding="utf-8")
        source = SOURCE / "tests/consumer/old_program.c"
        compiled = [CC, "-std=gnu11", "-O0", "-fno-strict-aliasing", "-I", folder, source]
        build([*compiled, "-o", folder / "old", "-L", BUILD, "-lbroad", f"-Wl,-rpath,{BUILD}"])
        build([*compiled, "-o", folder / "planted", *faulty_library(folder)])
        good, bad = run([folder / "old", folder]), run([folder / "planted", folder])
        print(good.stdout, good.stderr, sep="", end="")
        if good.returncode:
            return 1
        if bad.returncode == 0 or "was written" not in bad.stderr:
            sys.exit(f"with the fault planted nothing was found: {bad.returncode} {bad.stderr}")
    print(f"{len(names)} structs, each a field shorter; the planted fault was found")
    return 0


sys.exit(main())
