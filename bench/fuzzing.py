"""docs/fuzzing.md: what was executed by `make fuzz-record`, run by run and target by target."""
from bench.tool import Failure

PAGE = "docs/fuzzing.md"
FIELDS = ("seconds", "executions", "edges", "findings")
COLUMNS = ("seconds", "executions", "checked", "edges", "findings")
DEPTH = 4


def whole(found):
    for run in found["runs"]:
        for name, result in run["targets"].items():
            if any(field not in result for field in FIELDS):
                raise Failure(f"{run['commit']}: {name} lacks one of {', '.join(FIELDS)}")


def value(result, field):
    """Of earlier runs all executions had sanitizers."""
    return result["executions"] - result.get("plain", 0) if field == "checked" else result[field]


def total(run, field):
    return sum(value(result, field) for result in run["targets"].values())


def runs_table(runs):
    lines = ["| commit | day | targets | seconds | executions | with sanitizers | edges | findings |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    for run in runs:
        lines.append(f"| {run['commit']} | {run['day']} | {len(run['targets'])} | " +
                     " | ".join(f"{total(run, field):,}" for field in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def targets_table(runs):
    """Of each target: time, executions and findings of all runs, edges of the run that reached most."""
    lines = ["| target | seconds | executions | with sanitizers | edges | findings |", "|---|---:|---:|---:|---:|---:|"]
    for name in sorted({name for run in runs for name in run["targets"]}):
        mine = [run["targets"][name] for run in runs if name in run["targets"]]
        sums = {field: sum(value(result, field) for result in mine) for field in COLUMNS} | {"edges": max(r["edges"] for r in mine)}
        lines.append(f"| `{name}` | " + " | ".join(f"{sums[field]:,}" for field in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def parts(found):
    runs = found["runs"]
    said = (f"Recorded so far: {sum(total(run, 'executions') for run in runs):,} executions, "
            f"{sum(total(run, 'checked') for run in runs):,} of them with sanitizers, in "
            f"{sum(total(run, 'seconds') for run in runs):,} seconds, {sum(total(run, 'findings') for run in runs):,} findings.\n")
    return {PAGE: {"total": said, "runs": runs_table(runs), "targets": targets_table(runs)}}
