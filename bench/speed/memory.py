"""Peak resident size of a run against what its plan said before, in memory and under a limit."""
from bench.speed.measure import rival, shown

TITLE = "memory against the plan"


def cases(bench):
    """What, rows, columns, options of the network, limit of the memory."""
    chain = ["--preset", "paper", "--features", "10x10", "--enhance", bench.pick("100x10", "100x4", "20x2")]
    joint = ["--kind", "bls", "--preset", "paper", "--features", "10x10", "--feature-weights", "random", "--lambda",
             "1e-2", "--enhance"]
    rows, fewer = bench.pick(60000, 10000, 1000), bench.pick(30000, 5000, 1000)
    yield "brls", rows, 784, ["--kind", "brls", *chain], None
    yield "bscrls", 10 * rows, 20, ["--kind", "bscrls", *chain], None
    yield "brls", bench.pick(1793, 900, 200), bench.pick(12288, 6144, 100), ["--kind", "brls", *chain], None
    yield "bls, joint weights", fewer, 100, [*joint, bench.pick("3000x1", "500x1", "50x1")], None
    yield "brls", rows, 784, ["--kind", "brls", *chain], "64M"
    yield "bscrls", 10 * rows, 20, ["--kind", "bscrls", *chain], "64M"
    yield "bls, joint weights", fewer, 100, [*joint, bench.pick("1000x1", "500x1", "50x1")], "96M"


def run(bench):
    from bench.speed.numpy_chain import waves
    for name, rows, columns, network, limit in cases(bench):
        x, labels = waves(rows, columns, 3)
        bench.save(x, labels)
        name = f"{name}, {rows:,} x {columns:,}" + (f", --memory {limit}" if limit else "")
        given = ["fit", *bench.words(*network, *(["--memory", limit] if limit else []))]
        plan = bench.tool.run(*given, "--plan")["plan"]
        planned = plan["bytes_peak"] / 1e6
        figures = [bench.resident(*given)[2] for _ in range(bench.runs(1))]
        bench.say(f"{name}: {max(figures):.0f} MB, planned {planned:.0f} MB")
        yield {"what": f"peak resident size, {name}", "unit": "MB",
               "command": shown("broad", *given), "ours": figures, "facts": {"plan": plan},
               "rivals": {"plan": rival([planned], shown("broad", *given, "--plan"), "ours/rival", least=0.9,
                                        most=1.1)}}
