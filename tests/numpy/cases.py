"""Random broadcasts and what NumPy makes of them, as lines of JSON.

`cases.py CASES SEED`. The first line says how many cases follow, and has the rows of the tables that they run. Each case
has `op`, its operands, whether NumPy takes it (`ok`), the calls of the tables that it ran, and the results: shape, elements
in row-major order and, of views, strides in elements, null where they say nothing. A difference that the tables or the
guide name is made up for here: `Refused` where the crate has no result, or the crate's result where NumPy has none.
"""

import math
import sys
import warnings

import numpy as np
from shared import SIZES, Refused, Session, axes_of, made, operand_of, recipe_case, shape_of, special, spoilt


def result(a):
    a = np.asarray(a)
    return {"shape": list(a.shape), "out": np.ravel(a).tolist()}


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
        return {"results": [view(CALLS.run("np.broadcast_to(x, shape)", x=a, shape=kept))]}

    return {"source": source, "target": asked}, expected


def broadcast_arrays(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.3])
    pairs = [made(rng, operand_of(rng, joint, wrong)) for _ in range(rng.randint(1, 4))]
    xs = [a for _, a in pairs]

    def expected():
        if len(xs) == 2:
            CALLS.run("np.broadcast_arrays(x, y)", x=xs[0], y=xs[1])
        return {"results": [view(x) for x in CALLS.run("np.broadcast_arrays(*xs)", xs=xs)]}

    return {"operands": [d for d, _ in pairs]}, expected


def broadcast_shapes(rng):
    joint = shape_of(rng, 8, 10**9)
    if joint and rng.random() < 0.3:
        joint[rng.randrange(len(joint))] = rng.choice([2**31, 2**40, 2**62])
    wrong = rng.choice([0, 0.2])
    shapes = [operand_of(rng, joint, wrong) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 4, 5, 6]))]

    def expected():
        joint = CALLS.run("np.broadcast_shapes(*shapes)", shapes=[tuple(shape) for shape in shapes])
        if math.prod(size for size in joint if size != 0) > sys.maxsize:
            raise Refused("too large but for a size 0, which NumPy lets pass")
        return {"joint": list(joint)}

    return {"shapes": shapes}, expected


def sum_axes(rng):
    source, delta = made(rng, shape_of(rng))
    signed = rng.random() < 0.4
    axes = axes_of(rng, delta.ndim, signed=signed)

    def expected():
        axis = tuple(axes)
        return {
            "results": [result(CALLS.run("delta.sum(axis)", delta=delta, axis=axis))],
            "keepdims": [result(delta.sum(axis, keepdims=True))],
        }

    return {"source": source, "axes": axes, "signed": signed}, expected


def sums_as_written(rng):
    """Sums over the axes that the guide's tables have."""
    source, x = made(rng, shape_of(rng, least=1))
    call, dropped = rng.choice(
        [("x.sum(axis=(0, 2))", [0, 2]), ("x.sum(axis=-1, keepdims=True)", None), ("x.sum()", "all")]
    )

    def expected():
        axes = None if dropped == "all" else dropped and tuple(dropped)
        kept = {"keepdims": [result(x.sum(axes, keepdims=True))]} if dropped else {}
        return {"results": [result(CALLS.run(call, x=x))], **kept}

    return {"source": source, "axes": dropped}, expected


def means(rng):
    source, x = made(rng, shape_of(rng))
    first = rng.random() < 0.4
    axes = [0] if first else axes_of(rng, x.ndim)

    def expected():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            floats = x.astype(float)
            call = "x.mean(axis=0)" if first else "x.mean(axis)"
            mean = CALLS.run(call, x=floats, axis=tuple(axes))
            kept = floats.mean(tuple(axes), keepdims=True)
        if np.isnan(mean).any():
            raise Refused("the mean of no elements, of which NumPy makes NaN")
        return {"results": [result(mean)], "keepdims": [result(kept)]}

    return {"source": source, "axes": axes, "written": "first" if first else None}, expected


def small(a):
    """-1 to 2, so that products are exact."""
    return (a % 4 - 1).astype(float)


def reductions(rng):
    source, x = made(rng, shape_of(rng))
    op, last = rng.choice(["max", "prod", "any"]), rng.random() < 0.4
    axes = [-1] if last else axes_of(rng, x.ndim)
    floats = small(x)

    def reduced():
        if last and x.ndim == 0:
            raise Refused("an axis of an array without axes, which NumPy's reductions take")
        if op == "any":
            return CALLS.run("mask.any(axis)", mask=floats == 2, axis=tuple(axes)).astype(float)
        if op == "max" and x.sum(tuple(axes)).size == 0:
            # NumPy refuses some of these, although no element of the result lacks elements.
            return x.sum(tuple(axes))
        if op == "max" and last:
            CALLS.run("x.min(axis=-1)", x=floats)
        call = f"x.{op}(axis=-1)" if last else f"x.{op}(axis)"
        return CALLS.run(call, x=floats, axis=tuple(axes))

    return {"source": source, "axes": axes, "reduce": op, "last": last and op != "any"}, lambda: {
        "results": [result(reduced())]
    }


def counts(rng):
    source, x = made(rng, shape_of(rng, least=1))

    def expected():
        mask, f = x % 3 == 1, np.multiply
        CALLS.run("np.count_nonzero(mask, axis)", mask=mask, axis=(0,))
        return {
            "results": [result(CALLS.run("np.count_nonzero(mask, axis=0)", mask=mask))],
            "products": [result(CALLS.run("f(x, y).sum(axis)", f=f, x=x, y=x, axis=(0,)))],
        }

    return {"source": source}, expected


def special_numbers(rng):
    def reductions(kind):
        return {
            "max": lambda x, axis: x.max(axis),
            "min": lambda x, axis: x.min(axis),
            "sum": lambda x, axis: x.sum(axis, dtype=x.dtype),
            "mean": lambda x, axis: (x.astype(float) if kind == "int64" else x).mean(axis),
        }

    def of_numpy():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return expected()

    def array_of(values, kind):
        return np.array(values, dtype="float32" if kind == "bfloat16" else kind)  # NumPy has no bfloat16

    case, expected = special(rng, array_of, reductions, ValueError)
    return case, of_numpy


def recipes(rng):
    def results(x):
        has_rows, has_columns = x.shape[0] > 0, x.shape[1] > 0
        total = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
        return {
            "argmax": CALLS.run("x.argmax(axis=1)", x=x) if has_columns else None,
            "argmin": CALLS.run("x.argmin(axis=1)", x=x) if has_columns else None,
            "mean": x.mean(axis=0) if has_rows else [],
            "var": CALLS.run("x.var(axis=0)", x=x) if has_rows else [],
            "logsumexp": CALLS.run("np.logaddexp.reduce(x, axis=-1)", x=x),
            "softmax": np.ravel(total / total.sum(axis=-1, keepdims=True)),
        }

    case, expected = recipe_case(rng, results)

    def of_numpy():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return expected()

    return case, of_numpy


def statistics(rng):
    """Variances, truth values and totals, of a matrix and of its rows in the other order."""

    def results(x):
        y = x[::-1]
        mask, (rows, columns) = x > y, x.shape

        def variance(call, results, elements, ddof=0):
            """None where there are too few elements for a result."""
            if results > 0 and elements <= ddof:
                return None
            return np.ravel(CALLS.run(call, x=x)) if results else []

        distances = [CALLS.run("((x - y) ** 2).sum()", x=x, y=y)]
        if x.size > 0:
            distances.append(CALLS.run("((x - y) ** 2).mean()", x=x, y=y))
            distances += [CALLS.run("np.abs(x - y).max()", x=x, y=y), CALLS.run("np.abs(x - y).min()", x=x, y=y)]
        return {
            "columns": variance("x.var(axis=0)", columns, rows),
            "all": variance("x.var(axis=(0, 1), ddof=1)", 1, x.size, 1),
            "rows": variance("x.var(axis=-1, keepdims=True)", rows, columns),
            "roots": variance("x.std(axis=1)", rows, columns),
            "root": variance("x.std(ddof=1)", 1, x.size, 1),
            "samples": None if rows > 0 and columns < 2 else x.std(axis=-1, ddof=1) if rows else [],
            "apart": CALLS.run("(x - y).var()", x=x, y=y) if x.size > 0 else None,
            "apart_root": CALLS.run("(x - y).std(ddof=1)", x=x, y=y) if x.size > 1 else None,
            "moments": np.ravel([x.mean(axis=0), x.var(axis=0)]) if rows > 0 else None if columns > 0 else [],
            "any": CALLS.run("mask.any(axis=-1)", mask=mask),
            "every": CALLS.run("mask.all(axis=-1)", mask=mask),
            "total": [
                CALLS.run("mask.any(axis=(0, 1))", mask=mask),
                CALLS.run("np.any(x > y)", x=x, y=y),
                CALLS.run("np.all(x > y)", x=x, y=y),
            ],
            "distances": distances,
        }

    case, expected = recipe_case(rng, results)

    def of_numpy():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return expected()

    return case, of_numpy


def axis_sets(rng):
    ndim = rng.randint(0, 6)
    axes = axes_of(rng, ndim)
    distinct = len({axis % ndim if ndim else axis for axis in axes if -ndim <= axis < ndim})

    def expected():
        if distinct < len(axes) and all(-ndim <= axis < ndim for axis in axes):
            # NumPy's error for an axis that is named twice.
            return {"axes_in_set": sorted({axis % ndim for axis in axes})}
        return {"axes_in_set": sorted(CALLS.run("normalize_axis_tuple(axes, ndim)", axes=axes, ndim=ndim))}

    return {"axes": axes, "ndim": ndim}, expected


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
        total = CALLS.run("unbroadcast(delta, shape)", delta=a, shape=target)
        added = CALLS.run("gradient += unbroadcast(delta, shape)", gradient=before.copy(), delta=a, shape=target)
        gradient = np.zeros_like(before)
        squares = CALLS.run("gradient += unbroadcast(delta * y, x.shape)", gradient=gradient, delta=a, y=a, x=before)
        stretched = [i for i in range(a.ndim) if i < a.ndim - len(target) or total.shape[i - a.ndim] != a.shape[i]]
        return {
            "results": [result(total)],
            "added": [result(added)],
            "squares": [result(squares)],
            "scaled": [result(before + factor * total)],
            "reduced": stretched,
        }

    return {"source": source, "target": target, "onto": out, "factor": factor}, expected


def sum_into(rng):
    """A sum into an array that has size 1 where it is summed."""
    source, delta = made(rng, shape_of(rng))
    axis = tuple(axes_of(rng, delta.ndim, wrong=0, signed=False))
    kept = [1 if i in axis else size for i, size in enumerate(delta.shape)]
    out, total = made(rng, spoilt(rng, kept, 0.1), writable=True)

    def expected():
        into = total.copy()
        if list(np.sum(delta, axis, keepdims=True).shape) != list(into.shape):
            raise ValueError("another shape")
        CALLS.run("np.sum(delta, axis, keepdims=True, out=sum)", delta=delta, axis=axis, sum=into)
        return {"results": [result(into)]}

    return {"source": source, "onto": out}, expected


def maps(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.2])
    pairs = [made(rng, operand_of(rng, joint, wrong)) for _ in range(3)]
    (a, b, c) = (x for _, x in pairs)
    out, onto = made(rng, rng.choice([joint, joint, joint, [2] + joint, joint[1:]]), writable=True)

    def written(call, name, array, **values):
        """What a call leaves in an array, to which operands are stretched but which is not."""
        try:
            return [result(CALLS.run(call, **{name: array.copy()}, **values))]
        except ValueError:
            return None

    def expected():
        return {
            "results": [result(CALLS.run("a * b + c", a=a, b=b, c=c))],
            "joint": [result(a + b)],
            "sum": written("np.add(a, b, out=out)", "out", onto, a=a, b=b),
            "in_place": written("a += b", "a", a, b=b),
        }

    return {"operands": [d for d, _ in pairs], "onto": out}, expected


def sum_of_products(rng):
    """What einsum makes of a matrix and a row."""
    n = rng.choice([0, 1, 2, 3, 4, 5])
    first, a = made(rng, spoilt(rng, [rng.choice([0, 1, 2, 3, 7]), n], 0.1))
    second, b = made(rng, spoilt(rng, [n], 0.1))

    def expected():
        return {"results": [result(CALLS.run('np.einsum("ij,j->j", a, b)', a=a, b=b))]}

    return {"operands": [first, second], "n": a.shape[1] if b.shape[0] == 1 else b.shape[0]}, expected


def copies(rng):
    target = shape_of(rng)
    source, x = made(rng, operand_of(rng, target, 0.2))
    out, onto = made(rng, target if rng.random() < 0.95 else target[1:], writable=True)

    def expected():
        if x.ndim > onto.ndim:
            raise Refused("more axes than the output, which NumPy takes if the leading ones are 1")
        into = onto.copy()
        CALLS.run("np.copyto(out, x)", out=into, x=x)
        return {"results": [result(into)], "copy": [view(CALLS.run('np.array(x, order="C")', x=x))]}

    return {"source": source, "onto": out}, expected


def new_axis(rng):
    source, x = made(rng, shape_of(rng, most=4, elements=60, least=1))
    size = rng.choice(SIZES)

    def expected():
        column = CALLS.run("x[:, None]", x=x)
        return {"results": [view(column)], "wide": [view(np.repeat(column, size, axis=1))]}

    return {"source": source, "size": size}, expected


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
        base = spoilt(rng, [sizes[name] for name in names], 0.08)
        pairs.append(made(rng, operand_of(rng, batch, wrong) + base))
    return pairs


PRODUCTS = {
    "matvec": (("mn", "n"), "np.matvec(a, b)"),
    "vecmat": (("nm", "n"), "np.vecmat(b, a)"),
    "matmul": (("mn", "np"), "np.matmul(a, b)"),
    "inner": (("n", "n"), "np.vecdot(a, b)"),
}


def product(rng):
    name = rng.choice(list(PRODUCTS))
    patterns, call = PRODUCTS[name]
    pairs = bases_of(rng, patterns)
    (a, b) = (x for _, x in pairs)
    return {"product": name, "operands": [d for d, _ in pairs]}, lambda: {
        "results": [result(CALLS.run(call, a=a, b=b))]
    }


def vectorized(rng):
    """A function of a matrix and a vector for each batch element."""
    pairs = bases_of(rng, ("mn", "n"))
    (a, b) = (x for _, x in pairs)

    def f(m, x):
        return (m - x).max(axis=1, initial=0)

    def expected():
        if a.size == 0 or b.size == 0:
            # NumPy's error, where the crate has the result that the shapes give.
            if a.shape[-1] != b.shape[-1]:
                raise ValueError("another n")
            batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-1])
            return {"results": [result(np.zeros((*batch, a.shape[-2]), dtype=int))]}
        call = 'np.vectorize(f, signature="(m,n),(n)->(m)")(a, b)'
        return {"results": [result(CALLS.run(call, f=f, a=a, b=b))]}

    return {"operands": [d for d, _ in pairs]}, expected


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


KINDS = [
    broadcast_to,
    broadcast_arrays,
    broadcast_shapes,
    sum_axes,
    sums_as_written,
    sum_to,
    sum_into,
    means,
    reductions,
    counts,
    special_numbers,
    recipes,
    statistics,
    axis_sets,
    maps,
    sum_of_products,
    copies,
    new_axis,
    broadcast_axes,
    broadcast_in_dim,
    product,
    vectorized,
    elementwise,
    batch_views,
]
CALLS = Session(
    "NumPy",
    np.__version__,
    {**vars(np), "np": np, "normalize_axis_tuple": np.lib.array_utils.normalize_axis_tuple, "unbroadcast": unbroadcast},
)

if __name__ == "__main__":
    CALLS.main(KINDS, (ValueError, IndexError))
