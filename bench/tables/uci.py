"""The benchmark on tables with given splits: which methods, and its results as Markdown."""
import statistics

from bench.marks import listed, paragraphs
from bench.tables import compare, diagram, ranks
from bench.tables.report import (count, failure_lines, figure_table, footnotes, measured_of, methods_of, quality_table,
                                 rank_lines, rank_rows, section, short, table_lines, time_table)
from bench.tables.stored import elsewhere, processor
from bench.tool import Failure

DEPTH = 4
# Options of 'broad fit'. The first network is the one that everything is compared with.
NETWORKS = {
    "auto": [],
    "auto-fast": ["--effort", "fast"],
    "auto-thorough": ["--effort", "thorough"],
    "chain": ["--preset", "chain"],
    "brls": ["--preset", "paper", "--kind", "brls"],
    "bls": ["--kind", "bls"],
    "before": [],
}
BEFORE = "before"  # by an earlier tool: compared table by table, and not ranked
# The first network with another effort, or with all the nodes that its rows allow: in pairs only, as ranks among themselves would say nothing.
VARIANTS = ["auto-fast", "auto-thorough", "bls"]
RIVALS = {"ridge": "ridge", "svm": "SVM, grid-searched", "forest": "random forest", "extra": "extremely randomised trees",
          "boosting": "boosting", "boosting-early": "boosting, stopped early", "boosting-grid": "boosting, grid-searched",
          "xgboost": "xgboost", "mlp": "MLP"}
LIMITS = {"svm": {"search": 1000, "fit": 8000}, "boosting-grid": {"search": 8000}}
TITLES = {"classify": "Accuracy on the test rows", "regress": "RMSE on the test rows"}
QUALITY_TITLES = {"log_likelihood": "Log-likelihood of a test target", "calibration_error": "Calibration error",
                  "coverage": "Part of the test values within the 90 % interval"}
# Of these tables with these 20 splits (protein: 5): RMSE, its standard error where it is known, log-likelihood.
PUBLISHED = {
    "source": "MC dropout with a grid search, from the repository of Gal and Ghahramani",
    "tables": {
        "standard/concrete": {"rmse": 4.82, "standard_error": 0.16, "log_likelihood": -2.93},
        "standard/energy": {"rmse": 0.54, "standard_error": 0.06, "log_likelihood": -1.21},
        "standard/kin8nm": {"rmse": 0.0789, "log_likelihood": 1.14},
        "standard/power_plant": {"rmse": 4.01, "standard_error": 0.04, "log_likelihood": -2.80},
        "standard/protein": {"rmse": 4.27, "standard_error": 0.02, "log_likelihood": -2.87},
        "standard/wine_quality_red": {"rmse": 0.62, "standard_error": 0.01, "log_likelihood": -0.93},
        "standard/yacht": {"rmse": 0.67, "standard_error": 0.05, "log_likelihood": -1.25},
    },
}


def make(found):
    measured = measured_of(found)
    methods = ranked_methods(found, measured)
    if not methods:
        return "\n".join(section("Not measured", failure_lines(found["failed"]))) + "\n"
    all_methods = [method for method in methods_of(found, measured) if method != BEFORE]
    parts = [introduction(found, measured, all_methods)]
    for task, title in TITLES.items():
        of_task = [m for m in measured if m.table.task == task]
        if of_task:
            parts.append(section(title, [*figure_table(of_task, all_methods, ""), *footnotes(of_task)]))
    parts.append(section("Mean ranks by the error", rank_lines(measured, methods)))
    parts += [section(title, lines) for title, lines in more_tables(found, measured, methods) if lines]
    if found["failed"]:
        parts.append(section("Not measured", failure_lines(found["failed"])))
    return "\n".join(line for part in parts for line in part) + "\n"


def ranked_methods(found, measured):
    """Those that have results on every table."""
    return [method for method in methods_of(found, measured)
            if method not in [BEFORE, *VARIANTS] and all(method in m.results for m in measured)]


def more_tables(found, measured, methods):
    """(title, lines)"""
    others = [method for method in methods_of(found, measured) if method not in [*methods, BEFORE]]
    yield "Pairs of methods", list(compare.pair_lines(measured, [*methods, *others]))
    likely = with_likelihood(measured, methods)
    yield "Mean ranks by the log-likelihood", list(rank_lines(*likely, "log_likelihood")) if len(likely[1]) > 1 else []
    yield "Beside published figures", list(compare.published_lines(found["published"], methods[0]))
    yield "Before and after", list(compare.before_lines(measured, BEFORE, methods[0], elsewhere(found).get(BEFORE)))
    yield "What auto promises", list(compare.promise_lines(found.get("alone", []), methods[0]))
    yield ("How far the estimate is from the test error",
           list(compare.gap_lines(measured, methods_of(found, measured))))
    for name, title in QUALITY_TITLES.items():
        yield title, list(quality_table(measured, methods, name))
    yield "Seconds of training", list(time_lines(found, measured, methods))


def time_lines(found, measured, methods):
    away = {name: where for name, where in elsewhere(found).items() if name in methods}
    yield from time_table(measured, methods, away)
    if away:
        yield ""
        yield from paragraphs(f"On another machine, {listed(dict.fromkeys(away.values()))}: {listed(away)}.")


def with_likelihood(measured, methods):
    """The regressions, and the methods that have a likelihood on all of them."""
    regressions = [m for m in measured if m.table.task == "regress"]
    return regressions, [method for method in methods
                         if regressions and all(m.has(method, "log_likelihood") for m in regressions)]


def introduction(found, measured, methods):
    numbers = sorted({len(results) for m in measured for results in m.results.values()})
    splits = f"{numbers[0]} to {count(numbers[-1], 'split')}" if len(numbers) > 1 else count(numbers[0], "split")
    lines = [f"Machine: {found['machine']}; {found['rivals']}. {splits} of each table, {count(found['threads'], 'thread')}."]
    for run in found.get("stored", []):
        where = f" on {listed(run['tables'])}" if "tables" in run else ""
        lines += ["", *paragraphs(f"Of an earlier run, on {run['machine']}: {listed(run['methods'])}{where}.")]
    lines += ["", *paragraphs(*absent_words(measured))]
    commands = [f"broad fit TRAIN.csv --test TEST.csv {' '.join(found['networks'][method])}".rstrip() + f"  # {method}"
                for method in methods if method in found["networks"]]
    return lines + (["", "```sh", *commands, "```"] if commands else [])


def absent_words(measured):
    """What this run lacks."""
    counts = {name: sum(name in m.results for m in measured) for name in [*NETWORKS, *RIVALS] if name != BEFORE}
    never = [name for name, number in counts.items() if not number]
    some = [f"{name} on {number} of {len(measured)} tables" for name, number in counts.items() if 0 < number < len(measured)]
    if never or some:
        said = ([f"without {listed(never)}"] if never else []) + ([f"{listed(some)} only"] if some else [])
        yield f"This run is {', with '.join(said)}."


# ---- what the pages say about it ------------------------------------------------------------------------------------


DECIDING = ["auto", "brls", "ridge", "forest", "extra", "boosting", "mlp"]  # without these there is nothing to tell
NAMES = {"auto": "`broad fit`", **RIVALS}


def short_table(measured, methods, shown):
    rows = rank_rows(measured, methods)
    means = dict(zip(methods, ranks.mean_ranks(rows)))
    best = min(means.values())
    cells = []
    for name in shown:
        mean, first = "", ""
        if name in means:
            mean = f"**{means[name]:.1f}**" if means[name] == best else f"{means[name]:.1f}"
            first = sum(row[methods.index(name)] == min(row) for row in rows)
        seconds = sum(m.mean(name, "cpu_seconds") for m in measured if name in m.results)
        time = f"{short(seconds)} s" if name in means else ""
        few = "" if name in means else f" (on {sum(name in m.results for m in measured)} tables)"
        cells.append([NAMES[name] + few, mean, str(first), *against(measured, shown[0], name), time])
    return table_lines(["", f"mean rank of {len(methods)}", "best on", f"{NAMES[shown[0]]} is better, worse on", "p",
                        "processor time"], cells)


def against(measured, first, other):
    if first == other:
        return ["", ""]
    differences = compare.relative(measured, first, other)
    counts = f"{sum(d < 0 for d in differences)}, {sum(d > 0 for d in differences)}"
    return [counts, compare.chance_text(differences)]


def in_short(found):
    measured = measured_of(found)
    methods = ranked_methods(found, measured)
    shown = [methods[0], *(name for name in RIVALS if name in methods_of(found, measured))]
    given = sum("/" in m.table.name for m in measured)
    begin = (f"Plain `broad fit` on {len(measured)} public tables, {given} of them with splits that others have published on, "
             f"against {found['rivals']}: mean rank (1 is best), number of tables, and Wilcoxon's test over the tables "
             f"(`make bench-uci DATA=FOLDER TABLES=FOLDER`; {machines(found, shown)}, {count(found['threads'], 'thread')}).")
    return "\n".join([*paragraphs(begin), "", *short_table(measured, methods, shown), "", *paragraphs(verdict(found))]) + "\n"


def machines(found, shown):
    """Where the methods that are shown were measured."""
    away = {name: where for name, where in elsewhere(found).items() if name in shown}
    groups = {where: [name for name in away if away[name] == where] for where in away.values()}
    words = [processor(found["machine"])]
    for where, names in groups.items():
        others = len(names) == len(shown) - 1 and shown[0] not in names
        words.append(f"{'the others' if others else listed(NAMES.get(name, name) for name in names)} on {where}")
    return ", ".join(words)


def verdict(found):
    """What the tests say, in words."""
    measured = measured_of(found)
    methods = ranked_methods(found, measured)
    first = methods[0]
    means = dict(zip(methods, ranks.mean_ranks(rank_rows(measured, methods))))
    place = 1 + sum(mean < means[first] for mean in means.values())
    difference = ranks.critical_difference(len(methods), len(measured))
    words = (f"`broad fit` has the mean rank {means[first]:.2f}, place {place} of {len(methods)}; two mean ranks differ at the 5 % "
             f"level if they are {difference:.1f} apart.")
    return " ".join([words, *pair_words(measured, first), *promise_words(found, measured, first), *published_words(found, first)])


def pair_words(measured, first):
    pairs = {name: compare.relative(measured, first, name) for name in RIVALS}
    judged = {name: compare.significant(differences) for name, differences in pairs.items() if len(differences) > 1}
    clauses = [f"{said} {listed(RIVALS[name].replace(', ', ' ') for name in judged if judged[name] == sign)}"
               for sign, said in ((-1, "better than"), (0, "level with"), (1, "worse than")) if sign in judged.values()]
    if clauses:
        yield f"Pair by pair (p < 0.05) it is {'; '.join(clauses)}."


def promise_words(found, measured, first):
    """By all splits that the first method has."""
    more = compare.promised(found.get("alone", []), first)
    measured = more or measured
    gap = [value for value in compare.gaps(measured, first) if value is not None]
    covered = [100 * m.mean(first, "coverage") for m in measured if m.has(first, "coverage")]
    if covered and gap:
        yield (f"Its intervals of 90 % cover {statistics.mean(covered):.1f} % of the test values in the mean over the regressions "
               f"({min(covered):.0f} to {max(covered):.0f} %). The mean over the tables of (test error − estimate)/test error is "
               f"{100 * statistics.mean(gap):+.1f} %{pooled_words(more, first)}.")


def pooled_words(measured, first):
    pooled = [value for value in (compare.pooled_gap(m, first) for m in measured) if value is not None]
    return f" ({100 * statistics.mean(pooled):+.1f} % by squares)" if pooled else ""


def published_words(found, first):
    tables, errors, likelihoods = compare.published_beaten(found["published"], first)
    numbers = sorted({len(one["results"].get(first, [])) for one in found["published"]["measured"]} or {0})
    splits = f"{numbers[0]} to {numbers[-1]} splits" if len(numbers) > 1 else count(numbers[0], "split")
    if tables:
        yield (f"Its RMSE is better than the published one on {errors} of {tables} standard tables, its log-likelihood on "
               f"{likelihoods} (the first {splits}, where 20 are published).")


def parts(found):
    figures = make(found).replace("\n## ", "\n### ")
    return {"docs/tables.md": {"figures": figures, "verdict": "\n".join(paragraphs(verdict(found))) + "\n"},
            "README.md": {"in short": in_short(found)}}


def draw(found, path):
    measured = measured_of(found)
    methods = ranked_methods(found, measured)
    means = ranks.mean_ranks(rank_rows(measured, methods))
    difference = ranks.critical_difference(len(methods), len(measured))
    caption = f"mean rank over {len(measured)} tables, 1 is best"
    path.write_text(diagram.make(methods, means, difference, caption), encoding="utf-8")


PICTURES = {"images/uci-ranks.svg": draw}


def whole(found):
    missing = [name for name in DECIDING if not all(name in one["results"] for one in found["tables"])]
    if missing or any(failure["method"] != "xgboost" for failure in found["failed"]):
        raise Failure(f"no whole run: without {', '.join(missing) or 'nothing'}, {len(found['failed'])} failed; "
                      "run 'make bench-uci'")
