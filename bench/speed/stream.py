"""Not there yet."""
TITLE = "stream"


def run(bench):
    yield from bench.standard_program("bench_stream", bench.runs(5))
