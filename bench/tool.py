"""The tool, and the threads and kernels that numpy and scikit-learn get when they are measured against it."""
import json
import os
import subprocess
import sys
import time


class Failure(Exception):
    """What is wrong and what to do, in one line."""


class Tool:
    def __init__(self, path):
        self.path = path
        self.machine = self.run("doctor")
        self.machine["best_core"] = {"avx512": "SkylakeX", "avx2": "Haswell"}.get(self.machine["kernels"], "")

    def run(self, *words):
        """The JSON object of one command; its seconds from start to end, and its processor time, are kept."""
        began, before = time.perf_counter(), os.times()
        try:
            done = subprocess.run([self.path, *map(str, words), "--json", "-q"], capture_output=True, text=True,
                                  check=False)
        except OSError as error:
            raise Failure(f"{self.path}: {error.strerror}; build it first, with 'make'") from error
        self.seconds, after = time.perf_counter() - began, os.times()
        self.cpu_seconds = sum(after[2:4]) - sum(before[2:4])
        if done.returncode:
            raise Failure(" ".join(done.stderr.split()) or f"{self.path}: exit code {done.returncode}")
        return json.loads(done.stdout)

    def share_threads(self, threads):
        """This number of threads for every library, and for OpenBLAS the kernels that are best here. They are read when a
        library is loaded, hence the new start."""
        wanted = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        if self.machine["best_core"]:
            wanted["OPENBLAS_CORETYPE"] = self.machine["best_core"]
        if any(os.environ.get(name) != value for name, value in wanted.items()):
            os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})

    def describe(self):
        return (f"{self.machine['processor']}, {self.machine['processors']} processors, broad "
                f"{self.machine['version']} with {self.machine['kernels']} kernels")
