"""The output of an example that is stored beside it, which the site shows: compared with what it prints now."""
import re

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
CLOSE = 0.02  # another processor rounds differently, and may choose another network where two are equally good


def differs(shown, printed):
    """A word about it; None where words are the same and numbers close."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return f"it says\n{shown}and now it is\n{printed}"
    for old, new in zip(NUMBER.findall(shown), NUMBER.findall(printed)):
        if abs(float(old) - float(new)) > CLOSE * max(1, abs(float(old))):
            return f"it says {old} and now it is {new}, in\n{printed}"
    return None


def check(case, source, command, printed, update=False):
    """`source`: the path of the example; what it prints is in the folder output beside it, below the command."""
    path = source.parent / "output" / f"{source.stem}.txt"
    now = f"$ {command}\n{printed}"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
    else:
        wrong = differs(path.read_text(encoding="utf-8"), now)
        case.assertIsNone(wrong, f"{path}: {wrong}; once that is right, run this with --update")
