"""Parts of a page that are made from results and not written: what lies between <!-- NAME: begin --> and <!-- NAME: end -->,
and how the results are kept."""
import json
import re
import textwrap

MARK = re.compile(r"^<!-- (.+): (begin|end) -->$", re.MULTILINE)


def marks(name):
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def names(content):
    """Of the parts of a page, in order. ValueError unless each begins once and ends before the next one begins."""
    found = MARK.findall(content)
    begun = [name for name, word in found if word == "begin"]
    for name in begun:
        if begun.count(name) > 1:
            raise ValueError(f"two parts called '{name}'")
    if found != [(name, word) for name in begun for word in ("begin", "end")]:
        raise ValueError("marks that do not come in pairs: " + ", ".join(": ".join(mark) for mark in found))
    return begun


def cut(content, name):
    """What is before the text of a part, with its first mark; the text; and what comes after it."""
    begin, end = marks(name)
    head, has_begin, rest = content.partition(begin)
    text, has_end, tail = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"there are no two marks {begin}{end}".replace("\n", ""))
    return head + begin, text, end + tail


def filled(content, name, text):
    head, _, tail = cut(content, name)
    return head + text + tail


def wrapped(text, indent=""):
    return textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def paragraphs(*texts):
    """Each on lines of its own with an empty one between; what begins with '- ' are entries of one list."""
    lines = []
    for text in texts:
        if lines and not (text.startswith("- ") and lines[-1].startswith(("- ", "  "))):
            lines.append("")
        lines += wrapped(text, "  " if text.startswith("- ") else "")
    return lines


def listed(items):
    """1, 2 and 3."""
    words = [str(item) for item in items]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])) or "none"


def dump(value, depth=2, indent=""):
    """JSON of which so many levels are spread over lines, so that two results can be compared line by line."""
    if not depth or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {dump(item, depth - 1, inner)}" for key, item in value.items()]
    else:
        lines = [inner + dump(item, depth - 1, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(lines) + "\n" + indent + closing
