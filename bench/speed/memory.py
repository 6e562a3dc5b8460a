"""Not there yet."""
TITLE = "memory"


def run(bench):
    yield from bench.standard_program("bench_memory", bench.runs(5))
