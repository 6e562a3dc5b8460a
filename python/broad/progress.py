"""Progress on standard error, for verbose=1."""
import sys
import time

_last = [0.0, ""]


def show_progress(stage, done, total, part, norm, first_norm):
    """One line that is written over, at most every 0.2 s; on something else than a terminal one per stage."""
    terminal, now = sys.stderr.isatty(), time.monotonic()
    if (now - _last[0] < 0.2 and stage == _last[1]) or (not terminal and stage == _last[1]):
        return False
    _last[:] = now, stage
    text = "broad: %3.0f %%  %s" % (100 * part, stage)
    if total:
        text += " %d of %d" % (done, total)
    if norm and first_norm:
        text += ", residual %.3g of %.3g" % (norm, first_norm)
    sys.stderr.write("\r%-78s" % text + ("\n" if part >= 1 else "") if terminal else text + "\n")
    return False
