"""ONNX files read and computed by a few lines of numpy: the operators of ai.onnx that 'broad export --onnx' uses, as the standard
defines them. No test: cli_export_onnx.py compares with it where no runtime is installed.
"""
import numpy as np

TYPES = {1: np.dtype("<f4"), 2: np.dtype("u1"), 7: np.dtype("<i8"), 9: np.dtype("?"), 11: np.dtype("<f8")}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """{number: [values]} of a message: whole numbers, or bytes. Fields of any other kind are a fault."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "a message ends too early"
        else:
            raise AssertionError("wire type %d" % (tag & 7))
        found.setdefault(tag >> 3, []).append(value)
    return found


def text(message, number):
    return message[number][0].decode()


def tensor(data):
    message = fields(data)
    shape = message.get(1, [])
    if message[2][0] == 8:
        return text(message, 8), np.array([t.decode() for t in message.get(6, [])], object).reshape(shape)
    return text(message, 8), np.frombuffer(message[9][0], TYPES[message[2][0]]).reshape(shape)


def value(data):
    """(name, type, dimensions) of an input or output."""
    message = fields(data)
    shaped = fields(fields(message[2][0])[1][0])
    dims = [fields(d) for d in fields(shaped[2][0])[1]]
    return text(message, 1), shaped[1][0], [d[1][0] if 1 in d else d[2][0].decode() for d in dims]


class Model:
    def __init__(self, data):
        message = fields(data)
        graph = fields(message[7][0])
        self.ir, self.opset = message[1][0], [fields(o)[2][0] for o in message[8]]
        self.metadata = {text(fields(e), 1): text(fields(e), 2) for e in message[14]}
        self.constants = dict(tensor(t) for t in graph[5])
        self.inputs, self.outputs = [value(v) for v in graph[11]], [value(v) for v in graph[12]]
        self.nodes = []
        for node in map(fields, graph[1]):
            attributes = {text(fields(a), 1): fields(a)[3][0] for a in node.get(5, [])}
            self.nodes.append((text(node, 4), [n.decode() for n in node[1]], text(node, 2), attributes))

    def run(self, **given):
        values = {**self.constants, **given}
        with np.errstate(all="ignore"):
            for op, inputs, output, attributes in self.nodes:
                assert output not in values, output + " is there already"
                values[output] = OPERATORS[op](*[values[n] for n in inputs], **attributes)
        return {name: values[name] for name, _, _ in self.outputs}


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


OPERATORS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Neg": np.negative, "Exp": np.exp, "Sin": np.sin,
    "Tanh": np.tanh, "Max": np.maximum, "Min": np.minimum, "Equal": np.equal, "Where": np.where, "MatMul": np.matmul,
    "GreaterOrEqual": np.greater_equal,
    "Identity": lambda x: x,
    "Relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Cast": lambda x, to: x.astype(TYPES[to]),
    "Concat": lambda *x, axis: np.concatenate(x, axis),
    "Flatten": lambda x, axis: x.reshape(int(np.prod(x.shape[:axis])), -1),
    "Gather": lambda x, at, axis=0: np.take(x, at, axis),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "ReduceSum": lambda x, axes, keepdims: x.sum(tuple(axes), keepdims=bool(keepdims)),
    "ArgMax": lambda x, axis, keepdims, select_last_index: np.argmax(x, axis),
    "Softmax": softmax,
}
