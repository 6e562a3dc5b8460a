"""Results of scripts/bench_schedules as Markdown, for docs/mathematics.md."""
import statistics

from bench.images.report import table
from bench.marks import paragraphs
from bench.tool import Failure

TABLES = [0.005, 0.05]  # c of harmonic:c; the first is the default
GAINS, EVERY = "letter", 10


def gains(found):
    """How much layer m takes off the norm, times m."""
    one = found["gains"][0]
    values = [m * (1 - one["ratios"][m - 1]) for m in range(EVERY, len(one["ratios"]) + 1, EVERY)]
    text = (f"On the {one['name']} table `m · (1 − ratio)` lies between {min(values):.2f} and {max(values):.2f} at every "
            f"{EVERY}th of {len(one['ratios'])} layers (`broad fit {one['name']}.csv --preset paper --kind brls --json`).")
    return "\n".join(paragraphs(text)) + "\n"


def percent(ratio):
    return f"{100 * (1 - ratio):.2f} %"


def noise_row(one):
    layers = len(one["draws"])
    draws = ", ".join(map(str, one["draws"])) + ("" if one["status"] == "complete" else f", then {one['status']}")
    best = f"{percent(max(one['ratios'][1:]))} to {percent(min(one['ratios'][1:]))}" if layers > 1 else ""
    relaxed = ", ".join(str(m) for m, times in enumerate(one["relaxed"], 1) if times)
    return [str(one["c"]), percent(1 - one["c"] * 2 / 9), draws, best, relaxed]


def noise(found):
    head = ["C", "layer 2 must shrink the norm by", "draws of each layer", "layers 2 to 5 shrink it by", "bound relaxed for layer"]
    stalled = [f"With C = {one['c']}: {one['reason']}." for one in found["noise"] if one["status"] != "complete"]
    return "\n".join([*table(head, [noise_row(one) for one in found["noise"]]), *([""] if stalled else []),
                      *paragraphs(*stalled)]) + "\n"


def cell(runs, task):
    value = statistics.fmean(run["value"] for run in runs)
    return f"{value:.4f}" if task == "classify" or value < 0.5 else f"{value:.3f}" if value < 1 else f"{value:#.3g}"


def draws(runs):
    stalled = sum(run["status"] == "stalled" for run in runs)
    return f"{statistics.fmean(run['draws'] for run in runs):,.0f}" + (f", {stalled} of {len(runs)} stalled" if stalled else "")


def tables(found):
    rows = []
    for one in found["tables"]:
        sides = [one["schedules"][str(c)] for c in TABLES]
        rows.append([one["name"] + (" (`--missing mean`)" if one["missing"] else ""),
                     "accuracy" if one["task"] == "classify" else "RMSE", *(cell(runs, one["task"]) for runs in sides),
                     *(draws(runs) for runs in sides)])
    return table(["table", "", *(f"C = {c}" for c in TABLES), *(f"draws, C = {c}" for c in TABLES)], rows, 2)


def words(found):
    usual, tight = (str(c) for c in TABLES)
    apart, ratios, draws_of = [], [], []
    for one in found["tables"]:
        means = {c: statistics.fmean(run["value"] for run in one["schedules"][c]) for c in (usual, tight)}
        counts = {c: statistics.fmean(run["draws"] for run in one["schedules"][c]) for c in (usual, tight)}
        draws_of.append(counts[tight] / counts[usual])
        if one["task"] == "classify":
            apart.append(means[tight] - means[usual])
        else:
            ratios.append((means[tight] / means[usual], one["name"]))
    low, high = min(ratios), max(ratios)
    text = (f"Demanding ten times as much changes the accuracy by {100 * min(apart):+.2f} to {100 * max(apart):+.2f} points and "
            f"the RMSE by factors of {low[0]:.2f} ({low[1]}) to {high[0]:.2f} ({high[1]}), for up to {max(draws_of):.0f} times "
            "the draws. Where layers can hardly meet the bound, the search goes to wide ranges, whose nodes reach a small "
            "training norm and may fail on new rows.")
    return paragraphs(text)


def parts(found):
    tight = "\n".join([*tables(found), "", *words(found)]) + "\n"
    return {"docs/mathematics.md": {"gains": gains(found), "noise": noise(found), "tables": tight}}


def whole(found):
    missing = [name for name in ("gains", "noise", "tables") if not found.get(name)]
    if missing:
        raise Failure(f"no whole run: without {', '.join(missing)}")
