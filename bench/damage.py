"""docs/guarantees.md: what programs do with damaged models, by lab/damage/damage.py."""
from bench.marks import wrapped
from bench.tool import Failure

PAGE = "docs/guarantees.md"
COUNTS = ("refused", "accepted", "changed", "crashed", "hung")


def whole(found):
    for name, result in found["programs"].items():
        if result["files"] != found["files"] or any(count not in result for count in COUNTS):
            raise Failure(f"damage: {name} is not complete")
    if "broad" not in found["programs"]:
        raise Failure("damage: there is no broad")


def parts(found):
    said = (f"{found['files']} damaged files of each program, in the same places: half have one bit flipped, a quarter are cut short, and in a quarter two blocks "
            f"are exchanged. *Accepted* means that it was loaded and predicted from without a word; *changed*, that these predictions were others. A process "
            f"that was still at work after {found['seconds']} s counts as hung.")
    lines = ["| program | refused | accepted | of these changed | crashed | hung |", "|---|---:|---:|---:|---:|---:|"]
    for name, result in found["programs"].items():
        lines.append(f"| {name} {result['version']} | " + " | ".join(str(result[count]) for count in COUNTS) + " |")
    return {PAGE: {"table": "\n".join([*wrapped(said), "", *lines]) + "\n"}}
