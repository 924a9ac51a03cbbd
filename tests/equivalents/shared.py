"""What the cases for NumPy and for PyTorch share: random arrays, running the tables' calls, and the lines of cases.

Elements are whole numbers, so that equal is equal.
"""

import functools
import json
import math
import random
import sys

import numpy as np
from rows import AUTOGRAD, rows_of, without_prefix

SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5]


class Refused(Exception):
    """A rule of the crate that the other system does not have; the tables or the guide name it."""


def shape_of(rng, most=5, elements=300, least=0):
    while True:
        shape = [rng.choice(SIZES) for _ in range(rng.randint(least, most))]
        if np.prod([max(size, 1) for size in shape]) <= elements:
            return shape


def operand_of(rng, joint, wrong):
    """A shape that goes to `joint`, or with a probability may not."""
    first = rng.choice([0, 0, 0, rng.randint(0, len(joint))])
    return spoilt(rng, [1 if rng.random() < 0.3 else size for size in joint[first:]], wrong)


def spoilt(rng, shape, wrong):
    """The shape, with a probability with another size somewhere."""
    if shape and rng.random() < wrong:
        shape[rng.randrange(len(shape))] = rng.choice([0, 2, 3, 4])
    return shape


def layout(rng, shape, writable=False, reversible=True):
    """How an array of this shape is made: an owned one, stretched, sliced, reversed and permuted."""
    order = list(range(len(shape)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    sliced, reversed_, stretched = rng.random() < 0.5, rng.random() < 0.4, rng.random() < 0.3
    base, repeated, ops = [], [], []
    for i, axis in enumerate(order):
        size, start, step, pad = shape[axis], 0, 1, 0
        if sliced and np.prod(base, dtype=int) < 300:
            start, step, pad = rng.randint(0, 2), rng.randint(1, 3), rng.randint(0, 1)
        end = start if size == 0 else start + (size - 1) * step + 1
        zero_stride = not writable and stretched and rng.random() < 0.4
        base.append(1 if zero_stride else end + pad)
        repeated.append(end + pad)
        ops.append({"op": "slice", "axis": i, "start": start, "end": end, "step": step})
        if reversible and reversed_ and rng.random() < 0.6:
            ops.append({"op": "invert", "axis": i})
    places = [0] * len(order)
    for i, axis in enumerate(order):
        places[axis] = i
    ops.append({"op": "permute", "axes": places})
    return {
        "base_shape": base,
        "order": rng.choice("CF"),
        "start": rng.randint(0, 40),
        "repeated": repeated,
        "ops": ops,
    }


def array(description):
    """The array that a description is of."""
    base, start = description["base_shape"], description["start"]
    count = int(np.prod(base, dtype=int))
    a = np.arange(start, start + count, dtype=np.int64).reshape(base)
    a = np.array(a, order=description["order"])
    if description["repeated"] != base:
        a = np.broadcast_to(a, description["repeated"])
    for op in description["ops"]:
        if op["op"] == "permute":
            a = np.transpose(a, op["axes"])
        elif op["op"] == "invert":
            a = np.flip(a, op["axis"])
        else:
            index = [slice(None)] * a.ndim
            index[op["axis"]] = slice(op["start"], op["end"], op["step"])
            a = a[tuple(index)]
    return a


def made(rng, shape, writable=False, reversible=True):
    description = layout(rng, shape, writable, reversible)
    a = array(description)
    assert list(a.shape) == list(shape)
    return description, a


def axes_of(rng, ndim, wrong=0.15, signed=True):
    """Some axes in any order, with a probability one too many or one twice."""
    axes = [axis for axis in range(ndim) if rng.random() < 0.5]
    rng.shuffle(axes)
    if rng.random() < wrong:
        axes.append(rng.randint(0, ndim + 1))
    return [axis - ndim if signed and axis < ndim and rng.random() < 0.3 else axis for axis in axes]


SPECIAL = {
    "float64": [1.5, -2.25, 0.0, 3.0, float("nan"), float("inf"), float("-inf")],
    "float32": [1.5, -2.25, 0.0, 3.0, float("nan"), float("inf"), float("-inf")],
    "float16": [1.5, -2.25, 0.0, 3.0, float("nan"), float("inf"), float("-inf")],
    "large float16": [60000.0, 50000.0, 40000.0],
    "bfloat16": [1.5, 0.25, 2.0, 3.0, float("nan"), float("inf"), float("-inf")],
    "large bfloat16": [1.5e38, 1.0e38, 0.5],
    "complex128": [1.5 - 2.25j, 3j, 0j, 2 + 1j, complex("nan"), complex(1, float("inf")), complex("-inf")],
    "large complex128": [1e306 + 0j, 1e306j, 5e305 + 1e306j],
    "complex64": [1.5 - 2.25j, 3j, 0j, 2 + 1j, complex("nan"), complex(1, float("inf")), complex("-inf")],
    "large complex64": [2.0**118 + 0j, 2.0**118 * 1j, 2.0**117 + 2.0**118 * 1j],
    "uint8": [0, 1, 100, 200, 255],
    "int64": [0, 1, 7, 2**62, 2**63 - 1],
    "negative int64": [-1, -7, -(2**62), 1 - 2**63, -(2**63)],
}


def special(rng, array_of, reductions, errors):
    """Reductions by name of NaN, infinities, and numbers that nearly overflow their type. `reductions(type)` has the functions
    of an array and axes. The results are texts, which have NaN and infinities, or null where the other system refuses."""
    kind = rng.choice(list(SPECIAL))
    shape = shape_of(rng, 4, 100, least=1)
    values = [rng.choice(SPECIAL[kind]) for _ in range(math.prod(shape))]
    axes = sorted({rng.randrange(len(shape)) for _ in range(rng.randint(1, len(shape)))})
    kind = kind.split()[-1]
    kept = [size for axis, size in enumerate(shape) if axis not in axes]

    def texts(name, reduce):
        if 0 in kept:
            # Nothing, also where the other system refuses an empty axis.
            return []
        if name == "mean" and 0 in shape:
            # NaN there, an error here.
            return None
        try:
            return texts_of(reduce(array_of(values, kind).reshape(shape), tuple(axes)).flatten().tolist())
        except errors:
            return None

    def expected():
        return {name: texts(name, reduce) for name, reduce in reductions(kind).items()}

    return {"type": kind, "shape": shape, "values": texts_of(values), "axes": axes}, expected


def texts_of(numbers):
    """The numbers as texts, of a complex number one for each part."""
    parts = [[x.real, x.imag] if isinstance(x, complex) else [x] for x in numbers]
    return [repr(part) for pair in parts for part in pair]


def recipe_case(rng, results):
    """A matrix for the guide's recipes, mostly with few different numbers. `results` has lists of numbers by name, or None
    where the other system refuses."""
    shape = [rng.choice([0, 1, 2, 3, 7, 40]) for _ in range(2)]
    pool = rng.sample(SPECIAL["float64"] + [-1.0, 5.0, 1e9, 0.25], rng.randint(1, 6))
    values = [rng.choice(pool) for _ in range(math.prod(shape))]

    def expected():
        found = results(np.array(values, dtype=float).reshape(shape))
        return {name: None if result is None else texts_of([float(x) for x in result]) for name, result in found.items()}

    return {"shape": shape, "values": texts_of(values)}, expected


@functools.cache
def compiled(call):
    """A call, and the name of what it changes if it is a statement."""
    try:
        return compile(call, call, "eval"), None
    except SyntaxError:
        return compile(call, call, "exec"), call.split()[0]


class Session:
    """The calls of one system's rows, and its cases."""

    def __init__(self, system, version, names):
        self.system, self.version, self.names = system, version, names
        self.rows = rows_of(system)
        self.known = {call for row in self.rows for call in row["calls"]}
        self.calls = []

    def run(self, call, **values):
        """What a call of the tables gives, or leaves in the name that it assigns to."""
        self.mark(call)
        program, changed = compiled(call)
        names = {**self.names, **values}
        result = eval(program, names)
        return result if changed is None else names[changed]

    def mark(self, call):
        """Says that a case runs a call of the tables; it counts if the case has a result."""
        key = without_prefix(call)
        if key not in self.known:
            raise SystemExit(f"{call}: no table has this call, so no case should run it")
        self.calls.append(key)

    def autograd(self):
        self.mark(AUTOGRAD)

    def main(self, kinds, errors):
        """Prints the first line, which says what follows, and then one case a line."""
        count, seed = int(sys.argv[1]), int(sys.argv[2])
        rng = random.Random(seed)
        head = {"cases": count, "seed": seed, "system": self.system, "version": self.version, "rows": self.rows}
        print(json.dumps({**head, "kinds": len(kinds)}))
        for i in range(count):
            kind = kinds[i % len(kinds)]
            case, expected = kind(rng)
            self.calls = []
            try:
                case.update(ok=True, **expected())
            except (*errors, Refused) as error:
                case.update(ok=False, error=f"{type(error).__name__}: {error}".split("\n")[0])
            case["calls"] = sorted(set(self.calls))
            print(json.dumps({"op": kind.__name__, **case}, separators=(",", ":")))
