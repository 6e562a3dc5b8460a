"""What was measured, as Markdown: for the terminal, and for docs/benchmarks.md."""
from bench.images.report import section, table
from bench.marks import paragraphs, wrapped
from bench.speed import ENTRIES, picture
from bench.tool import Failure

PICTURE = "images/growth.svg"
PICTURES = {PICTURE: lambda found, path: picture.draw(found["measurements"], path)}
SCALES = {"s": [(1, "s"), (1e-3, "ms"), (1e-6, "µs")], "MB": [(1e3, "GB"), (1, "MB")]}


# ---- cells ----------------------------------------------------------------------------------------------------------


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(summary, unit):
    """The median and, where they differ, the quartiles."""
    scales = SCALES.get(unit, [(1, unit)])
    scale, name = next((s for s in scales if summary["median"] >= s[0]), scales[-1])
    spread = "" if summary["least"] == summary["most"] else \
        f" ({short(summary['lower'] / scale)} to {short(summary['upper'] / scale)})"
    return f"{short(summary['median'] / scale)} {name}".rstrip() + spread


def median(summary, unit):
    return figure({**summary, "least": 0, "most": 0}, unit)


def goal(limits, unit=""):
    signs = {"least": "≥", "most": "≤"}
    parts = [f"{sign} {short(limits[name])}" for name, sign in signs.items() if limits.get(name) is not None]
    return (", ".join(parts) + f" {unit}").rstrip() if parts else ""


def quotient(rival):
    return short(rival["value"]) + (" times as fast" if rival["ratio"] == "rival/ours" else " of it")


def verdict(part):
    if part.get("least") is None and part.get("most") is None:
        return ""
    return {True: "yes", False: "**no**", None: "not judged"}[part["reached"]]


# ---- tables ---------------------------------------------------------------------------------------------------------


def rows_of(measurement):
    """One for each rival, and one for a goal of our own; the work and our figure are in the first."""
    what, ours = measurement["what"], figure(measurement["summary"], measurement["unit"])
    if goal(measurement) or not measurement["rivals"]:
        yield [what, ours, "", "", "", goal(measurement, measurement["unit"]), verdict(measurement)]
        what = ours = ""
    for name, rival in measurement["rivals"].items():
        theirs = figure(rival["summary"], measurement["unit"])
        yield [what, ours, name, theirs, quotient(rival), goal(rival), verdict(rival)]
        what = ours = ""


def main_table(measurements):
    rows = [row for measurement in measurements for row in rows_of(measurement)]
    return table(["work", "broad", "against", "its figure", "ratio of medians", "goal", "reached"], rows)


def missed(measurement):
    """(measurement, name of the rival or None, value, goal) of every goal that is not reached."""
    if measurement["reached"] is False:
        yield None, short(measurement["summary"]["median"]), goal(measurement, measurement["unit"])
    for name, rival in measurement["rivals"].items():
        if rival["reached"] is False:
            yield name, quotient(rival), goal(rival)


def allows(measurement, rival):
    """How many times as fast as a rival the limit lets us be."""
    return rival["summary"]["median"] / measurement["limit"]


def reasons(measurement, name):
    rival = measurement["rivals"].get(name)
    if rival and "limit" in measurement and rival["ratio"] == "rival/ours":
        most, wanted = allows(measurement, rival), rival.get("least", 0)
        reach = "out of reach here, whatever the code" if most < wanted else "not out of reach"
        bound = measurement.get("limit_is", "The processor's peak")
        yield f"{bound} alone allows {most:.1f} times, so the goal is {reach}."
    for part in rival or {}, measurement:
        if part.get("why"):
            yield part["why"]


def missed_lines(measurements):
    lines = []
    for measurement in measurements:
        for name, value, wanted in missed(measurement):
            against = f" against {name}" if name else ""
            text = " ".join([f"{measurement['what']}{against}: {value}, goal {wanted}.", *reasons(measurement, name)])
            lines += wrapped(f"- {text}", "  ")
    return lines or ["Every goal that was measured is reached."]


def limit_table(measurements):
    rows = []
    for m in measurements:
        if "limit" not in m or "flops" not in m.get("facts", {}):
            continue
        rivals = [f"{name} {allows(m, rival):.1f}" for name, rival in m["rivals"].items()
                  if rival["ratio"] == "rival/ours"]
        rows.append([m["what"], f"{m['facts']['flops'] / 1e9:,.1f}", median(m["summary"], m["unit"]),
                     median({"median": m["limit"]}, m["unit"]), f"{100 * m['limit'] / m['summary']['median']:.0f} %",
                     "; ".join(rivals)])
    return table(["work", "GFLOP", "broad", "at the peak", "of the peak", "the peak allows"], rows) if rows else []


def growth_table(measurements):
    rows = []
    for m in measurements:
        facts = m.get("facts", {})
        if "exponent" not in facts:
            continue
        ends = [sorted(facts["seconds"][i])[len(facts["seconds"][i]) // 2] for i in (0, -1)]
        rows.append([facts["sweep"], f"{facts['sizes'][0]:,} to {facts['sizes'][-1]:,}",
                     " to ".join(median({"median": end}, "s") for end in ends),
                     f"{facts['exponent']:.3f} ± {facts['standard_error']:.3f}",
                     f"{min(m['ours']):.3f} to {max(m['ours']):.3f}", f"{facts['at_the_end']:.3f}", goal(m)])
    return table(["varied", "sizes", "training takes", "exponent", "of single runs", "of the last step", "goal"], rows,
                 2) if rows else []


def command_lines(measurements):
    lines = []
    for m in measurements:
        note = f": {m['note']}." if m.get("note") else ""
        lines += ["", f"**{m['what']}** (`make bench ONLY={m['entry']}`){note}", ""]
        sides = {"broad": {"figures": m["ours"], "command": m["command"]}, **m["rivals"]}
        for name, side in sides.items():
            if side.get("command"):
                runs = len(side["figures"])
                lines.append(f"- {name}, {runs} run{'s' if runs > 1 else ''}: `{side['command']}`")
    return lines[1:]


# ---- whole texts ----------------------------------------------------------------------------------------------------


def machine_line(report):
    machine, versions = report["machine"], report["versions"]
    peak = report.get("peak_gflops")
    peak = f", {peak:.0f} GFLOP/s at the peak of {report['threads']} threads" if peak else ""
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    core = f" with {machine['best_core']} kernels" if machine.get("best_core") else ""
    named += f"; broad with {machine['kernels']} kernels" if machine.get("kernels") else ""
    named += f"; transparent huge pages: {report['huge_pages']}" if report.get("huge_pages") else ""
    return (f"{report['date']}, {machine['processor']}, {machine['processors']} processors{peak}, "
            f"{machine['memory'] / 2**30:.0f} GB; {report['threads']} threads for every side, OpenBLAS{core}; {named}. "
            f"Load before the run {report['load']:.1f}; the run took {report['seconds'] / 60:.0f} minutes.")


def failed_lines(report):
    return [f"- {failure['entry']}: {failure['reason']}" for failure in report["failed"]]


def make(report, picture=None):
    """The whole report. picture: where the growth is drawn, as the text refers to it."""
    found = report["measurements"]
    size = "" if report["size"] == "full" else " Less data than the goals are for, so that none is judged."
    lines = [*wrapped(machine_line(report) + size), "", *main_table([m for m in found if "section" not in m])]
    if report["size"] == "full":
        lines += section("Not reached, and why", missed_lines(found))
    for title, part in (("What the processor allows", limit_table(found)), ("Growth", growth_table(found))):
        if part:
            lines += section(title, part)
    if picture and growth_table(found):
        lines += ["", f"![Seconds of training over rows, nodes, columns and classes, both axes logarithmic]({picture})"]
    for title in dict.fromkeys(m["section"] for m in found if "section" in m):
        lines += section(title, main_table([m for m in found if m.get("section") == title]))
    lines += section("Commands", command_lines(found))
    if report["failed"]:
        lines += section("Not measured", failed_lines(report))
    return "\n".join(lines) + "\n"


def one(found, entry, start, unit):
    return next((m for m in found["measurements"] if m["entry"] == entry and m["what"].startswith(start)
                 and m["unit"] == unit), None)


def streaming(found):
    """For docs/large-data.md: what a table takes that does not fit."""
    size, time = one(found, "stream", "peak resident size", "MB"), one(found, "stream", "the whole command", "s")
    if not size or not time:
        return ""
    what = size["what"].removeprefix("peak resident size, ")
    text = (f"{what}: {median(time['summary'], 's')} from start to end, {median(size['summary'], 'MB')} of memory at the "
            f"peak (`{time['command']}`, [benchmarks.md](benchmarks.md)).")
    return "\n".join(wrapped(text)) + "\n"


def embedded(found):
    """For docs/embedding.md: one row of a large network, and what bounds it."""
    row = one(found, "predict", "prediction, one row, 784 inputs", "s")
    reading = row and row["rivals"].get("reading the weights alone")
    if not reading:
        return ""
    text = (f"There, {row['what'].removeprefix('prediction, ')}: {median(row['summary'], 's')}, "
            f"{short(reading['value'])} times what only reading as many bytes as the model has takes.")
    return "\n".join(paragraphs(text)) + "\n"


def parts(found):
    return {"docs/benchmarks.md": {"figures": make(found, PICTURE)},
            "docs/large-data.md": {"streaming": streaming(found)}, "docs/embedding.md": {"one row": embedded(found)}}


def whole(found):
    there = {m["entry"] for m in found["measurements"]} | {failure["entry"] for failure in found["failed"]}
    missing = [name for name in ENTRIES if name not in there]
    if found["size"] != "full" or missing:
        raise Failure(f"no whole run: size {found['size']}, without {', '.join(missing) or 'nothing'}; run 'make bench'")
