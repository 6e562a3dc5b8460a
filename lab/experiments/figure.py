"""The paper's experiment 2: errors and accuracy after each layer, BRLS against BSCRLS."""
import math
import statistics

from lab.experiments.plot import BLUE, GOLD, INK, QUIET, RED, TEAL, block, head, legend
from lab.experiments.problems import PhotoRows, TableRows
from lab.experiments.words import counted, interval, judged, machines, mean_sd, table

TITLE = "The figure: error and accuracy, layer by layer"
SCHEDULES = ["harmonic:1", "harmonic:0.5", "harmonic:0.2", "harmonic:0.1", "harmonic:0.05"]  # the tightest first
COPIES = 7  # of each photo: about as many rows as the paper's seven tenths of 2,562 photos
MEASURES = {"train": "training error", "test": "test error", "accuracy": "test accuracy"}
SHORT = {"brls": "BRLS", "plain": "BSCRLS, default", "tight": "BSCRLS, tight schedule",
         "best": "BSCRLS, best of 10 draws", "gcv": "BSCRLS, gcv"}
DRAWN = {"brls": RED, "plain": INK, "tight": TEAL, "best": GOLD, "gcv": BLUE}


def methods(tight):
    """Name and options of each; all but BRLS are BSCRLS."""
    return {"brls": ("BRLS", ["--kind", "brls"]),
            "plain": ("BSCRLS, default", []),
            "tight": (f"BSCRLS, `{tight}`", ["--gamma", tight]),
            "best": ("BSCRLS, best of 10 draws", ["--select", "best"]),
            "constant": ("BSCRLS, `constant:0.9`", ["--gamma", "constant:0.9"]),
            "loo": ("BSCRLS, leave-one-out test", ["--supervise", "loo"]),
            "gcv": ("BSCRLS, gcv", ["--supervise", "gcv"])}


# ---- measuring ------------------------------------------------------------------------------------------------------


def run(lab, earlier=None):
    shape = {"features": lab.several("10x10", "3x4"), "nodes": lab.several(100, 10), "layers": lab.several(50, 4)}
    splits = lab.several(5, 2)
    known = {one["title"]: one for one in (earlier or {}).get("problems", [])}
    problems = [PhotoRows(lab, 0), PhotoRows(lab, lab.several(COPIES, 1)), TableRows(lab, lab.several(2000, 100))]
    return {"shape": shape, "splits": splits,
            "problems": [measure(lab, shape, problem, splits, lab.several(1 if number else 2, 1),
                                 known.get(problem.title, {})) for number, problem in enumerate(problems)]}


def measure(lab, shape, problem, splits, seeds, known):
    """The methods that are not known yet."""
    tight = known.get("tight") or tightest(lab, shape, problem)
    runs = list(known.get("runs", []))
    wanted = {method: facts for method, facts in methods(tight).items() if method not in {r["method"] for r in runs}}
    for split in range(splits):
        for seed in range(seeds):
            for method, (name, words) in wanted.items():
                lab.progress(f"figure: {problem.title}, split {split + 1} of {splits}, seed {seed}, {name}")
                runs.append({"split": split, "seed": seed, "method": method,
                             **one(lab, shape, problem, split, seed, words)})
    return {"name": problem.name, "title": problem.title, "seeds": seeds, "tight": tight, "runs": runs}


def fit(lab, shape, problem, split, seed, words):
    return lab.run("fit", problem.split(split)[0], "--preset", "paper", "--features", shape["features"], "--enhance",
                   f"{shape['nodes']}x{shape['layers']}", "--seed", seed, *problem.words, *words,
                   "-o", lab.work / "figure.broad")


def tightest(lab, shape, problem):
    """Of the schedules the tightest with which the first split and seed gets all its layers."""
    for schedule in SCHEDULES[:-1]:
        if len(fit(lab, shape, problem, 0, 0, ["--gamma", schedule])["layers"]) == shape["layers"]:
            return schedule
    return SCHEDULES[-1]


def one(lab, shape, problem, split, seed, words):
    """The curves are texts, figures with blanks between, so that a stored result can be looked through."""
    report = fit(lab, shape, problem, split, seed, words)
    tested = lab.run("eval", lab.work / "figure.broad", problem.split(split)[1], "--curve")
    curve, layers = tested["curve"], report["layers"]
    if not layers:  # it predicts nothing
        curve = [{"norm": math.sqrt(tested["rows"]), "accuracy": tested["accuracy"]}]
        layers = [{"norm_after": math.sqrt(report["rows"])}]
    return {"rows": report["rows"], "test_rows": tested["rows"], "layers": len(report["layers"]),
            "status": report["status"], "draws": sum(layer["tries"] for layer in report["layers"]),
            "seconds": round(report["seconds"]["layers"], 3),
            "train": row(layer["norm_after"] for layer in layers),
            "test": row(at["norm"] for at in curve), "accuracy": row(at["accuracy"] for at in curve)}


def row(values):
    return " ".join(f"{value:.6g}" for value in values)


# ---- what was measured ----------------------------------------------------------------------------------------------


class Curves:
    """Of one problem: by method, for each pair of split and seed, the figures after each layer. A network that ended
    early keeps the figures of its last layer."""

    def __init__(self, problem, layers):
        self.runs = {}
        for one_run in problem["runs"]:
            self.runs.setdefault(one_run["method"], []).append(one_run)
        self.values = {(method, measure): [self.whole(r[measure], layers) for r in runs]
                       for method, runs in self.runs.items() for measure in MEASURES}
        self.splits = [r["split"] for r in self.runs["brls"]]

    @staticmethod
    def whole(text, layers):
        values = [float(value) for value in text.split()]
        return values + [values[-1]] * (layers - len(values))

    def after(self, method, measure, layer):
        return [values[layer - 1] for values in self.values[method, measure]]

    def lead(self, method, measure, layer):
        """How much more than BRLS, for each pair."""
        return [a - b for a, b in zip(self.after(method, measure, layer), self.after("brls", measure, layer))]

    def by_split(self, differences):
        """Their mean for each split: seeds of one split are not independent."""
        return [statistics.fmean(d for d, at in zip(differences, self.splits) if at == split)
                for split in sorted(set(self.splits))]

    def drawn(self):
        return [method for method in DRAWN if method in self.runs]

    def total(self, method, figure):
        return [r[figure] for r in self.runs[method]]


def shown_layers(layers):
    return [layer for layer in (1, 10, 20, 50) if layer < layers] + [layers]


# ---- text -----------------------------------------------------------------------------------------------------------


def text(result):
    parts = [part for problem in result["problems"] for part in problem_text(problem, result["shape"])]
    return "\n".join([*parts, f"{machines(result)}\n"])


def problem_text(problem, shape):
    curves, last = Curves(problem, shape["layers"]), shape["layers"]
    names = {method: name for method, (name, _) in methods(problem["tight"]).items() if method in curves.runs}
    pairs = len(curves.splits)
    yield (f"**{problem['title'].capitalize()}**: {mean_sd(curves.total('brls', 'rows'), 0)} training rows, "
           f"{len(set(curves.splits))} splits × {problem['seeds']} seed{'s' if problem['seeds'] > 1 else ''}, mean ± "
           "deviation over these; of the test error the median, with least and largest.\n")
    yield table(["", "after layer", *(names[method] for method in curves.drawn())],
                [[name if i == 0 else "", layer,
                  *(cell(curves.after(method, measure, layer), measure) for method in curves.drawn())]
                 for measure, name in MEASURES.items() for i, layer in enumerate(shown_layers(last))])
    yield table(["", "layers", "draws per layer", "seconds", "training error at the end", "test accuracy at the end",
                 "more than BRLS (95 %)"],
                [summary(curves, method, name, last) for method, name in names.items()])
    yield "\n".join("- " + line for line in findings(curves, names, problem, last, pairs)) + "\n"


def cell(values, measure):
    """Test errors are now and then a hundred times as large as most: a mean would describe these alone."""
    if measure == "test":
        return f"{norm(statistics.median(values))} ({norm(min(values))} to {norm(max(values))})"
    return mean_sd(values, 3 if measure == "accuracy" else 2)


def norm(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def summary(curves, method, name, last):
    draws = [r["draws"] / max(1, r["layers"]) for r in curves.runs[method]]
    mean, half = interval(curves.by_split(curves.lead(method, "accuracy", last)))
    return [name, mean_sd(curves.total(method, "layers"), 0), mean_sd(draws, 1),
            mean_sd(curves.total(method, "seconds"), 2), mean_sd(curves.after(method, "train", last), 2),
            mean_sd(curves.after(method, "accuracy", last)),
            "" if method == "brls" else f"{mean:+.3f} ± {half:.3f}"]


def findings(curves, names, problem, last, pairs):
    """What the two claims of the paper come to here, and what the layers do to the test error."""
    alike = sum(a["train"] == b["train"] and a["accuracy"] == b["accuracy"]
                for a, b in zip(curves.runs["brls"], curves.runs["plain"]))
    if alike == pairs:
        yield (f"The default schedule refuses nothing here: in all {pairs} pairs BSCRLS has the figures of BRLS, "
               "layer by layer.")
    else:
        yield (f"The default schedule refused a draw in {pairs - alike} of {pairs} pairs; in the others BSCRLS is "
               "BRLS.")
    for method in ("tight", "best", "loo", "gcv"):
        if method not in names:
            continue
        yield claim(curves, method, names[method], last, pairs)
    yield over_fit(curves, last)


def claim(curves, method, name, last, pairs):
    leads = curves.lead(method, "train", last)
    lower, draws = sum(lead < 0 for lead in leads), statistics.fmean(curves.total(method, "draws"))
    kept = statistics.fmean(curves.total(method, "layers"))
    train, test = (statistics.median(curves.after(method, measure, last)) /
                   statistics.median(curves.after("brls", measure, last)) for measure in ("train", "test"))
    convergence = judged(curves.by_split(leads), "weaker", "stronger")
    more = curves.by_split(curves.lead(method, "accuracy", last))
    mean, half = interval(more)
    return (f"{name}: {counted(kept, 'layer')}, {counted(draws, 'draw')}. Convergence {differs(convergence)}: the "
            f"training error ends at {train:.2f} times that of BRLS, lower in {lower} of {pairs} pairs. The test error "
            f"ends at {test:.2f} times that of BRLS. Test accuracy {differs(judged(more, 'better', 'worse'))}: "
            f"{mean:+.3f} ± {half:.3f}.")


def differs(verdict):
    return f"differs by {verdict}" if verdict == "no more than chance" else f"is {verdict}"


def over_fit(curves, last):
    test = [statistics.median(curves.after("brls", "test", layer)) for layer in range(1, last + 1)]
    train = [statistics.fmean(curves.after("brls", "train", layer)) for layer in (1, last)]
    accuracy = [statistics.fmean(curves.after("brls", "accuracy", layer)) for layer in (1, last)]
    nothing = math.sqrt(statistics.fmean(curves.total("brls", "test_rows")))
    return (f"From layer 1 to {last} the training error of BRLS goes from {train[0]:.2f} to {train[1]:.2f}; its test "
            f"error {course(test)}, and test accuracy goes from {accuracy[0]:.3f} to {accuracy[1]:.3f}. Always predicting "
            f"0 gives a test error of {nothing:.2f}.")


def course(errors):
    least = min(errors)
    if max(errors) < 1.01 * least:
        return f"stays at {norm(errors[0])}"
    if errors[-1] < 1.002 * least:
        return f"falls from {norm(errors[0])} to {norm(errors[-1])}"
    if errors[0] < 1.002 * least:
        return f"grows from {norm(errors[0])} to {norm(errors[-1])}"
    at = errors.index(least) + 1
    return f"goes from {norm(errors[0])} to {norm(errors[-1])} and is least, {norm(least)}, after layer {at}"


# ---- picture --------------------------------------------------------------------------------------------------------


def pictures(result):
    problems, layers = result["problems"], result["shape"]["layers"]
    width, height = 1000, 270 * len(problems) + 60
    script = head(width, height) + legend([(name, style(method)) for method, name in SHORT.items()], width, height)
    script += [f"set multiplot layout {len(problems)},{len(MEASURES)} margins 0.06,0.985,0.065,0.92 spacing 0.06,0.075",
               f"set xrange [1:{layers}]", f"set title textcolor rgb '{INK}' offset 0,-0.5",
               f"set xtics 0,{max(1, layers // 5)}", "unset key"]
    for i, problem in enumerate(problems):
        curves = Curves(problem, layers)
        for measure in MEASURES:
            script += panel(curves, problem, measure, layers, i == len(problems) - 1)
            script += ["unset arrow", "unset label"]
    return {"experiments-figure.svg": "\n".join([*script, "unset multiplot", ""])}


def style(method):
    return f"lc rgb '{DRAWN[method]}' lw 2.2 dt {'(4,4)' if method == 'plain' else 'solid'}"


def panel(curves, problem, measure, layers, bottom):
    lines, plots, data = [], [], f"${problem['name']}_{measure}"
    middle = statistics.median if measure == "test" else statistics.fmean
    for method in curves.drawn():
        values = [curves.after(method, measure, layer) for layer in range(1, layers + 1)]
        lines += block(f"{problem['name']}_{measure}_{method}",
                       [[i + 1, middle(v), min(v), max(v)] for i, v in enumerate(values)])
    for method in ("brls", "tight"):
        plots.append(f"{data}_{method} using 1:3:4 with filledcurves fc rgb '{DRAWN[method]}' fs transparent solid "
                     "0.13 noborder notitle")
    plots += [f"{data}_{method} using 1:2 with lines {style(method)}" for method in curves.drawn()]
    drawn = [value for method in curves.drawn() for values in curves.values[method, measure] for value in values]
    logarithmic = measure != "accuracy" and max(drawn) > 4 * min(drawn)
    title = "photos with copies" if problem["name"] == "copies" else problem["title"]
    return [*lines, f"{'set' if logarithmic else 'unset'} logscale y",
            f"set title '{title}: {MEASURES[measure]}'",
            f"set xlabel '{'layers' if bottom else ''}' textcolor rgb '{QUIET}'",
            f"set label 1 '{'tight: ' + problem['tight'] if measure == 'train' else ''}' at graph 0.04,0.07 "
            f"font ',11' textcolor rgb '{TEAL}'", "plot " + ", ".join(plots)]
