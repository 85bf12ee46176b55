"""Products of vectors, matrices and stacks of matrices, and Einstein summation.

Invariant: products of higher rank consist of ``mm``, ``mv``, ``dot`` and ``bmm`` as in
PyTorch, so that the recorded graph is the same. An equation of einsum is first written
out, with one letter per dimension, no ellipsis, and the output's labels; the rule of an
operand is then another einsum, of the cotangent and the other operands.

    x @ A       # for a vector x: SqueezeBackward4(MmBackward0(UnsqueezeBackward0, A))
    einsum("ij,jk", a, b)       # the same as a @ b, recorded as EinsumBackward0
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import cast

from .checks import (
    ArgumentError,
    ShapeError,
    ValueRangeError,
    as_integer,
    broadcast_shape,
    check_size,
    count_of,
    demand_rank,
    dim_of,
    holds,
    refuse,
)
from .op import MULTILINEAR, VIEW, WHOLE, WHOLES, Case, case, function, of_numbers, row
from .shape import sum_to
from .types import Array, ArrayRule, Caller, Namespace, Outputs, Recorded, Result

# fmt: off


def turned(xp: Namespace, a: Array) -> Array:
    """Return the matrices of ``a``, transposed."""
    return xp.transpose(a, -2, -1)


def identity(xp: Namespace, like: Array, shape: Sequence[int]) -> Array:
    """Return an identity matrix, or a stack, of a shape, in the dtype of ``like``."""
    return xp.tril(xp.triu(xp.new_full(like, tuple(shape), 1)))


def dot(xp: Namespace, a: Array, b: Array) -> Array:
    if (len(a.shape), len(b.shape)) != (1, 1):
        raise ShapeError(f"1D tensors expected, but got {len(a.shape)}D and "
                         f"{len(b.shape)}D tensors")
    if a.shape != b.shape:
        (n,), (m,) = a.shape, b.shape
        raise ShapeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have "
            f"the same number of elements, but got {n} and {m} elements respectively")
    return xp.matmul(a, b)


@of_numbers("mm", formula="a @ b", doc="Product of two matrices.", aliases=("spmm",),
    jvp=MULTILINEAR, one_type=True,
    vjp=(lambda xp, g, y, a, b: xp.matmul(g, xp.t(b)),
         lambda xp, g, y, a, b: xp.matmul_like(xp.t(a), g, b)),
    cases=[case((3, 4), (4, 2)), case((1, 4), (4, 1)), case((2, 1), (1, 3))],
    saves=("b", "a"))
def mm(xp: Namespace, a: Array, b: Array) -> Array:
    for name, x in (("self", a), ("mat2", b)):
        demand_rank(f"mm: {name}", x, 2, 2)
    if a.shape[1] != b.shape[0]:
        (n, m), (p, q) = a.shape, b.shape
        raise ShapeError(
            f"mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {p}x{q})")
    return xp.matmul(a, b)


@of_numbers("mv", formula="a @ v", doc="Product of a matrix and a vector.",
    jvp=MULTILINEAR, one_type=True, vjp=(lambda xp, g, y, a, v: xp.unsqueeze(g, 1) * v,
                                         lambda xp, g, y, a, v: xp.matmul(xp.t(a), g)),
    cases=[case((3, 4), (4,)), case((1, 2), (2,))], saves=("v", "a"))
def mv(xp: Namespace, a: Array, v: Array) -> Array:
    if (len(a.shape), len(v.shape)) != (2, 1):
        raise ShapeError(f"matrix @ vector expected, got {len(a.shape)}-D and "
                         f"{len(v.shape)}-D")
    if a.shape[1] != v.shape[0]:
        (n, m), (p,) = a.shape, v.shape
        raise ShapeError(f"size mismatch, got input ({n}), mat ({n}x{m}), vec ({p})")
    return xp.matmul(a, v)


for _name in ("dot", "vdot"):
    of_numbers(_name, formula="a @ b", doc="Inner product of two vectors.",
        fwd=dot, jvp=MULTILINEAR, saves=("b", "a"), one_type=True,
        further="matmul" if _name == "dot" else "",
        vjp=(lambda xp, g, y, a, b: g * b, lambda xp, g, y, a, b: g * a),
        cases=[case((4,), (4,)), case((1,), (1,))], overflows=True)


@of_numbers("bmm", formula="a[i] @ b[i]", doc="Products of two stacks of matrices.",
    jvp=MULTILINEAR, one_type=True,
    vjp=(lambda xp, g, y, a, b: xp.bmm(g, turned(xp, b)),
         lambda xp, g, y, a, b: xp.bmm(turned(xp, a), g)),
    cases=[case((2, 3, 4), (2, 4, 5)), case((1, 2, 1), (1, 1, 2))], saves=("b", "a"))
def bmm(xp: Namespace, a: Array, b: Array) -> Array:
    for name, m in (("batch1", a), ("batch2", b)):
        demand_rank(f"bmm: {name}", m, 3, 3)
    if (a.shape[0], a.shape[2]) != b.shape[:2]:
        raise ShapeError("Expected size for first two dimensions of batch2 tensor to "
                         f"be: {[a.shape[0], a.shape[2]]} but got: {list(b.shape[:2])}")
    return xp.matmul(a, b)


def is_asked(x: Array) -> bool:
    """Return whether a tensor needs a gradient."""
    return bool(cast("Recorded", x).requires_grad)


def _folds(call: Caller, a: Array, b: Array) -> bool:
    """Return whether PyTorch multiplies a stack as one matrix: if the other operand
    needs a gradient, since it is then not expanded, or if the stack's memory allows it
    without a copy, unless the other operand is a matrix on the left."""
    mirrored = len(b.shape) > len(a.shape)
    large, small = (b, a) if mirrored else (a, b)
    if len(large.shape) < 3 or len(small.shape) > 2:
        return False
    if is_asked(small) or len(a.shape) == 2:
        return is_asked(small)
    layout = call("detach", large)
    if mirrored:
        return bool(call("is_contiguous", call("transpose", layout, -2, -1)))
    merged = (count_of(layout.shape[:-1]), layout.shape[-1])
    return bool(call("view.fits", layout, merged))


def _folded(call: Caller, a: Array, b: Array) -> Array:
    mirrored = len(b.shape) > len(a.shape)
    large, small = (call("transpose", b, -2, -1), a) if mirrored else (a, b)
    if mirrored and len(a.shape) == 2:
        small = call("t", a)
    rows, inner = large.shape[:-1], large.shape[-1]
    flat = call("reshape", large, (count_of(rows), inner))
    if len(small.shape) == 1:
        return call("reshape.unsafe", call("mv", flat, small), rows)
    y = call("reshape.unsafe", call("mm", flat, small), (*rows, small.shape[1]))
    return call("contiguous", call("transpose", y, -2, -1)) if mirrored else y


def _batched(call: Caller, a: Array, b: Array) -> Array:
    rows = a.shape[-2:-1]
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    left = a.shape[-2:] if len(a.shape) > 1 else (1, a.shape[0])
    right = b.shape[-2:] if len(b.shape) > 1 else b.shape
    a = call("reshape", call("expand", a, (*batch, *left)), (count_of(batch), *left))
    b = call("reshape", call("expand", b, (*batch, *right)), (count_of(batch), *right))
    if len(right) == 1:
        y = call("squeeze", call("bmm", a, call("unsqueeze", b, 2)), -1)
        return call("reshape.unsafe", y, (*batch, *rows))
    y = call("bmm", a, b)
    return call("reshape.unsafe", y, (*batch, *rows, right[1]))


@function("matmul", operands=("a", "b"), formula="a @ b", aliases=("linalg.matmul",),
          doc="Matrix product, over stacks of matrices with broadcasting.",
          cases=[case((3, 4), (4, 2)), case((4,), (4, 2)), case((3, 4), (4,)),
                 case((4,), (4,)), case((2, 3, 4), (4, 2)), case((2, 2, 3), (2, 3, 2))])
def matmul(call: Caller, a: Array, b: Array) -> Array:
    """Return the product by PyTorch's steps: a single one up to rank 2, a single one
    with the stack merged to a matrix where `_folds` says so, else one of stacks."""
    ranks = (len(a.shape), len(b.shape))
    if 0 in ranks:
        raise ShapeError("both arguments to matmul need to be at least 1D, but they "
                         f"are {ranks[0]}D and {ranks[1]}D")
    if ranks == (1, 1):
        return call("dot", a, b)
    if ranks == (2, 1):
        return call("mv", a, b)
    if ranks == (2, 2):
        return call("mm", a, b)
    if ranks == (1, 2):
        return call("squeeze_.dim", call("mm", call("unsqueeze", a, 0), b), 0)
    if ranks == (3, 3) and a.shape[0] != b.shape[0]:
        if a.shape[0] == 1 and is_asked(a):
            return matmul(call, call("squeeze", a, 0), b)
        if b.shape[0] == 1 and is_asked(b):
            return matmul(call, a, call("squeeze", b, 0))
    return (_folded if _folds(call, a, b) else _batched)(call, a, b)


# a product added to a tensor


def scaled(x: Array, factor: float) -> Array:
    """Return ``factor*x``, or ``x`` itself if the factor is 1."""
    return x if factor == 1 else factor * x


def fused(name: str, product: str, left: ArrayRule, right: ArrayRule,
          doc: str, formula: str, cases: list[Case]) -> None:
    """Enter a row for ``beta*x + alpha*product(a, b)``; ``left`` and ``right`` are the
    product's reverse rules for a and b."""

    @of_numbers(name, doc=doc, formula=formula, cases=cases, one_type=True,
        result=WHOLE, in_place=True, saves=("", "b", "a"),
        vjp=(lambda xp, g, y, x, a, b, beta=1, alpha=1:
             sum_to(xp, scaled(g, beta), x.shape),
             lambda xp, g, y, x, a, b, beta=1, alpha=1:
             left(xp, scaled(g, alpha), a, b),
             lambda xp, g, y, x, a, b, beta=1, alpha=1:
             right(xp, scaled(g, alpha), a, b)),
        jvp=lambda xp, t, y, x, a, b, beta=1, alpha=1: scaled(t[0], beta) + scaled(
            xp.call(product, t[1], b) + xp.call(product, a, t[2]), alpha))
    def fwd(xp: Namespace, x: Array, a: Array, b: Array, beta: float = 1,
            alpha: float = 1) -> Array:
        y = scaled(xp.call(product, a, b), alpha)
        if x.shape != y.shape[-len(x.shape):] and (
                broadcast_shape(x.shape, y.shape) != y.shape):
            raise ShapeError(f"{name}: input of shape {list(x.shape)} does not expand "
                             f"to the product's shape {list(y.shape)}")
        return xp.plus(y, scaled(x, beta))


fused("addmm", "mm", lambda xp, g, a, b: xp.matmul(g, xp.t(b)),
      lambda xp, g, a, b: xp.matmul_like(xp.t(a), g, b),
      doc="A tensor plus the product of two matrices.",
      formula="beta*input + alpha*(a @ b)",
      cases=[case((3, 2), (3, 4), (4, 2)), case((2,), (3, 4), (4, 2)),
             case((3, 1), (3, 4), (4, 2), beta=0.5, alpha=-2)])

fused("baddbmm", "bmm", lambda xp, g, a, b: xp.bmm(g, turned(xp, b)),
      lambda xp, g, a, b: xp.bmm(turned(xp, a), g),
      doc="A tensor plus the products of two stacks of matrices.",
      formula="beta*input + alpha*(a[i] @ b[i])",
      cases=[case((2, 3, 2), (2, 3, 4), (2, 4, 2)),
             case((3, 1), (2, 3, 4), (2, 4, 2), beta=0.5, alpha=-2)])

# products made of others


def summed(call: Caller, x: Array, *over: object) -> Result:
    """Return the sum of ``x``; for integers it has the dtype of ``x``."""
    y = call("sum", x, *over)
    return call("as_type_of", y, x) if holds(WHOLES, x) else y


@function("outer", operands=("a", "b"), formula="y[i, j] = a[i]*b[j]", aliases=("ger",),
          doc="Outer product of two vectors.", cases=[case((3,), (2,))])
def outer(call: Caller, a: Array, b: Array) -> Array:
    for name, v in (("self", a), ("vec2", b)):
        demand_rank(f"outer: {name}", v, 1, 1)
    check_size((a.shape[0], b.shape[0]))
    return call("mul", call("reshape", a, (a.shape[0], 1)), b)


@function("linear", operands=("x", "weight", "bias"), formula="x @ weight.T + bias",
          doc="A linear layer.",
          cases=[case((2, 4), (3, 4), (3,)), case((2, 4), (3, 4)),
                 case((4,), (3, 4), (3,))])
def linear(call: Caller, x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return ``x @ weight.T + bias``; with a bias per output it is one ``addmm`` of
    ``x`` with all dimensions but the last merged, as in PyTorch."""
    if not x.shape or not weight.shape:
        raise ShapeError("both arguments to linear need to be at least 1D, but they "
                         f"are {len(x.shape)}D and {len(weight.shape)}D")
    if bias is None:
        return call("matmul", x, call("t", weight))
    if len(x.shape) == 2:
        return call("addmm", bias, x, call("t", weight))
    if not bias.shape or not call("is_contiguous", x):
        return call("add", call("matmul", x, call("t", weight)), bias)
    flat = call("reshape", x, (count_of(x.shape[:-1]), x.shape[-1]))
    y = call("addmm", bias, flat, call("t", weight))
    return call("reshape", y, (*x.shape[:-1], y.shape[1]))


@function("kron", operands=("a", "b"), formula="y[i*p + k, j*q + l] = a[i, j]*b[k, l]",
          doc="Kronecker product.", cases=[case((2, 2), (1, 3)), case((2,), (3,))])
def kron(call: Caller, a: Array, b: Array) -> Array:
    """Return the Kronecker product: a block ``a[i, j]*b`` for every entry of ``a``."""
    rank = max(len(a.shape), len(b.shape))
    m, n = ((1,) * (rank - len(x.shape)) + tuple(x.shape) for x in (a, b))
    tall = call("reshape.unsafe", a, tuple([s for k in m for s in (k, 1)]))
    wide = call("reshape.unsafe", b, tuple([s for k in n for s in (1, k)]))
    sizes = tuple([p * q for p, q in zip(m, n, strict=True)])
    return call("reshape.unsafe", call("mul", tall, wide), sizes)


@function("tensordot", operands=("a", "b"), formula="sum over dims of a*b",
          doc="Sums of products over chosen dimensions of two tensors.",
          cases=[case((2, 3), (3, 4), dims=1), case((2, 3), (2, 3), dims=2),
                 case((2, 3), (2,), dims=([0], [0]))])
def tensordot(call: Caller, a: Array, b: Array,
              dims: int | Sequence[Sequence[int] | int] = 2) -> Array:
    """Return sums of products over ``dims``: a number of dimensions, the last of ``a``
    and the first of ``b``, or two lists of dimensions, of ``a`` and of ``b``."""
    if isinstance(dims, int):
        refuse(dims < 0, "tensordot expects dims >= 0, but got dims={}", dims)
        refuse(dims > min(len(a.shape), len(b.shape)),
               "tensordot expects dims < ndim_a or ndim_b, but got dims={}", dims)
        dims = (tuple(range(-dims, 0)), tuple(range(dims)))
    refuse(len(dims) != 2, "tensordot: dims has to hold two lists of dimensions, one "
           "for each tensor, not {}", len(dims))
    gone = [(d,) if isinstance(d, int) else d for d in dims]
    refuse(len(gone[0]) != len(gone[1]), "both dimension lists should have same length")
    for x, ds in zip((a, b), gone, strict=True):
        refuse(len(ds) > len(x.shape), "tensordot: {} dims are given for a tensor with "
               "{}", len(ds), len(x.shape))
    at_a, at_b = ([dim_of(x.shape, d) for d in ds]
                  for x, ds in zip((a, b), gone, strict=True))
    for p, q in zip(at_a, at_b, strict=True):
        if b.shape[q] == 1:
            a = summed(call, a, p, True)
        elif a.shape[p] == 1:
            b = summed(call, b, q, True)
        elif a.shape[p] != b.shape[q]:
            raise ShapeError(f"tensordot: sizes {a.shape[p]} of dimension {p} and "
                             f"{b.shape[q]} of dimension {q} differ")
    free_a = [d for d in range(len(a.shape)) if d not in at_a]
    free_b = [d for d in range(len(b.shape)) if d not in at_b]
    inner = count_of(a.shape[d] for d in at_a)
    rows = tuple([a.shape[d] for d in free_a])
    columns = tuple([b.shape[d] for d in free_b])
    a = call("permute", a, (*free_a, *at_a))
    b = call("permute", b, (*at_b, *free_b))
    height, width = count_of(rows), count_of(columns)
    if height != 1 or width != 1:
        y = call("mm", call("reshape", a, (height, inner)),
                 call("reshape", b, (inner, width)))
    elif all(call("view.fits", x, (inner,)) for x in (a, b)):
        y = call("dot", call("flatten", a), call("flatten", b))
    else:
        y = summed(call, call("mul", call("squeeze", a), call("squeeze", b)))
    return call("reshape", y, (*rows, *columns))


@function("inner", operands=("a", "b"), formula="y[i, j] = sum(a[i]*b[j])",
          doc="Sums of products over the last dimensions.",
          cases=[case((2, 3), (4, 3)), case((3,), (3,)), case((), (3,))])
def inner(call: Caller, a: Array, b: Array) -> Array:
    if not a.shape or not b.shape:
        return call("mul", a, b)
    refuse(a.shape[-1] != b.shape[-1], "inner() the last dimension must match on both "
           "input tensors but got shapes {} and {}", list(a.shape), list(b.shape))
    return tensordot(call, a, b, ((-1,), (-1,)))


function("linalg.vecdot", lambda call, a, b, dim=-1:
         call("vdot", a, b) if len(a.shape) == len(b.shape) == 1
         else call("sum", call("mul", a, b), dim),
         aliases=("vecdot",), operands=("a", "b"), formula="sum(a*b, dim)",
         doc="Inner products along a dimension.",
         cases=[case((3, 4), (3, 4)), case((3, 4), (3, 4), dim=0)])

# bilinear maps


of_numbers("bilinear.trilinear", node="TrilinearBackward0",
    fwd=lambda xp, a, weight, b: xp.einsum("ni,kij,nj->nk", a, weight, b),
    jvp=MULTILINEAR, one_type=True,
    formula="y[n, k] = sum(a[n, i]*weight[k, i, j]*b[n, j])",
    vjp=(lambda xp, g, y, a, weight, b: xp.einsum("nk,kij,nj->ni", g, weight, b),
         lambda xp, g, y, a, weight, b: xp.einsum("nk,ni,nj->kij", g, a, b),
         lambda xp, g, y, a, weight, b: xp.einsum("nk,ni,kij->nj", g, a, weight)),
    cases=[case((2, 3), (2, 3, 4), (2, 4)), case((1, 2), (3, 2, 1), (1, 1))],
    saves=("weight b", "a b", "a weight"))


@function("bilinear", operands=("a", "b", "weight", "bias"),
          formula="y[k] = a @ weight[k] @ b + bias[k]",
          doc="A layer that is linear in each of two inputs.")
def bilinear(call: Caller, a: Array, b: Array, weight: Array, bias: Array | None = None
            ) -> Array:
    demand_rank("bilinear: weight", weight, 3, 3)
    refuse(len(a.shape) != len(b.shape), "bilinear(): input dimensions do not match: "
           "got {} and {}", len(a.shape), len(b.shape))
    for dim, (m, n) in enumerate(zip(a.shape[:-1], b.shape[:-1], strict=True)):
        refuse(m != n, "bilinear(): input batch dimensions do not match at dim {}: got "
               "{} and {}", dim, m, n)
    for i, x in enumerate((a, b), 1):
        if not x.shape or x.shape[-1] != weight.shape[i]:
            raise ShapeError(f"bilinear(): input{i} size does not match weight size: "
                             f"got {x.shape[-1] if x.shape else 0} but expected "
                             f"{weight.shape[i]}")
    rows = count_of(a.shape[:-1])
    left, right = (call("reshape", x, (rows, x.shape[-1])) for x in (a, b))
    y = call("bilinear.trilinear", left, weight, right)
    y = call("view", y, (*a.shape[:-1], weight.shape[0]))
    return y if bias is None else call("add", y, bias)


# Einstein summation, recorded as one node

FAMILY = "einsum"


Shapes = list[tuple[int, ...]]


def written_out(equation: str, shapes: Shapes) -> tuple[list[str], str]:
    """Return the labels of each operand and of the output. An ellipsis becomes letters
    that the equation does not use; operands share them from the last one on."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    refuse(len(terms) != len(shapes), "einsum(): {} operands were provided than "
           "specified in the equation", "fewer" if len(shapes) < len(terms) else "more")
    for letter in (left + right).replace("...", "").replace(",", ""):
        refuse(letter not in ascii_letters, "einsum(): invalid subscript given: {!r}, "
               "subscripts must be in [a-zA-Z]", letter, kind=ValueRangeError)
    unused = [c for c in ascii_letters if c not in equation]
    batch = max([len(s) - len(t) + 3 for t, s in zip(terms, shapes, strict=True)
                 if "..." in t], default=0)
    dots = "".join(unused[:batch])
    labels = []
    for number, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        spare = len(shape) - len(term.replace("...", ""))
        refuse(spare < 0 or (spare and "..." not in term), "einsum(): operand {} has "
               "{} dimensions, the equation has '{}' for it", number, len(shape), term)
        labels.append(term.replace("...", dots[len(dots) - spare:]))
    if arrow:
        return labels, right.replace("...", dots)
    every = "".join(labels)
    once = sorted([c for c in set(every) if every.count(c) == 1 and c not in dots])
    return labels, dots + "".join(once)


def sizes_of(labels: list[str], shapes: Shapes) -> dict[str, int]:
    """Return the size of each label, where dimensions of size 1 broadcast."""
    sizes: dict[str, int] = {}
    for number, (term, shape) in enumerate(zip(labels, shapes, strict=True)):
        for label, n in zip(term, shape, strict=True):
            have = sizes.get(label, 1)
            if 1 not in (have, n) and have != n:
                raise ShapeError(
                    f"einsum(): subscript {label} has size {n} for operand {number} "
                    f"which does not broadcast with previously seen size {have}")
            sizes[label] = n if have == 1 else have
    return sizes


def cotangent(xp: Namespace, g: Array, operands: Sequence[Array], k: int,
              labels: list[str], output: str, sizes: dict[str, int]) -> Array:
    """Return the cotangent of operand ``k``, an einsum whose output labels are those of
    that operand. A label that it repeats is output once and spread on a diagonal; for
    one that only it has, or that it broadcasts, a factor of ones is added."""
    unused = iter([c for c in ascii_letters if c not in sizes])
    terms = [output, *(t for i, t in enumerate(labels) if i != k)]
    factors = [g, *(x for i, x in enumerate(operands) if i != k)]
    known = {label for term, x in zip(terms, factors, strict=True)
             for label, n in zip(term, x.shape, strict=True) if n == sizes[label]}
    wanted, repeated = "", []
    for at, (label, n) in enumerate(zip(labels[k], operands[k].shape, strict=True)):
        if label in wanted and n == sizes[label]:
            repeated.append((labels[k].index(label), at))
            continue
        fresh = label if n == sizes[label] else next(unused)
        if fresh not in known:
            terms.append(fresh)
            factors.append(xp.new_full(g, (n,), 1))
        wanted += fresh
    found = xp.einsum(f"{','.join(terms)}->{wanted}", *factors)
    for first, again in repeated:
        found = xp.diag_embed(xp.movedim(found, first, -1), 0, first, again)
    return found


def cotangents(xp: Namespace, g: Array, y: Array, *operands: Array, equation: str
              ) -> Outputs:
    shapes = [tuple(x.shape) for x in operands]
    labels, output = written_out(equation, shapes)
    sizes = sizes_of(labels, shapes)
    return tuple([cotangent(xp, g, operands, k, labels, output, sizes)
                  for k in range(len(operands))])


@row("einsum.default", variadic=True, jvp=MULTILINEAR, memory=VIEW, one_type=True,
    formula="sum of products over repeated labels",
    doc="Sums of products, by one letter per dimension.", vjp=cotangents,
    cases=[case((3, 4), (4, 2), equation="ij,jk->ik"), case((3, 3), equation="ii"),
           case((3, 3), equation="ii->i"), case((3, 4), equation="ij->j"),
           case((3, 4), (3, 4), equation="ij,ij->"), case((3,), (4,), equation="i,j"),
           case((2, 3, 4), (4, 2), equation="...j,jk"),
           case((2, 3), (3, 4), (4, 2), equation="ij,jk,kl->il"),
           case((3,), (3,), (3,), equation="i,i,i->i"),
           case((2, 3, 3), (3,), equation="bii,i->b"),
           case((), (3,), equation=",i->i"), case((2, 3), (1,), equation="ij,j->i")])
def contracted(xp: Namespace, *operands: Array, equation: str) -> Array:
    shapes = [tuple(x.shape) for x in operands]
    labels, output = written_out(equation, shapes)
    sizes = sizes_of(labels, shapes)
    for label in output:
        refuse(label not in sizes, "einsum(): output subscript {} does not appear in "
               "the equation for any input operand", label, kind=ValueRangeError)
        refuse(output.count(label) > 1, "einsum(): output subscript {} appears more "
               "than once in the output", label, kind=ValueRangeError)
    return xp.einsum(f"{','.join(labels)}->{output}", *operands)


LETTERS = ascii_uppercase + ascii_lowercase
"""Letters by number: in ``einsum(a, [0, 1])`` the labels are A and B."""


def in_letters(given: list[Array]) -> str:
    """Return the equation of the list form: AB,B->A of ``a, [0, 1], b, [1], [0]``."""
    terms = [as_term(labels) for labels in given[1::2]]
    output = f"->{as_term(given[-1])}" if len(given) % 2 else ""
    return ",".join(terms) + output


def as_term(labels: object) -> str:
    if not isinstance(labels, list | tuple):
        raise ArgumentError(
            "einsum(): give an equation first, or subscripts after each operand")
    numbers = [each if each is ... else as_integer(each) for each in labels]
    refuse(any(n is not ... and not 0 <= n < len(LETTERS) for n in numbers),
           "einsum(): subscript in subscript list is not within the valid range [0, "
           "{})", len(LETTERS), kind=ValueRangeError)
    return "".join(["..." if n is ... else LETTERS[n] for n in numbers])


@function("einsum")
def einsum(call: Caller, equation: Array, *operands: Array) -> Array:
    if not isinstance(equation, str):
        given = [equation, *operands]
        return call("einsum.default", *given[:len(given) // 2 * 2:2],
                    equation=in_letters(given))
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    refuse(not operands, "einsum(): must specify the equation string and at least one "
           "operand", kind=ArgumentError)
    return call("einsum.default", *operands, equation=equation)
