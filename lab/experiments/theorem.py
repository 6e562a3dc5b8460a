"""Theorem 3.1 of the paper: BRLS where it provably stays above an error, BSCRLS on the same rows; the paper's norm."""
import math
import statistics

from lab.experiments import plot, trials
from lab.experiments.words import mean_sd, table
from bench.tool import Failure

TITLE = "Theorem 3.1 made concrete"
ROWS, WAVES = 64, 3
RANGE, LAMBDA, GROUPS, GROUP, NODES = 1e-3, 1e-8, 2, 5, 20
# Lists of multiples of the range, by what they are to show.
SCORED = {"gcv": RANGE, "gcv, wider": 10 * RANGE}  # base ranges
LISTS = {"usable ones at once": "1,10000,100000", "all powers of ten": "1,10,100,1000,10000,100000",
         "one power less": "1,10,100,1000,10000", "the paper preset's": "1,0.5,2,0.2,5,0.1,10,0.05,20",
         "the base range alone": "1"}
KINDS = {"brls": ["--kind", "brls"], "bscrls": ["--kind", "bscrls"], "gcv": ["--supervise", "gcv"]}
SIZES = [(211, 200), (211, 100), (100, 99), (100, 100), (50, 100), (30, 100)]


def wave():
    """Equidistant in [0, 1] once scaled. Whole periods about the middle: no affine function explains any of it."""
    x = [(i + 0.5) / ROWS for i in range(ROWS)]
    return [[value, math.cos(2 * math.pi * WAVES * value)] for value in x]


# ---- the bound ------------------------------------------------------------------------------------------------------

def remainders(size=RANGE, features=GROUPS * GROUP):
    """How far a feature node and an enhancement node can be from an affine function of x in [0, 1]; the steps are in
    docs/experiments/theorem.md."""
    feature = size ** 3 / 32
    second = features ** 2 * (features + 1) * size ** 5 / 128 + features * size ** 4 / 16
    return feature, second / 8


def lower_bound(layers, size=RANGE, features=GROUPS * GROUP, nodes=NODES, rows=ROWS, ridge=LAMBDA, affine=1.0):
    """Of ||E_m|| / ||Y||; `affine` is the part of ||Y|| that affine functions of x leave over."""
    feature, node = remainders(size, features)
    first = math.sqrt(rows * (features * feature ** 2 + nodes * node ** 2))
    further = math.sqrt(rows * nodes) * node
    return affine - (first + (layers - 1) * further) / (2 * math.sqrt(ridge))


def left_by_affine(rows):
    """||Y - its best affine function of x|| / ||Y||."""
    xs, ys = [row[0] for row in rows], [row[1] for row in rows]
    x0, y0 = statistics.fmean(xs), statistics.fmean(ys)
    slope = sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)
    return math.sqrt(sum((y - y0 - slope * (x - x0)) ** 2 for x, y in zip(xs, ys)) / sum(y ** 2 for y in ys))


# ---- runs -----------------------------------------------------------------------------------------------------------

def sampled(count):
    """Numbers of layers at about equal distances of their logarithm."""
    return sorted({round(10 ** (i / 10)) for i in range(10 * len(str(count)))} & set(range(1, count + 1)) | {count})


def chain(lab, data, words, seed, layers):
    model = lab.work / "wave.broad"
    fit = lab.run("fit", data, "--task", "regress", "--preset", "paper", "--enhance", f"{NODES}x{layers}",
                  "--seed", seed, "-o", model, *words)
    kept = fit["layers"]
    norms = [layer["norm_after"] / kept[0]["norm_before"] for layer in kept]
    verified = lab.run("verify", model, data)["holds"] if kept else None
    return {"layers": len(kept), "status": fit["status"], "reason": fit["reason"], "holds": verified,
            "norm": norms[-1] if norms else 1.0, "at": [m for m in sampled(max(len(kept), 1)) if m <= len(kept)],
            "norms": trials.pack(norms[m - 1] for m in sampled(max(len(kept), 1)) if m <= len(kept)),
            "refused": sum(layer["tries"] - 1 for layer in kept),
            "refused_first": kept[0]["tries"] - 1 if kept else None,
            "ranges": sorted({layer["range"] for layer in kept})}


def narrow(lab, data):
    """Nodes that are all but affine: the range is too small."""
    base = ["--features", f"{GROUPS}x{GROUP}", "--range", RANGE, "--lambda", LAMBDA]
    seeds, long, some = range(lab.several(10, 2)), lab.several(5000, 100), lab.several(500, 50)
    brls = [chain(lab, data, ["--kind", "brls", *base], seed, long) for seed in seeds]
    tight = ["--kind", "bscrls", "--gamma", "harmonic:0.3", *base]
    lists = {name: [chain(lab, data, [*tight, "--range-steps", steps], seed, some) for seed in seeds]
             for name, steps in LISTS.items()}
    return {"affine": left_by_affine(wave()), "long": long, "some": some, "brls": brls, "bscrls": lists,
            **narrow_by_score(lab, data, SCORED)}


def narrow_by_score(lab, data, ranges):
    """No list of ranges given: the search of gcv finds its own, from the base range on."""
    base = ["--features", f"{GROUPS}x{GROUP}", "--supervise", "gcv"]
    return {name: [chain(lab, data, [*base, "--range", size], seed, lab.several(500, 50))
                   for seed in range(lab.several(10, 2))] for name, size in ranges.items()}


def dead(lab, data, kinds=None):
    """One rectified feature node, which is 0 on all rows for three seeds in eight."""
    base = ["--features", "1x1", "--feature-activation", "relu", "--range", 10]
    seeds, layers = range(lab.several(40, 8)), lab.several(500, 20)
    kinds = kinds or KINDS
    return {kind: [chain(lab, data, [*words, *base], seed, layers) for seed in seeds]
            for kind, words in kinds.items()}


def operator(lab, data):
    """||I - K K+|| of sigmoid nodes, and what the tool says when asked for the test that it cannot pass."""
    try:
        lab.run("fit", data, "--task", "regress", "--preset", "paper", "--features", "2x5", "--enhance", f"{NODES}x5",
                "--supervise", "operator", "-o", lab.work / "wave.broad")
        said = None
    except Failure as failure:
        said = str(failure)
    try:
        import numpy as np
    except ImportError:
        return {"said": said, "norms": None}
    return {"said": said, "norms": [projector(np, rows, columns) for rows, columns in SIZES]}


def projector(np, rows, columns):
    rng = np.random.default_rng(0)

    def nodes(inputs, count):
        weight, bias = rng.uniform(-1, 1, (inputs.shape[1], count)), rng.uniform(-1, 1, count)
        return 1 / (1 + np.exp(-(inputs @ weight + bias)))

    k = nodes(nodes(rng.random((rows, 300)), 100), columns)
    ridge = np.linalg.solve(k.T @ k + LAMBDA * np.eye(columns), k.T)
    return {"rows": rows, "columns": columns, "rank": int(np.linalg.matrix_rank(k)),
            "norm": float(np.linalg.norm(np.eye(rows) - k @ np.linalg.pinv(k), 2)),
            "ridge": float(np.linalg.norm(np.eye(rows) - k @ ridge, 2))}


def run(lab, earlier=None):
    data = lab.work / "wave.csv"
    trials.write(data, wave())
    if earlier:
        missing = {kind: words for kind, words in KINDS.items() if kind not in earlier["dead"]}
        scored = narrow_by_score(lab, data, {name: size for name, size in SCORED.items() if name not in earlier["narrow"]})
        return {"narrow": {**earlier["narrow"], **scored},
                "dead": {**earlier["dead"], **(dead(lab, data, missing) if missing else {})}}
    return {"narrow": narrow(lab, data), "dead": dead(lab, data), "operator": operator(lab, data)}


# ---- what the figures say -------------------------------------------------------------------------------------------

def at_layer(run_, number):
    """The norm after this number of layers, where it was kept."""
    return dict(zip(run_["at"], trials.unpack(run_["norms"]))).get(number)


def said_of_narrow(facts):
    rows, counts = [], [m for m in (50, 500, 5000) if m <= facts["long"]] or [facts["long"]]
    for count in counts:
        least = min(at_layer(one, count) or one["norm"] for one in facts["brls"])
        rows.append([f"{count:,}", f"{lower_bound(count, affine=facts['affine']):.7f}", f"{least:.7f}"])
    further = math.sqrt(ROWS * NODES) * remainders()[1] / (2 * math.sqrt(LAMBDA))
    below = (facts["affine"] - 0.5) / further
    return (f"BRLS, {len(facts['brls'])} seeds, range {RANGE:g}:\n\n"
            + table(["layers", "bound: ‖E‖/‖Y‖ is at least", "least of all seeds"], rows)
            + f"\nBy the bound BRLS needs more than {below:.1e} layers to halve the error.\n")


def said_of_lists(facts):
    rows, lists = [], {**facts["bscrls"], **{f"`--supervise gcv --range {size:g}`": facts[name]
                                             for name, size in SCORED.items() if name in facts}}
    for name, runs in lists.items():
        kept = [one for one in runs if one["layers"]]
        refused = [one["refused_first"] for one in kept]
        norms = [one["norm"] for one in runs]
        rows.append([name, f"`{LISTS[name]}`" if name in LISTS else "its own", mean_sd(norms), f"{max(norms):.3f}",
                     mean_sd([one["layers"] for one in runs], 0), mean_sd(refused, 0) if refused else "all",
                     sum(one["status"] == "stalled" for one in runs),
                     f"{sum(one['holds'] for one in kept)} of {len(kept)}" if kept else "–"])
    return table(["list", "multiples of the range", "‖E‖/‖Y‖ at the end", "worst", "layers", "draws refused in layer 1",
                  "seeds that stalled", "certificates that hold"], rows, left=2)


def below_bounds(facts):
    """With gcv: the base range's name, what BRLS cannot get below with it in as many layers, seeds that do."""
    for name, size in SCORED.items():
        if name in facts:
            limit = lower_bound(facts["some"], size=size, affine=facts["affine"])
            yield name, limit, sum(one["norm"] < limit for one in facts[name])


def words_on_lists(facts):
    bound = lower_bound(facts["long"], affine=facts["affine"])
    found = []
    for name, runs in facts["bscrls"].items():
        below = sum(one["norm"] < bound for one in runs)
        found.append(f"{name}: {below} of {len(runs)}")
    found += [f"`--supervise gcv --range {SCORED[name]:g}`: {below} of {len(facts[name])} below {limit:.5f}"
              for name, limit, below in below_bounds(facts)]
    nothing = [one for one in facts["bscrls"]["the base range alone"] if not one["layers"]]
    told = f"Seeds in which BSCRLS falls below the bound of BRLS ({bound:.5f}): {'; '.join(found)}. "
    return told + (f"Where it cannot do anything it says so: “{nothing[0]['reason']}”." if nothing else "")


def said_of_dead(facts):
    stuck = [i for i, one in enumerate(facts["brls"]) if one["norm"] > 1 - 1e-12]
    freed = [facts["bscrls"][i] for i in stuck]
    count = len(facts["brls"])
    lines = [f"BRLS with one rectified feature node: {len(stuck)} of {count} seeds end where they began, with ‖E‖ = "
             f"‖Y‖ (3/8 of them are expected, {0.375 * count:.0f})."]
    if freed:
        moved = sum(one["norm"] < 1 - 1e-3 for one in freed)
        norms = [one["norm"] for one in freed]
        kept = [one for one in freed if one["layers"]]
        refused = mean_sd([one["refused_first"] for one in kept], 0)
        lines.append(f"BSCRLS leaves that error in {moved} of these {len(freed)}, after {refused} refused draws of "
                     f"layer 1, and its certificate holds in {sum(one['holds'] for one in kept)} of {len(kept)}. It ends "
                     f"at {statistics.median(norms):.3f} in the median, {min(norms):.3f} at best and {max(norms):.3f} at "
                     "worst. The new node may be 0 on a part of the rows, which nothing refuses.")
    scored = [facts["gcv"][i]["norm"] for i in stuck] if "gcv" in facts else []
    if scored:
        lines.append(f"With `--supervise gcv` {sum(norm < 1 - 1e-3 for norm in scored)} of these {len(scored)} leave it; "
                     f"they end at {statistics.median(scored):.3f} in the median, {min(scored):.3f} at best and "
                     f"{max(scored):.3f} at worst.")
    return " ".join(lines) + "\n"


def said_of_operator(facts):
    parts = []
    if facts["norms"]:
        rows = [[one["rows"], one["columns"], one["rank"], f"{one['norm']:.6f}", f"{one['ridge']:.6f}"]
                for one in facts["norms"]]
        parts.append(table(["rows", "nodes", "rank", "‖I − KK⁺‖₂", "with ridge, λ = 1e-8"], rows, left=0))
    if facts["said"]:
        parts.append(f"`broad fit --supervise operator` on the wave: “{facts['said']}”.\n")
    return "\n".join(parts)


def text(result):
    name = "experiments-theorem" + ("" if result["data"] == "photos" else "-rendered")
    facts = result["narrow"]
    return "\n".join(["**Nodes that are nearly affine.** " + said_of_narrow(facts),
                      "BSCRLS with the same base range, `--gamma harmonic:0.3` and at most "
                      f"{facts['some']:,} layers:\n",
                      said_of_lists(facts), words_on_lists(facts) + "\n",
                      f"![norm against layers, and the bound](../images/{name}.svg)\n",
                      "**A feature node that is 0 on all rows.** " + said_of_dead(result["dead"]),
                      "**The paper's norm.**\n", said_of_operator(result["operator"])])


# ---- picture --------------------------------------------------------------------------------------------------------

def pictures(result):
    facts, styles = result["narrow"], {"usable ones at once": plot.TEAL, "one power less": plot.GOLD}
    lines = [*plot.head(1000, 460), "set logscale xy", f"set xrange [1:{facts['long']}]", "set yrange [*:2]",
             f"set xlabel 'layers' textcolor rgb '{plot.QUIET}'",
             f"set ylabel 'norm by first' textcolor rgb '{plot.QUIET}'",
             "set key bottom left"]
    plots = []
    groups = [("BRLS", facts["brls"], plot.RED, 3), *((f"BSCRLS, {LISTS[name]}", facts["bscrls"][name], colour, 1.5)
                                                      for name, colour in styles.items())]
    for number, (name, runs, colour, width) in enumerate(groups):
        for seed, one in enumerate(runs):
            block = f"g{number}s{seed}"
            lines += plot.block(block, zip(one["at"], trials.unpack(one["norms"])))
            title = f"title '{name}'" if seed == 0 else "notitle"
            plots.append(f"${block} using 1:2 with lines lw {width} lc rgb '{colour}' {title}")
            if one["status"] == "stalled" and one["at"]:
                plots.append(f"$g{number}s{seed}e using 1:2 with points pt 7 ps 0.6 lc rgb '{colour}' notitle")
                lines += plot.block(f"{block}e", [[one["at"][-1], one["norm"]]])
    lines += plot.block("bound", [[m, lower_bound(m, affine=facts["affine"])] for m in sampled(facts["long"])])
    plots.append(f"$bound using 1:2 with lines dt 2 lw 2 lc rgb '{plot.INK}' title 'bound that BRLS cannot get below'")
    return {"experiments-theorem": "\n".join([*lines, "plot " + ", ".join(plots), ""])}
