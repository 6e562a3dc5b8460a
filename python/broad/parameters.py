"""The parameters of the estimators: those of the library's option table, with its help."""
from . import _native

# What the table calls otherwise than Python or scikit-learn would.
_RENAMED = {"lambda": "lambda_"}
# They need rows that are held out, which fit() has not.
_LEFT_OUT = {"patience"}
_OF_CLASSES = {"class-weight", "positive", "normal", "until-accuracy"}
_PAIRS = {"features", "enhance"}  # (10, 20) is "10x20"
_OWN = {"random_state": (None, "int, RandomState or Generator", "the seed, as scikit-learn calls it; counts before seed"),
        "verbose": (0, "int", "1: show progress on standard error")}


class Parameter:
    def __init__(self, option):
        self.option, self.argument, self.choices, self.default, self.help = option
        self.name = _RENAMED.get(self.option, self.option.replace("-", "_"))

    def text(self, value):
        """The value as the library reads it."""
        if isinstance(value, dict):
            return ",".join("%s:%r" % (key, float(weight)) for key, weight in value.items())
        if isinstance(value, (tuple, list)):
            return ("x" if self.option in _PAIRS else ",").join(self.text(part) for part in value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if hasattr(value, "__index__"):  # an int, also numpy's
            return str(int(value))
        if hasattr(value, "__float__"):
            return repr(float(value))
        if hasattr(value, "randint"):  # a RandomState of numpy
            return str(int(value.randint(2 ** 31 - 1)))
        if hasattr(value, "integers"):  # a Generator of numpy
            return str(int(value.integers(2 ** 31 - 1)))
        return str(value)

    def doc(self):
        kind = "{%s}" % ", ".join("'%s'" % word for word in self.choices.split("|")) if self.choices else self.argument
        default = "" if self.default is None else "; by default %s" % self.default
        # Other options are named as on the command line.
        text = " ".join(_RENAMED.get(word[2:], word[2:].replace("-", "_")) if word.startswith("--") else word
                        for word in self.help.split(" "))
        return _entry("%s : %s, default None" % (self.name, kind), text + default)


def _entry(head, text):
    """A head, and below it the text in lines; without textwrap, whose import takes longer than all of this."""
    lines = ["   "]
    for word in text.split():
        if len(lines[-1]) + len(word) > 100:
            lines.append("   ")
        lines[-1] += " " + word
    return "\n".join([head] + lines)


def own_defaults():
    return {name: own[0] for name, own in _OWN.items()}


def parameters_of(classify):
    left_out = _LEFT_OUT if classify else _LEFT_OUT | _OF_CLASSES
    return [Parameter(row) for row in _native.options() if row[0] not in left_out]


def make_init(parameters, owner):
    """def __init__(self, *, kind=None, ...), as a reader would have written it."""
    names = ["%s=None" % p.name for p in parameters] + ["%s=%r" % (name, own[0]) for name, own in _OWN.items()]
    body = ["self.%s = %s" % (name.split("=")[0], name.split("=")[0]) for name in names]
    source = "def __init__(self, *, %s):\n    %s\n" % (", ".join(names), "\n    ".join(body))
    made = {}
    exec(source, made)  # pylint: disable=exec-used
    made["__init__"].__qualname__ = owner + ".__init__"  # what a TypeError names
    return made["__init__"]


def make_doc(text, parameters):
    entries = [p.doc() for p in parameters]
    entries += [_entry("%s : %s, default %r" % (name, own[1], own[0]), own[2]) for name, own in _OWN.items()]
    return text.replace("@PARAMETERS@", "\n".join(entries).replace("\n", "\n    "))
