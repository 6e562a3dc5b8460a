"""Results as Markdown that is also readable as it stands."""
import collections
import statistics

from bench.marks import listed, paragraphs, wrapped
from bench.tool import Failure

DEPTH = 4
VERDICTS = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1",
            "false_positive": "false positive", "false_negative": "false negative"}
NUMBERS = {"rmse": "RMSE", "mae": "MAE", "r2": "R²", "coverage": "within 90 % interval", "interval_width": "its width"}


def section(title, lines):
    return ["", f"## {title}", "", *lines]


def table(head, rows, left=1):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    widths = [max(width, 3) for width in widths]

    def line(cells):
        padded = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths))]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return [line(head), rule, *map(line, rows)]


def with_deviation(values, digits=3):
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def short(value):
    return f"{value:.3f}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def figures(found, titles):
    """A row for each method with all its results; the best mean of the first column is bold."""
    columns = [name for name in titles if any(name in result for results in found.values() for result in results)]
    sign = 1 if columns and columns[0] == "accuracy" else -1
    means = {method: sign * statistics.mean(r[columns[0]] for r in results) for method, results in found.items()}
    rows = []
    for method, results in found.items():
        cells = [with_deviation([r[name] for r in results]) if all(r.get(name) is not None for r in results) else ""
                 for name in columns]
        if means[method] == max(means.values()):
            cells[0] = f"**{cells[0]}**"
        rows.append([method, *cells, short(statistics.median(r["seconds"] for r in results))])
    return table(["method", *[titles[name] for name in columns], "seconds"], rows)


def by_split(found, name):
    """One measure of each method on each split: the splits differ more than the methods do."""
    count = max(map(len, found.values()))
    rows = [[method, *(f"{result[name]:.3f}" for result in results)] for method, results in found.items()]
    return table(["method", *(f"split {i}" for i in range(count))], rows)


def make(found):
    lines = [f"Machine: {found['machine']}."]
    for title, write in (("Clean or dusty", panels), ("Other settings", settings), ("Power loss", soiling),
                         ("Speed", speed), ("A correction", correction)):
        part = found.get(write.__name__)
        if part:
            lines += section(title, write(part))
    if found["failed"]:
        lines += section("Not measured", [f"- {failure['what']}: {failure['reason']}" for failure in found["failed"]])
    return "\n".join(lines) + "\n"


def commands(words, reading=""):
    return ["", "```sh", *[f"broad fit TRAIN/ --test TEST/{reading} {' '.join(w)}".rstrip() + f"  # {method}"
                           for method, w in words.items()], "```"]


def panels(part):
    classes = ", ".join(f"{count} {name}" for name, count in part["classes"].items())
    return [f"{part['photos']} {part['what']} ({classes}), {part['splits']} random splits 7:3, near-duplicates kept "
            f"together. '{part['positive']}' is positive. Seconds are medians.",
            *commands(part["commands"]), "", *figures(part["results"], VERDICTS)]


def settings(part):
    """Each setting against the default, split by split."""
    found, rows = part["results"], []
    usual = [result["accuracy"] for result in found["auto"]]
    for method, results in found.items():
        if method == "auto":
            continue
        apart = [round(result["accuracy"] - accuracy, 9) for result, accuracy in zip(results, usual)]
        counts = [sum(d > 0 for d in apart), apart.count(0), sum(d < 0 for d in apart)]
        times = [statistics.fmean(r["cpu_seconds"] for r in of) for of in (results, found["auto"])]
        rows.append([f"`{' '.join(part['commands'][method])}`", f"{mean(results, 'accuracy'):.3f}",
                     f"{statistics.fmean(apart):+.3f}", " / ".join(map(str, counts)), f"{times[0] / times[1]:.2g}"])
    head = ["added to `broad fit`", "accuracy", "difference to `auto`", "splits better / equal / worse",
            "processor time, multiple of `auto`'s"]
    taken = collections.Counter(" and ".join(result.get("maps") or ["none"]) for result in found["auto"])
    chosen = ", ".join(f"{maps} on {count} of the splits" for maps, count in taken.most_common())
    return [f"On the same {part['splits']} splits. `auto` itself took: {chosen}.", "", *table(head, rows)]


def soiling(part):
    reading = " --labels labels.csv --group date"
    return [f"{part['photos']} {part['what']}, {part['groups']} days, {part['splits']} random splits 7:3 by whole days. "
            "Seconds are medians.", *commands(part["commands"], reading), "", *figures(part["results"], NUMBERS), "",
            "RMSE of each split:", "", *by_split(part["results"], "rmse")]


def speed(part):
    lines = []
    if "stages" in part:
        rows = [[s["name"], f"{s['rate']:.0f}", f"{s['least']:.0f} to {s['most']:.0f}", f"{s['of_decoding']:.0f} %"]
                for s in part["stages"]]
        lines += [part["stages_what"] + ".", "", *table(["file to", "photos/s", "spread", "of decoding"], rows), ""]
    fits = [[f["what"], f"{f['seconds']:.2f}", f"{f['read']:.2f}", f"{f['cpu_seconds']:.2f}"] for f in part["fits"]]
    lines += [f"`broad fit` on {part['fit_photos']:,} rendered photos of 256 pixels, {part['threads']} threads:", "",
              *table(["", "seconds", "of them reading", "processor time"], fits)]
    if part.get("large"):
        rows = [[f"{f['photos']:,} of {f['side']:,} x {f['side']:,} pixels, {f['bytes'] / 1e6:.2f} MB", f"{f['seconds']:.1f}",
                 f"{f['read']:.1f}", f"{f['cpu_seconds']:.1f}", f"{f['decoding']:.1f}",
                 f"{100 * f['decoding'] / f['cpu_seconds']:.0f} %"] for f in part["large"]]
        lines += ["", *wrapped("The same with nothing in the cache on photos as cameras make them, copies of a few rendered ones that differ in some "
                               "bytes; decoding is what decoding alone takes, in processor time:"), "",
                  *table(["photos", "seconds", "of them reading", "processor time", "decoding", "part"], rows)]
    return lines


def correction(part):
    head = ["split", "corrected", "right afterwards", "others", "accuracy before", "after", "unseen", "accuracy before",
            "after", "seconds", "processor time"]
    rows = [[str(c["split"]), str(c["wrong"]), str(c["right_after"]), str(c["others"]), f"{c['before']:.3f}",
             f"{c['after']:.3f}", str(c["unseen"]), f"{c['unseen_before']:.3f}", f"{c['unseen_after']:.3f}",
             f"{c['seconds']:.2f}", f"{c['cpu_seconds']:.2f}"] for c in part["runs"]]
    means = [f"{statistics.mean(c[name] for c in part['runs']):.3f}" for name in
             ("before", "after", "unseen_before", "unseen_after")] if rows else [""] * 4
    rows.append(["mean", "", "", "", *means[:2], "", *means[2:], "", ""])
    return [f"Trained on 4 tenths of {part['photos']} {part['what']}. Of another 3 tenths that are then classified, up to ten photos "
            "with a wrong verdict are learned with their right label; the others are the rest of these 3 tenths. "
            "The last 3 tenths are unseen: no photo was chosen among them.",
            "", "```sh", "broad learn MODEL CORRECTED/ --with TRAIN/ --weight auto", "```", "", *table(head, rows)]


# ---- what the pages say about it ------------------------------------------------------------------------------------


def mean(results, name):
    return statistics.fmean(result[name] for result in results)


def better_on(ours, theirs, name, sign=1):
    """Numbers of the splits on which ours is better."""
    return [i for i, (a, b) in enumerate(zip(ours, theirs)) if sign * (a[name] - b[name]) > 1e-9]


def verdict_words(part):
    found, rivals = part["results"], [name for name in part["results"] if name not in part["commands"]]
    counts = {name: len(better_on(found["auto"], found[name], "accuracy")) for name in rivals}
    against = ", ".join(f"than `{name}` on {count}" for name, count in counts.items())
    return (f"- **Verdicts.** `auto` classifies {mean(found['auto'], 'accuracy'):.3f} of the held-out photos correctly. Over "
            f"the {part['splits']} splits it is better {against}.")


def paper_words(found):
    part = found["panels"]
    ours, always = mean(part["results"]["bscrls, paper"], "accuracy"), part["classes"][part["positive"]] / part["photos"]
    lambda_auto = mean(found["settings"]["results"]["paper, lambda auto"], "accuracy")
    return (f"- **The published settings** on 64×64 pixels have an accuracy of {ours:.3f}; always answering \"{part['positive']}\" "
            f"would have {always:.3f}. With λ by leave-one-out instead of 1e-8 they have {lambda_auto:.3f}.")


def soiling_words(part):
    found = part["results"]
    means = ", ".join(f"{name} {mean(results, 'rmse'):.3f}" for name, results in found.items())
    ridge = better_on(found["ridge, 32x32"], found["auto"], "rmse", -1)
    auto = better_on(found["auto"], found["ridge, 32x32"], "rmse", -1)
    least = min(range(part["splits"]), key=lambda i: found["auto"][i]["coverage"])
    return [f"- **Power loss.** Mean RMSE: {means}. But {part['splits']} splits of {part['groups']} days do not settle "
            f"the comparison: the ridge is better than `auto` on splits {listed(ridge)}, `auto` on {listed(auto)}.",
            f"- **Intervals** of 90 % hold {mean(found['auto'], 'coverage'):.3f} of the test values, and only "
            f"{found['auto'][least]['coverage']:.2f} on split {least}: they are computed by leaving out days of the training part, "
            "and cannot account for a kind of day that is not among these."]


def stage(part, name):
    return next(s for s in part["stages"] if s["name"] == name)


def speed_words(part):
    one, both, fit = stage(part, "descriptors"), stage(part, "descriptors and windows"), part["fits"][-1]
    return (f"- **Speed.** One thread turns {one['rate']:.0f} files of two megapixels per second into descriptors, "
            f"{one['of_decoding']:.0f} % of the rate of decoding alone; with windows as well {both['rate']:.0f}, "
            f"{both['of_decoding']:.0f} %. `broad fit` on {part['fit_photos']:,} photos that are in the cache takes "
            f"{fit['seconds']:.1f} s on {part['threads']} threads.")


def correction_words(part):
    runs = part["runs"]
    right, given = (sum(run[name] for run in runs) for name in ("right_after", "wrong"))
    worse = sum(run["unseen_after"] < run["unseen_before"] for run in runs)
    means = {name: mean(runs, name) for name in ("before", "after", "unseen_before", "unseen_after")}
    return (f"- **A correction.** Of the {given} corrected photos {right} are classified correctly afterwards, within "
            f"{max(run['seconds'] for run in runs):.2f} s. On the unseen photos the accuracy is {means['unseen_before']:.3f} before and "
            f"{means['unseen_after']:.3f} after; on {worse} of the {len(runs)} splits it is lower. On the other photos of the "
            f"classified part it goes from {means['before']:.3f} to {means['after']:.3f}. The wrong ones had been removed from "
            "these, so nearly all of them were right, and any change of the model can hardly improve the figure.")


def reading(found):
    """How to read it, as far as figures come into it."""
    words = [verdict_words(found["panels"]), paper_words(found), *soiling_words(found["soiling"]),
             speed_words(found["speed"]), correction_words(found["correction"])]
    return "\n".join(paragraphs(*words)) + "\n"


SHOWN = {"auto": "`broad fit`", "pixels": "on raw pixels", "bscrls, paper": "as published (`--preset paper`)",
         "forest, histograms": "forest, colour histograms", "svm, histograms": "SVM, colour histograms",
         "ridge, 32x32": "ridge, pixels"}


def short_table(found):
    rows = []
    for name, title in (("accuracy", "accuracy"), ("f1", f"F1 of {found['positive'].lower()}")):
        values = [mean(found["results"][method], name) for method in SHOWN]
        rows.append([title, *(f"**{v:.3f}**" if v == max(values) else f"{v:.3f}" for v in values)])
    return table(["", *SHOWN.values()], rows)


def in_short(found):
    part, days, speeds = found["panels"], found["soiling"], found["speed"]
    classes = ", ".join(f"{count} {name.lower()}" for name, count in part["classes"].items())
    versions = found["machine"].rpartition(", ")[2]
    begin = (f"{part['photos']} photos of solar panels ({classes}), {part['splits']} random splits 7:3 with near-duplicates kept "
             f"together, against {versions} on the same splits (`make bench-images "
             "PANELS=FOLDER SOILING=FOLDER`):")
    rmse = {name: f"{mean(results, 'rmse'):.3f}" for name, results in days["results"].items()}
    ridge = better_on(days["results"]["ridge, 32x32"], days["results"]["auto"], "rmse", -1)
    power = (f"Power loss of a panel, predicted from photos of unseen days: RMSE {rmse['auto']}; ridge on pixels "
             f"{rmse['ridge, 32x32']}, random forest on pixels {rmse['forest, 16x16']}, the mean of the training days "
             f"{rmse['mean']}. The ridge is better on {len(ridge)} of the {days['splits']} splits by days.")
    one, fit, runs = stage(speeds, "descriptors"), speeds["fits"][-1], found["correction"]["runs"]
    fast = (f"One thread turns {one['rate']:.0f} JPEG files of two megapixels per second into descriptors, "
            f"{one['of_decoding']:.0f} % of the rate of decoding alone; `broad fit` on {speeds['fit_photos']:,} photos takes "
            f"{fit['seconds']:.0f} s on {speeds['threads']} threads once they are in the cache, and learning up to "
            f"{max(run['wrong'] for run in runs)} corrections at most {max(run['seconds'] for run in runs):.2f} s.")
    return "\n".join([*paragraphs(begin), "", *short_table(part), "", *paragraphs(power, fast)]) + "\n"


def parts(found):
    return {"docs/photos-benchmarks.md": {"figures": make(found), "reading": reading(found),
                                          "in short": in_short(found)}}


def whole(found):
    missing = [name for name in ("panels", "settings", "soiling", "speed", "correction") if not found.get(name)]
    if found["size"] != "full" or missing or found["failed"]:
        raise Failure(f"no whole run: size {found['size']}, without {', '.join(missing) or 'nothing'}, "
                      f"{len(found['failed'])} failed; run 'make bench-images'")
