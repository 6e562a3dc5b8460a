"""BSCRLS supervised by its score against BRLS, the same nodes, splits and seeds; presets chain and auto beside them."""
import concurrent.futures
import shutil
import statistics

from bench.tables.ranks import mean_ranks, rank
from bench.tables.splits import GIVEN, GivenTable, is_given
from bench.tool import Failure
from lab.experiments import trials
from lab.experiments.words import counted, interval, judged, machines, table

TITLE = "Supervision by the score, pair by pair"
METHODS = {"brls": ["--preset", "paper", "--kind", "brls"],
           "gcv": ["--preset", "paper", "--supervise", "gcv"],
           "chain": ["--preset", "chain"],
           "auto": []}
NAMES = {"brls": "BRLS", "gcv": "BSCRLS, gcv", "chain": "preset `chain`", "auto": "preset `auto`"}
PAIRED = ("brls", "gcv")
CHAINS = ("gcv", "chain", "auto")  # what has intervals and probabilities
SPLITS, FEW, MANY_ROWS = 10, 3, 8000  # tables with more training rows than that, and presets, have few splits
LEVEL, ENOUGH_ROWS = 0.9, 1000
COLUMNS = ("error", "layers", "seconds", "coverage", "calibration")


# ---- measuring ------------------------------------------------------------------------------------------------------


def run(lab, earlier=None):
    """Sets and methods that an earlier result has are not measured again."""
    known = {one["name"]: one for one in (earlier or {}).get("sets", [])}
    found = [one_set(lab, trial, known.pop(trial.name, {}).get("methods", {})) for trial in all_trials(lab)]
    return {"sets": [*found, *known.values()], "cost": (earlier or {}).get("cost") or cost(lab)}


def cost(lab):
    """Many rows, where hardly a draw is refused: a measurement of 'make bench'."""
    from bench.speed import measure, train
    size = lab.several("full", "tiny")
    bench = measure.Bench(lab.tool, "", size, lab.several(3, 1), lab.threads)
    bench.folder = lab.new_folder()
    found = measure.finish(train.score(bench), "train", size)
    shutil.rmtree(bench.folder)
    return found


def all_trials(lab):
    count = lab.several(SPLITS, 2)
    yield trials.of_photos(lab, count)
    if lab.quick or not (lab.tables or lab.given):
        rows = lab.several(300, 40)
        yield trials.made(lab, "friedman", "regress", trials.friedman, count, rows, rows)
        yield trials.made(lab, "spirals", "classify", trials.spirals, count, rows, rows)
        return
    for path in sorted(lab.tables.rglob("*.csv")) if lab.tables and lab.tables.is_dir() else []:
        yield trials.of_table(lab, path, count, None)
    for path in sorted(lab.given.glob("*.csv.gz")) if lab.given else []:
        if not path.name.endswith(".splits.csv.gz"):
            yield given_table(lab, path)


def given_table(lab, path):
    """Cut as the file beside it says."""
    if not is_given(path):
        raise Failure(f"{path.with_name(path.name.removesuffix(GIVEN))}.splits.csv.gz: no such file; it says which rows of "
                      f"{path.name} are for the test")
    table = GivenTable(path)
    return trials.cut(lab, table, path.name.removesuffix(GIVEN), min(SPLITS, table.most_splits))


def splits_of(lab, trial, method):
    """Presets are slow on many rows, and pairs of many rows vary little."""
    train = trial.splits[0][0]
    rows = 0
    if train.is_file():
        with open(train, "rb") as f:
            rows = sum(1 for _ in f) - 1
    few = rows > MANY_ROWS or method not in PAIRED
    return range(min(len(trial.splits), lab.several(FEW if few else SPLITS, 2)))


def one_set(lab, trial, known):
    lab.say(f"  {trial.name}")
    size = ["--features", "2x5", "--enhance", "10x5"] if lab.quick else []
    folder, jobs = lab.new_folder(), []
    for method, words in METHODS.items():
        if method not in known:
            more = size if method in PAIRED else ["--importance", "no"]
            jobs += [(method, [*trials.words_of(trial, number, [*words, *more]), "-o", folder / f"{method}{number}"])
                     for number in splits_of(lab, trial, method)]
    with concurrent.futures.ProcessPoolExecutor(lab.threads) as pool:
        outcomes = list(pool.map(outcome, [lab.tool] * len(jobs), [words for _, words in jobs]))
    found = dict(known)
    for method in dict.fromkeys(method for method, _ in jobs):
        mine = [one for (name, _), one in zip(jobs, outcomes) if name == method]
        found[method] = {"rows": mine[0]["rows"], **{what: trials.pack(one[what] for one in mine) for what in COLUMNS}}
    return {"name": trial.name, "task": trial.task, "methods": {name: found[name] for name in METHODS}}


def outcome(tool, words):
    """Of one command on one thread. Seconds are those of the processor; the worker runs nothing else meanwhile."""
    fit = tool.run(*words, "--threads", 1)
    words[-1].unlink()
    test, classify = fit["test"], fit["task"] == "classify"
    return {"rows": fit["rows"], "error": 1 - test["accuracy"] if classify else test["rmse"],
            "layers": len(fit["layers"]), "seconds": tool.cpu_seconds, "coverage": test.get("coverage"),
            "calibration": test.get("calibration_error")}


# ---- what the figures say -------------------------------------------------------------------------------------------


def values(one, method, what="error"):
    return trials.unpack(one["methods"][method][what])


def differences(one):
    """Of the error, BSCRLS less BRLS, split by split: below 0 is better."""
    return [a - b for a, b in zip(values(one, "gcv"), values(one, "brls"))]


def better(result):
    """Sets with the smaller mean error."""
    return [one["name"] for one in result["sets"] if statistics.fmean(differences(one)) < 0]


def verdicts(result):
    return [judged([-d for d in differences(one)], "better", "worse") for one in result["sets"]]


def photos(result):
    return next(one for one in result["sets"] if "photos" in one["name"])


def digits(value):
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def pairs(result):
    rows = []
    for one, verdict in zip(result["sets"], verdicts(result)):
        mean, half = interval(differences(one))
        before, after = (statistics.fmean(values(one, method)) for method in PAIRED)
        rows.append([one["name"], "wrong" if one["task"] == "classify" else "RMSE",
                     f"{one['methods']['gcv']['rows']:,}", len(differences(one)), digits(before), digits(after),
                     f"{'+' if mean > 0 else '−' if mean < 0 else ''}{digits(abs(mean))} ± {digits(half)}", verdict,
                     sum(d < 0 for d in differences(one)),
                     f"{statistics.fmean(values(one, 'gcv', 'layers')):.0f}"])
    return table(["data", "error", "training rows", "splits", "BRLS", "BSCRLS, gcv", "difference (95 %)", "verdict",
                  "splits better", "layers"], rows, left=2)


def ranked(result):
    """For each set the ranks of all methods, on the splits that all have."""
    sets = [one for one in result["sets"] if all(name in one["methods"] for name in METHODS)]
    for one in sets:
        count = min(len(values(one, method)) for method in METHODS)
        yield one, [statistics.fmean(values(one, method)[:count]) for method in METHODS]


def presets(result):
    found = list(ranked(result))
    if not found:
        return ""
    ranks = [rank(errors) for _, errors in found]
    rows = []
    for i, (name, place) in enumerate(zip(METHODS, mean_ranks(ranks))):
        spent = [statistics.fmean(values(one, name, "seconds")) for one, _ in found]
        rows.append([NAMES[name], f"{place:.2f}", sum(row[i] == min(row) for row in ranks),
                     f"{statistics.median(spent):.1f}", f"{max(spent):.1f}"])
    return table(["network", f"mean rank of {len(found)} data sets", "wins", "seconds, median", "seconds, most"], rows)


def errors(result):
    rows = [[one["name"], *(digits(error) for error in found),
             *(f"{statistics.fmean(values(one, name, 'seconds')):.1f}" for name in METHODS)]
            for one, found in ranked(result)]
    return table(["data", *NAMES.values(), *(f"{name}, s" for name in NAMES.values())], rows)


def means(result, what, wanted):
    """By set, the mean of a measure for each network that has it."""
    for one in result["sets"]:
        if wanted(one):
            yield one["name"], {name: statistics.fmean(values(one, name, what)) for name in CHAINS
                                if name in one["methods"]}


def measured(result, what, wanted):
    found = list(means(result, what, wanted))
    rows = [[name, *(f"{by[method]:.3f}" if method in by else "–" for method in CHAINS)] for name, by in found]
    return table(["data", *(NAMES[name] for name in CHAINS)], rows) if found else ""


def is_long_regression(one):
    return one["task"] == "regress" and one["methods"]["gcv"]["rows"] >= ENOUGH_ROWS


def is_classification(one):
    return one["task"] == "classify"


def coverage_words(result):
    found = list(means(result, "coverage", is_long_regression))
    said = []
    for method in CHAINS:
        mine = [by[method] for _, by in found if method in by]
        inside = sum(0.87 <= value <= 0.93 for value in mine)
        if mine:
            said.append(f"{NAMES[method]}: between 0.87 and 0.93 on {inside} of {len(mine)}, from {min(mine):.3f} to "
                        f"{max(mine):.3f}")
    return "; ".join(said) + "." if said else ""


def summary_words(result):
    told = verdicts(result)
    mean, half = interval([-d for d in differences(photos(result))])
    every = [d for one in result["sets"] for d in differences(one)]
    lost = [one["name"] for one in result["sets"] if one["name"] not in better(result)]
    return (f"BSCRLS with gcv has the smaller mean error on {len(better(result))} of {len(result['sets'])} data sets, "
            f"beyond chance on {told.count('better')}; the larger one beyond chance on {told.count('worse')}"
            f"{' (not smaller: ' + ', '.join(lost) + ')' if lost else ''}. Of {len(every)} pairs of runs it has the "
            f"smaller error in {sum(d < 0 for d in every)}, the larger one in {sum(d > 0 for d in every)}. "
            f"On the photos its accuracy is higher by {mean:.3f} ± {half:.3f}.")


def cost_words(found):
    rival = found["rivals"]["brls"]
    return (f"Cost, {found['what']}: {rival['value']:.2f} times the seconds of BRLS ({found['summary']['median']:.1f} and "
            f"{rival['summary']['median']:.1f} s in the median of {counted(len(found['ours']), 'run')}; {found['note']}).")


def text(result):
    parts = [summary_words(result), pairs(result), cost_words(result["cost"])]
    if presets(result):
        parts += [f"All four, on the first {FEW} splits, the ones that all of them have; seconds are processor seconds "
                  f"of the whole command on one thread, without the importance of columns. {machines(result)}",
                  presets(result), errors(result)]
    if coverage_words(result):
        parts += [f"Coverage of {100 * LEVEL:.0f} % intervals on new rows, regressions with at least {ENOUGH_ROWS:,} "
                  f"training rows. {coverage_words(result)}", measured(result, "coverage", is_long_regression)]
    parts += ["Calibration error of the probabilities on new rows (mean gap between the probability of the "
              "predicted class and how often it is right):", measured(result, "calibration", is_classification)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def pictures(result):
    return {}
