"""The range of the random weights over six decades."""
import math
import statistics

from lab.experiments import plot, trials
from lab.experiments.words import table

TITLE = "Sensitivity to the random parameters"
NETWORKS = {"brls": ["--preset", "paper", "--kind", "brls"],
            "bscrls": ["--preset", "paper", "--kind", "bscrls"],
            "tight": ["--preset", "paper", "--kind", "bscrls", "--gamma", "harmonic:0.3"],
            "gcv": ["--preset", "paper", "--supervise", "gcv"]}
SEEDS = {"gcv": 5}  # of the others 20: its search costs some thirty times what they do
# These choose the range by leave-one-out, so that no base range matters.
CHOOSING = {"chosen": ["--preset", "paper", "--kind", "bscrls", "--range", "auto"], "auto": []}
NAMES = {"brls": "BRLS", "bscrls": "BSCRLS", "tight": "BSCRLS, `harmonic:0.3`", "gcv": "BSCRLS, gcv",
         "chosen": "BSCRLS, `--range auto`", "auto": "preset `auto`"}
COLOURS = {"brls": plot.RED, "bscrls": plot.TEAL, "tight": plot.GOLD, "gcv": plot.BLUE}
WIDTHS = {"brls": 5, "bscrls": 2.5, "tight": 2, "gcv": 3}
FLAT = {"auto": plot.INK, "chosen": plot.TEAL, "frequent": plot.GREY}
TABLES, MOST = [("classification", "sonar"), ("classification", "satimage")], 300
# What counts as bad. The first is about training alone, the others about rows that the network has not seen.
NORM, MARGIN, FAR = 0.5, 0.05, 0.10


def run(lab, earlier=None):
    seeds, steps = lab.several(20, 2), lab.several(13, 3)
    ranges = [10 ** (-3 + 6 * i / (steps - 1)) for i in range(steps)]
    rows = lab.several(300, 60)
    sets = [trials.of_photos(lab, seeds), *trials.of_tables(lab, TABLES, seeds, MOST),
            trials.made(lab, "spirals", "classify", trials.spirals, seeds, rows, rows)]
    known = {one["name"]: one for one in (earlier or {}).get("sets", [])}
    return {"ranges": ranges, "seeds": seeds,
            "sets": [one_set(lab, trial, ranges, known.get(trial.name)) for trial in sets]}


def one_set(lab, trial, ranges, known=None):
    """What is not known yet of a data set."""
    known = known or {"networks": {}}
    lab.say(f"  {trial.name}")
    every = range(len(trial.splits))
    size = ["--features", "2x5", "--enhance", "10x5"] if lab.quick else []
    frequent, found = known.get("frequent", 0), dict(known["networks"])
    for name, words in NETWORKS.items():
        if name not in found:
            seeds = every[:SEEDS.get(name)]
            flat = trials.all_at_once(lab, [trials.words_of(trial, seed, [*words, *size, "--range", f"{at:.8g}"])
                                            for at in ranges for seed in seeds])
            found[name] = [packed(flat[i:i + len(seeds)]) for i in range(0, len(flat), len(seeds))]
            frequent = max(frequent, *(one["frequent"] for one in flat))
    choosing = {name: known[name] if name in known else
                packed(trials.all_at_once(lab, [trials.words_of(trial, seed, [*words, *size]) for seed in every]))
                for name, words in CHOOSING.items()}
    return {**trial.describe(), "frequent": frequent, "networks": found, **choosing}


def packed(outcomes):
    names = {"accuracy": "result", "norm": "norm", "layers": "layers", "draws": "draws"}
    return {name: trials.pack(one[what] for one in outcomes) for name, what in names.items()}


# ---- what the figures say -------------------------------------------------------------------------------------------

def there(one):
    """The networks that have been tried, in their order."""
    return [name for name in NETWORKS if name in one["networks"]]


def best_median(one):
    """Of BRLS, over the ranges: what this data set allows with the paper's sizes."""
    return max(statistics.median(trials.unpack(at["accuracy"])) for at in one["networks"]["brls"])


def bad(one, at):
    """For each seed whether it is bad: its norm, its accuracy by the most frequent class, and by the best range."""
    best = best_median(one)
    for accuracy, norm in zip(trials.unpack(at["accuracy"]), trials.unpack(at["norm"])):
        yield norm > NORM, accuracy <= one["frequent"] + MARGIN, accuracy < best - FAR


def share(flags):
    flags = list(flags)
    return sum(flags) / len(flags)


def fails(one, at):
    """Share of seeds with a bad accuracy, of either sort."""
    return share(guess or far for _, guess, far in bad(one, at))


def shares(one, name):
    places = one["networks"][name] if name in NETWORKS else [one[name]]
    flags = [flag for at in places for flag in bad(one, at)]
    return [share(column) for column in zip(*flags)] + [share(guess or far for _, guess, far in flags)]


def summary(result):
    rows = [[one["name"], NAMES[name], *(f"{100 * value:.0f} %" for value in shares(one, name))]
            for one in result["sets"] for name in (*there(one), *CHOOSING)]
    # The training norm of auto is that of a layer whose weights do not predict: a joint ridge follows it.
    for row in rows:
        row[2] = "–" if row[1] == NAMES["auto"] else row[2]
    return table(["data", "network", f"norm above {NORM}", "no better than guessing", "far below the best range",
                  "bad accuracy (either)"], rows, left=2)


def cell(values):
    low, high = trials.quartiles(values)
    return f"{statistics.median(values):.3f} [{low:.3f}, {high:.3f}] {min(values):.3f}"


def choosing(one):
    return " and ".join(f"{NAMES[name]} has {cell(trials.unpack(one[name]['accuracy']))}" for name in CHOOSING)


def short(norm):
    return f"{norm:.3f}" if norm >= 0.001 else f"{norm:.0e}"


def accuracies(result, one):
    rows = []
    for number, size in enumerate(result["ranges"]):
        at = [one["networks"][name][number] for name in there(one)]
        rows.append([f"{size:.3g}", *(cell(trials.unpack(a["accuracy"])) for a in at),
                     *(f"{100 * fails(one, a):.0f} %" for a in at)])
    names = [NAMES[name] for name in there(one)]
    return table(["range", *names, *(f"bad: {name}" for name in names)], rows)


def norms(result, one):
    rows = []
    for number, size in enumerate(result["ranges"]):
        cells = [f"{size:.3g}"]
        for name in there(one):
            values = trials.unpack(one["networks"][name][number]["norm"])
            cells.append(f"{short(statistics.median(values))}, {short(max(values))}")
        for name in there(one)[1:]:
            at = one["networks"][name][number]
            layers, draws = (statistics.fmean(trials.unpack(at[what])) for what in ("layers", "draws"))
            cells.append(f"{layers:.0f}, {draws:,.0f}")
        rows.append(cells)
    return table(["range", *(f"{NAMES[name]}: norm" for name in there(one)),
                  *(f"{NAMES[name]}: layers, draws" for name in there(one)[1:])], rows)


def same(one, name):
    """Share of the runs that ended where BRLS did, to six figures."""
    pairs = zip(one["networks"]["brls"], one["networks"][name])
    return share(x == y for a, b in pairs for x, y in zip(a["norm"].split(), b["norm"].split()))


def compared(one, name):
    """Pairs of runs on the same rows in which this network is right more often than BRLS, and less often."""
    pairs = [(x, y) for a, b in zip(one["networks"]["brls"], one["networks"][name])
             for x, y in zip(trials.unpack(a["accuracy"]), trials.unpack(b["accuracy"]))]
    return sum(y > x for x, y in pairs), sum(y < x for x, y in pairs), len(pairs)


def verdict(one):
    share_of = {name: shares(one, name) for name in (*there(one), *CHOOSING)}
    more, less, count = compared(one, "bscrls")
    plain = share_of["brls"][3] - share_of["bscrls"][3]
    tight = share_of["brls"][3] - share_of["tight"][3]

    def change(value, what):
        return f"does not change {what}" if abs(value) < 0.005 else (f"{'lowers' if value > 0 else 'raises'} {what} by "
                                                                     f"{100 * abs(value):.0f} of 100")

    bad_share = f"the share of runs with a bad accuracy ({100 * share_of['brls'][3]:.0f} % for BRLS)"
    return (f"**{one['name']}**: {100 * same(one, 'bscrls'):.0f} % of the runs of BSCRLS end with the norm of BRLS, to "
            f"six digits; of {count} pairs it is more accurate in {more} and less accurate in {less}. Supervision "
            f"{change(plain, bad_share)}; with the tight schedule it {change(tight, 'it')}. With the range chosen by "
            f"leave-one-out the same network has {100 * share_of['chosen'][3]:.0f} %, and preset `auto` "
            f"{100 * share_of['auto'][3]:.0f} %.{scored(one, share_of)}")


def scored(one, share_of):
    """What supervision by the score does."""
    if "gcv" not in share_of:
        return ""
    more, less, count = compared(one, "gcv")
    return (f" **With `gcv` {100 * share_of['gcv'][3]:.1f} % of the runs are bad**; of {count} pairs with BRLS it is more "
            f"accurate in {more} and less accurate in {less}.")


def text(result):
    sets = result["sets"]
    name = "experiments-sensitivity" + ("" if result["data"] == "photos" else "-rendered")
    few = "".join(f", of {NAMES[name]} {len(trials.unpack(sets[0]['networks'][name][0]['norm']))}" for name in SEEDS
                  if name in there(sets[0]))
    parts = [f"{result['seeds']} splits and seeds{few}, {len(result['ranges'])} ranges. Shares of bad outcomes over all "
             "ranges and seeds:\n", summary(result), "\n".join(f"- {verdict(one)}" for one in sets) + "\n",
             f"![accuracy, share of bad outcomes and training norm against the range](../images/{name}.svg)\n"]
    for one in sets:
        parts += [f"**{one['name']}**: accuracy on new rows, median [quartiles] worst, and the share of bad ones. The "
                  f"most frequent class has {one['frequent']:.3f}; {choosing(one)}.\n", accuracies(result, one),
                  f"**{one['name']}**: training norm as a part of the first, median and worst; layers and draws in the "
                  "mean.\n", norms(result, one)]
    return "\n".join(parts)


# ---- picture --------------------------------------------------------------------------------------------------------

def curve(result, one, name, what):
    for size, at in zip(result["ranges"], one["networks"][name]):
        values = trials.unpack(at[what])
        if what == "norm":
            values = [max(value, 1e-13) for value in values]
        yield [size, statistics.median(values), *trials.quartiles(values), fails(one, at)]


def panel(result, number, one, what):
    """One of the plots of a data set, with its data."""
    blocks, plots = [], []
    for name in there(one):
        block, colour = f"{what}{number}{name}", COLOURS[name]
        blocks += plot.block(block, curve(result, one, name, "norm" if what == "norm" else "accuracy"))
        if what != "bad":
            plots.append(f"${block} using 1:3:4 with filledcurves lc rgb '{colour}' fs transparent solid 0.15 noborder")
        plots.append(f"${block} using 1:{5 if what == 'bad' else 2} with lines lw {WIDTHS[name]} lc rgb '{colour}'")
    if what == "accuracy":
        for name, colour in FLAT.items():
            value = one["frequent"] if name == "frequent" else statistics.median(trials.unpack(one[name]["accuracy"]))
            plots.append(f"{value:.6g} with lines dt 2 lw 1.5 lc rgb '{colour}'")
    return blocks, "plot " + ", ".join(plots)


def key():
    """A line and a word for each curve, above all panels."""
    names = {**NAMES, "frequent": "most frequent class"}
    entries = [(name, colour, dash) for dash, group in (("1", COLOURS), ("2", FLAT)) for name, colour in group.items()]
    for x, (name, colour, dash) in zip((0.02, 0.095, 0.185, 0.37, 0.49, 0.60, 0.785), entries):
        ends = f"from screen {x:.3f},0.98 to screen {x + 0.03:.3f},0.98"
        yield f"set arrow {ends} nohead lw 3 dt {dash} lc rgb '{colour}'"
        word = names[name].replace("`", "")
        yield f"set label '{word}' at screen {x + 0.037:.3f},0.98 left textcolor rgb '{plot.INK}'"


def pictures(result):
    sets = result["sets"]
    places = [at for one in sets for name in there(one) for at in one["networks"][name]]
    least = min(value for at in places for value in trials.unpack(at["norm"]))
    floor = 10 ** max(-13, math.floor(math.log10(max(least, 1e-13))))
    lines = [*plot.head(1000, 820),
             f"set multiplot layout 3,{len(sets)} margins 0.09,0.985,0.07,0.91 spacing 0.03,0.05",
             "set logscale x", f"set xrange [{min(result['ranges']):g}:{max(result['ranges']):g}]", "set format x ''",
             "unset key", *key()]
    for row, (what, label) in enumerate((("accuracy", "accuracy, new rows"), ("bad", "share of bad accuracies"),
                                         ("norm", "training norm, relative"))):
        lines += {"accuracy": ["set yrange [0.4:1.02]", "set ytics 0.1"],
                  "bad": ["set yrange [-0.03:1.03]", "set ytics 0.25"],
                  "norm": ["set logscale y", f"set yrange [{floor:g}:2]", "unset mytics", "set format x '%g'",
                           "set ytics (1, 0.1, 0.01, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)"]}[what]
        lines += ["set xtics (0.01, 1, 100)"]
        for number, one in enumerate(sets):
            blocks, command = panel(result, number, one, what)
            lines += [*blocks, f"set title '{one['name'] if row == 0 else ''}' textcolor rgb '{plot.INK}' font ',15'",
                      f"set ylabel '{label if number == 0 else ''}' textcolor rgb '{plot.INK}'",
                      "set format y '%g'" if number == 0 else "set format y ''",
                      f"set xlabel 'range' textcolor rgb '{plot.QUIET}'" if row == 2 else "unset xlabel", command]
            lines += ["unset label", "unset arrow"] if row == number == 0 else []
    return {"experiments-sensitivity": "\n".join([*lines, "unset multiplot", ""])}
