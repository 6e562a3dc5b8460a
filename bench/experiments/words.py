"""Figures and tables as Markdown."""
import statistics


def mean_sd(values, digits=3):
    """Mean ± deviation (divided by the number less one); the mean alone where there is one value."""
    values = [v for v in values if v is not None]
    if not values:
        return "–"
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def table(heads, rows, left=1):
    """The first `left` columns are text, the others are set to the right."""
    cells = [list(map(str, heads)), *(list(map(str, row)) for row in rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(heads))]

    def line(row):
        return "| " + " | ".join(c.ljust(w) if i < left else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(row, widths))) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])]) + "\n"
