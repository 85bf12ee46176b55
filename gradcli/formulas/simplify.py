"""Rules that shorten expressions without changing their values.

Invariant: a rule is an identity that holds for every value of the inputs, rounding
aside: of a product with 1, a sum with 0, two signs, a broadcast that happens by itself,
a change of shape that changes nothing.

    simplified(xp, "mul", (xp.number(1.0), x), value)       # x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..engine.raw import Host
from ..ops.basis import SPECIAL, UFUNCS
from ..ops.spellings import REDUCTIONS
from ..ops.types import Dims
from .tree import FILLED, NUMBER, Tree, TreeMaker

MAX_REGROUPED_FACTOR: Final = 1e9
"""Largest factor, and inverse of the smallest, of products that are regrouped: so no
new overflow arises."""

Rule: TypeAlias = "Callable[..., Tree | None]"

_RULES: Final[dict[str, Rule]] = {}


def _rule(*heads: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(heads, rule))
        return rule

    return enter


def broadcast_anyway(operands: tuple[Tree, ...], value: Host) -> tuple[Tree, ...]:
    """Return the operands without broadcasts that the operation does by itself."""
    shown = list(operands)
    for position in range(len(shown)):
        while (smaller := _narrower(shown[position])) is not shown[position]:
            others = [t.shape for i, t in enumerate(shown) if i != position]
            if np.broadcast_shapes(smaller.shape, *others) != np.shape(value):
                break
            shown[position] = smaller
    return tuple(shown)


def _narrower(operand: Tree) -> Tree:
    """Return a smaller tree that broadcasts to the operand, else the operand."""
    if operand.head == FILLED:
        return operand.xp.number(operand.args[0])
    if _is_unary(operand):
        inner = _narrower(operand.args[0])
        return operand if inner is operand.args[0] else _again(operand, inner)
    if operand.params.get("keepdim") is True:
        kept = {k: v for k, v in operand.params.items() if k != "keepdim"}
        value = operand.value.reshape(_without_factor(operand.shape))
        return _reduced_to(operand, kept, value)
    if operand.head == "expand" or (
        operand.head in ("reshape", "unsqueeze")
        and _without_factor(operand.shape) == _without_factor(operand.args[0].shape)
    ):
        return operand.args[0]  # type: ignore[no-any-return]
    return operand


def _is_unary(tree: Tree) -> bool:
    """Tell whether a tree is an elementwise function of one other tree."""
    return (tree.head in UFUNCS or tree.head in SPECIAL) and len(tree.args) == 1


def _again(tree: Tree, operand: Tree) -> Tree:
    return getattr(tree.xp, tree.head)(operand)  # type: ignore[no-any-return]


def _reduced_to(operand: Tree, params: Mapping[str, object], value: Host) -> Tree:
    """Return a reduction without the leading dimensions of size 1 that it keeps."""
    dim = operand.params.get("dim")
    dims = dim if isinstance(dim, tuple | list) else [dim]
    size = operand.args[0].ndim
    kept = [n for d, n in enumerate(operand.shape)
            if dim is not None and d not in {each % size for each in dims}]  # fmt: skip
    if tuple(kept) != value.shape:
        return operand
    return simplified(operand.xp, operand.head, operand.args, value, params)


def _without_factor(shape: tuple[int, ...]) -> tuple[int, ...]:
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return shape[first:]


def simplified(
    xp: TreeMaker, name: str, args: tuple[Any, ...], value: Host,
    params: Mapping[str, object] | None = None,
) -> Tree:  # fmt: skip
    """Return the tree of a call, or a simpler tree of the same value."""
    rule = _RULES.get(name)
    if rule is not None:
        simpler = rule(xp, value, *args, **(params or {}))
        if simpler is not None:
            return simpler
    return xp.build(name, args, params or {}, value)


def _is(tree: object, number: float) -> bool:
    return isinstance(tree, Tree) and tree.head == NUMBER and tree.args[0] == number


def _unchanged(tree: Tree, value: Host) -> Tree | None:
    """Return the tree if it has the value's shape and kind of numbers, else None."""
    same = tree.shape == value.shape and tree.dtype.kind == value.dtype.kind
    return tree if same else None


def _of_kind(xp: TreeMaker, tree: Tree, value: Host) -> Tree:
    wanted = value.dtype.kind == "f"
    return xp.as_type_of(tree, value) if wanted else tree


@_rule("add")
def _add(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    if _is(a, 0):
        return _unchanged(b, value)
    if _is(b, 0):
        return _unchanged(a, value)
    if a is b and value.dtype.kind == "f":
        return xp.operate("mul", xp.number(2), a)
    for one, other in ((b, a), (a, b)):
        positive = _opposite(xp, one)
        if positive is not None:
            return xp.operate("sub", other, positive)
    return None


@_rule("sub")
def _sub(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    if _is(b, 0):
        return _unchanged(a, value)
    if _is(a, 0) and b.shape == value.shape:
        return xp.operate("neg", _of_kind(xp, b, value))
    positive = _opposite(xp, b)
    return None if positive is None else xp.operate("add", a, positive)


def _opposite(xp: TreeMaker, tree: Tree, deep: int = 4) -> Tree | None:
    """Return the tree without its sign if it is written as a negative, else None."""
    if tree.head == "neg":
        return tree.args[0]  # type: ignore[no-any-return]
    if tree.head == NUMBER:
        return xp.number(-tree.args[0]) if tree.args[0] < 0 else None
    if tree.head not in ("mul", "div") or not deep:
        return None
    first = _opposite(xp, tree.args[0], deep - 1)
    return None if first is None else xp.operate(tree.head, first, tree.args[1])


def _product(a: Tree, b: Tree) -> float | None:
    product: float = a.args[0] * b.args[0]
    longer = len(repr(product)) > len(repr(a.args[0])) + len(repr(b.args[0]))
    return None if longer or not _is_moderate(a.args[0], b.args[0]) else product


def _is_moderate(*numbers: float) -> bool:
    most = MAX_REGROUPED_FACTOR
    return all(1 / most < abs(number) < most for number in numbers)


@_rule("mul")
def _mul(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    if xp.zeros_vanish and (_is(a, 0) or _is(b, 0)):
        return xp.number(0.0)
    for one, other in ((a, b), (b, a)):
        if _is(one, 1) and other.shape == value.shape:
            return _of_kind(xp, other, value)
        if _is(one, -1) and other.shape == value.shape:
            return xp.operate("neg", _of_kind(xp, other, value))
    for one, other in ((a, b), (b, a)):
        if one.head == FILLED:
            product = xp.operate("mul", xp.number(one.args[0]), other)
            return xp.expand(product, value.shape)
        if one.head == NUMBER and _scaled(other):
            number = _product(one, other.args[0])
            if number is not None:
                return xp.operate("mul", xp.number(number), other.args[1])
        if one.head == "neg" and value.shape in (one.shape, other.shape):
            return xp.operate("neg", xp.operate("mul", *_replaced(a, b, one)))
        if one.head == "div" and _is(one.args[0], 1):
            return xp.operate("div", other, one.args[1])
    if b.head == NUMBER and a.head != NUMBER:
        return xp.operate("mul", b, a)
    if _scaled(a) and _scaled(b):
        number = _product(a.args[0], b.args[0])
        if number is not None:
            inner = xp.operate("mul", a.args[1], b.args[1])
            return xp.operate("mul", xp.number(number), inner)
    return None


def _scaled(tree: Tree) -> bool:
    return tree.head == "mul" and tree.args[0].head == NUMBER


def _replaced(a: Tree, b: Tree, negative: Tree) -> tuple[Tree, Tree]:
    return (negative.args[0], b) if negative is a else (a, negative.args[0])


@_rule("div")
def _div(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    if _is(b, 1) or (xp.zeros_vanish and _is(a, 0)):
        return _unchanged(a, value)
    if a.head == "neg":
        return xp.operate("neg", xp.operate("div", a.args[0], b))
    if a.head == "sum" and b.head == NUMBER and a.size:
        summed = a.args[0]
        if b.args[0] * a.size == summed.size:
            return xp.word("mean", summed, **a.params)
    if _scaled(a) and b.head == NUMBER:
        above, below = a.args[0].args[0], b.args[0]
        if not _is_moderate(above, below):
            return None
        if above % below == 0:
            return xp.operate("mul", xp.number(above / below), a.args[1])
        if below % above == 0:
            return xp.operate("div", a.args[1], xp.number(below / above))
    return None


@_rule("pow")
def _pow(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    if _is(b, 0):
        return xp.filled(value.shape, value.dtype.type(1))
    if _is(b, 2) and a.shape == value.shape and a.dtype.kind == "f":
        return xp.square(a)
    return _unchanged(a, value) if _is(b, 1) else None


@_rule("neg")
def _neg(xp: TreeMaker, value: Host, a: Tree) -> Tree | None:
    if a.head == "neg":
        return a.args[0]  # type: ignore[no-any-return]
    if a.head == "sub":
        return xp.operate("sub", a.args[1], a.args[0])
    if _scaled(a):
        return xp.operate("mul", xp.number(-a.args[0].args[0]), a.args[1])
    return _opposite(xp, a)


@_rule("matmul")
def _matmul(xp: TreeMaker, value: object, a: Tree, b: Tree) -> Tree | None:
    for one in (a, b):
        if one.head == "neg":
            return xp.operate("neg", xp.operate("matmul", *_replaced(a, b, one)))
    p, q = _vector(a), _vector(b)
    if p is not None and q is not None and a.shape[1] == b.shape[0] == 1:
        return xp.operate("mul", xp.unsqueeze(p, 1), q)
    if a.ndim == 1 and b.head == "T":
        return xp.operate("matmul", b.args[0], a)
    if b.head == FILLED and b.ndim == 1 and a.ndim == 2:
        return xp.operate("mul", xp.number(b.args[0]), xp.sum(a, 1))
    return None


def _vector(tree: Tree) -> Tree | None:
    """Return the vector that a matrix of one row or column was made of, else None."""
    made = tree.head in ("unsqueeze", "reshape") and tree.ndim == 2 and 1 in tree.shape
    return tree.args[0] if made and tree.args[0].ndim == 1 else None


def _flat_product(xp: TreeMaker, value: Host, x: Tree) -> Tree | None:
    """Return a flattened product with a vector for a one-row or one-column matrix."""
    a, b = x.args
    p, q = _vector(a), _vector(b)
    if p is not None and a.shape[0] == 1 and b.ndim == 2:
        found = xp.operate("matmul", p, b)
    elif q is not None and b.shape[1] == 1 and a.ndim == 2:
        found = xp.operate("matmul", a, q)
    else:
        return None
    return xp.reshape(found, value.shape)


@_rule("reshape", "squeeze")
def _resized(
    xp: TreeMaker, value: Host, x: Tree, *sizes: object, **params: object
) -> Tree | None:
    """Return a shorter form of a reshape, such as one for two in a row; else None."""
    if x.shape == value.shape:
        return x
    if x.head == "reshape":
        return xp.reshape(x.args[0], value.shape)
    if x.head == "sum" and "keepdim" in x.params:
        inner, dim = x.args[0], x.params.get("dim")
        without = xp.sum(inner, dim)
        return _unchanged(without, value)
    if x.head == "matmul" and x.ndim == 2 and value.ndim < 2:
        return _flat_product(xp, value, x)
    if x.head == "neg":
        return xp.operate("neg", xp.reshape(x.args[0], value.shape))
    if _is_unary(x) and not value.ndim:
        return _again(x, xp.reshape(x.args[0], value.shape))
    return None


@_rule("expand")
def _expand(xp: TreeMaker, value: Host, x: Tree, shape: object) -> Tree | None:
    if x.shape == value.shape:
        return x
    inner = _narrower(x)
    if inner is not x and x.head in ("reshape", "unsqueeze"):
        # A broadcast cannot drop dimensions, as the reshape may have done.
        return xp.expand(inner, shape) if inner.ndim <= value.ndim else None
    return None


def _reduced(name: str) -> Rule:
    def rule(
        xp: TreeMaker, value: Host, x: Tree, dim: Dims = None, keepdim: bool = False
    ) -> Tree | None:
        if x.shape == value.shape:
            return x
        if dim is not None and not value.ndim:
            return getattr(xp, name)(x)  # type: ignore[no-any-return]
        if name == "sum" and x.head == "neg":
            return xp.operate("neg", xp.sum(x.args[0], dim, keepdim))
        if name == "sum" and x.head == "T" and isinstance(dim, int) and not keepdim:
            return xp.sum(x.args[0], 1 - dim % 2)
        return None

    return rule


@_rule("permute")
def _permuted(xp: TreeMaker, value: Host, x: Tree, dims: Sequence[int]) -> Tree | None:
    order = tuple([d % x.ndim for d in dims])
    if order == tuple(range(x.ndim)):
        return x
    moved = [d for d, to in enumerate(order) if d != to]
    if len(moved) == 2:
        return xp.transpose(x, *moved)
    return None


@_rule("transpose")
def _transposed(
    xp: TreeMaker, value: Host, x: Tree, dim0: int, dim1: int
) -> Tree | None:
    dims = sorted((dim0 % x.ndim, dim1 % x.ndim)) if x.ndim else [0, 0]
    if dims[0] == dims[1]:
        return x
    if dims != [x.ndim - 2, x.ndim - 1]:
        return None
    if x.head in ("T", "mT"):
        return x.args[0]  # type: ignore[no-any-return]
    if x.head == "neg":
        return xp.operate("neg", xp.transpose(x.args[0], -2, -1))
    if x.head == "matmul" and any(one.head in ("T", "mT") for one in x.args):
        a, b = (xp.transpose(one, -2, -1) for one in x.args)
        return xp.operate("matmul", b, a)
    p = _vector(x)
    if p is not None:
        return xp.unsqueeze(p, 1 if x.shape[0] == 1 else 0)
    return xp.build("T" if x.ndim == 2 else "mT", (x,), {}, value)


@_rule("t")
def _turned(xp: TreeMaker, value: Host, x: Tree) -> Tree | None:
    return xp.transpose(x, 0, 1) if x.ndim == 2 else x


@_rule("where")
def _where(xp: TreeMaker, value: Host, mask: Tree, a: Tree, b: Tree) -> Tree | None:
    if mask.head in (NUMBER, FILLED):
        return _unchanged(a if mask.args[0] else b, value)
    if mask.head == "eq" and mask.args[0] is b and _is(mask.args[1], 0) and _is(a, 0):
        # Zeros would be replaced by zeros.
        return _unchanged(b, value)
    return None


@_rule("ne")
def _ne(xp: TreeMaker, value: Host, a: Tree, b: Tree) -> Tree | None:
    return _unchanged(a, value) if _is(b, 0) and a.dtype.kind == "b" else None


for _name in REDUCTIONS:
    _rule(_name)(_reduced(_name))
