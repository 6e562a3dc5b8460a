"""Not there yet."""
TITLE = "joint"


def run(bench):
    yield from bench.standard_program("bench_joint", bench.runs(5))
