"""The pass over the rows that a layer is made of, each of its products, and whole layers, against OpenBLAS's
products on the same threads."""
from bench.speed.measure import rival
from bench.speed.train import Chains

TITLE = "passes over the rows"
SIZES = (1000, 2000, 4000)  # of square products; OpenBLAS is at its best with one of the larger ones


def run(bench):
    import numpy as np
    chains = Chains(bench, bench.pick(60000, 6000, 2000), bench.pick(784, 100, 20), 10, bench.pick(50, 20, 2))
    work = chains.numpy.flops(chains.rows, 0, chains.classes, chains.layers)
    square = np.random.default_rng(3).random((max(SIZES), max(SIZES)))

    def ours():
        chains.ours("brls")()
        return work / chains.said["brls"]["seconds"]["layers"] / 1e9

    def product(size):
        a = np.ascontiguousarray(square[:size, :size])
        out = np.empty_like(a)

        def side():
            return 2 * size ** 3 / chains.numpy.timed(np.matmul, a, a, out)[0] / 1e9
        return side

    sizes = bench.pick(SIZES, SIZES[:2], SIZES[:1])
    sides = {"layers": ours, **{f"dgemm {size}": product(size) for size in sizes}}
    found = bench.in_turns(sides, bench.runs(5))
    best = max(sizes, key=lambda size: sorted(found[f"dgemm {size}"])[bench.runs(5) // 2])
    for measurement in bench.standard_program("bench_kernels", bench.runs(5, 1)):
        with_goal = any("least" in side for side in measurement["rivals"].values())
        yield measurement if with_goal else {**measurement, "section": "Kernels"}
    yield {"what": f"layers of brls, {chains.size()}", "unit": "GFLOP/s", "command": chains.command("brls"),
           "ours": found["layers"],
           "rivals": {"dgemm of OpenBLAS": rival(found[f"dgemm {best}"], f"numpy.matmul(a, a), {best:,} x {best:,}",
                                                 "ours/rival", least=0.6)},
           "facts": {"flops": work, "products": {str(size): found[f"dgemm {size}"] for size in sizes}},
           "note": "flops of the layers' products, of a Gram matrix one half, over the seconds of all layers, with "
                   "activations, solutions and residuals in them"}
