"""The benchmark on tables with given splits: which methods, and its results as Markdown."""
import statistics

from bench.marks import listed, paragraphs
from bench.tables import diagram, ranks
from bench.tables.report import (count, failure_lines, figure_table, footnotes, measured_of, methods_of, quality_table,
                                 rank_lines, rank_rows, section, short, table_lines, time_table)
from bench.tool import Failure

DEPTH = 4
# Options of 'broad fit'. The first network is the one that everything is compared with.
NETWORKS = {
    "auto": [],
    "chain": ["--preset", "chain"],
    "brls": ["--preset", "paper", "--kind", "brls"],
    "bls": ["--kind", "bls"],
}
RIVALS = {"ridge": "ridge", "svm": "SVM, grid-searched", "forest": "random forest", "extra": "extremely randomised trees",
          "boosting": "boosting", "boosting-early": "boosting, stopped early", "boosting-grid": "boosting, grid-searched",
          "xgboost": "xgboost", "mlp": "MLP"}
LIMITS = {"svm_search": 2000, "svm_fit": 8000, "boosting_search": 8000}
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
    methods = methods_of(found, measured)
    if not methods:
        return "\n".join(section("Not measured", failure_lines(found["failed"]))) + "\n"
    parts = [introduction(found, measured, methods)]
    for task, title in TITLES.items():
        of_task = [m for m in measured if m.table.task == task]
        if of_task:
            parts.append(section(title, [*figure_table(of_task, methods), *footnotes(of_task)]))
    parts.append(section("Mean ranks by the error", rank_lines(measured, methods)))
    parts += [section(title, lines) for title, lines in more_tables(found, measured, methods) if lines]
    if found["failed"]:
        parts.append(section("Not measured", failure_lines(found["failed"])))
    return "\n".join(line for part in parts for line in part) + "\n"


def more_tables(found, measured, methods):
    """(title, lines)"""
    yield "Pairs of methods", list(pair_lines(measured, methods))
    likely = with_likelihood(measured, methods)
    yield "Mean ranks by the log-likelihood", list(rank_lines(*likely, "log_likelihood")) if len(likely[1]) > 1 else []
    yield "Beside published figures", list(published_lines(found, measured, methods))
    yield "How far the estimate is from the test error", list(gap_lines(measured, methods))
    for name, title in QUALITY_TITLES.items():
        yield title, list(quality_table(measured, methods, name))
    yield "Seconds of training", list(time_table(measured, methods))


def introduction(found, measured, methods):
    numbers = sorted({len(results) for m in measured for results in m.results.values()})
    splits = f"{numbers[0]} to {count(numbers[-1], 'split')}" if len(numbers) > 1 else count(numbers[0], "split")
    lines = [f"Machine: {found['machine']}; {found['rivals']}. {splits} of each table, {count(found['threads'], 'thread')}."]
    commands = [f"broad fit TRAIN.csv --test TEST.csv {' '.join(found['networks'][method])}".rstrip() + f"  # {method}"
                for method in methods if method in found["networks"]]
    return lines + (["", "```sh", *commands, "```"] if commands else [])


# ---- pairs ----------------------------------------------------------------------------------------------------------


def relative(measured, one, other):
    """Of each table that both have: how much larger one's error is, (a - b) / (a + b). Ordered as the ratio of the
    errors is, so that tables of any unit can be ranked together."""
    pairs = [(m.error(one), m.error(other)) for m in measured if one in m.results and other in m.results]
    return [(a - b) / (a + b) if a + b > 0 else 0 for a, b in pairs]


def chance_text(chance):
    return "< 1e-6" if chance < 1e-6 else f"{chance:.2g}"


def pair_lines(measured, methods):
    """The first method against each other one, then all pairs."""
    if len(methods) < 2 or len(measured) < 2:
        return
    first, rows = methods[0], []
    for other in methods[1:]:
        differences = relative(measured, first, other)
        ratios = [(1 + d) / (1 - d) if d < 1 else float("inf") for d in differences]
        rows.append([other, str(sum(d < 0 for d in differences)), str(sum(d == 0 for d in differences)),
                     str(sum(d > 0 for d in differences)), f"{statistics.median(ratios):.3f}",
                     chance_text(ranks.wilcoxon(differences))])
    yield from paragraphs(f"{first} against each other method: on how many tables its mean error is lower, equal and higher, the "
                          "median over the tables of the ratio of the two errors, and how often chance alone gives such "
                          "signed ranks of these ratios (Wilcoxon's test, exact, two-sided).")
    yield ""
    yield from table_lines([f"{first} against", "better", "equal", "worse", "ratio of the errors", "p"], rows)
    yield ""
    yield "p of every pair; in bold where the method of the row is better, below 0.05:"
    yield ""
    yield from table_lines(["", *methods[1:]], [matrix_cells(measured, methods, i) for i in range(len(methods))])


def matrix_cells(measured, methods, i):
    cells = [methods[i]]
    for other in methods[1:]:
        if other == methods[i]:
            cells.append("")
            continue
        differences = relative(measured, methods[i], other)
        text = chance_text(ranks.wilcoxon(differences))
        better = ranks.wilcoxon(differences) < ranks.LEVEL and ranks.signed_rank_sum(differences) < 0
        cells.append(f"**{text}**" if better else text)
    return cells


# ---- likelihood, published figures, estimates -----------------------------------------------------------------------


def with_likelihood(measured, methods):
    """The regressions, and the methods that have a likelihood on all of them."""
    regressions = [m for m in measured if m.table.task == "regress"]
    return regressions, [method for method in methods if regressions and all(m.has(method, "log_likelihood") for m in regressions)]


def standard_error(values):
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None


def with_error(value, error, digits):
    return f"{value:.{digits}f}" + (f" ± {error:.{digits}f}" if error is not None else "")


def published_lines(found, measured, methods):
    """Mean and standard error over the splits that were measured."""
    known = found["published"]["tables"]
    shown = [m for m in measured if m.table.name in known and methods[0] in m.results]
    rows = []
    for m in shown:
        theirs, ours = known[m.table.name], m.results[methods[0]]
        digits = 4 if theirs["rmse"] < 0.1 else 2
        values = [result["value"] for result in ours]
        likely = f"{m.mean(methods[0], 'log_likelihood'):.2f}" if m.has(methods[0], "log_likelihood") else ""
        rows.append([m.table.name, str(len(values)), with_error(theirs["rmse"], theirs.get("standard_error"), digits),
                     with_error(statistics.mean(values), standard_error(values), digits),
                     f"{theirs['log_likelihood']:.2f}", likely])
    if rows:
        yield from paragraphs(f"Published: {found['published']['source']}; mean over all 20 splits (protein: 5) ± standard error.")
        yield ""
        yield from table_lines(["table", "splits here", "RMSE, published", f"RMSE, {methods[0]}", "log-likelihood, published",
                                f"log-likelihood, {methods[0]}"], rows)


def gaps(measured, method):
    """Of each table: the mean over the splits of (test error - estimate) / test error; None where there is no estimate."""
    found = []
    for m in measured:
        pairs = [(m.error_of(r["value"]), m.error_of(r["estimate"])) for r in m.results.get(method, []) if "estimate" in r]
        pairs = [(test, estimate) for test, estimate in pairs if test > 0]
        found.append(statistics.mean((test - estimate) / test for test, estimate in pairs) if pairs else None)
    return found


def gap_lines(measured, methods):
    columns = {method: gaps(measured, method) for method in methods}
    columns = {method: values for method, values in columns.items() if any(v is not None for v in values)}
    if not columns:
        return
    rows = [[m.table.name, *("" if values[i] is None else f"{values[i]:+.3f}" for values in columns.values())]
            for i, m in enumerate(measured)]
    rows = [row for row in rows if any(row[1:])]
    known = [[value for value in values if value is not None] for values in columns.values()]
    rows.append(["mean over the tables", *(f"{statistics.mean(values):+.3f}" for values in known)])
    rows.append(["mean without sign", *(f"{statistics.mean(map(abs, values)):.3f}" for values in known)])
    yield from paragraphs("(test − estimate)/test, mean over the splits: above 0 the estimate promises too much. Of the networks the "
                          "estimate that `fit` reports, of the others the error on rows held out of the training rows.")
    yield ""
    yield from table_lines(["table", *columns], rows)


# ---- what the pages say about it ------------------------------------------------------------------------------------


def short_table(measured, methods, shown):
    rows = rank_rows(measured, methods)
    means = dict(zip(methods, ranks.mean_ranks(rows)))
    best = min(means[name] for name in shown)
    first = {method: sum(row[i] == min(row) for row in rows) for i, method in enumerate(methods)}
    chances = {name: chance_text(ranks.wilcoxon(relative(measured, methods[0], name))) for name in shown[1:]}
    times = {name: sum(m.mean(name, "cpu_seconds") for m in measured if name in m.results) for name in shown}
    names = [NAMES.get(name, name) for name in shown]
    ranked = [f"**{means[name]:.1f}**" if means[name] == best else f"{means[name]:.1f}" for name in shown]
    return table_lines(["", f"mean rank among {len(methods)}, 1 is best", "tables on which it is best", "better, worse than it: `broad fit`",
                        "p of that (Wilcoxon)", "processor time for all"],
                       [[title, rank, str(first[name]), against(measured, methods[0], name), chances.get(name, ""),
                         f"{short(times[name])} s"] for title, rank, name in zip(names, ranked, shown)])


def against(measured, first, other):
    if first == other:
        return ""
    differences = relative(measured, first, other)
    return f"{sum(d < 0 for d in differences)}, {sum(d > 0 for d in differences)}"


NAMES = {"auto": "`broad fit`", **RIVALS}


def in_short(found):
    measured = measured_of(found)
    methods = methods_of(found, measured)
    shown = [methods[0], *(name for name in RIVALS if name in methods)]
    given = sum("/" in m.table.name for m in measured)
    begin = (f"Without any option, on {given} public regressions with splits that others have published on, and {len(measured) - given} "
             f"tables split here, against {found['rivals']} (`make bench-uci DATA=FOLDER TABLES=FOLDER`, [docs/tables.md](docs/tables.md)):")
    return "\n".join([*paragraphs(begin), "", *short_table(measured, methods, shown), "", *paragraphs(verdict(found))]) + "\n"


def verdict(found):
    """What the tests say, in words."""
    measured = measured_of(found)
    methods = methods_of(found, measured)
    first = methods[0]
    tested = {name: relative(measured, first, name) for name in methods if name in RIVALS}
    ahead = [title(name) for name, d in tested.items() if ranks.wilcoxon(d) < ranks.LEVEL and ranks.signed_rank_sum(d) < 0]
    behind = [title(name) for name, d in tested.items() if ranks.wilcoxon(d) < ranks.LEVEL and ranks.signed_rank_sum(d) > 0]
    level = [title(name) for name in tested if title(name) not in ahead + behind]
    means = dict(zip(methods, ranks.mean_ranks(rank_rows(measured, methods))))
    difference = ranks.critical_difference(len(methods), len(measured))
    gap = [value for value in gaps(measured, first) if value is not None]
    covered = [m.mean(first, "coverage") for m in measured if m.has(first, "coverage")]
    words = (f"Pair by pair `broad fit` is significantly better than {listed(ahead)} (p < 0.05), worse than {listed(behind)}, and "
             f"cannot be told from {listed(level)}. Its mean rank is {means[first]:.2f}; two mean ranks differ at the 5 % level if "
             f"they are {difference:.1f} apart.")
    if covered and gap:
        words += (f" Its intervals of 90 % cover {100 * statistics.mean(covered):.1f} % of the test values in the mean over the "
                  f"regressions ({100 * min(covered):.0f} to {100 * max(covered):.0f} %), and its own estimate of the error is off "
                  f"by {100 * statistics.mean(gap):+.1f} % of the test error in the mean over the tables.")
    return words + published_words(found, measured, first)


def title(name):
    return RIVALS[name].split(",")[0] if name == "svm" else RIVALS[name].replace(", ", " ")


def published_words(found, measured, first):
    known = found["published"]["tables"]
    pairs = [(m, known[m.table.name]) for m in measured if m.table.name in known and m.has(first, "log_likelihood")]
    if not pairs:
        return ""
    better = sum(m.mean(first) < theirs["rmse"] for m, theirs in pairs)
    likelier = sum(m.mean(first, "log_likelihood") > theirs["log_likelihood"] for m, theirs in pairs)
    return (f" Of the published figures for {len(pairs)} standard tables it betters {better} in RMSE and {likelier} in log-likelihood.")


def parts(found):
    return {"docs/tables.md": {"figures": make(found), "verdict": "\n".join(paragraphs(verdict(found))) + "\n"},
            "README.md": {"in short": in_short(found)}}


def draw(found, path):
    measured = measured_of(found)
    methods = methods_of(found, measured)
    means = ranks.mean_ranks(rank_rows(measured, methods))
    difference = ranks.critical_difference(len(methods), len(measured))
    path.write_text(diagram.make(methods, means, difference, f"mean rank over {len(measured)} tables, 1 is best"), encoding="utf-8")


PICTURES = {"images/uci-ranks.svg": draw}


def whole(found):
    wanted = [*NETWORKS, *(name for name in RIVALS if name != "xgboost")]
    missing = [name for name in wanted if not all(name in one["results"] for one in found["tables"])]
    if missing or any(failure["method"] != "xgboost" for failure in found["failed"]):
        raise Failure(f"no whole run: without {', '.join(missing) or 'nothing'}, {len(found['failed'])} failed; run 'make bench-uci'")
