"""Pictures by gnuplot, in the colours of the project, on a white ground of their own so that they read on any page."""
import shutil
import subprocess

from bench.tool import Failure

INK, QUIET, GRID, RED, TEAL, GOLD, GREY = "#1d2733", "#5b6673", "#d9dee4", "#b33421", "#2b7d86", "#c98a1b", "#9aa3ad"
BLUE = "#3d5fb5"
COLOURS = {"bscrls": TEAL, "brls": RED, "bls": GOLD}


def head(width=1000, height=420):
    """The first lines of a script."""
    return [f"set terminal svg size {width},{height} font 'Helvetica,13' background '#ffffff' noenhanced",
            "set xtics nomirror", "set ytics nomirror", f"set grid lc rgb '{GRID}' lw 1",
            f"set border 3 lc rgb '{QUIET}'", f"set tics textcolor rgb '{QUIET}'",
            f"set key top right reverse Left samplen 2 textcolor rgb '{INK}'"]


def block(name, rows):
    """A data block; None is a gap."""
    return [f"${name} << EOD", *(" ".join("NaN" if v is None else f"{v:.8g}" for v in row) for row in rows), "EOD"]


def legend(entries, width, height):
    """One legend above several panels: text and line style of each. What it sets is unset after the first panel, or
    each panel would draw it again."""
    places = [56 + 6.3 * len(name) for name, _ in entries]
    at, lines, y = (width - sum(places)) / 2, [], 1 - 14 / height
    for i, ((name, style), place) in enumerate(zip(entries, places)):
        lines += [f"set arrow {i + 50} from screen {at / width:.4f},{y:.4f} to screen {(at + 24) / width:.4f},{y:.4f} "
                  f"nohead front {style}",
                  f"set label {i + 50} '{name}' at screen {(at + 29) / width:.4f},{y:.4f} left font ',12' "
                  f"textcolor rgb '{INK}'"]
        at += place
    return lines


def draw(script, path, title):
    if not shutil.which("gnuplot"):
        raise Failure("gnuplot is not installed (Debian: gnuplot-nox)")
    done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.startswith("<?xml"):
        raise Failure("gnuplot: " + " ".join(done.stderr.split()))
    lines = [line.rstrip().expandtabs(4) for line in done.stdout.replace(">Gnuplot<", f">{title}<").splitlines()]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
