"""Random broadcasts and what NumPy makes of them, as lines of JSON.

`cases.py CASES SEED`. The first line says how many cases follow. Each has `op`, its operands, whether NumPy takes it
(`ok`), and the results: shape, elements in row-major order and, of views, strides in elements, null where they say
nothing. Elements are whole numbers, so that equal is equal.
"""

import json
import math
import random
import sys

import numpy as np

SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5]


class Refused(Exception):
    """A rule of the crate that NumPy does not have."""


def shape_of(rng, most=5, elements=300):
    while True:
        shape = [rng.choice(SIZES) for _ in range(rng.randint(0, most))]
        if np.prod([max(size, 1) for size in shape]) <= elements:
            return shape


def operand_of(rng, joint, wrong):
    """A shape that goes to `joint`, or with a probability may not."""
    first = rng.choice([0, 0, 0, rng.randint(0, len(joint))])
    shape = [1 if rng.random() < 0.3 else size for size in joint[first:]]
    if shape and rng.random() < wrong:
        shape[rng.randrange(len(shape))] = rng.choice([0, 2, 3, 4])
    return shape


def layout(rng, shape, writable=False):
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
        if reversed_ and rng.random() < 0.6:
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


def made(rng, shape, writable=False):
    description = layout(rng, shape, writable)
    a = array(description)
    assert list(a.shape) == list(shape)
    return description, a


def result(a):
    return {"shape": list(a.shape), "out": [int(x) for x in np.ravel(a)]}


def view(a):
    """A result that is a view: strides are compared where an index is ever more than 0."""
    said = [None if a.size == 0 or size < 2 else stride // 8 for size, stride in zip(a.shape, a.strides)]
    return {**result(a), "strides": said}


def broadcast_to(rng):
    target = shape_of(rng, 6)
    source, a = made(rng, operand_of(rng, target, 0.2))
    new = len(target) - a.ndim
    asked = [-1 if rng.random() < (0.3 if axis >= new else 0.03) else size for axis, size in enumerate(target)]
    if asked and rng.random() < 0.1:
        asked[rng.randrange(len(asked))] = rng.choice([-3, -2, -1, 0, 1, 2, 7])
    if rng.random() < 0.05:
        asked = asked[1:]

    def expected():
        new = len(asked) - a.ndim
        kept = []
        for axis, size in enumerate(asked):
            if size == -1 and axis < new:
                raise Refused("-1 on a new axis")
            kept.append(a.shape[axis - new] if size == -1 and new >= 0 else size)
        return {"results": [view(np.broadcast_to(a, kept))]}

    return {"source": source, "target": asked}, expected


def broadcast_arrays(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.3])
    pairs = [made(rng, operand_of(rng, joint, wrong)) for _ in range(rng.randint(1, 4))]
    return {"operands": [d for d, _ in pairs]}, lambda: {
        "results": [view(x) for x in np.broadcast_arrays(*(a for _, a in pairs))]
    }


def broadcast_shapes(rng):
    joint = shape_of(rng, 8, 10**9)
    if joint and rng.random() < 0.3:
        joint[rng.randrange(len(joint))] = rng.choice([2**31, 2**40, 2**62])
    wrong = rng.choice([0, 0.2])
    shapes = [operand_of(rng, joint, wrong) for _ in range(rng.randint(0, 6))]

    def expected():
        joint = np.broadcast_shapes(*map(tuple, shapes))
        if math.prod(size for size in joint if size != 0) > sys.maxsize:
            raise Refused("too large but for a size 0, which NumPy lets pass")
        return {"joint": list(joint)}

    return {"shapes": shapes}, expected


def sum_axes(rng):
    source, a = made(rng, shape_of(rng))
    signed = rng.random() < 0.4
    axes = [axis for axis in range(a.ndim) if rng.random() < 0.5]
    rng.shuffle(axes)
    if rng.random() < 0.15:
        axes.append(a.ndim + rng.randint(0, 2) if signed else rng.randint(0, a.ndim + 1))
    if signed:
        axes = [axis - a.ndim if axis < a.ndim and rng.random() < 0.5 else axis for axis in axes]

    def expected():
        return {
            "results": [result(np.sum(a, axis=tuple(axes)))],
            "keepdims": [result(np.sum(a, axis=tuple(axes), keepdims=True))],
        }

    return {"source": source, "axes": axes, "signed": signed}, expected


def unbroadcast(a, shape):
    """The sum that is the adjoint of a broadcast."""
    np.broadcast_to(np.empty(shape, dtype=bool), a.shape)
    new = a.ndim - len(shape)
    a = a.sum(axis=tuple(range(new)))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and a.shape[i] != 1)
    return a.sum(axis=stretched, keepdims=True)


def sum_to(rng):
    joint = shape_of(rng)
    source, a = made(rng, joint)
    target = operand_of(rng, joint, 0.2)
    if rng.random() < 0.05:
        target = [1] + joint
    out, before = made(rng, target, writable=True)
    factor = rng.randint(-3, 3)

    def expected():
        total = unbroadcast(a, target)
        stretched = [i for i in range(a.ndim) if i < a.ndim - len(target) or total.shape[i - a.ndim] != a.shape[i]]
        return {
            "results": [result(total)],
            "added": [result(before + total)],
            "scaled": [result(before + factor * total)],
            "reduced": stretched,
        }

    return {"source": source, "target": target, "onto": out, "factor": factor}, expected


def maps(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.2])
    pairs = [made(rng, operand_of(rng, joint, wrong)) for _ in range(3)]
    (a, b, c) = (x for _, x in pairs)
    out, onto = made(rng, rng.choice([joint, joint, joint, [2] + joint, joint[1:]]), writable=True)

    def applied():
        """A ufunc with `out`, to which operands are stretched but which is not."""
        try:
            into = onto.copy()
            np.add(np.multiply(a, b), c, out=into)
            return [result(into)]
        except ValueError:
            return None

    def expected():
        return {"results": [result(a * b + c)], "applied": applied()}

    return {"operands": [d for d, _ in pairs], "onto": out}, expected


def broadcast_axes(rng):
    target = shape_of(rng)
    axes = [axis for axis in range(len(target)) if rng.random() < 0.4]
    shape = [size for axis, size in enumerate(target) if axis not in axes]
    if shape and rng.random() < 0.15:
        shape[rng.randrange(len(shape))] = rng.choice([0, 1, 2, 3])
    if rng.random() < 0.15:
        axes.append(rng.randint(0, len(target) + 1))
    if rng.random() < 0.1:
        axes = axes[1:]
    rng.shuffle(axes)
    source, a = made(rng, shape)

    def expected():
        if [size for axis, size in enumerate(target) if axis not in axes] != shape:
            raise Refused("sizes that are not equal")
        if len(target) != len(shape) + len(axes):
            raise Refused("another number of axes")
        return {"results": [view(np.broadcast_to(np.expand_dims(a, tuple(axes)), target))]}

    return {"source": source, "target": target, "axes": axes}, expected


def broadcast_in_dim(rng):
    target = shape_of(rng)
    places = [axis for axis in range(len(target)) if rng.random() < 0.6]
    rng.shuffle(places)
    shape = [1 if rng.random() < 0.3 else target[axis] for axis in places]
    if shape and rng.random() < 0.15:
        shape[rng.randrange(len(shape))] = rng.choice([0, 2, 3])
    if places and rng.random() < 0.15:
        places[rng.randrange(len(places))] = rng.randint(0, len(target))
    if rng.random() < 0.05:
        places = places[1:]
    source, a = made(rng, shape)

    def expected():
        if len(places) != a.ndim or len(set(places)) != a.ndim:
            raise Refused("not one place for each axis")
        if any(place >= len(target) for place in places):
            raise Refused("no such axis")
        others = tuple(axis for axis in range(len(target)) if axis not in places)
        ordered = np.transpose(a, np.argsort(places, kind="stable")) if a.ndim else a
        return {"results": [view(np.broadcast_to(np.expand_dims(ordered, others), target))]}

    return {"source": source, "target": target, "axes": places}, expected


def bases_of(rng, patterns):
    """Operands with these base axes, by name, the batches of which mostly go together."""
    sizes = {name: rng.choice([0, 1, 2, 3, 4]) for name in "mnp"}
    batch, wrong = shape_of(rng, 3, 40), rng.choice([0, 0.3])
    pairs = []
    for names in patterns:
        base = [sizes[name] for name in names]
        if base and rng.random() < 0.08:
            base[rng.randrange(len(base))] = rng.choice([1, 2, 3])
        pairs.append(made(rng, operand_of(rng, batch, wrong) + base))
    return pairs


PRODUCTS = {
    "matvec": (("mn", "n"), np.matvec),
    "vecmat": (("n", "nm"), np.vecmat),
    "matmul": (("mn", "np"), np.matmul),
    "inner": (("n", "n"), np.vecdot),
}


def product(rng):
    name = rng.choice(list(PRODUCTS))
    patterns, ufunc = PRODUCTS[name]
    pairs = bases_of(rng, patterns)
    (a, b) = (x for _, x in pairs)
    return {"product": name, "operands": [d for d, _ in pairs]}, lambda: {"results": [result(ufunc(a, b))]}


def split(a, bases, batch, base):
    """Batch and base with leading axes of size 1, to so many axes each."""
    first, last = a.shape[: a.ndim - bases], a.shape[a.ndim - bases :]
    return a.reshape((1,) * (batch - len(first)) + first + (1,) * (base - len(last)) + last)


def elementwise(rng):
    batch, base, wrong = shape_of(rng, 3, 40), shape_of(rng, 2, 12), rng.choice([0, 0.2])
    operands, arrays, bases = [], [], []
    for _ in range(2):
        own = operand_of(rng, base, wrong)
        description, a = made(rng, operand_of(rng, batch, wrong) + own)
        operands.append(description)
        arrays.append(a)
        bases.append(len(own))

    def expected():
        most = max(a.ndim - own for a, own in zip(arrays, bases))
        (a, b) = (split(a, own, most, max(bases)) for a, own in zip(arrays, bases))
        return {"results": [result(x) for x in (a + b, a - b, a * b)]}

    return {"operands": operands, "bases": bases}, expected


def batch_views(rng):
    """The batches of two arrays together, one expanded to a target, and its sum back."""
    patterns = rng.choice([("mn", "n"), ("", "m"), ("m", "m")])
    pairs = bases_of(rng, patterns)
    bases = [len(names) for names in patterns]
    (a, b) = (x for _, x in pairs)

    def stretched(x, own, batch):
        last = x.shape[x.ndim - own :]
        first = x.reshape((1,) * (len(batch) - (x.ndim - own)) + x.shape)
        return np.broadcast_to(first, tuple(batch) + last)

    def expected():
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - own] for x, own in zip((a, b), bases)))
        joint = [stretched(x, own, batch) for x, own in zip((a, b), bases)]
        first = a.shape[: a.ndim - bases[0]]
        last = a.shape[a.ndim - bases[0] :]
        back = unbroadcast(joint[0], ((1,) * (len(batch) - len(first)) + first + last)).reshape(a.shape)
        return {"results": [result(x) for x in joint], "batch": list(batch), "back": [result(back)]}

    return {"operands": [d for d, _ in pairs], "bases": bases}, expected


OPS = [
    broadcast_to,
    broadcast_arrays,
    broadcast_shapes,
    sum_axes,
    sum_to,
    maps,
    broadcast_axes,
    broadcast_in_dim,
    product,
    elementwise,
    batch_views,
]


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    print(json.dumps({"cases": count, "seed": seed, "numpy": np.__version__}))
    for i in range(count):
        op = OPS[i % len(OPS)]
        case, expected = op(rng)
        try:
            case.update(ok=True, **expected())
        except (ValueError, IndexError, Refused) as error:
            case.update(ok=False, error=f"{type(error).__name__}: {error}")
        print(json.dumps({"op": op.__name__, **case}, separators=(",", ":")))


if __name__ == "__main__":
    main()
