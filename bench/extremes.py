"""docs/guarantees.md: what lab/run_numbers has tried."""
from bench.marks import listed, wrapped
from bench.tool import Failure

PAGE = "docs/guarantees.md"
COUNTS = ("extremes", "fitted", "increments", "rows", "drift", "networks", "kinds")


def whole(found):
    missing = [name for name in COUNTS if name not in found]
    if missing:
        raise Failure(f"numbers: there is no {listed(missing)}")


def parts(found):
    text = (f"{found['extremes']:,} tables with numbers of every size, to which settings were drawn: {found['fitted']:,} networks were fitted, each of which was verified "
            f"and gave finite predictions or a reason; the others were refused with a reason. {found['increments']:,} increments of {found['rows']:,} rows: the weights were never "
            f"further from those of all rows together than {found['drift']:.1g} of their size. {found['networks']:,} networks of {len(found['kinds'])} kinds with options drawn at random "
            f"fit and predict what numpy computes.")
    return {PAGE: {"counts": "\n".join(wrapped(text)) + "\n"}}
