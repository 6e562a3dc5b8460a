"""docs/guarantees.md: what lab/faults/losses.py has tried, and what was lost."""
from bench.marks import listed, wrapped
from bench.tool import Failure

PAGE = "docs/guarantees.md"
COUNTS = ("faults", "allocations", "kills", "serve_kills", "moments", "states")


def whole(found):
    missing = [name for name in (*COUNTS, "lost", "commands") if name not in found]
    if missing:
        raise Failure(f"losses: there is no {listed(missing)}")


def parts(found):
    text = (f"Over {listed(found['commands'])}: {found['faults']:,} runs in which one system call failed (no room, an error of the disk, an "
            f"interruption) or wrote half; {found['allocations']:,} in which one allocation failed; {found['kills']:,} that were killed at a chosen "
            f"event, and {found['serve_kills']:,} kills of a server at work; and {found['states']:,} states of the disk that a loss of power "
            f"may leave at {found['moments']:,} moments. Lost: {len(found['lost'])}.")
    return {PAGE: {"counts": "\n".join(wrapped(text)) + "\n"}}
