"""Formulas that are written in plain characters, set as mathematics: variables in italics, what is raised or lowered small.

`K_jᵀE_{j−1}` becomes K with the index j and a raised T, then E with the index j−1. The documents are read as text too, so they hold
no other notation.
"""
import html
import re

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿ", "0123456789+−Tn"))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789"))
SIGNS = set("‖⟨⟩·∘−≤≥≠±→←∈∞∂Σ√½⋯×ŷ" + "αβγδελμνξρστφψΥ") | set(RAISED) | set(LOWERED)
# Code, not mathematics: options, commands, a value of an option, a file, a name.
CODE = re.compile(r"--|broad\b|[a-z]{2,}:|[\w-]+/[\w./-]+\.\w+$")
SMALL = re.compile(r"[A-Za-z](_\w{1,2})?|df(_\w)?|(?:tr|ln) [A-Za-z](_\w)?|[a-z] [/+=] .*|[A-Za-z]+(_\w{1,2})? = .*|\[.*\]")
TOKEN = re.compile(r"""
    _\{(?P<index>[^}]*)\} | _(?P<short>[a-zα-ω]+|\d+)
  | \^\((?P<power>[^)]*)\)
  | (?P<raised>[%s]+) | (?P<lowered>[%s]+)
  | (?P<word>[a-z]{2,}|[A-Z][a-z]{2,}) | (?P<letter>[A-Za-zα-ω])
  | (?P<rest>.)
""" % ("".join(RAISED), "".join(LOWERED)), re.VERBOSE | re.DOTALL)
INDEXED = re.compile(r"(?<![\w`&/.-])([A-Za-zα-ωŷ‖]|df)_(\{[^}]*\}|[a-z]{1,2}|\d{1,2})(?![\w(])")


def is_formula(text):
    return not CODE.match(text) and (any(sign in SIGNS for sign in text) or bool(SMALL.fullmatch(text)) or "^(" in text)


def one(found):
    kind, text = found.lastgroup, found[found.lastgroup]
    if kind in ("index", "short"):
        return f"<sub>{inline(text)}</sub>"
    if kind == "power":
        return f"<sup>{inline(text)}</sup>"
    if kind == "raised":
        return f"<sup>{''.join(RAISED[sign] for sign in text)}</sup>"
    if kind == "lowered":
        return f"<sub>{''.join(LOWERED[sign] for sign in text)}</sub>"
    return f"<i>{text}</i>" if kind == "letter" else html.escape(text, quote=False)


def inline(text):
    return TOKEN.sub(one, text) if not re.fullmatch(r"[a-z]{2}", text) else f"<i>{text}</i>" if text != "df" else text


def display(text):
    """Formulas of their own lines; what stands far apart in the text is set far apart."""
    lines = []
    for line in text.split("\n"):
        pieces = [inline(piece) for piece in re.split(r" {4,}", line.strip())]
        lines.append("<div>" + " ".join(f"<span>{piece}</span>" for piece in pieces) + "</div>")
    return "".join(lines)


def in_words(markup):
    """Letters with an index in running text."""
    return INDEXED.sub(lambda found: inline(found[1]) + f"<sub>{inline(found[2].strip('{}'))}</sub>", markup)
