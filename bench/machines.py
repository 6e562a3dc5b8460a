"""The library's predictor on other machines: built by their compilers, run under qemu, compared bit by bit.

What loading and predicting takes of the library is what the JavaScript package is made of (scripts/build_js --sources), with its own reader of
JSON: no library of another machine is needed but the C library.
"""
import concurrent.futures
import pathlib
import platform
import re
import shutil
import struct
import subprocess

from bench.tool import Failure

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "bench" / "predict_bits.c"
# Name -> compiler, with the flags that the build adds for it, what runs its programs here, and whether there is an instruction for multiply-add.
CROSS = {
    "aarch64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64"], True),
    "s390x, big-endian": (["s390x-linux-gnu-gcc", "-fexcess-precision=fast"], ["qemu-s390x"], True),
    "arm, 32 bits, VFPv4": (["arm-linux-gnueabihf-gcc", "-mfpu=vfpv4"], ["qemu-arm"], True),
    "arm, 32 bits": (["arm-linux-gnueabihf-gcc"], ["qemu-arm"], False),
}
# Of this one: what BROAD_KERNELS is set to, a flag of the processor that it takes, whether there is an instruction for multiply-add, and what runs it
# if not this processor: where there is none, the C library computes otherwise as well.
SETS = {"x86-64, AVX-512": ("avx512", "avx512dq", True, []), "x86-64, AVX2": ("avx2", "avx2", True, []),
        "x86-64, SSE2": ("plain", "sse2", False, ["qemu-x86_64", "-cpu", "Nehalem"])}
HEADERS = ["jansson.h", "jansson_config.h", "xxhash.h"]  # these stand alone; the folder that they lie in is another machine's


def run(words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise Failure(done.stderr.strip() or f"{words[0]} ended with {done.returncode}")
    return done.stdout


def flags():
    """Those of the build that decide about rounding, so that the comparison is about what is really built."""
    text = (ROOT / "cmake" / "BroadFlags.cmake").read_text(encoding="utf-8")
    rounding = re.search(r"target_compile_options\(broad_flags INTERFACE (-[^)]*)\)", text).group(1).split()
    return ["-std=c11", "-O2", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f'-DBROAD_VERSION="{(ROOT / "VERSION").read_text().strip()}"', *rounding]


def sources():
    """With files in the place of what a browser has, and with what a table of functions names without being called here: the maps of photos."""
    listed = [ROOT / name for name in run([ROOT / "scripts" / "build_js", "--sources"]).split() if name != "js/native/system.c"]
    more = [ROOT / "src" / name for name in ("base/file.c", "base/leftover.c", "compute/cpu/kernel_exact.c")]
    more += [path for folder in ("image", "image/descriptor") for path in sorted((ROOT / "src" / folder).glob("*.c"))]
    return [PROGRAM] + sorted({*listed, *more})


def build(folder, machine):
    """The predictor for one of CROSS, without warnings."""
    compiler, into = CROSS[machine][0], pathlib.Path(folder) / re.sub(r"\W+", "-", machine)
    into.mkdir(exist_ok=True)
    for header in HEADERS:
        found = sorted(pathlib.Path("/usr/include").glob(header)) + sorted(pathlib.Path("/usr/include").glob("*/" + header))
        if not found:
            raise Failure(f"{header} is missing; run scripts/setup")
        shutil.copy(found[0], into)

    def compile_one(source):
        target = into / ("_".join(source.relative_to(ROOT).parts) + ".o")
        run([*compiler, *flags(), "-I", ROOT / "include", "-I", ROOT / "src", "-isystem", into, "-c", source, "-o", target])
        return target

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources()))
    run([*compiler, "-static", "-Wl,--gc-sections", *objects, "-lm", "-o", into / "predict_bits"])
    return into / "predict_bits"


def build_here(folder, build_folder):
    """With the library as it was built for this machine."""
    program = pathlib.Path(folder) / "predict_bits"
    run(["cc", "-I", ROOT / "include", PROGRAM, pathlib.Path(build_folder) / "libbroad.so", f"-Wl,-rpath,{build_folder}", "-o", program])
    return program


def here():
    """The instruction sets of this machine, the widest first."""
    if platform.machine() != "x86_64":
        return []
    have = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return [name for name, (_, flag, _, runner) in SETS.items() if flag in have and (not runner or shutil.which(runner[0]))]


def others():
    """Those that can be compiled for and run here."""
    return [name for name, (compiler, runner, _) in CROSS.items() if shutil.which(compiler[0]) and shutil.which(runner[0])]


def fuses(name):
    return (SETS.get(name) or CROSS.get(name))[2]


class Machines:
    """Programs are built when they are asked for the first time."""

    def __init__(self, folder, build_folder):
        self.folder, self.build_folder, self.built = pathlib.Path(folder), pathlib.Path(build_folder).resolve(), {}

    def names(self):
        return here() + others()

    def bits(self, name, model, rows):
        """Of each row the numbers, as whole numbers that are their bits: scores, then probabilities or ends of intervals."""
        local = name in SETS
        place = "here" if local else name
        if place not in self.built:
            self.built[place] = build_here(self.folder, self.build_folder) if local else build(self.folder, name)
        words = [*(SETS[name][3] if local else CROSS[name][1]), self.built[place], model]
        lines = run(words, input="\n".join(" ".join("%.17g" % x for x in row) for row in rows),
                    env={"BROAD_KERNELS": SETS[name][0]} if local else None).splitlines()
        return [[int(word, 16) for word in line.split()] for line in lines]


def numbers(bits):
    return [[struct.unpack("=d", struct.pack("=Q", number))[0] for number in row] for row in bits]
