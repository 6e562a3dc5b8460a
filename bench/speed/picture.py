"""Growth of cost as an SVG, by gnuplot. On a white ground of its own, so that it reads on light and dark pages."""
import math
import shutil
import statistics
import subprocess

from bench.tool import Failure

WIDTH, HEIGHT = 1000, 640
INK, QUIET, RED, TEAL = "#1d2733", "#5b6673", "#b33421", "#2b7d86"
# Panels by title: which sweeps of growth.py they show.
PANELS = {"rows": ["rows"], "enhancement nodes": ["nodes, in layers of 100", "nodes, in one layer"],
          "columns": ["columns"], "classes": ["classes"]}


def fitted(facts):
    """Offset of the line with the fitted slope, through the centre of the points."""
    logs = [(math.log(size), math.log(statistics.median(seconds)))
            for size, seconds in zip(facts["sizes"], facts["seconds"])]
    return statistics.fmean(b for _, b in logs) - facts["exponent"] * statistics.fmean(a for a, _ in logs)


def points(facts):
    """Size, median, least and most."""
    for size, seconds in zip(facts["sizes"], facts["seconds"]):
        yield f"{size} {statistics.median(seconds):.6g} {min(seconds):.6g} {max(seconds):.6g}"


def panel(title, sweeps):
    """Of one panel: its data blocks and its plot."""
    blocks, curves = [], []
    for number, (facts, colour) in enumerate(zip(sweeps, (TEAL, RED))):
        name = f"${title.split()[-1]}{number}"
        blocks += [f"{name} << EOD", *points(facts), "EOD"]
        label = facts["sweep"].rpartition(", ")[2] if len(sweeps) > 1 else ""
        label = f"{label}: exponent {facts['exponent']:.2f}" if label else f"exponent {facts['exponent']:.2f}"
        low, high = facts["sizes"][0], facts["sizes"][-1]
        curves.append(f"[{low}:{high}] exp({fitted(facts):.8g}) * x**{facts['exponent']:.8g} with lines lw 2 "
                      f"lc rgb '{colour}' title '{label}'")
        curves.append(f"{name} using 1:2:3:4 with yerrorbars pt 7 ps 0.6 lw 1.5 lc rgb '{colour}' notitle")
    heading = f"set title '{title}' offset 0,-0.5 textcolor rgb '{INK}' font ',16'"
    return [*blocks, heading, "plot " + ", \\\n  ".join(curves)]


def script(measurements):
    facts = {m["facts"]["sweep"]: m["facts"] for m in measurements if "exponent" in m.get("facts", {})}
    panels = {title: [facts[name] for name in names if name in facts] for title, names in PANELS.items()}
    lines = [f"set terminal svg size {WIDTH},{HEIGHT} font 'Helvetica,13' background '#ffffff' noenhanced",
             "set multiplot layout 2,2 margins 0.075,0.965,0.08,0.93 spacing 0.085,0.15",
             "set logscale xy", "set format x '%.0s%c'", "set format y '%g s'",
             "set xtics nomirror", "set ytics nomirror", "set mxtics 1", "set mytics 1",
             "set offsets graph 0.04, graph 0.04, graph 0.1, graph 0.05",
             "set grid lc rgb '#d9dee4' lw 1", f"set border 3 lc rgb '{QUIET}'", f"set tics textcolor rgb '{QUIET}'",
             f"set key top left reverse Left samplen 2 textcolor rgb '{INK}'"]
    for title, sweeps in panels.items():
        lines += panel(title, sweeps) if sweeps else ["set multiplot next"]
    return "\n".join([*lines, "unset multiplot", ""])


def draw(measurements, path):
    if not shutil.which("gnuplot"):
        raise Failure("gnuplot is not installed (Debian: gnuplot-nox)")
    done = subprocess.run(["gnuplot"], input=script(measurements), capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.startswith("<?xml"):
        raise Failure("gnuplot: " + " ".join(done.stderr.split()))
    drawn = done.stdout.replace(">Gnuplot<", ">Growth of cost<")
    lines = [line.rstrip().expandtabs(4) for line in drawn.splitlines()]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
