"""Fast recorders: for rows of a few tensors while no hook or observer is active.

Invariant: the result and its graph are those of the general recorder, ``slow``, which
runs all unusual calls. It also runs wherever a formula raises any exception: it then
either gives a result, as for operands of two types, or raises the error again in the
engine's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from weakref import ref

from ..ops import Formula, Op, parameters
from ..ops.basis import BINARY
from ..ops.checks import LIMIT
from .modes import MODE
from .node import ConstantNode, Node, Shaped
from .raw import BYTES_OF_HALF_FLOAT, Params, Raw, as_scalar
from .rules import HALF
from .tensor import (
    MIN_VIEWS_TO_SWEEP,
    Tensor,
    constant,
    note,
    note_sharer,
    note_view,
    with_edge,
)
from .versions import CLOCK, copy_if_shared, is_lent

_new = object.__new__
_NO_PARAMS: Params = {}

WHOLE = "biu"
"""Kinds of dtypes (bool, integers) that are left to the general recorder."""


class General(Protocol):
    """The general recorder of a row with one output.

    ``fwd`` is the row's formula, with its results laid out in memory; ``cls`` is the
    class of its nodes, None if it has no gradient; ``slots`` are the inputs that can
    have a gradient; ``see`` records its output where that is a view of its input.
    """

    op: Op
    fwd: Formula
    cls: Any
    slots: tuple[int, ...]
    see: Seen | None

    def general(self, inputs: tuple[object, ...], params: Params) -> Tensor:
        """Return the row's result, with its node recorded."""


def unary(record: General) -> Callable[[Tensor], Tensor]:
    """Return the recorder of an elementwise row with one input and no parameters."""
    fwd, cls, slow = record.fwd, record.cls, record.general
    keeps = not issubclass(cls, ConstantNode)

    def call(t: Tensor) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        try:
            y = fwd(xp, x)
        except Exception:
            return slow((t,), _NO_PARAMS)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if edge is None or not MODE.fast:
            if MODE.looked_at or xp.inference or x.dtype.kind in WHOLE:
                return slow((t,), _NO_PARAMS)
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.shapes = node.span = None
        node.born = CLOCK.now
        if keeps:
            node.saved = x
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call


def with_number(record: General) -> Callable[[Tensor, float], Tensor]:
    """Return the recorder of an elementwise row of one tensor and one number."""
    (parameter,) = parameters(record.op)[1:]
    fwd, cls, slow = record.fwd, record.cls, record.general
    refuses = bool(record.op.no_truths)

    def call(t: Tensor, number: float) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        if refuses and type(number) is bool:
            return slow((t,), {parameter: number})
        try:
            y = fwd(xp, x, number)
        except Exception:
            return slow((t,), {parameter: number})
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if edge is None or not MODE.fast:
            if MODE.looked_at or xp.inference or x.dtype.kind in WHOLE:
                return slow((t,), {parameter: number})
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.params = {parameter: number}
        node.saved = (x,)
        node.y = y
        node.shapes = node.span = None
        node.born = CLOCK.now
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
    fwd, cls, slow = record.fwd, record.cls, record.general
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
            if operator is None:
                y = fwd(xp, a, b)
            elif shape or not exact or shapes is not None or edge_a is None:
                y = operator(a, b)
            else:
                y = operator(as_scalar(a), as_scalar(b))
        except Exception:
            return slow((t, other), _NO_PARAMS)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if (edge_a is None and edge_b is None) or not MODE.fast:
            if MODE.looked_at or xp.inference or a.dtype.kind in WHOLE:
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


Seen = Callable[[Tensor, Any, Any, dict[str, Any]], Tensor]
"""Recorder of a view: from a tensor, its array, the viewed array and parameters."""


def of_view(record: General) -> Seen:
    """Return the recorder of a row whose output is a view that is made already.

    It may only be called while `MODE.fast` holds, with a tensor of plain arrays.
    """
    cls = record.cls

    def see(t: Tensor, x: Raw, y: Raw, params: Params) -> Tensor:
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp = t.xp
        out.views = None
        edge = t.edge
        if edge is None:
            out.edge = None
        else:
            seen = _new(Shaped)
            seen.shape = x.shape
            node: Node = _new(cls)
            node.edges = (edge,)
            node.xp = xp
            node.params = params
            node.saved = (seen,)
            node.shapes = node.span = node.y = None
            node.born = CLOCK.now
            out.edge = node
        base = y.base
        same = base is x or (base is not None and base is x.base) or y is x
        if same or is_lent(y):
            below = getattr(t, "view_of", None)
            if below is None:
                below = t
            out.view_of = below
            views = getattr(below, "views", None)
            if views is None:
                below.views = [ref(out)]
            elif len(views) < MIN_VIEWS_TO_SWEEP:
                views.append(ref(out))
            else:
                note(views, out)
        else:
            out.view_of = None
            note_view(t, out)
        return out

    return see


def of_one(record: General) -> Callable[[Tensor, Params], Tensor]:
    """Return the recorder of any row with one input and one output."""
    fwd, cls, slow = record.fwd, record.cls, record.general
    shares = not record.op.owns
    see = record.see
    plainly_kept = cls is not None and cls.keep is Node.keep
    linear = record.op.keeps_shapes
    bare = linear and cls is not None and 0 in cls.bare

    def call(t: Tensor, params: Params) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        recorded = MODE.fast
        if not xp.plain or x.dtype.kind in WHOLE or (not recorded and MODE.looked_at):
            return slow((t,), params)
        if shares and not x.shape:
            x = t._shareable()
        try:
            y = fwd(xp, x, **params)
            if not shares and (y is x or y.base is not None):
                y = copy_if_shared(y, (x,))
        except Exception:
            return slow((t,), params)
        if see is not None and recorded:
            return see(t, x, y, params)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        out.view_of = out.views = None
        if edge is None or cls is None or not recorded:
            out.edge = None
        else:
            node: Node = _new(cls)
            node.edges = (edge,)
            node.xp = xp
            node.span = None
            node.born = CLOCK.now
            if not plainly_kept:
                node.keep((x,), y, params)
            else:
                node.params = params
                node.shapes = None
                if bare:
                    seen = _new(Shaped)
                    seen.shape = x.shape
                    node.saved = (seen,)
                    node.y = None
                else:
                    node.saved = (x,)
                    node.y = None if linear else y
            out.edge = node
        if see is not None:
            note_view(t, out)
        elif shares:
            note_sharer(t, out)
        return out

    return call


def of_several(
    record: General, positions: frozenset[int]
) -> Callable[[tuple[Any, ...], Params], Tensor]:
    """Return the recorder of a row of several inputs that is not elementwise, with one
    output in memory of its own: of floats of one type.

    Args:
        positions: the inputs that may be integers beside floats.
    """
    fwd, cls, slow = record.fwd, record.cls, record.general
    slots = record.slots
    first = slots[0] if slots else 0

    def call(inputs: tuple[Any, ...], params: Params) -> Tensor:
        lead = inputs[first]
        if not MODE.fast or not isinstance(lead, Tensor):
            return slow(inputs, params)
        xp, dtype = lead.xp, lead.raw.dtype
        if not xp.plain or dtype.kind != "f" or dtype.itemsize == BYTES_OF_HALF_FLOAT:
            return slow(inputs, params)
        raw: list[Any] = []
        for value in inputs:
            if value is None:
                raw.append(None)
                continue
            if not isinstance(value, Tensor) or value.xp is not xp:
                return slow(inputs, params)
            x = value.raw
            if x.dtype is not dtype and (
                x.dtype.kind != "i" or len(raw) not in positions
            ):
                return slow(inputs, params)
            raw.append(x)
        saved = tuple(raw)
        try:
            y = copy_if_shared(fwd(xp, *saved, **params), saved)
        except Exception:
            return slow(inputs, params)
        given = [inputs[slot] for slot in slots] if slots else inputs
        edges = [None if value is None else value.edge for value in given]
        if edges.count(None) == len(edges):
            return with_edge(y, xp, None)
        return with_edge(y, xp, cls.create(edges, xp, saved, y, params))

    return call
