"""Results as Markdown: figures, times, mean ranks."""
import dataclasses
import statistics

from bench.tables import ranks
from bench.tables.splits import Table

BEGIN, END = "<!-- made by scripts/bench_tables: begin -->\n", "<!-- made by scripts/bench_tables: end -->\n"
TITLES = {"classify": "Accuracy on the test rows", "regress": "RMSE on the test rows"}
QUALITY_TITLES = {"coverage": "part of the test values within the 90 % interval", "brier": "Brier score",
                  "calibration_error": "calibration error"}


@dataclasses.dataclass
class Measured:
    table: Table
    train_rows: int
    test_rows: int
    results: dict  # of each method that did not fail, its results over the splits

    def mean(self, method, what="value"):
        return statistics.mean(result[what] for result in self.results[method])

    def cost(self, method):
        """What is ranked: lower is better. Rounded, since equal sums of fractions may differ in their last bit."""
        value = self.mean(method)
        return round(-value if self.table.task == "classify" else value, 12)


def make(measured, options, machine, failures, networks):
    methods = [method for method in options.methods if any(method in m.results for m in measured)]
    parts = [introduction(options, machine, methods, networks)]
    for task, title in TITLES.items():
        of_task = [m for m in measured if m.table.task == task]
        if of_task and methods:
            parts.append(section(title, figure_table(of_task, methods)))
    if any(m.table.missing for m in measured):
        parts.append(["", "¹ has missing values: `--missing mean`, and means in scikit-learn as well"])
    if methods:
        parts.append(section("Seconds of training", time_table(measured, methods)))
        parts.append(section("Mean ranks", rank_lines(measured, methods)))
    for name, title in QUALITY_TITLES.items():
        lines = list(quality_table(measured, [method for method in methods if method in networks], name))
        if lines:
            parts.append(section(title[0].upper() + title[1:], lines))
    if failures:
        parts.append(section("Not measured", failure_lines(failures)))
    return "\n".join(line for part in parts for line in part) + "\n"


def section(title, lines):
    return ["", f"## {title}", "", *lines]


def introduction(options, machine, methods, networks):
    rows = f"at most {options.rows:,} training rows" if options.rows else "all training rows"
    lines = [f"Machine: {machine}. {count(options.splits, 'split')} of each table, {rows}, "
             f"{count(options.threads, 'thread')}."]
    commands = [f"broad fit TRAIN.csv --test TEST.csv {' '.join(networks[method])}".rstrip() + f"  # {method}"
                for method in methods if method in networks]
    return lines + (["", "```sh", *commands, "```"] if commands else [])


def count(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table_lines(head, rows, left=1):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "--:|" * (len(head) - left)
    for cells in rows:
        yield "| " + " | ".join(cells) + " |"


def figure_table(measured, methods):
    classify = measured[0].table.task == "classify"
    head = ["table", "trained on", "tested with", "inputs", *(["classes"] if classify else []), *methods]
    yield from table_lines(head, [figure_cells(m, methods) for m in measured])


def figure_cells(measured, methods):
    table = measured.table
    cells = [table.name + (" ¹" if table.missing else ""), f"{measured.train_rows:,}", f"{measured.test_rows:,}",
             str(table.inputs), *([str(table.classes)] if table.classes else [])]
    best = min((measured.cost(method) for method in measured.results), default=None)
    for method in methods:
        if method not in measured.results:
            cells.append("failed")
            continue
        text = with_deviation([result["value"] for result in measured.results[method]], table.classes)
        cells.append(f"**{text}**" if measured.cost(method) == best else text)
    return cells


def with_deviation(values, classes):
    mean = statistics.mean(values)
    digits = 4 if classes or mean < 1 else 3 if mean < 10 else 2
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{deviation}"


def time_table(measured, methods):
    rows = [[m.table.name] + [short(m.mean(method, "seconds")) if method in m.results else "" for method in methods]
            for m in measured]
    for title, what in (("all, by the clock", "seconds"), ("all, processor time", "cpu_seconds")):
        sums = [sum(m.mean(method, what) for m in measured if method in m.results) for method in methods]
        rows.append([title, *map(short, sums)])
    if "auto" in methods:
        rows.append(["processor time, multiple of auto's", *(multiple(measured, method) for method in methods)])
    yield from table_lines(["table", *methods], rows)


def multiple(measured, method):
    """Over the tables on which neither failed."""
    both = [m for m in measured if method in m.results and "auto" in m.results]
    sums = [sum(m.mean(name, "cpu_seconds") for m in both) for name in (method, "auto")]
    return f"{sums[0] / sums[1]:.2g}" if sums[1] else ""


def short(value):
    return f"{value:.3f}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def rank_rows(measured, methods):
    """A method that failed on a table is the last there, with the others that did."""
    return [ranks.rank([m.cost(method) if method in m.results else float("inf") for method in methods])
            for m in measured]


def rank_lines(measured, methods):
    rows = rank_rows(measured, methods)
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
    has = {m.table.name: [method for method in methods if method in m.results
                          and all(name in result for result in m.results[method])] for m in measured}
    columns = [method for method in methods if any(method in found for found in has.values())]
    rows = [[m.table.name] + [f"{m.mean(method, name):.4f}" if method in has[m.table.name] else ""
                              for method in columns] for m in measured if has[m.table.name]]
    if rows:
        yield from table_lines(["table", *columns], rows)


def failure_lines(failures):
    for (method, reason), tables in failures.items():
        names = sorted(set(tables))
        where = ", ".join(names) if len(names) < 4 else f"{len(names)} tables"
        yield f"- {method} on {where}: {reason}"


def replace_marked(path, text):
    content = path.read_text(encoding="utf-8")
    head, mark_begin, rest = content.partition(BEGIN)
    _, mark_end, tail = rest.partition(END)
    if not mark_begin or not mark_end:
        raise ValueError(f"{path} does not have the two marks\n{BEGIN}{END}")
    path.write_text(head + BEGIN + text + END + tail, encoding="utf-8")
