"""What the paper claims and what was found, as published and with supervision by the score, in one table, from the
results of all experiments."""
import statistics

from lab.experiments import figure, increments, paired, paper, sensitivity, tables, theorem
from lab.experiments.words import counted, interval, judged, mean_sd, table
from bench.marks import listed

NOTHING = ("–", "–")  # where gcv changes nothing, or has not been measured


def near(row):
    """Whether a row of table 2 is the paper's within the two deviations."""
    return "same within" in tables.against_paper(row)


def accuracies(results):
    rows = tables.ours(results["tables"])
    found, scored = [rows[name] for name in paper.BROAD], rows.get(tables.GCV)
    yield ("With its settings BLS, BRLS and BSCRLS have an accuracy of " +
           listed([f"{row.paper['accuracy'][0]:.3f}" for row in found]),
           listed([row.cell("accuracy") for row in found]), "yes" if all(map(near, found)) else "no",
           *((f"BSCRLS: {scored.cell('accuracy')}", "yes" if near(scored) else "no") if scored else NOTHING))
    gap = rows["BSCRLS"].paper["accuracy"][0] - rows["BRLS"].paper["accuracy"][0]
    yield (f"BSCRLS is more accurate than BRLS, by {gap:.3f}", *more_accurate(rows["BSCRLS"], rows["BRLS"]),
           *(scored_accuracy(results, scored, rows["BRLS"]) if scored else NOTHING))


def more_accurate(row, other):
    more = tables.differences(row, other)
    surely = len(more) > 1 and statistics.fmean(more) > statistics.stdev(more)
    refused = sum(one["draws"] - one["layers"] for one in row.splits.values())
    drawn, kept = (statistics.fmean(one[what] for one in row.splits.values()) for what in ("draws", "layers"))
    return ((f"by {mean_sd(more)} over {len(more)} splits" if any(more) else "the same on every split") +
            (f"; {counted(drawn, 'draw')} for {counted(kept, 'layer')}" if refused else "; supervision refused no draws"),
            "yes" if surely else "no")


def scored_accuracy(results, row, other):
    said, verdict = more_accurate(row, other)
    found = results.get("paired")
    if found:
        told = paired.verdicts(found)
        said += (f"; on {len(paired.better(found))} of {len(found['sets'])} data sets the smaller error, beyond chance on "
                 f"{told.count('better')}, the larger one beyond chance on {told.count('worse')}")
    return said, verdict


def rivals(results):
    rows, deep = tables.ours(results["tables"]), tables.rivals(results["tables"])
    plain = [row for row in deep if row.name in paper.DEEP and row.values("accuracy")]
    if not plain:
        return

    def against(name, settings):
        if name not in rows:
            return NOTHING
        better = [row for row in plain if row.mean() > rows[name].mean()]
        return (f"{len(better)} of these {len(plain)} are more accurate than BSCRLS with {settings}",
                "yes" if not better else "no" if len(better) == len(plain) else "in part")

    yield (f"BSCRLS is more accurate than {listed(list(paper.DEEP))}", *against("BSCRLS", "the paper's settings"),
           *against(tables.GCV, "gcv"))
    alike = [row.name for row in plain if near(row)]
    others = [row for row in plain if row.name not in alike]
    above = sum(row.mean() > row.paper["accuracy"][0] for row in others)
    yield ("The accuracies of these networks",
           f"as in the paper within the two deviations: {listed(alike)}; {above} of the {len(others)} "
           f"others do better here", "in part" if others else "yes", *NOTHING)
    extrapolated = [one["seconds"] for name in paper.DEEP for one in tables.lines(results["tables"], name, "paper",
                                                                              extrapolated=True)]
    if extrapolated:
        yield ("BSCRLS trains in seconds, deep networks in minutes to days",
               *times(rows["BSCRLS"], extrapolated, f", {min(extrapolated):,.0f} to {max(extrapolated):,.0f} s for 50 "
                      "epochs on the same processors (extrapolated)"),
               *(times(rows[tables.GCV], extrapolated) if tables.GCV in rows else NOTHING))


def times(row, extrapolated, more=""):
    spent = statistics.fmean(one["command_seconds"] for one in row.splits.values())
    return f"{spent:.1f} s for the whole command{more}", "yes" if min(extrapolated) > 10 * spent else "no"


def layers(results):
    last, problems = results["figure"]["shape"]["layers"], results["figure"]["problems"]
    curves = [figure.Curves(problem, last) for problem in problems]
    count, alike = len(curves), sum(not any(one.lead("plain", "train", last)) for one in curves)
    scored = all("gcv" in one.runs for one in curves)

    def ends(method):
        parts = [statistics.median(one.after(method, "train", last)) / statistics.median(one.after("brls", "train", last))
                 for one in curves]
        return ", ".join(f"{part:.2f} times ({problem['title']})" for part, problem in zip(parts, problems))

    def wins(method, measure, word):
        return sum(judged(one.by_split(one.lead(method, measure, last)), *(("better", "worse") if word == "better" else
                                                                          ("weaker", "stronger"))) == word
                   for one in curves)

    def share(number):
        return "yes" if number == count else "in part" if number else "no"

    strong = wins("tight", "train", "stronger")
    yield ("Its training error falls faster, layer by layer",
           f"with the default schedule it equals BRLS on {alike} of {count} data sets; with a schedule tight enough to "
           f"refuse draws it ends at {ends('tight')} that of BRLS",
           "where draws are refused" if strong == count else "in part" if strong else "no",
           *((f"it ends at {ends('gcv')} that of BRLS",
              share(wins("gcv", "train", "stronger"))) if scored else NOTHING))
    right = wins("tight", "accuracy", "better")
    yield ("and its test accuracy is better", f"with that schedule, on {right} of {count} data sets beyond chance",
           share(right), *(score_wins(wins("gcv", "accuracy", "better"), count, share) if scored else NOTHING))


def score_wins(right, count, share):
    return f"on {right} of {count} data sets beyond chance", share(right)


def growth(results):
    first = [increments.Growth(results["increments"]["problems"][0], number) for number in increments.TABLES]

    def climbs(method):
        if any(method not in one.runs for one in first):
            return NOTHING
        rises = [judged(one.rise(method), "rises", "falls") for one in first]
        ends = [[statistics.fmean(one.at(method, step, "accuracy")) for step in (0, -1)] for one in first]
        said = [f"{start:.3f} to {end:.3f} (table {number})" for number, (start, end) in zip(increments.TABLES, ends)]
        return ", ".join(said), "yes" if rises.count("rises") == len(rises) else "in part" if "rises" in rises else "no"

    def same(method):
        flags = [flag for problem in results["increments"]["problems"] for one in [increments.Growth(problem, "4")]
                 if method in one.runs for flag in one.whole(method, "same")]
        return (f"the same file as a network trained at once, byte for byte, in {sum(flags)} of {len(flags)} runs",
                "yes" if all(flags) else "no") if flags else NOTHING

    yield "Accuracy climbs while networks grow (0.506 to 0.785 in table 4)", *climbs("brls"), *climbs("gcv")
    yield "Enhancement nodes can be added without retraining", *same("brls"), *same("gcv")


def ranges(results):
    sets = results["sensitivity"]["sets"]
    shares = {name: [sensitivity.shares(one, name)[3] for one in sets if name in one["networks"]]
              for name in ("brls", "bscrls", "gcv")}
    lower = sum(before - after > 0.1 for before, after in zip(shares["brls"], shares["bscrls"]))
    scored = shares["gcv"] if len(shares["gcv"]) == len(sets) else []
    yield ("BRLS is highly sensitive to its random parameters, BSCRLS is not",
           "share of runs with a bad accuracy over six decades of the range: " +
           ", ".join(f"{100 * before:.0f} and {100 * after:.0f} % ({one['name']})"
                     for one, before, after in zip(sets, shares["brls"], shares["bscrls"])),
           "in part" if lower else "no",
           *((", ".join(f"{100 * part:.1f} % ({one['name']})" for one, part in zip(sets, scored)),
              "yes" if max(scored) <= 0.05 else "in part") if scored else NOTHING))
    yield theorem_row(results["theorem"]["narrow"])
    refused = results["theorem"]["operator"]["said"]
    told = ("that norm is 1 for every layer with fewer nodes than rows: no draw can pass, and the tool refuses at once"
            if refused else "the tool did not refuse it")
    yield "Layers are kept if ‖I − KK⁺‖ ≤ γ + μ < 1 (theorem 3.2)", told, "no" if refused else "yes", *NOTHING


def theorem_row(facts):
    bound = theorem.lower_bound(facts["long"], affine=facts["affine"])
    usable = [run["norm"] for run in facts["bscrls"]["usable ones at once"]]
    alone = [run["norm"] for run in facts["bscrls"]["the base range alone"]]
    scored = [f"base range {theorem.SCORED[name]:g}, where BRLS stays above {limit:.5f} for {facts['some']:,} layers: at "
              f"{mean_sd([run['norm'] for run in facts[name]])}" for name, limit, _ in theorem.below_bounds(facts)]
    whole = sum(below == len(facts[name]) for name, _, below in theorem.below_bounds(facts))
    return ("There are configurations in which BRLS stays above an error and BSCRLS does not (theorems 3.1 and 3.2)",
            f"BRLS above {bound:.5f} of the first norm after {facts['long']:,} layers; BSCRLS at {mean_sd(usable)} with "
            f"a list that contains usable ranges, at {mean_sd(alone)} without",
            "yes, with such a list" if max(usable) < bound else "no",
            *(("without any list; " + "; ".join(scored), "yes" if whole == len(scored) else "yes, within a thousand "
               "times the base range" if whole else "no") if scored else NOTHING))


def auto(results):
    rows = tables.ours(results["tables"])
    known = [row for row in tables.rivals(results["tables"]) if row.values("accuracy")]
    said = f"{rows['auto'].cell('accuracy')}"
    if known:
        best = max(known, key=lambda row: row.mean())
        mean, half = interval(tables.differences(rows["auto"], best))
        said += (f"; the best deep rival, {tables.label(best, results['tables'])}, {best.cell('accuracy')}; "
                 f"{mean:+.3f} ± {half:.3f} (95 %) on the splits of both")
    yield "Not in the paper: `broad fit` without any option", said, "–", *NOTHING


def text(results):
    """`results` by name; of all that there are on the page."""
    rows = [row for part in (accuracies, rivals, layers, growth, ranges, auto) for row in part(results)]
    return table(["the paper", "as published", "holds", "with `--supervise gcv`", "holds"], rows, left=5)
