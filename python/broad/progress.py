"""Progress on standard error, for verbose=1."""
import sys
import time

_last = {"time": 0.0, "stage": "", "began": None}  # began: None where nothing was shown


def show_progress(stage, done, total, part, norm, first_norm):
    """One line that is written over, at most every 0.2 s; on something else than a terminal one per stage."""
    terminal, now = sys.stderr.isatty(), time.monotonic()
    if _last["began"] is None:
        _last.update(began=now, stage="")
    if stage == _last["stage"] and (not terminal or now - _last["time"] < 0.2):
        return False
    _last.update(time=now, stage=stage)
    text = "broad: %3.0f %%  %s" % (100 * part, stage)
    if total:
        text += " %d of %d" % (done, total)
    if norm and first_norm:
        text += ", residual %.3g of %.3g" % (norm, first_norm)
    sys.stderr.write("\r%-78s" % text if terminal else text + "\n")
    return False


def end_progress(text):
    """The last line, if there was a first; an empty text only ends the line that is written over."""
    if _last["began"] is None:
        return
    terminal, seconds = sys.stderr.isatty(), time.monotonic() - _last["began"]
    _last["began"] = None
    line = "broad: 100 %%  %s; %.1f s" % (text, seconds) if text else ""
    if terminal:
        sys.stderr.write("\r%-78s\n" % line if line else "\n")
    elif line:
        sys.stderr.write(line + "\n")


def describe(model):
    """What came out, in a few words."""
    text, estimate = "%d nodes" % model.nodes, model.estimate()
    if model.outcome != "complete":
        text = "%s, %s" % (model.outcome.replace("_", " "), text)
    if estimate is not None:
        name = "accuracy" if "accuracy" in estimate else "r2"
        text += "; %s on new rows about %.3g" % (name, estimate[name])
    return text
