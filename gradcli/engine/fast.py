"""Fast recorders: for elementwise rows of one or two operands, which no observer sees.

Invariant: the result and its graph are those of the general recorder, ``slow``, which
runs all unusual calls. It also runs wherever a formula raises any exception: it then
either gives a result, as for operands of two types, or raises the error again in the
engine's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..ops import Formula, Op
from ..ops.basis import BINARY
from ..ops.checks import LIMIT
from .modes import MODE
from .node import ConstantNode, Node
from .raw import Params, as_scalar
from .rules import HALF
from .tensor import (
    Tensor,
    constant,
)
from .versions import CLOCK

_new = object.__new__
_NO_PARAMS: Params = {}

WHOLE = "biu"
"""Kinds of dtypes (bool, integers) that are left to the general recorder."""


def _pass_on(error: Exception) -> None:
    """Raise an error that no formula raised: that of a limit on time, which a signal
    raises wherever the program is. To run the formula again would lose it."""
    if hasattr(error, "exit_status"):
        raise error


class General(Protocol):
    """The general recorder of a row with one output.

    ``fwd`` is the row's formula, with its results laid out in memory; ``cls`` is the
    class of its nodes.
    """

    op: Op
    fwd: Formula
    cls: Any

    def general(self, inputs: tuple[object, ...], params: Params) -> Tensor:
        """Return the row's result, with its node recorded."""


def unary(record: General) -> Callable[[Tensor], Tensor]:
    """Return the recorder of an elementwise row with one input and no parameters."""
    fwd, cls, slow, op = record.fwd, record.cls, record.general, record.op
    keeps = not issubclass(cls, ConstantNode)

    def call(t: Tensor) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        try:
            y: Any = xp.whole_row(op, (x,), _NO_PARAMS) if xp.waits else fwd(xp, x)
        except Exception as error:
            _pass_on(error)
            return slow((t,), _NO_PARAMS)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if edge is None or not MODE.fast:
            if MODE.looked_at or x.dtype.kind in WHOLE:
                return slow((t,), _NO_PARAMS)
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.shapes = node.span = None
        node.born = CLOCK.now
        if keeps:
            node.saved = (x,)
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call


def plain(number: float) -> Any:
    """Return a number as Python's, which does not change the type of a tensor."""
    return number.item() if hasattr(number, "item") else number


def operand(other: Any) -> Any:
    """Return an operand as a tensor or a plain number. NotImplemented if neither can
    be made of it; Python then asks the other operand."""
    if isinstance(other, Tensor):
        return other
    if isinstance(other, int | float) or not getattr(other, "shape", True):
        return plain(other)
    try:
        return constant(other)
    except TypeError:
        return NotImplemented


def guarded(
    run: Callable[[Any, Any], Any], reflected: bool = False
) -> Callable[[Tensor, Any], Any]:
    """Return the operator that runs on a tensor and a tensor, number or list.

    Args:
        reflected: the tensor is the second operand.
    """

    def operate(x: Tensor, other: object) -> Any:
        y = operand(other)
        if y is NotImplemented:
            return y
        return run(y, x) if reflected else run(x, y)

    return operate


class _AskedOperand:
    """An operand that shows which operator a formula applies to it."""


for _name in BINARY:
    setattr(_AskedOperand, f"__{_name}__", lambda a, b, name=_name: (name, a, b))


def operator_of(fwd: Formula) -> Callable[[Any, Any], Any] | None:
    """Return the operator that a formula applies to its two operands; None if the
    formula is not just one operator."""
    a, b = _AskedOperand(), _AskedOperand()
    try:
        made = fwd(None, a, b)
    except Exception:
        return None
    return next((each for each in BINARY.values() if each(a, b) == made), None)


def binary(
    record: General, lifted: Callable[[object], object] = constant
) -> Callable[[Tensor, Any], Any]:
    """Return the recorder of an operator on a tensor and a tensor or a number.

    Args:
        lifted: a function that makes a tensor of another operand, or NotImplemented.
    """
    fwd, cls, slow, op = record.fwd, record.cls, record.general, record.op
    keeps = any(callable(p) for p in record.op.partials or ())
    operator = operator_of(fwd)
    # The others give the exact result, rounded: the same for scalars as for arrays.
    exact = operator not in (None, BINARY["pow"])
    halves = record.op.exact_other

    def call(t: Tensor, other: Any) -> Any:
        a, xp, edge_a = t.raw, t.xp, t.edge
        shape, shapes = a.shape, None
        if isinstance(other, Tensor):
            b, edge_b = other.raw, other.edge
            if other.xp is not xp:
                return slow((t, other), _NO_PARAMS)
            if shape != b.shape:
                shapes = (shape, b.shape)
                if a.size * b.size > LIMIT.entries or a.dtype is not b.dtype:
                    return slow((t, other), _NO_PARAMS)
            elif (edge_a is None or edge_b is None) and a.dtype is not b.dtype:
                return slow((t, other), _NO_PARAMS)
        elif type(other) is float or type(other) is int:
            b, edge_b = other, None
            if halves and a.dtype is HALF:
                return slow((t, other), _NO_PARAMS)
        elif isinstance(other, int | float) or not getattr(other, "shape", True):
            b, edge_b = plain(other), None
            if type(b) is bool or (halves and a.dtype is HALF):
                return slow((t, b), _NO_PARAMS)
        else:
            other = lifted(other)
            return other if other is NotImplemented else call(t, other)
        try:
            if xp.waits:
                y = xp.whole_row(op, (a, b), _NO_PARAMS)
            elif operator is None:
                y = fwd(xp, a, b)
            elif shape or not exact or shapes is not None or edge_a is None:
                y = operator(a, b)
            else:
                y = operator(as_scalar(a), as_scalar(b))
        except Exception as error:
            _pass_on(error)
            return slow((t, other), _NO_PARAMS)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if (edge_a is None and edge_b is None) or not MODE.fast:
            if MODE.looked_at or a.dtype.kind in WHOLE:
                return slow((t, other), _NO_PARAMS)
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge_a, edge_b)
        node.xp = xp
        node.shapes = shapes
        node.span = None
        node.born = CLOCK.now
        if keeps:
            node.saved = (a, b)
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call
