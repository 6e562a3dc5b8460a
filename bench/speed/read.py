"""Not there yet."""
TITLE = "read"


def run(bench):
    yield from bench.standard_program("bench_read", bench.runs(5))
