"""Results of scripts/bench_python as Markdown."""
import statistics

from bench.images.report import table
from bench.marks import paragraphs
from bench.tool import Failure

DEPTH = 3
TABLES = 13
TITLES = {"classify": "accuracy", "regress": "R²"}


def figures(found, task):
    """A row for each table; the best is bold."""
    methods, rows = list(found["tables"][0]["methods"]), []
    for one in (one for one in found["tables"] if one["task"] == task):
        scores = [one["methods"][name]["score"] for name in methods]
        cells = [f"**{score:.3f}**" if round(score, 3) == round(max(scores), 3) else f"{score:.3f}" for score in scores]
        rows.append([one["name"], f"{one['train']:,}", *cells])
    return table([TITLES[task], "training rows", *methods], rows)


def times(found):
    rows = []
    for name in found["tables"][0]["methods"]:
        each = {task: [one["methods"][name] for one in found["tables"] if one["task"] == task] for task in TITLES}
        both = each["classify"] + each["regress"]
        rows.append([name, *[f"{statistics.mean(one['score'] for one in each[task]):.3f}" for task in TITLES],
                     f"{sum(one['fit'] for one in both):.1f}", f"{1e6 * statistics.median(one['predict'] for one in both):.1f}"])
    return table(["", "mean accuracy", "mean R²", "fit, all tables, s", "predict, µs per row"], rows)


def tables(found):
    first = (f"{found['machine']}; {found['rivals']}. One split of each table, at most {found['rows']:,} training rows; every method on one thread, as its "
             "defaults are, inputs and targets scaled where it needs that. Times are processor time.")
    return "\n".join([*paragraphs(first), "", *figures(found, "classify"), "", *figures(found, "regress"), "", *times(found)]) + "\n"


def overhead(found):
    fit, array = found["fit"], found["array"]
    megabytes = array["rows"] * array["inputs"] * 8 / 1e6
    rows = [["fit, processor time in s", f"{fit['rows']:,} x {fit['inputs']}", *(f"{fit[who]['fit']:.3f}" for who in ("python", "c", "tool"))],
            ["one row predicted, µs", f"1 x {fit['inputs']}", f"{1e6 * fit['python']['row']:.1f}", f"{1e6 * fit['c']['row']:.1f}", ""],
            ["fit, memory above the array, MB", f"{megabytes:,.0f} MB", f"{array['python']['memory'] * 1.024e-3:.1f}",
             f"{array['c']['memory'] * 1.024e-3:.1f}", ""]]
    return "\n".join([*table(["", "rows", "Python", "C", "the tool's trainer"], rows, 2), "", *growth(found["growth"])]) + "\n"


def growth(found):
    """A sentence: KiB as megabytes."""
    held = {name: f"{found[name] * 1.024e-3:.1f}" for name in ("early", "late", "early_peak", "late_peak")}
    return paragraphs(f"{found['rounds']:,} fits, each with a prediction, one after the other: after a tenth of them the process held {held['early']} MB, "
                      f"at most {held['early_peak']} MB so far; at the end {held['late']} MB, at most {held['late_peak']} MB.")


def parts(found):
    return {"docs/python.md": {"tables": tables(found), "overhead": overhead(found)}}


def whole(found):
    missing = [one["name"] for one in found["tables"] if len(one["methods"]) < 6]
    if len(found["tables"]) != TABLES or missing or found["size"] != "full":
        raise Failure(f"no whole run: {len(found['tables'])} tables of {TABLES}, size {found['size']}; run 'make bench-python'")
