"""Methods compared over tables: in pairs, with published figures, with an earlier version, and with what each promises."""
import statistics

from bench.marks import paragraphs
from bench.tables import ranks
from bench.tables.report import measured_of, short, table_lines

# ---- pairs ----------------------------------------------------------------------------------------------------------


def relative(measured, one, other):
    """Of each table that both have: how much larger one's error is, (a - b) / (a + b). Ordered as the ratio of the
    errors is, so that tables of any unit can be ranked together."""
    pairs = [(m.error(one), m.error(other)) for m in measured if one in m.results and other in m.results]
    return [(a - b) / (a + b) if a + b > 0 else 0 for a, b in pairs]


def significant(differences):
    """-1: the errors of the first are lower beyond chance; 1: higher; 0: that is not decided."""
    total = ranks.signed_rank_sum(differences)
    return 0 if ranks.wilcoxon(differences) >= ranks.LEVEL else -1 if total < 0 else 1


def chance_text(differences):
    chance = ranks.wilcoxon(differences)
    return "< 1e-6" if chance < 1e-6 else f"{chance:.2g}"


def pair_lines(measured, methods):
    """The first method against each other one, then all pairs."""
    if len(methods) < 2 or len(measured) < 2:
        return
    first = methods[0]
    yield from paragraphs(f"{first} against each other method: on how many tables its mean error is lower, equal and higher, "
                          "the median over the tables of the ratio of the two errors, and how often chance alone gives such "
                          "signed ranks of these ratios (Wilcoxon's test, exact, two-sided).")
    yield ""
    yield from table_lines([f"{first} against", "better", "equal", "worse", "ratio of the errors", "p"],
                           [[other, *pair_cells(relative(measured, first, other))] for other in methods[1:]])
    yield ""
    yield "p of every pair; in bold where the method of the row is better, below 0.05:"
    yield ""
    yield from table_lines(["", *methods[1:]], [matrix_cells(measured, methods, method) for method in methods])


def pair_cells(differences):
    ratios = [(1 + d) / (1 - d) if d < 1 else float("inf") for d in differences]
    counts = [sum(d < 0 for d in differences), sum(d == 0 for d in differences), sum(d > 0 for d in differences)]
    return [*map(str, counts), f"{statistics.median(ratios):.3f}", chance_text(differences)]


def matrix_cells(measured, methods, method):
    cells = [method]
    for other in methods[1:]:
        differences = relative(measured, method, other)
        text = "" if other == method else chance_text(differences)
        cells.append(f"**{text}**" if text and significant(differences) < 0 else text)
    return cells


# ---- published figures ----------------------------------------------------------------------------------------------


def standard_error(values):
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None


def with_error(value, error, digits):
    return f"{value:.{digits}f}" + (f" ± {error:.{digits}f}" if error is not None else "")


def published_pairs(published, method):
    """(what was measured on a table, what is published of it)"""
    return [(m, published["tables"][m.table.name]) for m in measured_of({"tables": published["measured"]})
            if m.has(method, "log_likelihood")]


def published_lines(published, method):
    """Mean and standard error over the splits that were measured."""
    rows = [published_cells(m, theirs, method) for m, theirs in published_pairs(published, method)]
    if rows:
        yield from paragraphs(f"Published: {published['source']}, mean over 20 splits (5 of protein) ± standard error. Here on the "
                              "first of these splits.")
        yield ""
        yield from table_lines(["table", "splits here", "RMSE, published", f"RMSE, {method}", "log-likelihood, published",
                                f"log-likelihood, {method}"], rows)


def published_cells(measured, theirs, method):
    digits = 4 if theirs["rmse"] < 0.1 else 2
    values = [result["value"] for result in measured.results[method]]
    return [measured.table.name, str(len(values)), with_error(theirs["rmse"], theirs.get("standard_error"), digits),
            with_error(statistics.mean(values), standard_error(values), digits), f"{theirs['log_likelihood']:.2f}",
            f"{measured.mean(method, 'log_likelihood'):.2f}"]


def published_beaten(published, method):
    """Of how many tables there are published figures, and on how many RMSE and log-likelihood are better."""
    pairs = published_pairs(published, method)
    return (len(pairs), sum(m.mean(method) < theirs["rmse"] for m, theirs in pairs),
            sum(m.mean(method, "log_likelihood") > theirs["log_likelihood"] for m, theirs in pairs))


# ---- an earlier version ---------------------------------------------------------------------------------------------


def before_lines(measured, before, now, elsewhere=None):
    """`now` beside the plain fit of an earlier version, on the same splits; `elsewhere`: the other machine where that was measured."""
    shown = [m for m in measured if before in m.results and now in m.results]
    if not shown:
        return
    machine = f", but on another machine ({elsewhere}): compare no times" if elsewhere else ""
    yield from paragraphs(f"`{before}` is the plain `broad fit` of an earlier version, on the same splits and threads{machine}. Error: RMSE, "
                          "or the part of the test rows that is misclassified; the difference has the standard error over the "
                          "splits.")
    yield ""
    yield from table_lines(["table", "error before", "error now", "difference", "coverage before", "now",
                            "calibration error before", "now", "processor time before, s", "now, s"],
                           [before_cells(m, before, now) for m in shown])
    yield ""
    differences = relative(shown, now, before)
    times = [sum(m.mean(name, "cpu_seconds") for m in shown) for name in (before, now)]
    time = "" if elsewhere else f"; processor time {times[1] / times[0]:.2f} of what it was"
    yield from paragraphs(f"Better on {sum(d < 0 for d in differences)} tables, worse on {sum(d > 0 for d in differences)} "
                          f"(Wilcoxon's p {chance_text(differences)}){time}.")


def before_cells(measured, before, now):
    pairs = [[measured.error_of(result["value"]) for result in measured.results[name]] for name in (before, now)]
    spread = standard_error([b - a for a, b in zip(*pairs)])
    old, new = (statistics.mean(values) for values in pairs)
    digits = 4 if old < 1 else 3
    cells = [measured.table.name, f"{old:.{digits}f}", f"{new:.{digits}f}", with_error(new - old, spread, digits)]
    for what in ("coverage", "calibration_error"):
        cells += [f"{measured.mean(name, what):.3f}" if measured.has(name, what) else "" for name in (before, now)]
    return cells + [short(measured.mean(name, "cpu_seconds")) for name in (before, now)]


# ---- what a method promises -----------------------------------------------------------------------------------------


def gaps(measured, method):
    """Of each table: (test error - estimate) / test error, each the mean over the splits; None where there is no estimate.

    Not the mean of ratios: with few test rows some errors are small by chance, and these would decide it.
    """
    found = []
    for m in measured:
        pairs = [(m.error_of(r["value"]), m.error_of(r["estimate"])) for r in m.results.get(method, []) if "estimate" in r]
        test, estimate = (statistics.mean(values) for values in zip(*pairs)) if pairs else (0, 0)
        found.append((test - estimate) / test if test > 0 else None)
    return found


def pooled_gap(measured, method):
    """The same with squared errors of a regression: an estimate of a RMSE is one of the mean square of all rows, and where a
    few rows have most of it, most splits lack them."""
    power = 1 if measured.table.task == "classify" else 2
    test, estimate = (statistics.mean(measured.error_of(r[what]) ** power for r in measured.results[method]) ** (1 / power)
                      for what in ("value", "estimate"))
    return (test - estimate) / test if test > 0 else None


def promised(alone, method):
    """Of all splits of one method, the tables on which it has an estimate."""
    return [m for m in measured_of({"tables": alone}) if m.has(method, "estimate")]


def promise_lines(alone, method):
    measured = promised(alone, method)
    if not measured:
        return
    pooled = [pooled_gap(m, method) for m in measured]
    rows = [promise_cells(m, method, *values) for m, *values in zip(measured, gaps(measured, method), pooled)]
    means = [statistics.mean(v for v in values if v is not None) for values in (gaps(measured, method), pooled)]
    rows.append(["mean over the tables", "", "", "", *(f"{mean:+.3f}" for mean in means), ""])
    yield from paragraphs(f"All splits that {method} has. Error: RMSE, or the part of the rows that is misclassified, with the standard "
                          "error over the splits. By squares: from root mean squares over the splits instead of means. Where a few rows "
                          "have most of the squares, most splits lack them, and the mean of roots is below the root of the mean.")
    yield ""
    yield from table_lines(["table", "splits", "test error", "estimate", "(test − estimate)/test", "by squares",
                            "within the 90 % interval"], rows)


def promise_cells(measured, method, gap, pooled):
    tests, estimates = ([measured.error_of(r[what]) for r in measured.results[method]] for what in ("value", "estimate"))
    digits = 4 if statistics.mean(tests) < 1 else 3
    covered = f"{measured.mean(method, 'coverage'):.3f}" if measured.has(method, "coverage") else ""
    return [measured.table.name, str(len(tests)), with_error(statistics.mean(tests), standard_error(tests), digits),
            f"{statistics.mean(estimates):.{digits}f}", *("" if g is None else f"{g:+.3f}" for g in (gap, pooled)), covered]


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
    yield from paragraphs("(test − estimate)/test, each the mean over the splits: above 0 the estimate promises too much. Of the networks "
                          "the estimate that `fit` reports, of the others the error on rows held out of the training rows.")
    yield ""
    yield from table_lines(["table", *columns], rows)
