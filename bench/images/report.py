"""Results as Markdown that is also readable as it stands."""
import statistics

BEGIN, END = "<!-- made by scripts/bench_images: begin -->\n", "<!-- made by scripts/bench_images: end -->\n"
VERDICTS = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1",
            "false_positive": "false positive", "false_negative": "false negative"}
NUMBERS = {"rmse": "RMSE", "mae": "MAE", "r2": "R²", "coverage": "within 90 % interval", "interval_width": "its width"}


def section(title, lines):
    return ["", f"## {title}", "", *lines]


def table(head, rows, left=1):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    widths = [max(width, 3) for width in widths]

    def line(cells):
        padded = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths))]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return [line(head), rule, *map(line, rows)]


def with_deviation(values, digits=3):
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def short(value):
    return f"{value:.3f}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def figures(found, titles):
    """A row for each method with all its results; the best mean of the first column is bold."""
    columns = [name for name in titles if any(name in result for results in found.values() for result in results)]
    sign = 1 if columns and columns[0] == "accuracy" else -1
    means = {method: sign * statistics.mean(r[columns[0]] for r in results) for method, results in found.items()}
    rows = []
    for method, results in found.items():
        cells = [with_deviation([r[name] for r in results]) if all(r.get(name) is not None for r in results) else ""
                 for name in columns]
        if means[method] == max(means.values()):
            cells[0] = f"**{cells[0]}**"
        rows.append([method, *cells, short(statistics.median(r["seconds"] for r in results))])
    return table(["method", *[titles[name] for name in columns], "seconds"], rows)


def by_split(found, name):
    """One measure of each method on each split: the splits differ more than the methods do."""
    count = max(map(len, found.values()))
    rows = [[method, *(f"{result[name]:.3f}" for result in results)] for method, results in found.items()]
    return table(["method", *(f"split {i}" for i in range(count))], rows)


def make(measured, machine, failures):
    lines = [f"Machine: {machine}."]
    for title, write in (("Clean or dusty", panels), ("Power loss", soiling), ("Speed", speed),
                         ("A correction", correction)):
        part = measured.get(write.__name__)
        if part:
            lines += section(title, write(part))
    if failures:
        lines += section("Not measured", [f"- {method}: {reason}" for (method, reason) in failures])
    return "\n".join(lines) + "\n"


def commands(words, reading=""):
    return ["", "```sh", *[f"broad fit TRAIN/ --test TEST/{reading} {' '.join(w)}".rstrip() + f"  # {method}"
                           for method, w in words.items()], "```"]


def panels(part):
    classes = ", ".join(f"{count} {name}" for name, count in part["classes"].items())
    return [f"{part['photos']} {part['what']} ({classes}), {part['splits']} random splits 7:3, near-duplicates kept "
            f"together. '{part['positive']}' is positive. Seconds are medians.",
            *commands(part["commands"]), "", *figures(part["results"], VERDICTS)]


def soiling(part):
    reading = " --labels labels.csv --group date"
    return [f"{part['photos']} {part['what']}, {part['groups']} days, {part['splits']} random splits 7:3 by whole days. "
            "Seconds are medians.", *commands(part["commands"], reading), "", *figures(part["results"], NUMBERS), "",
            "RMSE of each split:", "", *by_split(part["results"], "rmse")]


def speed(part):
    lines = []
    if "stages" in part:
        rows = [[s["name"], f"{s['rate']:.0f}", f"{s['least']:.0f} to {s['most']:.0f}", f"{s['of_decoding']:.0f} %"]
                for s in part["stages"]]
        lines += [part["stages_what"] + ".", "", *table(["file to", "photos/s", "spread", "of decoding"], rows), ""]
    fits = [[f["what"], f"{f['seconds']:.2f}", f"{f['read']:.2f}", f"{f['cpu_seconds']:.2f}"] for f in part["fits"]]
    lines += [f"`broad fit` on {part['fit_photos']:,} rendered photos of 256 pixels, {part['threads']} threads:", "",
              *table(["", "seconds", "of them reading", "processor time"], fits)]
    return lines


def correction(part):
    head = ["split", "corrected", "right afterwards", "others", "accuracy before", "after", "unseen", "accuracy before",
            "after", "seconds", "processor time"]
    rows = [[str(c["split"]), str(c["wrong"]), str(c["right_after"]), str(c["others"]), f"{c['before']:.3f}",
             f"{c['after']:.3f}", str(c["unseen"]), f"{c['unseen_before']:.3f}", f"{c['unseen_after']:.3f}",
             f"{c['seconds']:.2f}", f"{c['cpu_seconds']:.2f}"] for c in part["runs"]]
    means = [f"{statistics.mean(c[name] for c in part['runs']):.3f}" for name in
             ("before", "after", "unseen_before", "unseen_after")] if rows else [""] * 4
    rows.append(["mean", "", "", "", *means[:2], "", *means[2:], "", ""])
    return [f"Trained on 4 tenths of {part['photos']} {part['what']}. Of 3 tenths that are then judged, up to ten photos "
            "whose verdict is wrong are given back with their right label; the others are the rest of these 3 tenths. "
            "Another 3 tenths are unseen: no photo was chosen among them.",
            "", "```sh", "broad learn MODEL CORRECTED/ --with TRAIN/ --weight auto", "```", "", *table(head, rows)]


def replace_marked(path, text):
    content = path.read_text(encoding="utf-8")
    head, mark_begin, rest = content.partition(BEGIN)
    _, mark_end, tail = rest.partition(END)
    if not mark_begin or not mark_end:
        raise ValueError(f"{path} does not have the two marks\n{BEGIN}{END}")
    path.write_text(head + BEGIN + text + END + tail, encoding="utf-8")
