"""The pass over the rows that a layer is made of, against OpenBLAS's product at its best size on the same threads."""
TITLE = "one pass over the rows"


def run(bench):
    yield from bench.standard_program("bench_kernels", bench.runs(7))
