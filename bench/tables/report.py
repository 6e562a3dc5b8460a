"""Results as Markdown: figures, times, mean ranks."""
import dataclasses
import statistics
import types

from bench.marks import listed, paragraphs
from bench.tables import ranks
from bench.tool import Failure

DEPTH = 4
TITLES = {"classify": "Accuracy on the test rows", "regress": "RMSE on the test rows"}
QUALITY_TITLES = {"coverage": "part of the test values within the 90 % interval", "brier": "Brier score",
                  "calibration_error": "calibration error"}


@dataclasses.dataclass
class Measured:
    table: object  # name, task, inputs, classes, missing
    train_rows: int
    test_rows: int
    results: dict  # of each method that did not fail, its results over the splits

    def mean(self, method, what="value"):
        return statistics.mean(result[what] for result in self.results[method])

    def has(self, method, what):
        return method in self.results and all(what in result for result in self.results[method])

    def cost(self, method, what="value"):
        """What is ranked: lower is better. Rounded, since equal sums of fractions may differ in their last bit."""
        value = self.mean(method, what)
        return round(-value if self.table.task == "classify" or what == "log_likelihood" else value, 12)

    def error_of(self, value):
        return 1 - value if self.table.task == "classify" else value

    def error(self, method):
        return round(self.error_of(self.mean(method)), 12)


def measured_of(found):
    return [Measured(types.SimpleNamespace(**{key: one[key] for key in ("name", "task", "inputs", "classes", "missing")}),
                     one["train_rows"], one["test_rows"], one["results"]) for one in found["tables"]]


def methods_of(found, measured):
    return [method for method in found["methods"] if any(method in m.results for m in measured)]


def make(found):
    measured = measured_of(found)
    methods = methods_of(found, measured)
    parts = [introduction(found, methods)]
    for task, title in TITLES.items():
        of_task = [m for m in measured if m.table.task == task]
        if of_task and methods:
            parts.append(section(title, figure_table(of_task, methods)))
    parts.append(footnotes(measured))
    if methods:
        parts.append(section("Seconds of training", time_table(measured, methods)))
        parts.append(section("Mean ranks", rank_lines(measured, methods)))
    for name, title in QUALITY_TITLES.items():
        lines = list(quality_table(measured, [method for method in methods if method in found["networks"]], name))
        if lines:
            parts.append(section(title[0].upper() + title[1:], lines))
    if found["failed"]:
        parts.append(section("Not measured", failure_lines(found["failed"])))
    return "\n".join(line for part in parts for line in part) + "\n"


def section(title, lines):
    return ["", f"## {title}", "", *lines]


def introduction(found, methods):
    networks = found["networks"]
    rows = f"at most {found['rows']:,} training rows" if found["rows"] else "all training rows"
    lines = [f"Machine: {found['machine']}. {count(found['splits'], 'split')} of each table, {rows}, "
             f"{count(found['threads'], 'thread')}."]
    commands = [f"broad fit TRAIN.csv --test TEST.csv {' '.join(networks[method])}".rstrip() + f"  # {method}"
                for method in methods if method in networks]
    return lines + (["", "```sh", *commands, "```"] if commands else [])


def footnotes(measured):
    if not any(m.table.missing for m in measured):
        return []
    return ["", "¹ has missing values: `--missing mean`, and means in scikit-learn as well"]


def count(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table_lines(head, rows, left=1):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "--:|" * (len(head) - left)
    for cells in rows:
        yield "| " + " | ".join(cells) + " |"


def figure_table(measured, methods, absent="failed"):
    classify = measured[0].table.task == "classify"
    head = ["table", "trained on", "tested with", "inputs", *(["classes"] if classify else []), *methods]
    yield from table_lines(head, [figure_cells(m, methods, absent) for m in measured])


def figure_cells(measured, methods, absent):
    table = measured.table
    cells = [table.name + (" ¹" if table.missing else ""), f"{measured.train_rows:,}", f"{measured.test_rows:,}",
             str(table.inputs), *([str(table.classes)] if table.classes else [])]
    best = min((measured.cost(method) for method in measured.results), default=None)
    for method in methods:
        if method not in measured.results:
            cells.append(absent)
            continue
        text = with_deviation([result["value"] for result in measured.results[method]], table.classes)
        cells.append(f"**{text}**" if measured.cost(method) == best else text)
    return cells


def with_deviation(values, classes):
    mean = statistics.mean(values)
    digits = 4 if classes or mean < 1 else 3 if mean < 10 else 2
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{deviation}"


def time_table(measured, methods, elsewhere=()):
    """`elsewhere`: methods whose times are those of another machine."""
    rows = [[m.table.name] + [short(m.mean(method, "seconds")) if method in m.results else "" for method in methods]
            for m in measured]
    for title, what in (("all, by the clock", "seconds"), ("all, processor time", "cpu_seconds")):
        sums = [sum(m.mean(method, what) for m in measured if method in m.results) for method in methods]
        rows.append([title, *map(short, sums)])
    if "auto" in methods:
        rows.append(["processor time, multiple of auto's",
                     *("" if method in elsewhere else multiple(measured, method) for method in methods)])
    yield from table_lines(["table", *methods], rows)


def multiple(measured, method):
    """Over the tables on which neither failed."""
    both = [m for m in measured if method in m.results and "auto" in m.results]
    sums = [sum(m.mean(name, "cpu_seconds") for m in both) for name in (method, "auto")]
    return f"{sums[0] / sums[1]:.2g}" if sums[1] else ""


def short(value):
    return f"{value:.3f}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def rank_rows(measured, methods, what="value"):
    """A method that failed on a table is the last there, with the others that did."""
    return [ranks.rank([m.cost(method, what) if method in m.results else float("inf") for method in methods])
            for m in measured]


def rank_lines(measured, methods, what="value"):
    rows = rank_rows(measured, methods, what)
    means = ranks.mean_ranks(rows)
    order = sorted(range(len(methods)), key=lambda i: means[i])
    yield f"Over {len(rows)} tables, 1 is best."
    yield ""
    first = [sum(row[i] == min(row) for row in rows) for i in order]
    yield from table_lines(["method", "mean rank", "tables on which it is best"],
                           [[methods[i], f"{means[i]:.2f}", str(count)] for i, count in zip(order, first)])
    if len(rows) < 2 or len(methods) < 2:
        return
    statistic, chance = ranks.friedman(rows)
    difference = ranks.critical_difference(len(methods), len(rows))
    chance = f"p = {chance:.2g}" if chance >= 1e-6 else "p < 1e-6"
    yield ""
    yield f"Friedman's statistic is {statistic:.2f} with {len(methods) - 1} degrees of freedom ({chance}). Nemenyi's"
    yield f"critical difference of two mean ranks at the level of 5 % is {difference:.2f}. Groups within which no two"
    yield "methods differ by more:"
    yield ""
    for first_of, last_of in ranks.groups(means, difference):
        yield "- " + ", ".join(f"{methods[i]} ({means[i]:.2f})" for i in order[first_of:last_of + 1])


def quality_table(measured, methods, name):
    has = {m.table.name: [method for method in methods if m.has(method, name)] for m in measured}
    columns = [method for method in methods if any(method in found for found in has.values())]
    rows = [[m.table.name] + [f"{m.mean(method, name):.4f}" if method in has[m.table.name] else ""
                              for method in columns] for m in measured if has[m.table.name]]
    if rows:
        yield from table_lines(["table", *columns], rows)


def failure_lines(failures):
    for failure in failures:
        method, reason, names = failure["method"], failure["reason"], sorted(set(failure["tables"]))
        where = ", ".join(names) if len(names) < 4 else f"{len(names)} tables"
        yield f"- {method} on {where}: {reason}"


# ---- what the pages say about it ------------------------------------------------------------------------------------


RIVALS = {"forest": "random forest", "svm": "SVM, grid-searched", "boosting": "boosting", "mlp": "MLP", "ridge": "ridge"}
LARGE = 1000  # rows of a test that tells a calibration error


def compared(measured, method, rival):
    """On how many tables the method is better, and on how many equal."""
    pairs = [(m.cost(method), m.cost(rival)) for m in measured if method in m.results and rival in m.results]
    return sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)


def reading(found):
    """How `auto` does, in words."""
    measured = measured_of(found)
    methods = methods_of(found, measured)
    means = dict(zip(methods, ranks.mean_ranks(rank_rows(measured, methods))))
    difference = ranks.critical_difference(len(methods), len(measured))
    place = 1 + sum(mean < means["auto"] for mean in means.values())
    within = all(abs(means[name] - means["auto"]) <= difference for name in ("forest", "svm"))
    settled = f"so that {len(measured)} tables do not settle it" if within else "at least one of them beyond it"
    words = {name: "better on {} of the {} tables and equal on {}".format(won, len(measured), equal)
             for name in ("svm", "forest") for won, equal in [compared(measured, "auto", name)]}
    slow = [m.table.name for m in measured if m.mean("svm", "cpu_seconds") < m.mean("auto", "cpu_seconds")]
    text = (f"- **`auto`** has the mean rank {means['auto']:.2f}, place {place} of {len(methods)}; the random forest "
            f"{means['forest']:.2f}, the grid-searched SVM {means['svm']:.2f}. The critical difference is {difference:.2f}, "
            f"{settled}. Against the SVM it is {words['svm']}, against the forest {words['forest']}. In total the search of the "
            f"SVM takes {multiple(measured, 'svm')} times the processor time of `auto`; it takes less on {listed(slow)}.")
    return "\n".join(paragraphs(text)) + "\n"


def short_table(measured, methods):
    rows = rank_rows(measured, methods)
    means = dict(zip(methods, ranks.mean_ranks(rows)))
    first = {method: sum(row[i] == min(row) for row in rows) for i, method in enumerate(methods)}
    shown = ["auto", *RIVALS]
    best = min(means[name] for name in shown)
    ranked = [f"**{means[name]:.1f}**" if means[name] == best else f"{means[name]:.1f}" for name in shown]
    times = [sum(m.mean(name, "cpu_seconds") for m in measured if name in m.results) for name in shown]
    return table_lines(["", "`broad fit`", *RIVALS.values()],
                       [[f"mean rank among {len(methods)} methods, 1 is best", *ranked],
                        ["number of tables on which it is best (ties count)", *(str(first[name]) for name in shown)],
                        ["processor time for all of them", *(f"{short(t)} s" for t in times)]])


def in_short(found):
    measured = measured_of(found)
    methods = methods_of(found, measured)
    means = dict(zip(methods, ranks.mean_ranks(rank_rows(measured, methods))))
    difference = ranks.critical_difference(len(methods), len(measured))
    near = [title.split(",")[0] for name, title in RIVALS.items() if abs(means[name] - means["auto"]) <= difference]
    covered = [100 * m.mean("auto", "coverage") for m in measured if m.table.task == "regress"]
    errors = [m.mean("auto", "calibration_error") for m in measured
              if m.table.task == "classify" and m.test_rows >= LARGE]
    begin = (f"Without any option, on {len(measured)} public tables, at most {found['rows']:,} training rows, "
             f"against {found['rivals']} on the same splits (`make bench-tables DATA=FOLDER`):")
    end = (f"The critical difference of two mean ranks is {difference:.1f}: {len(measured)} tables are too few to decide between "
           f"`broad fit` and {listed(near)}. Intervals of 90 % cover {min(covered):.1f} to "
           f"{max(covered):.1f} % of the test values on the {len(covered)} regressions; the calibration error is "
           f"{max(errors):.3f} at most on the {len(errors)} classifications with {LARGE:,} test rows or more.")
    return "\n".join([*paragraphs(begin), "", *short_table(measured, methods), "", *paragraphs(end)]) + "\n"


def parts(found):
    return {"docs/tables.md": {"figures": make(found), "reading": reading(found), "in short": in_short(found)}}


def whole(found):
    missing = [name for name in ["auto", *RIVALS] if not all(name in one["results"] for one in found["tables"])]
    if missing or found["failed"]:
        raise Failure(f"no whole run: without {', '.join(missing) or 'nothing'}, {len(found['failed'])} failed; "
                      "run 'make bench-tables'")
