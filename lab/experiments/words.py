"""Figures and tables as Markdown."""
import math
import statistics

# 0.975 quantiles of Student's distribution, for 1, 2, ... degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093, 2.086]


def mean_sd(values, digits=3):
    """Mean ± deviation (divided by the number less one); the mean alone where there is one value."""
    values = [v for v in values if v is not None]
    if not values:
        return "–"
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def interval(differences):
    """Mean of paired differences, and the half width of its 95 % interval: infinite for one, 0 where all are alike."""
    mean, freedom = statistics.fmean(differences), len(differences) - 1
    if not freedom:
        return mean, math.inf
    quantile = STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96
    return mean, quantile * statistics.stdev(differences) / math.sqrt(len(differences))


def judged(differences, more, less):
    """'more', 'less' or that chance alone may do it, by that interval."""
    mean, half = interval(differences)
    if not any(differences):
        return "the same"
    return more if mean > half else less if -mean > half else "no more than chance"


def machines(result):
    """Where a result was measured; what was added to an earlier one may come from elsewhere."""
    later = dict.fromkeys(f"{one['what']}: {one['machine']}" for one in result.get("added", []))
    return ". ".join([f"Machine: {result['machine']}", *later]) + "."


def counted(number, thing):
    return f"{number:,.0f} {thing}{'' if round(number) == 1 else 's'}"


def table(heads, rows, left=1):
    """The first `left` columns are text, the others are set to the right."""
    cells = [list(map(str, heads)), *(list(map(str, row)) for row in rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(heads))]

    def line(row):
        return "| " + " | ".join(c.ljust(w) if i < left else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(row, widths))) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])]) + "\n"
