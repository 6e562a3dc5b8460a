"""Results of scripts/bench_mnist as Markdown."""
from bench.images.report import table
from bench.marks import wrapped
from bench.tool import Failure

NAMES = ["broad fit", "broad fit --kind bls", "numpy"]


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
    return "\n".join([*wrapped(f"{found['machine']}; {found['threads']} threads, one run of each."), "", *table(head, rows)]) + "\n"


def parts(found):
    return {"docs/tables.md": {"figures": make(found)}}


def whole(found):
    missing = [name for name in NAMES if not any(row["name"] == name and "failed" not in row for row in found["rows"])]
    if found["size"] != "full" or missing:
        raise Failure(f"no whole run: size {found['size']}, without {', '.join(missing) or 'nothing'}; run 'make bench-mnist'")
