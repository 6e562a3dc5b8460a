"""Peak resident size of a run against what its plan said before."""
from bench.speed.measure import shown

TITLE = "memory against the plan"


def cases(bench):
    """By name: rows, columns, options of the network."""
    chain = ["--preset", "paper", "--features", "10x10", "--enhance", bench.pick("100x10", "100x4", "20x2")]
    joint = ["--kind", "bls", "--preset", "paper", "--features", "10x10", "--feature-weights", "random", "--enhance",
             bench.pick("3000x1", "500x1", "50x1"), "--lambda", "1e-2"]
    rows = bench.pick(60000, 10000, 1000)
    yield "brls", rows, 784, ["--kind", "brls", *chain]
    yield "bscrls", rows, 784, ["--kind", "bscrls", *chain]
    yield "bscrls, few columns", 10 * rows, 20, ["--kind", "bscrls", *chain]
    yield "brls, few rows", bench.pick(1793, 500, 200), bench.pick(12288, 3072, 100), ["--kind", "brls", *chain]
    yield "bls, joint weights", bench.pick(30000, 5000, 1000), 100, joint


def run(bench):
    import numpy as np
    from bench.speed.numpy_chain import waves
    for name, rows, columns, network in cases(bench):
        x, labels = waves(rows, columns, 3)
        np.save(bench.path("x.npy"), x)
        np.save(bench.path("y.npy"), labels)
        given = ["fit", bench.path("x.npy"), "--labels", bench.path("y.npy"), "--task", "classify", *network, "--threads",
                 bench.threads, "-o", bench.path("model.broad")]
        plan = bench.tool.run(*given, "--plan")["plan"]
        planned = (plan["bytes_data"] + plan["bytes_training"]) / 1e6
        figures = [bench.resident(*given)[2] for _ in range(bench.runs(2, 1))]
        bench.say(f"{name}: {max(figures):.0f} MB, planned {planned:.0f} MB")
        yield {"what": f"peak resident size, {name}, {rows:,} x {columns:,}", "unit": "MB", "command": shown("broad", *given),
               "ours": figures, "facts": {"plan": plan},
               "rivals": {"plan": {"command": shown("broad", *given, "--plan"), "figures": [planned], "ratio": "ours/rival",
                                   "least": 0.9, "most": 1.1}}}
