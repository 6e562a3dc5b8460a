"""Not there yet."""
TITLE = "predict"


def run(bench):
    yield from bench.standard_program("bench_predict", bench.runs(5))
