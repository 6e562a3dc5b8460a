"""The README's table of results: one row per comparison, from everything that is stored."""
from bench.images import report as images
from bench.marks import wrapped
from bench.speed import report as speed
from bench.tables.stored import processor
from lab.experiments import tables as experiments

PART = "docs/*.json in short"


def panel_rows(found):
    part = found["panels"]
    means = {name: f"{images.mean(results, 'accuracy'):.3f}" for name, results in part["results"].items()}
    yield [f"photos of solar panels, clean or dusty ({part['photos']} photos, {part['splits']} splits): accuracy",
           means["auto"], f"random forest {means['forest, histograms']}; SVM {means['svm, histograms']} (both on colour "
           f"histograms); ridge on pixels {means['ridge, 32x32']}", "`make bench-images PANELS=FOLDER`"]


def power_rows(found):
    days = found["soiling"]
    errors = {name: f"{images.mean(results, 'rmse'):.3f}" for name, results in days["results"].items()}
    yield ["power that a dirty panel loses, on unseen days: RMSE, lower is better", errors["auto"],
           f"ridge on pixels {errors['ridge, 32x32']}; random forest on pixels {errors['forest, 16x16']}",
           "`make bench-images SOILING=FOLDER`"]


def deep_rows(result):
    ours = experiments.ours(result)["auto"]
    rivals = sorted((row for row in experiments.rivals(result) if row.values("accuracy")), key=lambda row: -row.mean())
    if rivals:
        named = [(row.name.replace(experiments.RULES["fair"], " (rate chosen)"), row.mean()) for row in rivals[:3]]
        shown = "; ".join(f"{name} {mean:.3f}" for name, mean in named)
        yield [f"the same photos, against deep networks without pre-training: accuracy",
               f"{ours.mean():.3f}", f"the best three of {len(rivals)}: {shown}", "`make experiments ONLY=tables DATA=FOLDER`"]


def mnist_rows(found, benchmarks):
    """Of another version, or on another machine, than the rows below, this one says so."""
    rows = {row["name"]: row for row in found["rows"]}
    version, machine = found["machine"].rpartition("broad ")[2].split()[0], processor(found["machine"])
    named = [f"with version {version}"] if version != benchmarks["versions"]["broad"] else []
    named += [f"on {machine}"] if machine != processor(benchmarks["machine"]["processor"]) else []
    yield [f"{', '.join(['MNIST', *named])}: accuracy (processor time of one run)", "{accuracy:.4f} ({cpu_seconds:.0f} s)".format(**rows["broad fit"]),
           "BLS in numpy {accuracy:.4f} ({cpu_seconds:.0f} s)".format(**rows["numpy"]),
           "`scripts/get-data mnist && make bench-mnist`"]


WORK = {  # of bench/speed, with the words of this table
    "from NPY to the model file, brls, 60,000": "the whole of `broad fit`, from NPY to model, 60,000 × 784",
    "from NPY to the model file, brls, 1,793": "the same, 1,793 × 12,288",
    "brls, 60,000": "training BRLS on 60,000 × 784",
    "brls, 1,793": "training BRLS on 1,793 × 12,288",
    "joint weights": "one ridge regression over 5,100 nodes, 60,000 rows",
    "prediction, one row, 784": "predicting one row of 784 inputs",
    "prediction, 10,000 rows": "predicting 10,000 rows of 784 inputs",
    "CSV into memory": "reading a CSV file of 1 GB",
}
RIVALS = ("numpy script, in place", "scikit-learn script", "numpy", "pandas", "scikit-learn Ridge", "scikit-learn MLP")


def speed_rows(found):
    for start, words in WORK.items():
        for one in found["measurements"]:
            if one["what"].startswith(start) and "section" not in one:
                rivals = "; ".join(f"{name} {speed.median(rival['summary'], one['unit'])}"
                                   for name, rival in one["rivals"].items() if name in RIVALS)
                yield [words, speed.median(one["summary"], one["unit"]), rivals, f"`make bench ONLY={one['entry']}`"]
                break


ROWS = [(panel_rows, "photos-benchmarks"), (deep_rows, "experiments/photos/tables"), (power_rows, "photos-benchmarks"),
        (mnist_rows, "mnist", "benchmarks"), (speed_rows, "benchmarks")]
SOURCES = list(dict.fromkeys(name for _, *names in ROWS for name in names))


def machine(found):
    one = found["machine"]
    return (f"Times are medians on {one['processor']}, {found['threads']} threads for every side, Debian 12's numpy, "
            "scikit-learn and pandas.")


def text(stored):
    """`stored`: what SOURCES name."""
    rows = [row for make, *names in ROWS for row in make(*(stored[name] for name in names))]
    lines = images.table(["", "broad", "others", "reproduce"], rows, left=4)
    return "\n".join([*lines, "", *wrapped(machine(stored["benchmarks"]))]) + "\n"
