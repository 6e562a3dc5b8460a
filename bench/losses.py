"""docs/guarantees.md: what lab/faults/losses.py has tried, and what was lost."""
from bench.marks import listed, wrapped
from bench.tool import Failure

PAGE = "docs/guarantees.md"
COUNTS = ("faults", "allocations", "kills", "serve_kills", "serve_faults", "moments", "states")


def whole(found):
    missing = [name for name in (*COUNTS, "lost", "commands") if name not in found]
    if missing:
        raise Failure(f"losses: there is no {listed(missing)}")


def parts(found):
    text = (f"Over {listed(found['commands'])}: {found['faults']:,} runs in which one system call failed (no room, an error of the disk, an "
            f"interruption) or wrote half; {found['allocations']:,} in which one allocation failed; {found['kills']:,} that were killed at a chosen "
            f"event; and {found['states']:,} states of the disk that a loss of power may leave at {found['moments']:,} moments. Over days of a server, with photos, corrections, "
            f"undo and learning: {found['serve_faults']:,} in which a call or an allocation failed, and {found['serve_kills']:,} kills, at chosen events and at random "
            f"moments. Lost: {len(found['lost'])}.")
    return {PAGE: {"counts": "\n".join(wrapped(text)) + "\n"}}
