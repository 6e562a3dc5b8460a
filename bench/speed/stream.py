"""A CSV that is larger than the memory allowed for it: peak resident size and time; and the same bytes as in memory."""
from bench.speed.measure import shown
from bench.tool import Failure

TITLE = "training in bounded memory"
COLUMNS, TEXT_BYTES = 20, 180  # of a row: inputs and target, and about so many bytes as text
# A row of the file, the table and what is kept of a layer, if all of it is spilled.
DISK_BYTES = TEXT_BYTES + 8 * (COLUMNS + 1) + 8 * 50


def words(bench, data, model, memory):
    bounded = ["--memory", memory] if memory else []
    return ["fit", bench.path(data), "--kind", "bscrls", "--preset", "paper", "--features", "5x10", "--enhance", "50x4",
            *bounded, "--threads", bench.threads, "-o", bench.path(model)]


def same_bytes(bench, rows):
    bench.make_csv("small.csv", rows, COLUMNS)
    models = []
    for memory in None, "64M":
        bench.tool.run(*words(bench, "small.csv", "small.broad", memory))
        models.append(bench.path("small.broad").read_bytes())
    if models[0] != models[1]:
        raise Failure(f"{rows:,} rows in bounded memory give another model than in memory")


def run(bench):
    rows, memory, most = bench.pick((20_000_000, "512M", 600), (200_000, "64M", None), (2_000, "64M", None))
    bench.needs_disk(rows * DISK_BYTES)
    same = bench.pick(500_000, 200_000, 2_000)
    same_bytes(bench, same)
    size = bench.make_csv("large.csv", rows, COLUMNS)
    given = words(bench, "large.csv", "large.broad", memory)
    said, seconds, peak = bench.resident(*given)
    bench.say(f"{peak:.0f} MB, {seconds:.0f} s")
    command, what = shown("broad", *given), f"{rows:,} x {COLUMNS}, {size / 1e9:.2f} GB of CSV, --memory {memory}"
    note = f"with {same:,} rows the model has the same bytes as in memory"
    yield {"what": f"peak resident size, {what}", "unit": "MB", "command": command, "ours": [peak], "note": note,
           **({"most": most} if most else {})}
    yield {"what": f"the whole command, {what}", "unit": "s", "command": command, "ours": [seconds],
           "facts": {"seconds": said["seconds"]}}
