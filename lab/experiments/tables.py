"""Tables 2 and 3 as Markdown and as a picture, from a result alone. Without numpy: a check of documents needs none."""
import itertools
import statistics

from lab.experiments import paper
from lab.experiments.plot import GRID, INK, QUIET, RED, TEAL, block, head
from lab.experiments.words import counted, machines, mean_sd, table
from bench.marks import listed

TITLE = "Tables 2 and 3: fourteen methods"
HEADS = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1",
         "false_positive": "false positive", "false_negative": "false negative"}
PARTS = {"photos": "photos", "copies": "photos and copies", "alone": "photos alone",
         "ungrouped": "near-duplicates on both sides",
         "mixed": "copies of a photo on both sides"}
# Every one that was tried, so that no choice is made among them by test photos.
SCHEDULES = ["harmonic:0.1", "harmonic:0.3", "harmonic:0.5", "harmonic:1", "constant:0.9"]
GCV = "BSCRLS, gcv"
BEST = "BSCRLS, harmonic:0.5, best of 10 draws"
RULES = {"paper": "", "fair": ", rate chosen"}


class Shown:
    """A row of table 2: figures of each split, by its seed."""

    def __init__(self, name, splits, of_paper=None, rival=False):
        self.name, self.splits, self.rival = name, splits, rival
        self.paper = paper.figures(of_paper) if of_paper else None

    def values(self, measure):
        return [one[measure] for one in self.splits.values() if one[measure] is not None]

    def cell(self, measure):
        return mean_sd(self.values(measure))

    def paper_cell(self, measure):
        return "{:.3f} ± {:.3f}".format(*self.paper[measure]) if self.paper else "–"

    def mean(self, measure="accuracy"):
        return statistics.fmean(self.values(measure))


def ours(result):
    return {one["name"]: Shown(one["name"], {split["seed"]: split for split in one["splits"]}, one["paper"])
            for one in result["methods"]}


def lines(result, rival, rule, timing=False, extrapolated=False):
    return [one for one in result["rivals"] if one["rival"] == rival and one["rate_rule"] == rule and
            bool(one["timing"]) == timing and bool(one["extrapolated"]) == extrapolated]


def rivals(result):
    """Rows of the rivals, at the paper's rate and at a chosen one; empty where nothing is known."""
    rows = []
    for name in paper.DEEP:
        for rule, words in RULES.items():
            found = lines(result, name, rule) or lines(result, name, rule, timing=True)
            if found or rule == "paper":
                rows.append(Shown(name + words, {one["split"]: one for one in found}, name, rival=True))
    return rows


def label(row, result):
    """The name, and how many splits it was tried on where these are not all."""
    count = len(row.values("accuracy"))
    return row.name if count in (0, len(result["splits"])) else f"{row.name} ({counted(count, 'split')})"


def always(result):
    """The row of who looks at no photo."""
    return [one["share"] for one in result["splits"]]


# ---- words ----------------------------------------------------------------------------------------------------------


def differences(a, b):
    """Of accuracies on the splits that both have."""
    return [a.splits[seed]["accuracy"] - b.splits[seed]["accuracy"] for seed in a.splits
            if seed in b.splits and None not in (a.splits[seed]["accuracy"], b.splits[seed]["accuracy"])]


def compared(a, b):
    """A sentence on the accuracy of two rows over the same splits."""
    found = differences(a, b)
    if not found:
        return f"{a.name} and {b.name} have no split in common."
    better, worse = sum(d > 0 for d in found), sum(d < 0 for d in found)
    if not better and not worse:
        return f"{a.name} and {b.name} have the same accuracy on every one of {len(found)} splits."
    if len(found) == 1:
        return f"{a.name} minus {b.name}: {found[0]:.3f} in accuracy on the one split that both have."
    word = "more" if abs(statistics.fmean(found)) > statistics.stdev(found) else "no more"
    return (f"{a.name} minus {b.name}, split by split: {mean_sd(found)} in accuracy, better on {better}, worse on "
            f"{worse} of {len(found)} splits: they differ by {word} than the spread of that difference.")


def against_paper(row):
    mean, spread = row.paper["accuracy"]
    values = row.values("accuracy")
    room = spread + (statistics.stdev(values) if len(values) > 1 else 0.0)
    gap = statistics.fmean(values) - mean
    verdict = "the same within the two deviations" if abs(gap) <= room else \
        f"not reproduced, {abs(gap):.3f} {'above' if gap > 0 else 'below'} it"
    return f"{row.name} {mean_sd(values)}, the paper {mean:.3f} ± {spread:.3f}: {verdict}"


def ranks(values):
    """1 for the smallest; equal ones share the mean of their places."""
    return [1 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
            for value in values]


def rank_correlation(a, b):
    x, y = ranks(a), ranks(b)
    dx, dy = ([v - statistics.fmean(part) for v in part] for part in (x, y))
    scale = (sum(v * v for v in dx) * sum(v * v for v in dy)) ** 0.5
    return sum(v * w for v, w in zip(dx, dy)) / scale if scale else 0.0


def supervision(rows):
    """What the test refused, and whether that helped."""
    first = rows["BSCRLS"]
    refused = sum(one["draws"] - one["layers"] for one in first.splits.values())
    said = [compared(first, rows["BRLS"])]
    if refused:
        said.append(f"With the default schedule supervision refused {refused} draws on all splits together.")
    else:
        said.append("With the default schedule supervision refused no draw on any split, and BSCRLS that refuses "
                    "nothing is BRLS, bit for bit.")
    for name in [*(f"BSCRLS, {schedule}" for schedule in SCHEDULES), BEST]:
        drawn = statistics.fmean(one["draws"] for one in rows[name].splits.values())
        kept = statistics.fmean(one["layers"] for one in rows[name].splits.values())
        said.append(f"{name}: {counted(drawn, 'draw')} for {counted(kept, 'layer')}. " +
                    compared(rows[name], rows["BRLS"]))
    return " ".join(said)


def by_score(rows):
    """What the test on the score of the chain makes of the same nodes."""
    if GCV not in rows:
        return []
    first = rows[GCV].splits.values()
    drawn, kept = (statistics.fmean(one[what] for one in first) for what in ("draws", "layers"))
    said = [f"Supervision by the score, `--supervise gcv`: {counted(drawn, 'draw')} for {counted(kept, 'layer')}.",
            compared(rows[GCV], rows["BRLS"])]
    alone = f"{GCV}, no copies"
    if alone in rows:
        said.append(compared(rows[alone], rows["BRLS, no copies"]))
    return [" ".join(said)]


def leak(rows):
    """Whether copies on both sides of the split explain the paper's figures."""
    said = []
    for kind in paper.BROAD:
        right, wrong = rows[kind], rows[f"{kind}, copies made before the split"]
        mean, spread = wrong.paper["accuracy"]
        values = wrong.values("accuracy")
        room = spread + (statistics.stdev(values) if len(values) > 1 else 0.0)
        word = "reaches" if wrong.mean() >= mean - room else "does not reach"
        said.append(f"{kind} goes from {right.cell('accuracy')} to {wrong.cell('accuracy')}, which {word} the paper's "
                    f"{mean:.3f}")
    fan = [rows["BSCRLS, range by fan-in" + end].cell("accuracy") for end in ("", ", copies made before the split")]
    return ("Copies made before the split, so that augmented copies of one photo are on both sides: " + "; ".join(said) +
            f"; with the range by fan-in BSCRLS goes from {fan[0]} to {fan[1]}.")


def untrained(result):
    said = []
    for name in paper.DEEP:
        found = lines(result, name, "paper")
        count = sum(one["trained"] is False for one in found)
        if count:
            said.append(f"{name} ({count} of {len(found)})")
    return said


def deep_verdicts(result, rows, deep):
    known = [row for row in deep if row.values("accuracy")]
    if not known:
        return []
    best = max(known, key=lambda row: row.mean())
    said = [f"The best deep rival is {best.name}. " + compared(rows["auto"], best) + " " +
            compared(rows["auto, pixels"], best), compared(rows["BSCRLS"], best)]
    plain = [row for row in known if row.name in paper.DEEP]
    chosen = {row.name: row for row in known if row not in plain}
    gains = []
    for row in plain:
        found = differences(chosen[row.name + RULES["fair"]], row) if row.name + RULES["fair"] in chosen else []
        if found:
            gains.append(f"{row.name} {statistics.fmean(found):+.3f} ({counted(len(found), 'split')})")
    if gains:
        said.append("A rate chosen on a part of the training photos instead of the paper's, on the same splits, "
                    f"changes the accuracy by: {', '.join(gains)}.")
    if len(plain) > 2:
        found = rank_correlation([row.mean() for row in plain], [row.paper["accuracy"][0] for row in plain])
        said.append(f"The order of {len(plain)} deep rivals by accuracy, at the paper's rate, here and in the paper: "
                    f"rank correlation {found:.2f} (1: the same order, 0: nothing in common).")
    bad = untrained(result)
    if bad:
        said.append("Failed to train at the paper's rate, judged by accuracy on their own training photos (splits): "
                    f"{listed(bad)}. A further row shows their result with an optimiser and a rate chosen on a part "
                    "of these photos.")
    return said


def guess(result, rows):
    """What looking at no photo gets, and which networks are hardly better."""
    values, low = always(result), []
    for name in paper.BROAD:
        found = rows[name].values("accuracy")
        if rows[name].mean() - statistics.fmean(values) <= (statistics.stdev(found) if len(found) > 1 else 0.0):
            low.append(name)
    said = f"Always answering the more frequent class of the training photos gives {mean_sd(values)}"
    if low:
        verb = "is" if len(low) == 1 else "are"
        said += f"; with the paper's settings {listed(low)} {verb} not better than that by more than the spread"
    return said + "."


def verdicts(result):
    rows, fan = ours(result), "BSCRLS, range by fan-in"
    return ["; ".join(against_paper(rows[name]) for name in paper.BROAD) + ".", guess(result, rows), supervision(rows),
            *by_score(rows),
            "Ranges divided by the root of the number of inputs, so that nodes are not all saturated: " +
            compared(rows[fan], rows["BSCRLS"]) + " " + compared(rows[fan], rows["BRLS, range by fan-in"]),
            "Augmented copies: " + compared(rows["BSCRLS"], rows["BSCRLS, no copies"]), leak(rows),
            compared(rows["auto"], rows["BSCRLS"]), *deep_verdicts(result, rows, rivals(result))]


# ---- tables ---------------------------------------------------------------------------------------------------------


def seconds(values):
    if not values:
        return "–"
    mean = statistics.fmean(values)
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.1f}" if mean >= 10 else f"{mean:.2f}"


def performance(result, measures):
    heads = ["method"]
    for measure in measures:
        heads += [HEADS[measure], "paper"]
    rows = []
    for row in rivals(result) + [ours(result)[one["name"]] for one in result["methods"] if one["table"] == "paper"]:
        rows.append([label(row, result)])
        for measure in measures:
            rows[-1] += [row.cell(measure), row.paper_cell(measure)]
    return table(heads, rows)


def clean_lines(result, name, rule="paper"):
    """Times of trainings that had the machine to themselves, else of all."""
    return lines(result, name, rule, timing=True) or lines(result, name, rule)


def times(result):
    rows = []
    for name in paper.DEEP:
        trained = [one["seconds"] for one in clean_lines(result, name)]
        extrapolated = [one["seconds"] for one in lines(result, name, "paper", extrapolated=True)]
        rows.append([name, seconds(trained), seconds(extrapolated), "–", f"{paper.SECONDS[name]:,.1f}"])
    for one in result["methods"]:
        if one["table"] == "paper":
            rows.append([one["name"], seconds([split["seconds"] for split in one["splits"]]), "–",
                         seconds([split["command_seconds"] for split in one["splits"]]),
                         f"{paper.SECONDS[one['paper']]:,.1f}" if one["paper"] else "–"])
    return table(["method", "training", "training, extrapolated", "whole command", "paper"], rows)


def devices(result, both=True):
    """Where the rivals' seconds come from."""
    said = []
    for extrapolated, words in ((False, "trained on"), (True, "extrapolated from {steps} steps on"))[:1 + both]:
        found = [one for name in paper.DEEP for one in (lines(result, name, "paper", extrapolated=True) if extrapolated
                                                        else clean_lines(result, name))]
        places = [tuple(one[key] for key in ("device", "threads", "torch", "steps", "jobs")) for one in found]
        for device, threads, version, steps, jobs in dict.fromkeys(places):
            where = f"{device}{f' with {threads} threads' if device == 'CPU' else ''}, PyTorch {version}"
            beside = f", {jobs} trainings at a time" if jobs and jobs > 1 else ""
            said.append(f"{words.format(steps=steps)} {where}{beside}")
    return "Deep rivals: " + "; ".join(said) + ". " if said else ""


def what_else(result, kind):
    rows = []
    for one in result["methods"]:
        if one["table"] == kind:
            row, splits = ours(result)[one["name"]], one["splits"]
            rows.append([one["name"], f"`{one['options']}`", PARTS[one["rows"]], row.cell("accuracy"),
                         row.paper_cell("accuracy"), row.cell("f1"),
                         mean_sd([split["train_accuracy"] for split in splits]),
                         f"{statistics.fmean(split['layers'] for split in splits):.0f}",
                         f"{statistics.fmean(split['draws'] for split in splits):.0f}",
                         seconds([split["seconds"] for split in splits])])
    return table(["network", "options", "trained on" if kind == "else" else "leak", "accuracy", "paper", "F1",
                  "accuracy in training", "layers", "draws", "seconds"], rows, left=3)


def about(result):
    classes = listed([f"{count} {name}" for name, count in result["classes"].items()])
    splits = result["splits"]
    what = {"photos": f"{result['photos']} photos", "rendered": f"{result['photos']} rendered photos"}[result["data"]]
    short = "**A short form: these figures mean nothing.** " if result["quick"] else ""
    return (f"{short}{what} ({classes}; {result['groups']} groups of near-duplicates or single photos), whole, "
            f"{result['copies']} augmented copies of each to train on; mean ± deviation over {len(splits)} grouped "
            f"splits of about {splits[0]['train']} to {splits[0]['test']} photos. Positive is {result['positive']}. "
            f"The paper's figures ({paper.SOURCE}, tables 2 and 3) beside ours are for other photos.")


def text(result):
    parts = [about(result), performance(result, paper.MEASURES[:3]), performance(result, paper.MEASURES[3:])]
    if result["missing"]:
        parts.append(f"Missing: {listed(result['missing'])}: {result['why']}.")
    parts += ["Seconds of training:", times(result),
              f"Ours: {machines(result)} Training as the tool reports it, and the whole command with reading, "
              f"testing and writing the model. {devices(result)}The paper: {paper.MACHINE}.",
              f"![accuracy of all methods, ours and the paper's](../images/{picture_name(result)})",
              "Other settings of our networks, on the same splits:", what_else(result, "else"),
              "Splits made incorrectly, to show what a leak does. **These are not results.**",
              what_else(result, "wrong"),
              "What holds and what does not:", "\n".join("- " + said for said in verdicts(result))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def shares():
    """Which part of the test photos was positive, by the paper's own figures of each method: accuracy is share * recall
    + (1 - share) * (1 - false positive rate). The least and the most with figures that are rounded to three digits."""
    rows = []
    for name in paper.METHODS:
        figures = [paper.figures(name)[measure][0] for measure in ("accuracy", "recall", "false_positive")]
        found = []
        for signs in itertools.product((-0.0005, 0, 0.0005), repeat=3):
            accuracy, recall, false = (figure + sign for figure, sign in zip(figures, signs))
            found.append((accuracy - 1 + false) / (recall - 1 + false))
        rows.append([name, *(f"{figure:.3f}" for figure in figures), f"{min(found):.2f}", f"{max(found):.2f}"])
    return table(["method", "accuracy", "recall", "false positive", "dusty, at least", "at most"], rows)


def short(result):
    """The short table of docs/experiments.md: rivals at the paper's rate, and in a sentence what a chosen one gets them."""
    rows, chosen = [], []
    for row in rivals(result):
        if row.name in paper.DEEP:
            rows.append((row, [one["seconds"] for one in clean_lines(result, row.name)]))
        elif row.values("accuracy"):
            chosen.append(row)
    for one in result["methods"]:
        if one["table"] == "paper":
            rows.append((ours(result)[one["name"]], [split["command_seconds"] for split in one["splits"]]))
    best = max(chosen, key=lambda row: row.mean(), default=None)
    more = (f"With a rate chosen on a part of the training photos the best of them is "
            f"{best.name.removesuffix(RULES['fair'])}, {best.cell('accuracy')} on "
            f"{counted(len(best.values('accuracy')), 'split')}." if best else "")
    cells = [[label(row, result), row.cell("accuracy"), row.cell("f1"), seconds(spent), row.paper_cell("accuracy")]
             for row, spent in rows if row.values("accuracy")]
    said = (f"Seconds are for the whole command for our networks ({machines(result)[:-1]}), and for training alone for "
            f"deep rivals. {devices(result, both=False)}{more}")
    return table(["method", "accuracy", "F1", "seconds", "paper's accuracy"], cells) + "\n" + said.strip() + "\n"


# ---- the picture ----------------------------------------------------------------------------------------------------


def picture_name(result):
    return f"experiments-tables{'' if result['data'] == 'photos' else '-' + result['data']}.svg"


def pictures(result):
    """Accuracy of every method, ours and the paper's on one line each, the paper's order from above."""
    shown = rivals(result) + [ours(result)[one["name"]] for one in result["methods"] if one["table"] == "paper"]
    count = len(shown)
    mine, theirs = [], []
    for place, row in zip(range(count, 0, -1), shown):
        values = row.values("accuracy")
        if values:
            mine.append((row.mean(), place + 0.13, statistics.stdev(values) if len(values) > 1 else 0))
        if row.paper and "," not in row.name:
            theirs.append((row.paper["accuracy"][0], place - 0.13, row.paper["accuracy"][1]))
    chance = statistics.fmean(always(result))
    names = ", ".join(f"'{row.name}' {place}" for place, row in zip(range(count, 0, -1), shown))
    script = head(1000, 90 + 28 * count) + block("mine", mine) + block("theirs", theirs) + [
        f"set ytics ({names})", f"set yrange [0.4:{count + 0.6}]", "set xrange [0.35:1]", "set xtics 0.1",
        "set xlabel 'accuracy on test photos, mean and deviation'", f"set xlabel textcolor rgb '{QUIET}'",
        "set lmargin 24", "set key above right horizontal",
        f"set arrow from {chance:.4f},graph 0 to {chance:.4f},graph 1 nohead dt 2 lc rgb '{QUIET}'",
        f"set label 'one class always' at {chance:.4f},graph 1 center offset 0,0.6 textcolor rgb '{QUIET}' font ',11'",
        f"set style line 1 lc rgb '{TEAL}' lw 2 pt 7 ps 0.8", f"set style line 2 lc rgb '{RED}' lw 2 pt 4 ps 0.8",
        f"set grid noytics lc rgb '{GRID}'", f"set key textcolor rgb '{INK}'",
        "plot $mine using 1:2:3 with xerrorbars ls 1 title 'here', "
        "$theirs using 1:2:3 with xerrorbars ls 2 title \"the paper\""]
    return {"experiments-tables.svg": "\n".join(script) + "\n"}


def run(lab, earlier=None):
    from lab.experiments import tables_run
    return tables_run.run(lab, earlier)
