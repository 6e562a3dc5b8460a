"""One more layer on a network whose state is open, against training it from the start; with a test and without."""
TITLE = "one more layer"


def run(bench):
    yield from bench.standard_program("bench_grow", bench.runs(9))
