"""What an expression is made shorter by, without changing its value.

Invariant: only identities that hold for every value of the inputs, rounding aside: a
product with 1, a sum with 0, signs that meet, a broadcast that happens by itself, a
change of shape that changes nothing.

    folded(xp, "mul", (xp.number(1.0), x), value)       # x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from .tree import FILLED, NUMBER, Tree

if TYPE_CHECKING:
    from .namespace import TreeNamespace


Rule: TypeAlias = "Callable[..., Tree | None]"


def broadcast_anyway(operands: tuple[Tree, ...], value: Any) -> tuple[Tree, ...]:
    """The operands without the broadcasts that the operation does by itself."""
    shown = list(operands)
    for place in range(len(shown)):
        while (smaller := _narrower(shown[place])) is not shown[place]:
            others = [t.shape for i, t in enumerate(shown) if i != place]
            if np.broadcast_shapes(smaller.shape, *others) != np.shape(value):
                break
            shown[place] = smaller
    return tuple(shown)


def _narrower(operand: Tree) -> Tree:
    """What an operand is made of if broadcasting alone makes it from that."""
    if operand.head == FILLED:
        return operand.xp.number(operand.args[0])  # type: ignore[no-any-return]
    if operand.head == "expand" or (
        operand.head in ("reshape", "unsqueeze")
        and _bare(operand.shape) == _bare(operand.args[0].shape)
    ):
        return operand.args[0]  # type: ignore[no-any-return]
    return operand


def _bare(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the ones that it begins with."""
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return shape[first:]


def folded(
    xp: TreeNamespace, name: str, args: tuple[Any, ...], value: Any,
    params: Mapping[str, Any] | None = None,
) -> Tree:  # fmt: skip
    """The tree of a call, or a simpler one of the same value."""
    rule = _RULES.get(name)
    if rule is not None:
        simpler = rule(xp, value, *args, **(params or {}))
        if simpler is not None:
            return simpler
    return xp.made(name, args, params or {}, value)


def _is(tree: Any, number: float) -> bool:
    return isinstance(tree, Tree) and tree.head == NUMBER and tree.args[0] == number


def _whole(tree: Tree, value: Any) -> Tree | None:
    """The tree if it is of the shape and the kind of numbers that are wanted."""
    same = tree.shape == value.shape and tree.dtype.kind == value.dtype.kind
    return tree if same else None


def _add(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    if _is(a, 0):
        return _whole(b, value)
    if _is(b, 0):
        return _whole(a, value)
    if b.head == "neg":
        return xp.operate("sub", a, b.args[0])
    if a.head == "neg":
        return xp.operate("sub", b, a.args[0])
    return None


def _sub(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    if _is(b, 0):
        return _whole(a, value)
    if _is(a, 0) and b.shape == value.shape:
        return xp.operate("neg", b)
    if b.head == "neg":
        return xp.operate("add", a, b.args[0])
    return None


def _mul(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    for one, other in ((a, b), (b, a)):
        if _is(one, 1):
            return _whole(other, value)
        if _is(one, -1) and other.shape == value.shape:
            return xp.operate("neg", other)
    for one, other in ((a, b), (b, a)):
        if one.head == FILLED:
            product = xp.operate("mul", xp.number(one.args[0]), other)
            return xp.expand(product, value.shape)  # type: ignore[no-any-return]
        if one.head == NUMBER and other.head == "mul" and other.args[0].head == NUMBER:
            number = one.args[0] * other.args[0].args[0]
            return xp.operate("mul", xp.number(number), other.args[1])
        if one.head == "neg" and other.shape == value.shape:
            return xp.operate("neg", xp.operate("mul", *_replaced(a, b, one)))
        if one.head == "div" and _is(one.args[0], 1):
            return xp.operate("div", other, one.args[1])
    if b.head == NUMBER and a.head != NUMBER:
        return xp.operate("mul", b, a)
    return None


def _replaced(a: Tree, b: Tree, negative: Tree) -> tuple[Tree, Tree]:
    return (negative.args[0], b) if negative is a else (a, negative.args[0])


def _div(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    if _is(b, 1):
        return _whole(a, value)
    if a.head == "neg":
        return xp.operate("neg", xp.operate("div", a.args[0], b))
    if a.head == "sum" and b.head == NUMBER and a.size:
        summed = a.args[0]
        if b.args[0] * a.size == summed.size:
            return xp.word("mean", summed, **a.params)
    if a.head == "mul" and a.args[0].head == NUMBER and b.head == NUMBER:
        ratio = a.args[0].args[0] / b.args[0] if b.args[0] else 0.5
        if ratio == int(ratio):
            return xp.operate("mul", xp.number(ratio), a.args[1])
    return None


def _pow(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    return _whole(a, value) if _is(b, 1) else None


def _neg(xp: TreeNamespace, value: Any, a: Tree) -> Tree | None:
    if a.head == "neg":
        return a.args[0]  # type: ignore[no-any-return]
    if a.head == "sub":
        return xp.operate("sub", a.args[1], a.args[0])
    if a.head == "mul" and a.args[0].head == NUMBER:
        return xp.operate("mul", xp.number(-a.args[0].args[0]), a.args[1])
    return None


def _matmul(xp: TreeNamespace, value: Any, a: Tree, b: Tree) -> Tree | None:
    for one in (a, b):
        if one.head == "neg":
            return xp.operate("neg", xp.operate("matmul", *_replaced(a, b, one)))
    return None


def _resized(
    xp: TreeNamespace, value: Any, x: Any, *sizes: Any, **params: Any
) -> Tree | None:
    """Nothing happens to a shape that is as wanted; of two changes the last counts."""
    if x.shape == value.shape:
        return x  # type: ignore[no-any-return]
    if x.head == "reshape":
        return xp.reshape(x.args[0], value.shape)  # type: ignore[no-any-return]
    if x.head == "sum" and "keepdim" in x.params:
        inner, dim = x.args[0], x.params.get("dim")
        without = xp.sum(inner, dim)
        return _whole(without, value)
    return None


def _expand(xp: TreeNamespace, value: Any, x: Any, shape: Any) -> Tree | None:
    if x.shape == value.shape:
        return x  # type: ignore[no-any-return]
    if x.head in ("reshape", "unsqueeze") and _narrower(x) is not x:
        return xp.expand(x.args[0], shape)  # type: ignore[no-any-return]
    return None


def _reduced(name: str) -> Rule:
    def rule(
        xp: TreeNamespace, value: Any, x: Any, dim: Any = None, keepdim: bool = False
    ) -> Tree | None:
        if x.shape == value.shape:
            return x  # type: ignore[no-any-return]
        if dim is not None and not value.ndim:
            return getattr(xp, name)(x)  # type: ignore[no-any-return]
        return None

    return rule


def _permuted(xp: TreeNamespace, value: Any, x: Any, dims: Any) -> Tree | None:
    order = tuple([d % x.ndim for d in dims])
    if order == tuple(range(x.ndim)):
        return x  # type: ignore[no-any-return]
    moved = [d for d, to in enumerate(order) if d != to]
    if len(moved) == 2:
        return xp.transpose(x, *moved)  # type: ignore[no-any-return]
    return None


def _transposed(
    xp: TreeNamespace, value: Any, x: Any, dim0: int, dim1: int
) -> Tree | None:
    dims = sorted((dim0 % x.ndim, dim1 % x.ndim)) if x.ndim else [0, 0]
    if dims[0] == dims[1]:
        return x  # type: ignore[no-any-return]
    if dims != [x.ndim - 2, x.ndim - 1]:
        return None
    if x.head in ("T", "mT"):
        return x.args[0]  # type: ignore[no-any-return]
    return xp.made("T" if x.ndim == 2 else "mT", (x,), {}, value)


def _where(xp: TreeNamespace, value: Any, mask: Tree, a: Tree, b: Tree) -> Tree | None:
    if mask.head not in (NUMBER, FILLED):
        return None
    return _whole(a if mask.args[0] else b, value)


_RULES: Final[dict[str, Rule]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "pow": _pow, "neg": _neg,
    "matmul": _matmul, "reshape": _resized, "expand": _expand,
    **{name: _reduced(name) for name in ("sum", "prod", "amax", "amin")},
    "permute": _permuted, "transpose": _transposed, "where": _where,
}  # fmt: skip
