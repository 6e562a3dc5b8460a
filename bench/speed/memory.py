"""Peak resident size against what the plan says of it, in memory and under a limit."""
import array
import random

from bench.speed.measure import shown

TITLE = "memory"
PAPER = ["--preset", "paper"]
CHAIN = ["--features", "10x10", "--enhance", "100x10"]
# What, rows, columns with the target, words, limit.
CASES = [
    ("brls", 20_000, 785, ["--kind", "brls", *PAPER, *CHAIN], None),
    ("bscrls", 200_000, 21, ["--kind", "bscrls", *PAPER, *CHAIN], None),
    ("bls, joint weights", 20_000, 101, ["--kind", "bls", *PAPER, "--features", "10x10", "--enhance", "1000x1"], None),
    ("brls", 1_793, 12_289, ["--kind", "brls", *PAPER, *CHAIN], None),
    ("brls", 20_000, 785, ["--kind", "brls", *PAPER, *CHAIN], "64M"),
    ("bscrls", 200_000, 21, ["--kind", "bscrls", *PAPER, *CHAIN], "64M"),
    ("bls, joint weights", 20_000, 101, ["--kind", "bls", *PAPER, "--features", "10x10", "--enhance", "1000x1"], "96M"),
]


def make_npy(bench, name, rows, columns):
    """Numbers of one kind only: what they are does not matter to their size. The last column has two values."""
    random.seed(1)
    line = array.array("d", (random.random() for _ in range(columns + rows)))
    with open(bench.path(name), "wb") as file:
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
        head += " " * (63 - (len(head) + 10) % 64) + "\n"
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("ascii"))
        for i in range(rows):
            file.write((line[i:i + columns - 1] + array.array("d", [i % 2])).tobytes())
    return bench.path(name)


def make_rows(bench, rows, columns):
    if columns > 1000:
        return [make_npy(bench, "rows.npy", rows, columns), "--task", "classify"]
    bench.make_csv("rows.csv", rows, columns)
    return [bench.path("rows.csv")]


def run(bench):
    for what, rows, columns, words, limit in CASES:
        rows = bench.pick(rows, rows // 4, 500)
        given = ["fit", *make_rows(bench, rows, columns), *words, *(["--memory", limit] if limit else []), "--threads",
                 bench.threads, "-o", bench.path("memory.broad")]
        plan = bench.tool.run(*given, "--plan")["plan"]
        _, _, peak = bench.resident(*given)
        name = f"{what} {rows:,} x {columns - 1:,}" + (f", --memory {limit}" if limit else "")
        yield {"what": f"peak resident size, {name}", "unit": "MB", "command": shown("broad", *given), "ours": [peak],
               "rivals": {"plan": {"command": "--plan", "figures": [plan["bytes_peak"] / 1e6], "ratio": "ours/rival",
                                   "least": 0.9, "most": 1.1}},
               "facts": {"plan": plan}}
