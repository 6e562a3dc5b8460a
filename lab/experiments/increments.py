"""The paper's experiment 3, its tables 4 to 6: networks that grow by enhancement nodes, by feature nodes, by rows."""
import statistics

from lab.experiments import paper
from lab.experiments.plot import BLUE, GOLD, GREY, INK, QUIET, RED, block, head, legend
from lab.experiments.problems import PhotoRows, TableRows
from lab.experiments.words import interval, judged, machines, mean_sd, table

TITLE = "Tables 4, 5 and 6: the three increments"
COPIES = 7  # of each photo: about as many rows as the paper's
METHODS = {"brls": ("BRLS", ["--kind", "brls"]),
           "plain": ("BSCRLS, default", []),
           "best": ("BSCRLS, best of 10 draws", ["--select", "best"]),
           "gcv": ("BSCRLS, gcv", ["--supervise", "gcv"])}
HEADS = {"brls": "BRLS", "plain": "BSCRLS, default", "best": "best of 10", "gcv": "gcv"}
COLOURS = {"brls": RED, "plain": INK, "best": GOLD, "gcv": BLUE}
PAPER = {"BRLS": f"lc rgb '{GREY}' lw 2.2 dt (1,3)", "BSCRLS": f"lc rgb '{QUIET}' lw 1.6 dt solid"}
TABLES = {"4": ("enhancement nodes", paper.ADD_ENHANCEMENT), "5": ("feature nodes", paper.ADD_FEATURES),
          "6": ("rows", paper.ADD_DATA)}


# ---- measuring ------------------------------------------------------------------------------------------------------


def run(lab, earlier=None):
    sizes = {"group": lab.several(10, 4), "nodes": lab.several(100, 10),
             "steps": {number: lab.several(len(rows), 2) for number, (_, rows) in TABLES.items()}}
    splits = lab.several(4, 2)
    problems = [PhotoRows(lab, lab.several(COPIES, 1)), TableRows(lab, lab.several(1400, 100))]
    known = {one["title"]: one["runs"] for one in (earlier or {}).get("problems", [])}
    return {"sizes": sizes, "splits": splits,
            "problems": [{"name": problem.name, "title": problem.title,
                          "runs": all_runs(lab, sizes, problem, splits, known.get(problem.title, []))}
                         for problem in problems]}


def all_runs(lab, sizes, problem, splits, known):
    there = {one["method"] for one in known}
    return known + [one for split in range(splits) for one in measure(lab, sizes, problem, split, splits, there)]


def measure(lab, sizes, problem, split, splits, known):
    wanted = {method: facts for method, facts in METHODS.items() if method not in known}
    for number, schedule in (("4", add_enhancement), ("5", add_features), ("6", add_rows)):
        for method, (name, words) in wanted.items():
            lab.progress(f"increments: {problem.title}, split {split + 1} of {splits}, table {number}, {name}")
            network = Network(lab, problem, split, words)
            steps, whole = schedule(network, sizes)
            yield {"split": split, "table": number, "method": method, "steps": steps, "whole": whole}


class Network:
    """A model file that grows: each step is a command of its own, as a user would give it."""

    def __init__(self, lab, problem, split, words):
        self.lab, self.problem, self.split = lab, problem, split
        self.settings = ["--preset", "paper", "--seed", split, *problem.words, *words]
        self.train, self.test = problem.split(split)
        self.file = lab.work / "grown.broad"

    def fit(self, features, enhance, data=None, file=None):
        return self.figures("fit", data or self.train, "--features", features, "--enhance", enhance, *self.settings,
                            "-o", file or self.file)

    def grow(self, *words):
        return self.figures("grow", self.file, self.train, *words)

    def learn(self, portion, earlier, nodes):
        old = [word for path in earlier for word in ("--with", path)]
        return self.figures("learn", self.file, portion, *old, "--enhance", nodes)

    def figures(self, *words):
        """Seconds: of the nodes of the command's own layers; of what comes before them, which in `fit` are the feature
        nodes, in `grow` and `learn` the features and the residual of the network in the file, recomputed."""
        report = self.lab.run(*words, "--test", self.test)
        layers = report["layers"]
        return {"rows": report["rows"], "nodes": report["nodes"], "layers": len(layers),
                "draws": sum(layer["tries"] for layer in layers),
                "norm": layers[-1]["norm_after"] if layers else None,
                "accuracy": report["test"]["accuracy"], "status": report["status"],
                "layer_seconds": round(report["seconds"]["layers"], 4),
                "before_seconds": round(report["seconds"]["features"], 4)}

    def whole(self, *words):
        """The network of the last step trained from scratch, and whether it is the same file."""
        path = self.lab.work / "whole.broad"
        figures = self.fit(*words, file=path)
        return {**figures, "same": path.read_bytes() == self.file.read_bytes()}


def add_enhancement(network, sizes):
    nodes, features, count = sizes["nodes"], f"{sizes['group']}x{sizes['group']}", sizes["steps"]["4"]
    steps = [network.fit(features, f"{nodes}x1")] + [network.grow("--enhance", nodes) for _ in range(count - 1)]
    return steps, network.whole(features, f"{nodes}x{count}")


def add_features(network, sizes):
    """Of so many groups as there are in the end, all but those of the later steps are there in the beginning."""
    nodes, group, count = 2 * sizes["nodes"], sizes["group"], sizes["steps"]["5"]
    steps = [network.fit(f"{group - count + 1}x{group}", f"{nodes}x1")]
    steps += [network.grow("--features", f"1x{group}", "--enhance", nodes) for _ in range(count - 1)]
    return steps, network.whole(f"{group}x{group}", f"{nodes}x{count}")


def add_rows(network, sizes):
    nodes, features, count = sizes["nodes"], f"{sizes['group']}x{sizes['group']}", sizes["steps"]["6"]
    portions, so_far = network.problem.portions(network.split)
    steps = [network.fit(features, f"{nodes}x5", data=portions[0])]
    steps += [network.learn(portions[i], portions[:i], nodes) for i in range(1, count)]
    return steps, network.whole(features, f"{nodes}x{4 + count}", so_far[count - 1])


# ---- what was measured ----------------------------------------------------------------------------------------------


class Growth:
    """Of one problem and table: by method, a run for each split."""

    def __init__(self, problem, number):
        self.runs = {method: [r for r in problem["runs"] if r["table"] == number and r["method"] == method]
                     for method in METHODS if method in {r["method"] for r in problem["runs"]}}
        self.count = len(self.runs["brls"][0]["steps"])

    def at(self, method, step, figure):
        return [r["steps"][step][figure] for r in self.runs[method]]

    def whole(self, method, figure):
        return [r["whole"][figure] for r in self.runs[method]]

    def added(self, method, step):
        """Seconds of a step; the first makes the feature nodes too."""
        return [r["steps"][step]["layer_seconds"] + (r["steps"][step]["before_seconds"] if step == 0 else 0)
                for r in self.runs[method]]

    def total(self, method, step):
        return [sum(values) for values in zip(*(self.added(method, i) for i in range(step + 1)))]

    def lead(self, method, step):
        """Accuracy more than BRLS, split by split."""
        return [a - b for a, b in zip(self.at(method, step, "accuracy"), self.at("brls", step, "accuracy"))]

    def rise(self, method):
        """Accuracy of the last step more than of the first."""
        return [a - b for a, b in zip(self.at(method, -1, "accuracy"), self.at(method, 0, "accuracy"))]


# ---- text -----------------------------------------------------------------------------------------------------------


def text(result):
    photos, rows = result["problems"]
    parts = [f"{result['splits']} splits, mean ± deviation. *Photos*: {photos['title']}, "
             f"{mean_sd(first_rows(photos), 0)} rows to train on; *table*: {rows['title'].removeprefix('table ')}, "
             f"{mean_sd(first_rows(rows), 0)} rows. {machines(result)}\n"]
    for number, (name, printed) in TABLES.items():
        pair = [Growth(problem, number) for problem in result["problems"]]
        parts += [f"**Table {number}, adding {name}**: test accuracy\n", accuracies(number, printed, pair),
                  f"The seconds of table {number}: of each step, and so far (*photos*, mean)\n",
                  seconds(number, printed, pair[0])]
    parts += ["**Grown, and trained from scratch**: the last network of each table\n", from_nothing(result),
              "\n".join("- " + line for line in findings(result)) + "\n"]
    return "\n".join(parts)


def first_rows(problem):
    return Growth(problem, "4").at("brls", 0, "rows")


def left_columns(number, printed, pair):
    """Heads and, for each step, what the network has: as in the paper where it is the same for all."""
    if number == "6":
        return ["rows, paper", "photos", "table"], [[printed[i][0], *(f"{statistics.fmean(g.at('brls', i, 'rows')):.0f}"
                                                                     for g in pair)] for i in range(pair[0].count)]
    return ["feature nodes", "enhancement nodes"], [list(row[:2]) for row in printed[:pair[0].count]]


def printed_figures(number, printed, step):
    """Accuracy of BRLS and BSCRLS, seconds of the step, seconds so far, two each."""
    return printed[step][1 if number == "6" else 2:]


def accuracies(number, printed, pair):
    heads, left = left_columns(number, printed, pair)
    heads += ["paper: BRLS", "BSCRLS"]
    for place in ("photos", "table"):
        heads += [(f"{place}: " if method == "brls" else "") + HEADS[method] for method in pair[0].runs]
    return table(heads, [[*left[i], *(f"{v:.3f}" for v in printed_figures(number, printed, i)[:2]),
                          *(mean_sd(g.at(method, i, "accuracy")) for g in pair for method in pair[0].runs)]
                         for i in range(pair[0].count)], left=0)


def seconds(number, printed, growth):
    heads = ["rows" if number == "6" else "feature nodes" if number == "5" else "enhancement nodes"]
    heads += ["paper: BRLS", "BSCRLS", "so far: BRLS", "BSCRLS"]
    names = [HEADS[method].removeprefix("BSCRLS, ") for method in growth.runs]
    heads += ["ours: BRLS", *names[1:], "so far: BRLS", *names[1:]]
    rows = []
    for i in range(growth.count):
        first = f"{statistics.fmean(growth.at('brls', i, 'rows')):.0f}" if number == "6" else printed[i][number == "4"]
        rows.append([first, *(f"{v:.3f}" for v in printed_figures(number, printed, i)[2:]),
                     *(f"{statistics.fmean(growth.added(method, i)):.3f}" for method in growth.runs),
                     *(f"{statistics.fmean(growth.total(method, i)):.3f}" for method in growth.runs)])
    return table(heads, rows, left=0)


def from_nothing(result):
    rows = []
    for number in TABLES:
        for place, problem in zip(("photos", "table"), result["problems"]):
            growth = Growth(problem, number)
            for method in [method for method in ("brls", "best", "gcv") if method in growth.runs]:
                more, half = interval(grown_more(growth, method))
                same = sum(growth.whole(method, "same"))
                rows.append([number, place, METHODS[method][0].replace("BSCRLS, ", ""),
                             mean_sd(growth.at(method, -1, "accuracy")), mean_sd(growth.whole(method, "accuracy")),
                             f"{more:+.3f} ± {half:.3f}", mean_sd(growth.at(method, -1, "norm"), 2),
                             mean_sd(growth.whole(method, "norm"), 2),
                             f"{statistics.fmean(growth.added(method, -1)):.3f}",
                             f"{statistics.fmean(resumed(growth, method)):.3f}",
                             f"{statistics.fmean(retrained(growth, method)):.3f}",
                             f"{same} of {len(growth.runs[method])}"])
    return table(["table", "data", "", "grown: accuracy", "from scratch", "difference (95 %)", "grown: norm",
                  "from scratch", "last step, s", "including resuming, s", "from scratch, s", "same file"], rows,
                 left=3)


def grown_more(growth, method):
    return [a - b for a, b in zip(growth.at(method, -1, "accuracy"), growth.whole(method, "accuracy"))]


def resumed(growth, method):
    """Seconds of the last step as a command of its own."""
    return [a + b for a, b in zip(growth.at(method, -1, "layer_seconds"), growth.at(method, -1, "before_seconds"))]


def retrained(growth, method):
    return [a + b for a, b in zip(growth.whole(method, "layer_seconds"), growth.whole(method, "before_seconds"))]


def findings(result):
    for number, (_, printed) in TABLES.items():
        ours = [Growth(problem, number) for problem in result["problems"]]
        first, last = (printed_figures(number, printed, step) for step in (0, -1))
        yield (f"Table {number}, does accuracy rise with the network? Paper: {first[0]:.3f} to {last[0]:.3f}. "
               + " ".join(rise_words(place, growth) for place, growth in zip(("Photos", "Table"), ours)))
        yield (f"Table {number}, BSCRLS above BRLS in the end. Paper: {last[1] - last[0]:+.3f}. "
               + " ".join(lead_words(place, growth) for place, growth in zip(("Photos", "Table"), ours)))
        yield f"Table {number}, seconds. " + time_words(ours[0], last)
        yield (f"Table {number}, BRLS grown against trained from scratch. "
               + " ".join(nothing_words(place, growth) for place, growth in zip(("Photos", "Table"), ours)))


def rise_words(place, growth):
    mean, half = interval(growth.rise("brls"))
    said = judged(growth.rise("brls"), "rises", "falls")
    start, end = (statistics.fmean(growth.at("brls", step, "accuracy")) for step in (0, -1))
    return (f"{place}: {start:.3f} to {end:.3f}, {mean:+.3f} ± {half:.3f}: "
            f"{'it ' + said if said in ('rises', 'falls') else said}.")


def lead_words(place, growth):
    alike = all(not any(growth.lead("plain", step)) for step in range(growth.count))
    mean, half = interval(growth.lead("best", -1))
    plain = "it is BRLS at every step" if alike else f"{statistics.fmean(growth.lead('plain', -1)):+.3f}"
    verdict = judged(growth.lead("best", -1), "better", "worse")
    return f"{place}: default {plain}; best of 10 {mean:+.3f} ± {half:.3f}, {verdict}{scored_words(growth)}."


def scored_words(growth):
    if "gcv" not in growth.runs:
        return ""
    mean, half = interval(growth.lead("gcv", -1))
    rise = statistics.fmean(growth.rise("gcv"))
    layers = statistics.fmean(growth.at("gcv", -1, "layers"))
    return (f"; gcv {mean:+.3f} ± {half:.3f}, {judged(growth.lead('gcv', -1), 'better', 'worse')} (from its first step to "
            f"its last {rise:+.3f}, with {layers:.1f} layers in the end)")


def time_words(growth, last):
    later = {method: statistics.fmean(seconds for i in range(1, growth.count) for seconds in growth.added(method, i))
             for method in growth.runs}
    whole = statistics.fmean(growth.total("brls", growth.count - 1))
    first = statistics.fmean(growth.added("brls", 0))
    return (f"Paper: {last[4]:.2f} in all for BRLS, {last[5] / last[4]:.2f} times as much for BSCRLS. Photos: "
            f"{whole:.2f} in all for BRLS, {first:.2f} of them for the first step, which computes the feature nodes; "
            f"then, on average per step, {later['brls']:.3f} for BRLS, {later['plain']:.3f} for BSCRLS with its "
            f"default schedule, {later['best']:.3f} for the best of 10" +
            (f", {later['gcv']:.3f} for gcv." if "gcv" in later else "."))


def nothing_words(place, growth):
    if all(growth.whole("brls", "same")):
        told = "the same file, byte for byte"
    else:
        mean, half = interval(grown_more(growth, "brls"))
        told = f"accuracy {mean:+.3f} ± {half:.3f}, {judged(grown_more(growth, 'brls'), 'better', 'worse')}"
    return (f"{place}: {told}; {statistics.fmean(growth.added('brls', -1)):.3f} s for the last step, "
            f"{statistics.fmean(retrained(growth, 'brls')):.3f} s from scratch.")


# ---- picture --------------------------------------------------------------------------------------------------------


def pictures(result):
    width, height = 1000, 640
    entries = [(f"paper, {kind}", line) for kind, line in PAPER.items()]
    entries += [(name, style(method)) for method, (name, _) in METHODS.items()]
    script = head(width, height) + legend(entries, width, height)
    script += ["set multiplot layout 2,3 margins 0.055,0.985,0.09,0.89 spacing 0.055,0.15", "set yrange [0.45:1]",
               f"set title textcolor rgb '{INK}' offset 0,-0.5", "set autoscale xfix",
               "set offsets graph 0.03, graph 0.03, 0, 0", "unset key"]
    for problem in result["problems"]:
        for number, (name, printed) in TABLES.items():
            script += panel(Growth(problem, number), problem, number, name, printed)
            script += ["unset arrow", "unset label"]
    return {"experiments-increments.svg": "\n".join([*script, "unset multiplot", ""])}


def style(method):
    return f"lc rgb '{COLOURS[method]}' lw 2.2 dt {'(4,4)' if method == 'plain' else 'solid'}"


def panel(growth, problem, number, name, printed):
    data = f"D{problem['name']}{number}"
    places = [statistics.fmean(growth.at("brls", i, "rows")) if number == "6" else printed[i][number == "4"]
              for i in range(growth.count)]
    lines = block(f"{data}_paper", [[row[number == "4"], *printed_figures(number, printed, i)[:2]]
                                    for i, row in enumerate(printed)])
    for method in growth.runs:
        values = [growth.at(method, i, "accuracy") for i in range(growth.count)]
        lines += block(f"{data}_{method}", [[x, statistics.fmean(v), min(v), max(v)] for x, v in zip(places, values)])
    plots = [f"${data}_{method} using 1:3:4 with filledcurves fc rgb '{COLOURS[method]}' fs transparent solid 0.13 "
             "noborder notitle" for method in ("brls", "best")]
    plots += [f"${data}_paper using 1:{2 + i} with lines {line}" for i, line in enumerate(PAPER.values())]
    plots += [f"${data}_{method} using 1:2 with lines {style(method)}" for method in growth.runs]
    title = "photos with copies" if problem["name"] == "copies" else problem["title"]
    return [*lines, f"set title '{title}: accuracy, table {number}'",
            f"set xlabel '{name}' textcolor rgb '{QUIET}' offset 0,0.4",
            f"set xtics {10 if number == '5' else 200}", "plot " + ", ".join(plots)]
