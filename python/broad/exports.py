"""Models for programs that predict without this library."""
import os

from . import _native

_PRECISIONS = ("double", "float", "int8")  # in the order of the library


def _precision(word):
    if word not in _PRECISIONS:
        raise _native.UsageError("precision is one of %s, not %r" % (", ".join(map(repr, _PRECISIONS)), word))
    return _PRECISIONS.index(word)


def _level(level):
    """The library takes 0 for the usual one, which Python calls None."""
    if level is None:
        return 0.0
    if not 0 < level < 1:
        raise _native.UsageError("level must lie between 0 and 1, not %r" % (level,))
    return float(level)


def _name_after(path):
    """What the tool makes of the file's name."""
    base = os.path.basename(os.fspath(path)).split(".")[0] or "model"
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in base)
    return ("_" + name if name[0].isdigit() else name)[:40]


class Exported:
    """The methods that the estimators and the models of photos share."""

    def to_onnx(self, path=None, *, precision="double", level=None):
        """The bytes of an ONNX file, opset 13, with scaling, missing values and labels inside; also written to path.

        It takes "row", one number for each column (for a category the code of its level; see export_rows), and gives
        "label", "probabilities" and "scores" of classes, or "values", "low" and "high" of a regression. precision:
        'double' or 'float', the type of all numbers. level: of the intervals; None: 0.9, and none if the model has none.
        """
        made = self._fitted().export_onnx(_precision(precision), _level(level))
        if path is not None:
            with open(path, "wb") as file:
                file.write(made)
        return made

    def to_c(self, path=None, *, name=None, precision="double", compact=False, level=None):
        """The text of one file of C99 without dependencies, allocation or state; also written to path.

        name: what all names in it begin with; None: the name of the file, or "model". precision: 'double', 'float', or
        'int8', in which the weights of nodes have 8 bits. compact: random weights are drawn again from the seed for every
        row, where that is smaller. level: of the intervals; None: 0.9, and none if the model has none.
        """
        if name is None:
            name = "model" if path is None else _name_after(path)
        made = self._fitted().export_c(name, _precision(precision), compact, _level(level))
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(made)
        return made
