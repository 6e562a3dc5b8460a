"""What users pass as X, y and weights, as arrays that the library reads; with the messages of scikit-learn."""
import sys

_TAKEN = ("d", "f", "B")  # as they are
_MISSING = "(missing)"  # what the library calls the level of missing values


def _np():
    import numpy
    return numpy


class Columns:
    """The columns of a table: numbers, and codes of categories."""

    def __init__(self, x, names=None, categories=()):
        self.x, self.names, self.categories = x, names, list(categories)

    def rows_where(self, kept):
        return Columns(self.x[kept], self.names, self.categories)


def is_frame(X):
    return hasattr(X, "iloc") and hasattr(X, "columns") and hasattr(X, "dtypes")


def is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "toarray")


def taken(X):
    """X; what comes by the C stream interface of Arrow as a table, since a stream can be read once."""
    if hasattr(X, "__arrow_c_stream__") and not is_frame(X) and not is_sparse(X) and not isinstance(X, ArrowTable):
        return ArrowTable(X)
    return X


def names_of(X):
    """The names of the columns if all are strings, otherwise None: none is ever invented."""
    if not is_frame(X) and not isinstance(X, ArrowTable):
        return None
    names = list(X.columns)
    if not names or not all(isinstance(name, str) for name in names):
        if any(isinstance(name, str) for name in names):
            raise TypeError("Feature names are only supported if all input features have string names, but your input "
                            "has names of several types. Convert them all to strings, X.columns = X.columns.astype(str), "
                            "or to none at all.")
        return None
    return names


def _check_shape(x):
    if x.ndim != 2:
        raise ValueError("Expected 2D array, got %s array instead. Reshape your data either using array.reshape(-1, 1) "
                         "if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
                         % ("scalar" if x.ndim == 0 else "%dD" % x.ndim))
    if x.shape[0] == 0:
        raise ValueError("Found array with 0 sample(s) (shape=%s) while a minimum of 1 is required." % (x.shape,))
    if x.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) (shape=%s) while a minimum of 1 is required." % (x.shape,))


def plain(X):
    """An array of two dimensions whose memory the library can walk through."""
    np = _np()
    if is_sparse(X):
        X = X.toarray()
    if isinstance(X, np.ma.MaskedArray):
        X = X.astype(np.float64).filled(np.nan)
    x = np.asarray(X)
    if x.dtype.kind == "c":
        raise ValueError("Complex data not supported\n%r\n" % X)
    if x.ndim != 2 or 0 in x.shape:
        _check_shape(x)
    if x.dtype.char not in _TAKEN or not x.dtype.isnative:
        try:
            x = x.astype(np.float64)
        except ValueError as error:
            raise ValueError("%s. The columns of an array are numbers; of a DataFrame, columns of text are categories."
                             % error) from None
    size = x.dtype.itemsize
    if x.strides[0] < 0 or x.strides[1] < 0 or x.strides[0] % size or x.strides[1] % size or not x.flags.aligned:
        x = np.ascontiguousarray(x)
    elif x.strides[0] == 0 and x.shape[0] > 1:
        x = np.ascontiguousarray(x)
    return x


# ---- tables with columns of several types --------------------------------------------------------------------------


class ArrowTable:
    """The columns of an Arrow stream: of polars, pyarrow, duckdb and others."""

    def __init__(self, X):
        from ._native import ArrowTable as Native
        self.table = Native(X.__arrow_c_stream__())
        self.columns = self.table.names
        self.shape = (self.table.rows, len(self.columns))

    def plain(self):
        return None

    def is_text(self, j):
        return self.table.is_text(j)

    def has_levels(self, j):
        return False

    def texts(self, j):
        return self.table.texts(j)

    def numbers(self, j):
        np = _np()
        if self.is_text(j):
            return np.array([np.nan if text is None else float(text) for text in self.texts(j)])
        out = np.empty(self.shape[0])
        self.table.numbers(j, out)
        return out


class _Frame:
    """Those of a DataFrame of pandas."""

    def __init__(self, X):
        self.frame, self.shape = X, X.shape

    def plain(self):
        """All columns at once where they are numbers, none with a mark of its own for a missing value; otherwise None."""
        np = _np()
        if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in self.frame.dtypes):
            return self.frame.to_numpy()
        return None

    def is_text(self, j):
        name = str(self.frame.dtypes.iloc[j])
        return name in ("category", "object") or name.startswith("str")

    def has_levels(self, j):
        return str(self.frame.dtypes.iloc[j]) == "category"

    def texts(self, j):
        column = self.frame.iloc[:, j]
        return [None if gone else str(value) for value, gone in zip(column.tolist(), column.isna().tolist())]

    def numbers(self, j):
        np = _np()
        column = self.frame.iloc[:, j]
        if self.is_text(j):
            return column.astype(object).where(column.notna(), np.nan).astype(float).to_numpy()
        if column.dtype.kind in "Mm":  # in days; a moment in a time zone as that of UTC
            unit = "datetime64[ns]" if column.dtype.kind == "M" else "timedelta64[ns]"
            return np.where(column.isna(), np.nan, column.to_numpy(dtype=unit).astype(np.float64) / 864e11)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)


class _Cells:
    """Those of an array of objects."""

    def __init__(self, X):
        self.cells = _np().asarray(X, dtype=object)
        _check_shape(self.cells)
        self.shape = self.cells.shape

    def texts(self, j):
        return _texts(self.cells[:, j].tolist())

    def numbers(self, j):
        return self.cells[:, j].astype(float)


def _table(X):
    """What its columns are asked of; None: it is one array."""
    return X if isinstance(X, ArrowTable) else _Frame(X) if is_frame(X) else None


def _is_missing(value):
    """None, NaN, NaT, and what pandas calls NA, which is neither equal nor unequal to anything."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _texts(values):
    """The labels of a column, None where there is none."""
    return [None if _is_missing(value) else str(value) for value in values]


def _codes(texts, levels):
    """Codes of the levels; NaN: a level that is not known, or missing where that is no level of its own."""
    np = _np()
    place = {level: code for code, level in enumerate(levels)}
    missing = place.get(_MISSING, np.nan)

    def code(text):
        """A whole number in another form ("3.0" for "3") is the same level, as in the tool."""
        if text is None:
            return missing
        return place[text] if text in place else place.get(text[:-2], np.nan) if text.endswith(".0") else np.nan

    return np.array([code(text) for text in texts], dtype=np.float64)


def _are_numbers(table, j):
    if not table.is_text(j):
        return True
    if table.has_levels(j):
        return False
    try:
        table.numbers(j)
    except (TypeError, ValueError):
        return False
    return True


def learn_columns(X):
    """Columns of X for training: text and categories become codes, with their levels."""
    np = _np()
    names, table = names_of(X), _table(X)
    whole = X if table is None else table.plain()
    if whole is not None:
        return Columns(plain(whole), names)
    _check_shape(np.empty(X.shape, dtype=bool))
    x, categories = np.empty(X.shape), []
    for j in range(X.shape[1]):
        if _are_numbers(table, j):
            x[:, j] = table.numbers(j)
            continue
        values = table.texts(j)
        levels = sorted({text for text in values if text is not None})
        if not levels:
            raise ValueError("column %d has no values" % (j + 1))
        x[:, j] = _codes(values, levels)
        categories.append((j, levels))
    return Columns(x, names, categories)


def _recoded(codes, levels, union):
    np = _np()
    place = np.array([union.index(level) for level in levels], dtype=np.float64)
    known = ~np.isnan(codes)
    out = np.full(codes.shape, np.nan)
    out[known] = place[codes[known].astype(int)]
    return out


def join_columns(a, b):
    """The rows of both, in an array of their own; categories have the levels of both."""
    np = _np()
    x, categories = np.concatenate([a.x, b.x]).astype(np.float64), []
    if [j for j, _ in a.categories] != [j for j, _ in b.categories]:
        raise ValueError("a column is text in some of the rows and numbers in others")
    for (j, levels), (_, more) in zip(a.categories, b.categories):
        union = sorted(set(levels) | set(more))
        x[:len(a.x), j], x[len(a.x):, j] = _recoded(a.x[:, j], levels, union), _recoded(b.x[:, j], more, union)
        categories.append((j, union))
    return Columns(x, a.names, categories)


def _numbers_only(table, j):
    """A column that the model knows as numbers."""
    try:
        return _np().asarray(table.numbers(j))
    except (TypeError, ValueError) as error:
        raise ValueError("column %d has numbers in the model, and text here: %s" % (j + 1, error)) from None


def like_columns(X, categories, count):
    """Rows for a network: numbers as they are, and of a category one input for each level, in its order."""
    np = _np()
    table = _table(X)
    whole = X if table is None else table.plain()
    if not categories and whole is not None:
        return plain(whole)
    table = _Cells(X) if table is None else table
    levels_of, parts = dict(categories), []
    for j in range(count):
        if j not in levels_of:
            parts.append(_numbers_only(table, j)[:, None])
            continue
        codes = _codes(table.texts(j), levels_of[j])
        inputs = (codes[:, None] == np.arange(len(levels_of[j]))).astype(np.float64)
        inputs[np.isnan(codes)] = np.nan
        parts.append(inputs)
    return np.hstack(parts)


# ---- targets and weights --------------------------------------------------------------------------------------------


def check_length(x, y):
    if len(y) != x.shape[0]:
        raise ValueError("Found input variables with inconsistent numbers of samples: %r" % [x.shape[0], len(y)])


def _no_target(name):
    return ValueError("This %s estimator requires y to be passed, but the target y is None." % name)


def _warn_column():
    import warnings
    category = UserWarning
    if "sklearn.exceptions" in sys.modules:
        category = sys.modules["sklearn.exceptions"].DataConversionWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                  "(n_samples,), for example using ravel().", category, stacklevel=4)


def _check_finite(y):
    np = _np()
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        what = "NaN" if np.isnan(y).any() else "infinity or a value too large for dtype('%s')" % y.dtype
        raise ValueError("Input y contains %s." % what)


def _check_labels(labels):
    missing = sum(map(_is_missing, labels))
    if missing:
        raise ValueError("Input y contains NaN or None: %d of %d labels are missing. Leave such rows out."
                         % (missing, len(labels)))
    try:
        sorted(set(labels))
    except TypeError:
        raise ValueError("Unknown label type: y has labels of several types (%s). Make them all texts or all whole "
                         "numbers." % ", ".join(sorted({type(label).__name__ for label in labels}))) from None


def labels_of(y, name):
    """The class of each row."""
    np = _np()
    if y is None:
        raise _no_target(name)
    if is_sparse(y):
        raise ValueError("y must be a 1d array, not a sparse matrix")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_column()
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError("y should be a 1d array, got an array of shape %s instead." % (y.shape,))
    _check_finite(y)
    if y.dtype.kind == "O":
        _check_labels(y.tolist())
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous. Classes are texts or whole numbers; for numbers use "
                         "BroadRegressor.")
    if y.dtype.kind == "c":
        raise ValueError("Unknown label type: complex")
    return y


def values_of(y, name):
    """The targets of each row: one or several numbers."""
    np = _np()
    if y is None:
        raise _no_target(name)
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported\n%r\n" % y)
    if y.dtype.kind in "Mm":
        raise ValueError("y has dates or times; targets are numbers, for example days: (y - first) / numpy.timedelta64(1, 'D')")
    try:
        y = y.astype(np.float64, copy=False)
    except ValueError as error:
        raise ValueError("%s. The targets of BroadRegressor are numbers; for classes use BroadClassifier." % error) from None
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError("y should be a 1d or 2d array, got an array of shape %s instead." % (y.shape,))
    _check_finite(y)
    return y


def weights_of(sample_weight, rows):
    """One number for each row, or None where all are alike."""
    np = _np()
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape[0] != rows:
        raise ValueError("sample_weight.shape == %s, expected %s!" % (weights.shape, (rows,)))
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite numbers, none of them below 0")
    if not (weights > 0).any():
        raise ValueError("all weights are 0")
    return weights
