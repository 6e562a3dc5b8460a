"""What the paper claims and what was found, in one table, from the results of all experiments."""
import statistics

from lab.experiments import figure, increments, paper, sensitivity, tables, theorem
from lab.experiments.words import interval, judged, mean_sd, table
from bench.marks import listed


def near(row):
    """Whether a row of table 2 is the paper's within the two deviations."""
    return "same within" in tables.against_paper(row)


def accuracies(results):
    rows = tables.ours(results["tables"])
    found = [rows[name] for name in paper.BROAD]
    yield ("With its settings BLS, BRLS and BSCRLS have an accuracy of " +
           listed([f"{row.paper['accuracy'][0]:.3f}" for row in found]),
           listed([row.cell("accuracy") for row in found]), "yes" if all(map(near, found)) else "no")
    more = tables.differences(rows["BSCRLS"], rows["BRLS"])
    gap = rows["BSCRLS"].paper["accuracy"][0] - rows["BRLS"].paper["accuracy"][0]
    surely = len(more) > 1 and statistics.fmean(more) > statistics.stdev(more)
    refused = sum(one["draws"] - one["layers"] for one in rows["BSCRLS"].splits.values())
    yield (f"BSCRLS is more accurate than BRLS, by {gap:.3f}",
           (f"by {mean_sd(more)} over {len(more)} splits" if any(more) else "the same on every split") +
           f"; supervision refused {refused or 'no'} draw{'' if refused == 1 else 's'}", "yes" if surely else "no")


def rivals(results):
    rows, deep = tables.ours(results["tables"]), tables.rivals(results["tables"])
    plain = [row for row in deep if row.name in paper.DEEP and row.values("accuracy")]
    if not plain:
        return
    better = [row for row in plain if row.mean() > rows["BSCRLS"].mean()]
    yield (f"BSCRLS is more accurate than {listed(list(paper.DEEP))}",
           f"{len(better)} of these {len(plain)} are more accurate than BSCRLS with the paper's settings",
           "no" if better else "yes")
    alike = [row.name for row in plain if near(row)]
    others = [row for row in plain if row.name not in alike]
    above = sum(row.mean() > row.paper["accuracy"][0] for row in others)
    yield ("The accuracies of these networks",
           f"as in the paper within the two deviations: {listed(alike)}; {above} of the {len(others)} "
           f"others do better here", "in part" if others else "yes")
    extrapolated = [one["seconds"] for name in paper.DEEP for one in tables.lines(results["tables"], name, "paper",
                                                                              extrapolated=True)]
    spent = statistics.fmean(one["command_seconds"] for one in rows["BSCRLS"].splits.values())
    if extrapolated:
        yield ("BSCRLS trains in seconds, deep networks in minutes to days",
               f"{spent:.1f} s for the whole command, {min(extrapolated):,.0f} to {max(extrapolated):,.0f} s for 50 epochs on "
               "the same processors (extrapolated)", "yes" if min(extrapolated) > 10 * spent else "no")


def layers(results):
    words, strong, right, alike = [], 0, 0, 0
    last = results["figure"]["shape"]["layers"]
    for problem in results["figure"]["problems"]:
        curves = figure.Curves(problem, last)
        alike += not any(curves.lead("plain", "train", last))
        train = statistics.median(curves.after("tight", "train", last)) / statistics.median(
            curves.after("brls", "train", last))
        strong += judged(curves.by_split(curves.lead("tight", "train", last)), "weaker", "stronger") == "stronger"
        right += judged(curves.by_split(curves.lead("tight", "accuracy", last)), "better", "worse") == "better"
        words.append(f"{train:.2f} times ({problem['title']})")
    count = len(words)
    yield ("Its training error falls faster, layer by layer",
           f"with the default schedule it equals BRLS on {alike} of {count} data sets; with a schedule tight enough to "
           f"refuse draws it ends at {', '.join(words)} that of BRLS",
           "where draws are refused" if strong == count else "in part" if strong else "no")
    yield ("and its test accuracy is better", f"with that schedule, on {right} of {count} data sets beyond chance",
           "yes" if right == count else "in part" if right else "no")


def growth(results):
    first = [increments.Growth(results["increments"]["problems"][0], number) for number in increments.TABLES]
    rises = [judged(one.rise("brls"), "rises", "falls") for one in first]
    ends = [[statistics.fmean(one.at("brls", step, "accuracy")) for step in (0, -1)] for one in first]
    said = [f"{start:.3f} to {end:.3f} (table {number})" for number, (start, end) in zip(increments.TABLES, ends)]
    yield ("Accuracy climbs while networks grow (0.506 to 0.785 in table 4)", ", ".join(said),
           "yes" if rises.count("rises") == len(rises) else "no")
    same = [flag for problem in results["increments"]["problems"]
            for flag in increments.Growth(problem, "4").whole("brls", "same")]
    yield ("Enhancement nodes can be added without retraining",
           f"the same file as a network trained at once, byte for byte, in {sum(same)} of {len(same)} runs",
           "yes" if all(same) else "no")


def ranges(results):
    words, lower = [], 0
    for one in results["sensitivity"]["sets"]:
        before, after = (sensitivity.shares(one, name)[3] for name in ("brls", "bscrls"))
        lower += before - after > 0.1
        words.append(f"{100 * before:.0f} and {100 * after:.0f} % ({one['name']})")
    yield ("BRLS is highly sensitive to its random parameters, BSCRLS is not",
           "share of runs with a bad accuracy over six decades of the range: " + ", ".join(words),
           "in part" if lower else "no")
    facts = results["theorem"]["narrow"]
    bound = theorem.lower_bound(facts["long"], affine=facts["affine"])
    usable = [run["norm"] for run in facts["bscrls"]["usable ones at once"]]
    alone = [run["norm"] for run in facts["bscrls"]["the base range alone"]]
    yield ("There are configurations in which BRLS stays above an error and BSCRLS does not (theorems 3.1 and 3.2)",
           f"BRLS above {bound:.5f} of the first norm after {facts['long']:,} layers; BSCRLS at {mean_sd(usable)} with "
           f"a list that contains usable ranges, at {mean_sd(alone)} without",
           "yes, with such a list" if max(usable) < bound else "no")
    refused = results["theorem"]["operator"]["said"]
    told = ("that norm is 1 for every layer with fewer nodes than rows: no draw can pass, and the tool refuses at once"
            if refused else "the tool did not refuse it")
    yield "Layers are kept if ‖I − KK⁺‖ ≤ γ + μ < 1 (theorem 3.2)", told, "no" if refused else "yes"


def auto(results):
    rows = tables.ours(results["tables"])
    known = [row for row in tables.rivals(results["tables"]) if row.values("accuracy")]
    said = f"{rows['auto'].cell('accuracy')}"
    if known:
        best = max(known, key=lambda row: row.mean())
        mean, half = interval(tables.differences(rows["auto"], best))
        said += (f"; the best deep rival, {tables.label(best, results['tables'])}, {best.cell('accuracy')}; "
                 f"{mean:+.3f} ± {half:.3f} (95 %) on the splits of both")
    yield "Not in the paper: `broad fit` without any option", said, "–"


def text(results):
    """`results` by name; all six are needed."""
    rows = [row for part in (accuracies, rivals, layers, growth, ranges, auto) for row in part(results)]
    return table(["the paper", "here", "holds"], rows, left=3)
