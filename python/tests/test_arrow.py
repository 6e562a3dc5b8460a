"""Tables by Arrow's C stream interface, from a stream that is built here by hand: every type, batches, offsets, dictionaries, failures."""
import ctypes
import struct
import unittest

from package_test import FAST, Case, broad, np

from broad import inputs

P, I64 = ctypes.c_void_p, ctypes.c_int64


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


FREE_SCHEMA, FREE_ARRAY, FREE_STREAM = (ctypes.CFUNCTYPE(None, ctypes.POINTER(kind)) for kind in (Schema, Array, Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
LAST_ERROR = ctypes.create_string_buffer(b"the disk is gone")
GET_ERROR = ctypes.CFUNCTYPE(P, ctypes.POINTER(Stream))
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", I64), ("n_children", I64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)), ("release", FREE_SCHEMA), ("data", P)]
Array._fields_ = [("length", I64), ("null_count", I64), ("offset", I64), ("n_buffers", I64), ("n_children", I64), ("buffers", ctypes.POINTER(P)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)), ("release", FREE_ARRAY), ("data", P)]
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR), ("release", FREE_STREAM), ("data", P)]

NEW_CAPSULE = ctypes.pythonapi.PyCapsule_New
NEW_CAPSULE.restype, NEW_CAPSULE.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]


def bits(flags):
    return np.packbits(np.array(flags, dtype=bool), bitorder="little").tobytes()


def text_buffers(texts, format_):
    """The buffers after the validity of a column of text."""
    data = [b"" if text is None else text.encode() for text in texts]
    if format_ == b"vu":
        views, long_ones = b"", b""
        for item in data:
            if len(item) <= 12:
                views += struct.pack("<i12s", len(item), item)
            else:
                views += struct.pack("<i4sii", len(item), item[:4], 0, len(long_ones))
                long_ones += item
        return [views, long_ones, struct.pack("<q", len(long_ones))]
    ends = np.cumsum([0] + [len(item) for item in data]).astype(np.int32 if format_ == b"u" else np.int64)
    return [ends.tobytes(), b"".join(data)]


ALL = []


class Table:
    """Columns of (name, format, values, dictionary or None) in batches, with some bytes before the first row."""

    def __init__(self, columns, batches=2, before=3, fault=None):
        self.columns, self.batches, self.before, self.fault = columns, batches, before, fault
        self.rows = len(columns[0][2]) if columns else 0
        self.kept, self.released, self.given = [], 0, 0
        ALL.append(self)  # what is released is called whenever the library lets go of it

    def pointer(self, thing):
        self.kept.append(thing)
        return ctypes.pointer(thing)

    def buffers(self, contents):
        blocks = [None if content is None else ctypes.create_string_buffer(content, max(len(content), 1)) for content in contents]
        self.kept.append(blocks)
        array = (P * len(blocks))(*[None if block is None else ctypes.addressof(block) for block in blocks])
        self.kept.append(array)
        return array

    def free(self, thing):
        thing.contents.release = type(thing.contents.release)()
        self.released += 1

    def schema(self, format_, name, children=(), dictionary=None):
        free = FREE_SCHEMA(self.free)
        pointers = (ctypes.POINTER(Schema) * len(children))(*map(self.pointer, children))
        self.kept += [free, pointers]
        return Schema(format_, name, None, 2, len(children), pointers, self.pointer(dictionary) if dictionary else None, free)

    def array(self, values, format_, dictionary=None, offset=0):
        """values: with `offset` more before them."""
        valid = None if all(value is not None for value in values) else bits([value is not None for value in values])
        kinds = {b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8", b"f": "f4", b"g": "f8", b"tdD": "i4"}
        if format_ in (b"u", b"U", b"vu"):
            contents = [valid] + text_buffers(values, format_)
        elif format_ == b"b":
            contents = [valid, bits([bool(value) for value in values])]
        elif format_ == b"n":
            contents = []
        else:
            contents = [valid, np.array([value or 0 for value in values], dtype=kinds.get(format_, "i8")).tobytes()]
        free = FREE_ARRAY(self.free)
        self.kept.append(free)
        return Array(len(values) - offset, -1, offset, len(contents), 0, self.buffers(contents), None, self.pointer(dictionary) if dictionary else None, free)

    def batch(self, number):
        first, end = (self.rows * k // self.batches for k in (number, number + 1))
        children = []
        for _, format_, values, words in self.columns:
            dictionary = self.array(words, b"u") if words else None
            some = list(values[:1]) * self.before + list(values[first:end])
            children.append(self.array(some, format_, dictionary, self.before))
        pointers = (ctypes.POINTER(Array) * len(children))(*map(self.pointer, children))
        free = FREE_ARRAY(self.free)
        self.kept += [pointers, free]
        return Array(end - first, 0, 0, 1, len(children), self.buffers([None]), pointers, None, free)

    def get_schema(self, _, out):
        children = [self.schema(format_, name, (), self.schema(b"u", None) if words else None) for name, format_, _, words in self.columns]
        ctypes.memmove(out, self.pointer(self.schema(b"+s" if self.fault != "bare" else b"g", b"", children)), ctypes.sizeof(Schema))
        return 0

    def get_next(self, _, out):
        if self.fault == "breaks":
            return 5
        ctypes.memset(out, 0, ctypes.sizeof(Array))
        if self.given < self.batches:
            ctypes.memmove(out, self.pointer(self.batch(self.given)), ctypes.sizeof(Array))
        self.given += 1
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.given = 0
        parts = GET_SCHEMA(self.get_schema), GET_NEXT(self.get_next), GET_ERROR(lambda _: ctypes.addressof(LAST_ERROR)), FREE_STREAM(self.free)
        stream = Stream(*parts)
        self.kept += [stream, parts]
        return NEW_CAPSULE(ctypes.addressof(stream), b"arrow_array_stream", None)


def rows(count=60):
    r = np.random.default_rng(3)
    a, colour = r.normal(size=count), r.integers(0, 3, count)
    return a, colour, 2 * a + colour + 0.1 * r.normal(size=count)


COLOURS = ["red", "blue and so much more of it", "grün"]


class Arrow(Case):
    def test_every_type(self):
        whole = [1, 2, None, 4, 0, 6, 7]
        for format_, factor in ((b"c", 1), (b"C", 1), (b"s", 1), (b"S", 1), (b"i", 1), (b"I", 1), (b"l", 1), (b"L", 1), (b"f", 1), (b"g", 1), (b"tdD", 1),
                                (b"tdm", 864e5), (b"tss:", 86400), (b"tsm:", 864e5), (b"tsu:UTC", 864e8), (b"tsn:", 864e11)):
            found = inputs.learn_columns(inputs.taken(Table([(b"a", format_, whole, None)])))
            np.testing.assert_array_equal(found.x[:, 0] * factor, [np.nan if v is None else v for v in whole], str(format_))
            self.assertEqual(found.names, ["a"])
        found = inputs.learn_columns(inputs.taken(Table([(b"a", b"b", [True, None, False], None), (b"b", b"n", [None] * 3, None)])))
        np.testing.assert_array_equal(found.x, [[1, np.nan], [np.nan, np.nan], [0, np.nan]])
        for format_ in (b"u", b"U", b"vu"):
            values = [COLOURS[0], None, COLOURS[1], COLOURS[2], "", COLOURS[1]]
            found = inputs.learn_columns(inputs.taken(Table([(b"t", format_, values, None)], batches=3)))
            levels = sorted(set(values) - {None})
            self.assertEqual(found.categories, [(0, levels)])
            np.testing.assert_array_equal(found.x[:, 0], [np.nan if v is None else levels.index(v) for v in values])
            numbers = inputs.learn_columns(inputs.taken(Table([(b"t", format_, ["1", None, "2.5"], None)])))
            np.testing.assert_array_equal(numbers.x[:, 0], [1, np.nan, 2.5])

    def test_estimators(self):
        """As numpy and pandas give them: the same model, the same predictions."""
        a, colour, y = rows()
        model = broad.BroadRegressor(**FAST)
        table = Table([(b"a", b"g", a, None), (b"colour", b"i", colour, COLOURS)])
        model.fit(table, y)
        self.assertEqual(list(model.feature_names_in_), ["a", "colour"])
        plain = Table([(b"a", b"g", a, None), (b"colour", b"vu", [COLOURS[c] for c in colour], None)], batches=1, before=0)
        other = broad.BroadRegressor(**FAST).fit(plain, y)
        with self.assertWarns(UserWarning):  # no names
            cells = model.predict(np.array([a, [COLOURS[c] for c in colour]], dtype=object).T)
        np.testing.assert_array_equal(model.predict(table), cells)
        np.testing.assert_array_equal(other.predict(plain), model.predict(table))
        self.assertGreater(model.score(table, y), 0.9)
        with self.assertRaisesRegex(ValueError, "unseen at fit time"):
            model.predict(Table([(b"b", b"g", a, None), (b"colour", b"i", colour, COLOURS)]))
        with self.assertRaisesRegex(ValueError, "yet now missing"):
            model.predict(Table([(b"a", b"g", a, None)]))

    def test_nothing_is_left(self):
        a, colour, _ = rows()
        table = Table([(b"a", b"g", a, None), (b"colour", b"i", colour, COLOURS)])
        inputs.learn_columns(inputs.taken(table))
        self.assertEqual(table.released, 4)  # stream, schema, two batches; what is inside of them is theirs

    def test_faults(self):
        a = [1.0, 2.0]
        for table, error, message in ((Table([(b"a", b"d:9,2", a, None)]), TypeError, "column 'a' has the Arrow type 'd:9,2'"),
                                      (Table([(b"a", b"g", a, None)], fault="bare"), TypeError, "a table is needed"),
                                      (Table([(b"a", b"g", a, None)], fault="breaks"), ValueError, "the disk is gone"),
                                      (Table([(b"a", b"g", [], None)]), ValueError, "0 sample"),
                                      (Table([]), ValueError, "0 sample|0 feature")):
            with self.assertRaisesRegex(error, message):
                broad.BroadRegressor().fit(table, [1.0, 2.0])
        capsule = Table([(b"a", b"g", a, None)]).__arrow_c_stream__()
        with self.assertRaisesRegex(ValueError, "PyCapsule"):
            broad._native.ArrowTable(3)
        table = broad._native.ArrowTable(capsule)
        with self.assertRaises(IndexError):
            table.is_text(1)
        with self.assertRaises(TypeError):
            table.texts(0)
        with self.assertRaisesRegex(ValueError, "read already"):
            broad._native.ArrowTable(capsule)


if __name__ == "__main__":
    unittest.main(argv=["test_arrow"])
