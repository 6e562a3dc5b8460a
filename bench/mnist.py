"""Results of scripts/bench_mnist as Markdown."""
from bench.images.report import table
from bench.marks import wrapped
from bench.tool import Failure

NAMES = {"broad fit": "`broad fit`, no options",
         "broad fit --kind bls": "`bls` with 10×10 autoencoder features and 11,000 enhancement nodes",
         "numpy": "the same `bls` in numpy, without refinement"}


def make(found):
    """The ratio is numpy's time by the row's."""
    reference = next((row["seconds"] for row in found["rows"] if row["name"] == "numpy" and "seconds" in row), None)
    rows = []
    for row in found["rows"]:
        if "failed" in row:
            rows.append([row["name"], "", "failed", "", "", "", ""])
            continue
        ratio = f"{reference / row['seconds']:.2f}" if reference else ""
        rows.append([row["name"], f"{row['nodes']:,}", f"{row['accuracy']:.4f}", f"{row['seconds']:.2f}",
                     f"{row['training']:.2f}", f"{row['cpu_seconds']:.2f}", ratio])
    head = ["", "nodes", "accuracy", "seconds, whole", "training alone", "processor time", "times as fast as numpy"]
    return "\n".join([*wrapped(f"{found['machine']}; {found['threads']} threads."), "", *table(head, rows)]) + "\n"


def readme(found):
    by_name = {row["name"]: row for row in found["rows"]}
    best = max(row["accuracy"] for row in found["rows"])
    rows = []
    for name, title in NAMES.items():
        row = by_name[name]
        accuracy = f"{row['accuracy']:.4f}"
        rows.append([title, f"{row['nodes']:,}", f"**{accuracy}**" if row["accuracy"] == best else accuracy,
                     f"{row['cpu_seconds']:.0f} s"])
    begin = (f"MNIST (`scripts/get-data mnist && make bench-mnist`, 60,000 × 784, {found['threads']} threads; where a machine "
             "does other things as well, processor time says more than the clock):")
    return "\n".join([*wrapped(begin), "", *table(["", "nodes", "accuracy", "processor time"], rows)]) + "\n"


def parts(found):
    return {"docs/tables.md": {"figures": make(found)}, "README.md": {"in short": readme(found)}}


def whole(found):
    missing = [name for name in NAMES if not any(row["name"] == name and "failed" not in row for row in found["rows"])]
    if found["size"] != "full" or missing:
        raise Failure(f"no whole run: size {found['size']}, without {', '.join(missing) or 'nothing'}; run 'make bench-mnist'")
