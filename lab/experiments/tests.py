"""The supervision tests side by side."""
import math
import statistics

from lab.experiments import trials
from lab.experiments.words import mean_sd, table
from bench.tool import Failure

TITLE = "The supervision tests compared"
JOINT = ["--weights", "joint", "--lambda", "auto"]
# λ by leave-one-out for every draw is expensive: three draws per layer, as in preset auto.
FEW = ["--tries", "1", "--range-steps", "1,0.5,2"]
TESTS = {"none": ["--kind", "brls"], "residual": [], "residual, harmonic:0.05": ["--gamma", "harmonic:0.05"],
         "residual, harmonic:0.3": ["--gamma", "harmonic:0.3"], "loo": ["--supervise", "loo"],
         "operator": ["--supervise", "operator"], "gcv": ["--supervise", "gcv"],
         "none, joint weights": ["--kind", "brls", *JOINT],
         "loo, joint weights": ["--supervise", "loo", *JOINT, *FEW]}
# With layers as wide as there are rows, ten of them, where there are few: there the paper's inequality can hold.
WIDE, WIDE_ROWS = {"none, wide layers": ["--kind", "brls"], "operator, wide layers": ["--supervise", "operator"]}, 320
TABLES, MOST = [("classification", "sonar"), ("classification", "satimage"), ("regression", "yacht"),
                ("regression", "concrete")], 700
COLUMNS = ("result", "norm", "layers", "draws", "seconds")


def run(lab, earlier=None):
    count = lab.several(5, 2)
    sets = [trials.of_photos(lab, count), *trials.of_tables(lab, TABLES, count, MOST)]
    if len(sets) == 1:
        rows = lab.several(300, 40)
        sets.append(trials.made(lab, "friedman", "regress", trials.friedman, count, rows, rows))
        if not lab.quick:
            sets.append(trials.made(lab, "spirals", "classify", trials.spirals, count, rows, rows))
    known = {one["name"]: one for one in (earlier or {}).get("sets", [])}
    return {"splits": count, "sets": [add_to(lab, trial, known[trial.name]) if trial.name in known else
                                      one_set(lab, trial) for trial in sets]}


def add_to(lab, trial, known):
    """Tests that the earlier result of this data set does not have."""
    lab.say(f"  {trial.name}")
    found = {name: several(lab, trial, [*words, *size_of(lab)]) for name, words in TESTS.items()
             if name not in known["tests"]}
    for one in found.values():
        one.pop("rows")
    both = {**known["tests"], **found}
    return {**known, "tests": {name: both[name] for name in (*TESTS, *WIDE) if name in both}}


def size_of(lab):
    return ["--features", "2x5", "--enhance", "10x5"] if lab.quick else []


def one_set(lab, trial):
    lab.say(f"  {trial.name}")
    size = size_of(lab)
    found = {name: several(lab, trial, [*words, *size]) for name, words in TESTS.items()}
    rows = found["none"].pop("rows")
    if rows <= WIDE_ROWS:
        found.update((name, several(lab, trial, [*words, *size[:2], "--enhance", f"{rows}x{lab.several(10, 3)}"]))
                     for name, words in WIDE.items())
    for one in found.values():
        one.pop("rows", None)
    return {**trial.describe(), "rows": rows, "tests": found}


def several(lab, trial, words):
    """All splits with one test, or the error that the tool gives at once."""
    outcomes, rows = [], 0
    for number in range(len(trial.splits)):
        try:
            fit = lab.run(*trials.words_of(trial, number, ["--preset", "paper", *words]), "-o", lab.work / "model")
        except Failure as failure:
            return {"error": str(failure), "rows": rows}
        outcomes.append(trials.outcome(fit))
        rows = max(rows, fit["rows"])
    return {**{what: trials.pack(one[what] for one in outcomes) for what in COLUMNS}, "rows": rows,
            "stalled": sum(one["status"] == "stalled" for one in outcomes),
            "reason": next((one["reason"] for one in outcomes if one["reason"]), "")}


# ---- what the figures say -------------------------------------------------------------------------------------------

def mean(one, what="result"):
    return statistics.fmean(trials.unpack(one[what]))


def better(task, a, b):
    return a > b if task == "classify" else a < b


def norm_cell(values):
    typical = statistics.fmean(values)
    return mean_sd(values) if typical >= 0.001 else f"{typical:.0e}"


def rows_of(one):
    for name, found in one["tests"].items():
        if "error" in found:
            yield [name, "–", "–", "–", "–", "–", "refused at once"]
            continue
        values = {what: trials.unpack(found[what]) for what in COLUMNS}
        status = f"{found['stalled']} of {len(values['norm'])} stalled" if found["stalled"] else "complete"
        yield [name, mean_sd(values["result"]), norm_cell(values["norm"]), mean_sd(values["layers"], 0),
               mean_sd(values["draws"], 0), mean_sd(values["seconds"], 2), status]


def pairs(one, name, other="none"):
    """Splits in which a test gives a better result than another one, and a worse one."""
    both = list(zip(trials.unpack(one["tests"][name]["result"]), trials.unpack(one["tests"][other]["result"])))
    return sum(better(one["task"], a, b) for a, b in both), sum(better(one["task"], b, a) for a, b in both)


def tally(result, name, other="none"):
    """Over all sets: sets in which the mean is better, worse; splits that are better, worse; the factor in time."""
    sets = [one for one in result["sets"] if "result" in one["tests"].get(name, {})]
    gain = [(mean(one["tests"][name]), mean(one["tests"][other]), one["task"]) for one in sets]
    splits = [pairs(one, name, other) for one in sets]
    factors = [mean(one["tests"][name], "seconds") / mean(one["tests"][other], "seconds") for one in sets]
    return {"sets": len(sets), "better": sum(better(task, a, b) for a, b, task in gain),
            "worse": sum(better(task, b, a) for a, b, task in gain),
            "up": sum(a for a, _ in splits), "down": sum(b for _, b in splits),
            "slower": statistics.median(factors) if factors else None}


def verdicts(result):
    rows = []
    for name in (*TESTS, *WIDE):
        other = "none, wide layers" if name in WIDE else "none"
        told = tally(result, name, other)
        if name == other or not told["sets"]:
            continue
        rows.append([name, f"{told['better']}, {told['worse']}", f"{told['up']}, {told['down']}",
                     f"{told['slower']:.1f}", told["sets"]])
    heads = ["test, against none", "means better, worse", "splits better, worse", "factor in seconds", "data sets"]
    return table(heads, rows)


def words_on(result):
    """The plain word, from the counts alone."""
    plain, loo = tally(result, "residual"), tally(result, "loo")
    lines = []
    same = plain["sets"] - plain["better"] - plain["worse"]
    lines.append(f"`residual` with the default schedule gives the same mean result as no test in {same} of "
                 f"{plain['sets']} data sets, a better one in {plain['better']} and a worse one in {plain['worse']}.")
    lines.append(f"`loo` predicts better than no test in {loo['better']} of {loo['sets']} on average and worse in "
                 f"{loo['worse']}, and in {loo['up']} splits against {loo['down']}, for {loo['slower']:.1f} times the "
                 "seconds in the median.")
    score = tally(result, "gcv")
    if score["sets"]:
        lines.append(f"`gcv` predicts better than no test in {score['better']} of {score['sets']} on average and worse "
                     f"in {score['worse']}, and in {score['up']} splits against {score['down']}.")
    lowest = sum(mean(one["tests"]["residual, harmonic:0.3"], "norm") < mean(one["tests"]["none"], "norm")
                 for one in result["sets"])
    tight = tally(result, "residual, harmonic:0.3")
    lines.append(f"The tightest schedule has the smaller training norm in {lowest} of {tight['sets']}, and predicts "
                 f"better in {tight['better']} and worse in {tight['worse']}.")
    joint = tally(result, "none, joint weights")
    lines.append(f"Joint weights without any test predict better than the chain without one in {joint['better']} of "
                 f"{joint['sets']} and worse in {joint['worse']}.")
    refused = [one["name"] for one in result["sets"] if "error" in one["tests"]["operator"]]
    lines.append(f"`operator` cannot hold with layers of the paper's width on {', '.join(refused) or 'none of them'}.")
    return " ".join([*lines, worth(result)]) + "\n"


def worth(result):
    """Which test of a chain, by data sets won less data sets lost; of equal ones that with more splits won."""
    told = {name: tally(result, name) for name in TESTS if name not in ("none", "operator") and "joint" not in name}
    name, best = max(told.items(), key=lambda one: (one[1]["better"] - one[1]["worse"], one[1]["up"] - one[1]["down"]))
    if best["better"] <= best["worse"]:
        return ("Judged by new rows, no test of a chain is worth its draws here; what a test gives is a certificate "
                "and, with `loo`, a small network.")
    chance = "would also give" if by_chance(best["up"], best["down"]) > 0.05 else "alone would hardly give"
    return (f"Judged by new rows, `{name}` does best among the tests of a chain, {best['better']} data sets better and "
            f"{best['worse']} worse than none; by splits it is {best['up']} to {best['down']}, which chance {chance}.")


def by_chance(up, down):
    """How often a fair coin gives so uneven a count, either way (sign test; splits overlap, so it is a rough guide)."""
    count, more = up + down, max(up, down)
    return min(1, 2 * sum(math.comb(count, k) for k in range(more, count + 1)) / 2 ** count)


def text(result):
    parts = [f"{result['splits']} splits and seeds, preset `paper` except as the name of a row says. Draws are "
             "those of the kept layers.\n"]
    for one in result["sets"]:
        measure = "accuracy" if one["task"] == "classify" else "RMSE"
        parts += [f"**{one['name']}**, {one['rows']} training rows:\n",
                  table(["test", measure, "training norm", "layers", "draws", "seconds", "status"], rows_of(one))]
    refusals = [one["tests"]["operator"] for one in result["sets"]]
    said = next((one["error"] for one in refusals if "error" in one), None)
    parts += [f"What the tool says where `operator` cannot hold: “{said}”.\n"] if said else []
    return "\n".join([*parts, verdicts(result), words_on(result)])


def pictures(result):
    return {}
