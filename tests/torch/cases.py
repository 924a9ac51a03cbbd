"""Random broadcasts and what PyTorch makes of them, gradients included, as lines of JSON.

`cases.py CASES SEED`, as `tests/numpy/cases.py`. Gradients are autograd's, of whole numbers in float64, so that equal is
equal. A difference that the tables or the guide name is made up for here: `Refused` where the crate has no result, or the
crate's result where PyTorch has none.
"""

import warnings

import numpy as np
import torch
from shared import Refused, Session, axes_of, made, operand_of, recipe_case, shape_of, special, spoilt
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

warnings.simplefilter("ignore")
torch.set_num_threads(1)


def tensor(rng, shape, writable=False):
    """A description and its tensor, in any layout that PyTorch has: none has negative strides."""
    description, a = made(rng, shape, writable, reversible=False)
    return description, torch.from_numpy(a)


def whole(x):
    return int(x) if x == int(x) else x


def result(t):
    t = t.detach()
    return {"shape": list(t.shape), "out": [whole(x) for x in t.flatten().tolist()]}


def view(t):
    """A result that is a view: strides are compared where an index is ever more than 0."""
    said = [None if t.numel() == 0 or size < 2 else stride for size, stride in zip(t.shape, t.stride())]
    return {**result(t), "strides": said}


def broadcast_to(rng):
    target = shape_of(rng, 6)
    source, x = tensor(rng, operand_of(rng, target, 0.2))
    new = len(target) - x.dim()
    shape = [-1 if rng.random() < (0.3 if axis >= new else 0.03) else size for axis, size in enumerate(target)]
    if shape and rng.random() < 0.1:
        shape[rng.randrange(len(shape))] = rng.choice([-3, -2, -1, 0, 1, 2, 7])
    if rng.random() < 0.05:
        shape = shape[1:]

    def expected():
        if min(x.expand(shape).shape, default=0) < 0:
            raise Refused("a negative size, which PyTorch lets pass where another is 0")
        CALLS.run("x.expand(shape).contiguous()", x=x, shape=shape)
        return {"results": [view(x.expand(shape))]}

    return {"source": source, "target": shape}, expected


def to_three_columns(rng):
    source, x = tensor(rng, spoilt(rng, [rng.choice([0, 1, 2, 5]), rng.choice([1, 3])][rng.choice([0, 0, 0, 1]) :], 0.1))
    call = rng.choice(["x.expand(-1, 3)", "torch.broadcast_to(x, (-1, 3))"])
    return {"source": source}, lambda: {"results": [view(CALLS.run(call, x=x))]}


def expand_as(rng):
    target = shape_of(rng)
    source, x = tensor(rng, operand_of(rng, target, 0.2))
    like, y = tensor(rng, target)
    return {"source": source, "like": like}, lambda: {"results": [view(CALLS.run("x.expand_as(y)", x=x, y=y))]}


def broadcast_arrays(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.3])
    pairs = [tensor(rng, operand_of(rng, joint, wrong)) for _ in range(rng.randint(1, 4))]
    xs = [x for _, x in pairs]

    def expected():
        if len(xs) == 3:
            CALLS.run("torch.broadcast_tensors(x, y, z)", x=xs[0], y=xs[1], z=xs[2])
        return {"results": [view(x) for x in CALLS.run("torch.broadcast_tensors(*xs)", xs=xs)]}

    return {"operands": [d for d, _ in pairs]}, expected


def broadcast_shapes(rng):
    joint = shape_of(rng, 8, 10**9)
    wrong = rng.choice([0, 0.2])
    shapes = [operand_of(rng, joint, wrong) for _ in range(rng.choice([0, 1, 2, 2, 3, 4, 5, 6]))]
    return {"shapes": shapes}, lambda: {"joint": list(CALLS.run("torch.broadcast_shapes(*shapes)", shapes=shapes))}


def symbolic_shapes(rng):
    """Shapes with symbols, as a graph is exported with, and real shapes that its guards take or do not take."""
    joint = [rng.choice([1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 3))]
    hints = [operand_of(rng, joint, 0.1) for _ in range(rng.randint(1, 3))]
    # PyTorch takes sizes 0 and 1 for known ones.
    known = [[size < 2 or rng.random() < 0.2 for size in shape] for shape in hints]
    environment = ShapeEnv()
    fake = FakeTensorMode(shape_env=environment)

    def symbolic(shape, known):
        sizes = [DimDynamic.STATIC if it else DimDynamic.DYNAMIC for it in known]
        context = StatelessSymbolicContext(dynamic_sizes=sizes)
        return fake.from_tensor(torch.empty(shape), static_shapes=False, symbolic_context=context).shape

    shapes = [symbolic(shape, it) for shape, it in zip(hints, known)]
    # A symbol, or a size. PyTorch replaces symbols later, where a guard makes them equal.
    symbols = [[dim.node.expr if isinstance(dim, torch.SymInt) else dim for dim in shape] for shape in shapes]

    def expected():
        joint = CALLS.run("torch.broadcast_shapes(*shapes)", shapes=shapes)
        real = []
        for _ in range(4):
            actual = [
                [dim if isinstance(dim, int) else rng.choice([hint, hint, 2, 3]) for dim, hint in zip(*pair)]
                for pair in zip(symbols, hints)
            ]
            sizes = {dim: size for pair in zip(symbols, actual) for dim, size in zip(*pair)}
            guarded = all(bool(guard.expr.subs(sizes)) for guard in environment.guards)
            sized = [int(dim.node.expr.subs(sizes)) if isinstance(dim, torch.SymInt) else dim for dim in joint]
            real.append({"shapes": actual, "guarded": guarded, "joint": sized})
        return {"real": real}

    texts = ["x".join(str(size) if it else "?" for size, it in zip(shape, row)) for shape, row in zip(hints, known)]
    return {"symbolic": [text or "[]" for text in texts]}, expected


def sums_as_written(rng):
    """Sums over the axes that the guide's table has."""
    source, x = tensor(rng, shape_of(rng))
    if rng.random() < 0.3:
        return {"source": source, "axes": "all"}, lambda: {"results": [result(CALLS.run("x.sum()", x=x))]}

    def expected():
        return {
            "results": [result(CALLS.run("x.sum(dim=(0, 2))", x=x))],
            "keepdims": [result(CALLS.run("x.sum(dim=(0, 2), keepdim=True)", x=x))],
        }

    return {"source": source, "axes": [0, 2]}, expected


def sum_to(rng):
    joint = shape_of(rng)
    source, delta = tensor(rng, joint)
    shape = operand_of(rng, joint, 0.2)
    if rng.random() < 0.05:
        shape = [1] + joint
    onto, before = tensor(rng, shape, writable=True)
    factor = rng.randint(-3, 3)

    def expected():
        total = CALLS.run("delta.sum_to_size(shape)", delta=delta, shape=shape)
        CALLS.run("x.sum_to_size(shape)", x=delta, shape=shape)
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        x.grad = before.double()
        CALLS.run("x.grad.add_(delta.sum_to_size(x.shape), alpha=a)", x=x, delta=delta.double(), a=factor)
        new = delta.dim() - len(shape)
        reduced = [i for i in range(delta.dim()) if i < new or shape[i - new] != delta.shape[i]]
        return {
            "results": [result(total)],
            "added": [result(before + total)],
            "squares": [result((delta * delta).sum_to_size(shape))],
            "scaled": [result(x.grad)],
            "reduced": reduced,
        }

    return {"source": source, "target": shape, "onto": onto, "factor": factor}, expected


def means(rng):
    source, x = tensor(rng, shape_of(rng))
    last = rng.random() < 0.5
    axes = [-1] if last else axes_of(rng, x.dim()) or [0]

    def expected():
        if x.dim() == 0:
            raise Refused("an axis of a tensor without axes")
        floats = x.double()
        mean = CALLS.run("x.mean(dim=-1)" if last else "x.mean(dim)", x=floats, dim=tuple(axes))
        if mean.isnan().any():
            raise Refused("the mean of no elements, of which PyTorch makes NaN")
        return {"results": [result(mean)], "keepdims": [result(floats.mean(tuple(axes), keepdim=True))]}

    return {"source": source, "axes": axes, "written": "last" if last else None}, expected


def reductions(rng):
    source, x = tensor(rng, shape_of(rng))
    op = rng.choice(["max", "prod"])
    floats = (x % 4 - 1).double()

    def expected():
        if x.dim() == 0:
            raise Refused("an axis of a tensor without axes")
        if op == "max" and x.shape[-1] == 0 and 0 in x.shape[:-1]:
            # PyTorch's error, where no result lacks elements.
            return {"results": [result(x.sum(dim=-1))]}
        if op == "max":
            CALLS.run("x.amin(dim=-1)", x=floats)
            CALLS.run("x.amax(dim)", x=floats, dim=(-1,))
        return {"results": [result(CALLS.run("x.amax(dim=-1)" if op == "max" else "x.prod(dim=-1)", x=floats))]}

    return {"source": source, "axes": [-1], "reduce": op, "last": True}, expected


def special_numbers(rng):
    def reductions(kind):
        return {
            "max": lambda x, dim: x.amax(dim),
            "min": lambda x, dim: x.amin(dim),
            "sum": lambda x, dim: x.sum(dim, dtype=x.dtype),
            "mean": lambda x, dim: (x.double() if "int" in kind else x).mean(dim),
        }

    def array_of(values, kind):
        return torch.tensor(values, dtype=getattr(torch, kind))

    return special(rng, array_of, reductions, (RuntimeError, IndexError))


def recipes(rng):
    def results(a):
        x = torch.from_numpy(a)
        has_rows, has_columns = x.shape[0] > 0, x.shape[1] > 0
        return {
            "argmax": CALLS.run("x.argmax(dim=1)", x=x) if has_columns else None,
            "argmin": CALLS.run("x.argmin(dim=1)", x=x) if has_columns else None,
            "mean": x.mean(dim=0) if has_rows else [],
            "var": CALLS.run("x.var(dim=0, correction=0)", x=x) if has_rows else [],
            "logsumexp": CALLS.run("torch.logsumexp(x, dim=-1)", x=x),
            "softmax": CALLS.run("torch.softmax(x, dim=-1)", x=x).flatten(),
        }

    return recipe_case(rng, results)


def statistics(rng):
    """Variances, truth values and totals, of a matrix and of its rows in the other order."""

    def results(a):
        x = torch.from_numpy(a)
        y = x.flip(0)
        mask, (rows, columns) = x > y, x.shape

        def variance(call, results, elements, ddof=0):
            """None where there are too few elements for a result."""
            if results > 0 and elements <= ddof:
                return None
            return CALLS.run(call, x=x).flatten() if results else []

        moments = None if columns > 0 else []
        if rows > 0:
            moments = torch.cat(CALLS.run("torch.var_mean(x, dim=0, correction=0)", x=x)[::-1])
        distances = [CALLS.run("(x - y).square().sum()", x=x, y=y)]
        if x.numel() > 0:
            distances.append(CALLS.run("(x - y).square().mean()", x=x, y=y))
        return {
            "columns": variance("x.var(dim=0, correction=0)", columns, rows),
            "all": variance("x.var(dim=(0, 1))", 1, x.numel(), 1),
            "roots": variance("x.std(dim=1, correction=0)", rows, columns),
            "samples": variance("x.std(dim=-1, keepdim=True)", rows, columns, 1),
            "rows": None if rows > 0 and columns < 1 else x.var(dim=-1, correction=0) if rows else [],
            "root": [x.std()] if x.numel() > 1 else None,
            "apart": CALLS.run("(x - y).var(correction=0)", x=x, y=y) if x.numel() > 0 else None,
            "apart_root": CALLS.run("(x - y).std()", x=x, y=y) if x.numel() > 1 else None,
            "moments": moments,
            "any": CALLS.run("mask.any(dim=-1)", mask=mask),
            "every": CALLS.run("mask.all(dim=-1)", mask=mask),
            "total": [
                CALLS.run("mask.any(dim=(0, 1))", mask=mask),
                CALLS.run("torch.any(x > y)", x=x, y=y),
                CALLS.run("torch.all(x > y)", x=x, y=y),
                CALLS.run("mask.all()", mask=mask),
            ],
            "distances": distances,
        }

    return recipe_case(rng, results)


def maps(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.2])
    pairs = [tensor(rng, operand_of(rng, joint, wrong)) for _ in range(3)]
    (a, b, c) = (x for _, x in pairs)
    out, onto = tensor(rng, rng.choice([joint, joint, joint, [2] + joint, joint[1:]]), writable=True)

    def in_place():
        try:
            return [result(CALLS.run("a.add_(b)", a=a.clone(), b=b))]
        except RuntimeError:
            return None

    def into():
        """PyTorch gives `out` another shape where it has not the joint one; the crate's rule is NumPy's."""
        total = a + b
        if total.shape == onto.shape:
            return [result(CALLS.run("torch.add(a, b, out=out)", a=a, b=b, out=onto.clone()))]
        try:
            return [result(total.expand(onto.shape))]
        except RuntimeError:
            return None

    def expected():
        total = CALLS.run("torch.addcmul(c, a, b)", a=a, b=b, c=c)
        assert torch.equal(total, CALLS.run("a * b + c", a=a, b=b, c=c))
        return {"results": [result(total)], "joint": [result(a + b)], "sum": into(), "in_place": in_place()}

    return {"operands": [d for d, _ in pairs], "onto": out}, expected


def copies(rng):
    target = shape_of(rng)
    source, x = tensor(rng, operand_of(rng, target, 0.2))
    out, onto = tensor(rng, target if rng.random() < 0.95 else target[1:], writable=True)
    return {"source": source, "onto": out}, lambda: {
        "results": [result(CALLS.run("out.copy_(x)", out=onto.clone(), x=x))]
    }


def bases_of(rng, patterns, one_batch=False):
    """Operands with these base axes, by name, the batches of which mostly go together, or are one batch."""
    sizes = {name: rng.choice([0, 1, 2, 3, 4]) for name in "mnp"}
    batch, wrong = shape_of(rng, 3, 40), rng.choice([0, 0.3])
    pairs = []
    for names in patterns:
        base = spoilt(rng, [sizes[name] for name in names], 0.08)
        own = [sizes["m"]] if one_batch else operand_of(rng, batch, wrong)
        pairs.append(tensor(rng, own + base))
    return pairs


PRODUCTS = {
    "matmul": (("mn", "np"), "torch.matmul(a, b)", False),
    "bmm": (("mn", "np"), "torch.bmm(a, b)", True),
    "inner": (("n", "n"), "torch.linalg.vecdot(a, b)", False),
}


def product(rng):
    name = rng.choice(list(PRODUCTS))
    patterns, call, one_batch = PRODUCTS[name]
    pairs = bases_of(rng, patterns, one_batch)
    (a, b) = (x for _, x in pairs)

    def expected():
        if name == "inner" and a.shape[-1] != b.shape[-1]:
            raise Refused("PyTorch stretches vectors of one element")
        return {"results": [result(CALLS.run(call, a=a.double(), b=b.double()))]}

    return {"product": "matmul" if name == "bmm" else name, "operands": [d for d, _ in pairs]}, expected


def outer(rng):
    pairs = bases_of(rng, ("m", "n"))
    (a, b) = (x for _, x in pairs)
    return {"operands": [d for d, _ in pairs]}, lambda: {
        "results": [result(CALLS.run('torch.einsum("...m,...n->...mn", a, b)', a=a, b=b))]
    }


def transposed(rng):
    source, m = tensor(rng, shape_of(rng))

    def expected():
        if m.dim() == 0:
            raise Refused("a number, which PyTorch takes for its own transpose")
        return {"results": [result(CALLS.run("m.mT", m=m))]}

    return {"source": source}, expected


def vmap(rng):
    source, x = tensor(rng, shape_of(rng, most=3, least=3))

    def f(m):
        return (m * m - 3).sum()

    def expected():
        if x.numel() == 0:
            return {"results": [result((x * x - 3).sum(dim=(1, 2)))]}
        return {"results": [result(CALLS.run("torch.vmap(f)(x)", f=f, x=x))]}

    return {"source": source}, expected


def leaf(x):
    """The tensor in float64, with a gradient to come."""
    return x.double().requires_grad_()


def gradients(rng, forward, *leaves):
    """A forward pass, a `delta` for each of its elements, and what comes back."""
    CALLS.autograd()
    description, delta = tensor(rng, list(forward.shape))
    forward.backward(delta.double())
    back = [result(torch.zeros_like(x) if x.grad is None else x.grad) for x in leaves]
    return {"results": [result(forward)], "delta": description, "gradients": back}


def gradient_of_view(rng):
    form = rng.choice(["right", "axes", "in_dim", "batch"])
    target = shape_of(rng)
    case = {"form": form, "target": target, "axes": []}
    if form == "right":
        pairs = [tensor(rng, operand_of(rng, target, 0.1)), tensor(rng, target)]
    elif form == "batch":
        base = spoilt(rng, shape_of(rng, most=2, elements=9), 0)
        case["base"] = len(base)
        pairs = [tensor(rng, operand_of(rng, target, 0.1) + base)]
    else:
        places = [axis for axis in range(len(target)) if rng.random() < 0.6]
        if form == "in_dim":
            rng.shuffle(places)
            shape = spoilt(rng, [1 if rng.random() < 0.3 else target[axis] for axis in places], 0.1)
            case["axes"] = places
        else:
            shape = [target[axis] for axis in places]
            case["axes"] = [axis for axis in range(len(target)) if axis not in places]
        pairs = [tensor(rng, shape)]
    x = leaf(pairs[0][1])

    def expected():
        if form == "right":
            forward = torch.broadcast_tensors(x, pairs[1][1].double())[0]
            case["target"] = list(forward.shape)
        elif form == "batch":
            own = x.dim() - len(base)
            if own > len(target):
                raise Refused("another number of axes")
            forward = x.reshape([1] * (len(target) - own) + list(x.shape)).expand(target + base)
        else:
            ordered = x.permute([places.index(place) for place in sorted(places)])
            for axis in range(len(target)):
                if axis not in places:
                    ordered = ordered.unsqueeze(axis)
            forward = ordered.expand(target)
        # An operation of its own, as autograd gives views of a leaf none.
        return {**gradients(rng, forward * 1, x), "target": case["target"]}

    return {**case, "operands": [d for d, _ in pairs]}, expected


def gradient_of_product(rng):
    joint = shape_of(rng)
    wrong = rng.choice([0, 0.2])
    pairs = [tensor(rng, operand_of(rng, joint, wrong)) for _ in range(rng.randint(2, 3))]
    leaves = [leaf(x) for _, x in pairs]

    def expected():
        forward = leaves[0] * leaves[1] * (leaves[2] if len(leaves) == 3 else 1)
        return gradients(rng, forward, *leaves)

    return {"operands": [d for d, _ in pairs]}, expected


OF_BATCHES = {
    "matvec": (("mn", "n"), "...mn,...n->...m"),
    "vecmat": (("n", "nm"), "...n,...nm->...m"),
    "matmul": (("mn", "np"), "...mn,...np->...mp"),
    "outer": (("m", "n"), "...m,...n->...mn"),
    "inner": (("n", "n"), "...n,...n->..."),
}


def gradient_of_batches(rng):
    name = rng.choice(list(OF_BATCHES))
    patterns, subscripts = OF_BATCHES[name]
    pairs = bases_of(rng, patterns)
    leaves = [leaf(x) for _, x in pairs]

    def expected():
        sizes = {}
        for names, x in zip(patterns, leaves):
            for letter, size in zip(names, x.shape[x.dim() - len(names) :]):
                if sizes.setdefault(letter, size) != size:
                    raise Refused("torch.einsum stretches size 1")
        return gradients(rng, torch.einsum(subscripts, *leaves), *leaves)

    return {"product": name, "operands": [d for d, _ in pairs]}, expected


KINDS = [
    broadcast_to,
    to_three_columns,
    expand_as,
    broadcast_arrays,
    broadcast_shapes,
    symbolic_shapes,
    sums_as_written,
    sum_to,
    means,
    reductions,
    special_numbers,
    recipes,
    statistics,
    maps,
    copies,
    product,
    outer,
    transposed,
    vmap,
    gradient_of_view,
    gradient_of_product,
    gradient_of_batches,
]
CALLS = Session("PyTorch", torch.__version__, {**vars(torch), "torch": torch})

if __name__ == "__main__":
    CALLS.main(KINDS, (RuntimeError, IndexError))
