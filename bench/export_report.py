"""Results of scripts/bench_export as Markdown, for docs/export.md."""
from bench.images.report import table
from bench.tool import Failure

PAGE = "docs/export.md"
FORMS = ["C double", "C double, arm, 32 bits", "C double, s390x, big-endian", "ONNX double", "C float", "ONNX float", "C int8"]
SIZES = ["double", "float", "int8", "double, compact", "int8, compact"]


def whole(found):
    for one in found["models"]:
        missing = [form for form in FORMS if form not in one["forms"]]
        if missing:
            raise Failure(f"{one['table']}, {one['preset']}: {', '.join(missing)} not measured; run scripts/setup --export first")


def cell(one):
    other = one.get("labels", 0)
    return f"{one['difference']:.0e}" + (f", {other} label{'s' if other > 1 else ''}" if other else "")


def name(one):
    return f"{one['table']}, `{one['preset']}`"


def differences(found):
    rows = [[name(one), str(one["rows"]), *(cell(one["forms"][form]) for form in FORMS)] for one in found["models"]]
    return "\n".join(table(["table and preset", "rows", *FORMS], rows)) + "\n"


def sizes(found):
    rows = [[name(one), *(f"{one['bytes'][size] / 1024:,.0f}" for size in SIZES)] for one in found["models"]]
    return "\n".join(table(["table and preset", *SIZES], rows)) + "\n"


def parts(found):
    return {PAGE: {"differences": differences(found), "sizes": sizes(found)}}
