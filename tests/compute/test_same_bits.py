#!/usr/bin/env python3
"""The parts of the library that are its own give the same bits on every processor: activations and drawn weights by SSE2,
AVX2, AVX-512 and aarch64; the products of the layer pass and dense algebra wherever multiply-add is fused, which is all of these but SSE2.

Usage: test_same_bits.py PATH_OF_BROAD. Exits with 77 where the cross compiler or qemu-user is missing (Debian:
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user), after what this machine can compare alone, and in instrumented
builds, which would compare the same again.
"""
import concurrent.futures
import difflib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("BROAD_BINARY_DIR", pathlib.Path(sys.argv[1]).parent if len(sys.argv) > 1 else "."))
LIBRARY = BUILD / "libbroad.a"
PROGRAM = SOURCE / "tests" / "compute" / "same_bits.c"
CROSS = "aarch64-linux-gnu-gcc"
PARTS = ["base/enum_names.c", "base/clock.c", "base/memory.c", "base/profile.c", "base/status.c", "base/vector.c",
         "base/watch.c", "compute/activation*.c", "compute/single.c", "compute/cpu/[!cps]*.c", "compute/cpu/cpu.c",
         "compute/cpu/product.c", "compute/cpu/secular.c", "rng/*.c"]


def flags_of_the_build():
    """Those that decide about rounding, so that the comparison is about what is really built."""
    text = (SOURCE / "cmake" / "BroadFlags.cmake").read_text(encoding="utf-8")
    return re.search(r"target_compile_options\(broad_flags INTERFACE (-[^)]*)\)", text).group(1).split()


def options():
    return ["-std=c11", "-O3", "-D_GNU_SOURCE", *flags_of_the_build(), "-I", SOURCE / "src", "-I", SOURCE / "include"]


def build_native(folder):
    """With the library as it was built for this machine."""
    program = folder / "native"
    subprocess.run([os.environ.get("CC") or "cc", *options(), PROGRAM, LIBRARY, "-lm", "-lpthread", "-o", program],
                   check=True)
    return program


def build_cross(folder):
    def compile_one(source):
        target = folder / (source.stem + ".o")
        subprocess.run([CROSS, *options(), "-c", source, "-o", target], check=True)
        return target

    sources = [PROGRAM] + [source for part in PARTS for source in sorted((SOURCE / "src").glob(part))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    program = folder / "cross"
    subprocess.run([CROSS, *objects, "-static", "-lm", "-o", program], check=True)
    return program


def fuses():
    """Whether the widest instructions here have a fused multiply-add."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    return platform.machine() != "x86_64" or not cpuinfo.exists() or " fma " in cpuinfo.read_text(encoding="utf-8")


def lines_of(command, kernels=None):
    environment = {**os.environ, **({"BROAD_KERNELS": kernels} if kernels else {})}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def compare(what, one, two):
    (name, lines), (other_name, other_lines) = one, two
    if lines == other_lines and len(lines) > 10:
        print(f"{what}: {name} and {other_name} agree on {len(lines)} pieces")
        return 0
    print(f"{what}: {name} and {other_name} differ:")
    print("\n".join(list(difflib.unified_diff(lines, other_lines, name, other_name, n=0, lineterm=""))[:20]))
    return 1


def main():
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("an instrumented build: the plain one has compared")
        return 77
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        native = build_native(pathlib.Path(scratch))
        best = "the widest here"
        parts, products = lines_of([native]), lines_of([native, "kernels"])
        for kernels in ("plain", "avx2", "avx512"):
            wrong += compare("activations and draws", (best, parts), (kernels, lines_of([native], kernels)))
        for kernels in ("avx2", "avx512"):
            wrong += compare("products", (best, products), (kernels, lines_of([native, "kernels"], kernels)))
        if not shutil.which(CROSS) or not qemu:
            missing = CROSS if not shutil.which(CROSS) else "qemu-aarch64"
            print(f"no {missing} (scripts/setup): aarch64 was not compared")
            return 1 if wrong else 77
        cross = build_cross(pathlib.Path(scratch))
        wrong += compare("activations and draws", (best, parts), ("aarch64", lines_of([qemu, cross])))
        if fuses():
            wrong += compare("products", (best, products), ("aarch64", lines_of([qemu, cross, "kernels"])))
    return 1 if wrong else 0


sys.exit(main())
