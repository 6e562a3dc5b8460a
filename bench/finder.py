"""What bench_finder prints, as results, and these as Markdown, for docs/photos-crop.md."""
import re

from bench.images.report import table
from bench.tool import Failure

NAMES = {"rendered": "rendered, as `broad render` draws them",
         "rendered, angle x 1.5": "the same seen at 1.5 times the angle",
         "rendered, angle x 2.5": "the same seen at 2.5 times the angle",
         "the same without panel": "the same places without a panel",
         "by hand": "real, boxes by hand"}
FIELDS = ["iou", "hits", "close", "nothing", "whole_iou", "whole_hits", "whole_close", "milliseconds"]
ROW = re.compile(r"(\S.*?) +(\d+)((?: +\d+\.\d+){8})")
EMPTY = re.compile(r"(\S.*?) +(\d+) +something is found in ([\d.]+) %")


def parse(text):
    """The rows of one or several runs."""
    for line in text.splitlines():
        row, empty = ROW.fullmatch(line), EMPTY.fullmatch(line)
        if row:
            yield {"photos": row[1], "number": int(row[2]), **dict(zip(FIELDS, map(float, row[3].split())))}
        elif empty:
            yield {"photos": empty[1], "number": int(empty[2]), "nothing": round(100 - float(empty[3]), 1)}


def cells(row):
    if "iou" not in row:
        return ["", "", "", f"{row['nothing']:.1f} %", "", "", ""]
    return [f"{row['iou']:.3f}", f"{row['hits']:.1f} %", f"{row['close']:.1f} %", f"{row['nothing']:.1f} %",
            f"{row['whole_iou']:.3f}", f"{row['whole_hits']:.1f} %", f"{row['whole_close']:.1f} %"]


def parts(found):
    head = ["photos", "number", "mean IoU", "hits", "IoU ≥ 0.75", "nothing found", "whole photo: mean IoU", "hits", "IoU ≥ 0.75"]
    rows = [[NAMES[row["photos"]], str(row["number"]), *cells(row)] for row in found["rows"]]
    return {"docs/photos-crop.md": {"figures": "\n".join(table(head, rows)) + "\n"}}


def whole(found):
    missing = [name for name in NAMES if not any(row["photos"] == name for row in found["rows"])]
    if missing:
        raise Failure(f"no whole run: without {', '.join(missing)}")
