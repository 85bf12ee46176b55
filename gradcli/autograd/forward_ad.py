"""Forward mode beside the program: tensors that carry a tangent.

Invariant: while a level is open, each operation pushes the tangents of its inputs to
its outputs by the same rules as `gradcli.engine.forward`, whether it is recorded or
not; a tangent is recorded where its operands are. Closing the level drops all tangents.

    with dual_level():
        x = make_dual(primal, tangent)
        y = x * x
        unpack_dual(y).tangent           # 2 * primal * tangent
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..engine.changes import positions
from ..engine.errors import GradError
from ..engine.forward import NESTED, demand_fit, push
from ..engine.modes import MODE, set_grad_enabled
from ..engine.node import Node, differentiable_slots
from ..engine.record import call, recorder
from ..engine.tensor import (
    TANGENT,
    Tensor,
    base_of,
    lifted,
    live_views,
    raw_of,
    tangent_of,
    zeros_for,
)

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
__dir__ = __all__.copy


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent, None for a constant."""

    primal: Tensor
    tangent: Tensor | None


class _Level:
    """A level; a tangent belongs to the one it was made in, as long as it is open.

    ``saved`` holds per node the tangents of its inputs, by slot, and of its outputs: a
    reverse pass inside the level needs them with the values that the node saved.
    """

    open = True

    def __init__(self) -> None:
        self.saved: WeakKeyDictionary[Node, tuple[dict[int, Any], list[Any]]]
        self.saved = WeakKeyDictionary()


class _Dual(NamedTuple):
    """The tangent of a tensor; ``made`` by `make_dual`, not by an operation."""

    level: _Level
    tangent: Tensor
    made: bool = False


_LEVELS: list[_Level] = []


def enter_dual_level() -> int:
    """Open the level; return its number, 0.

    Raises:
        GradError: it is open already.
    """
    if _LEVELS:
        raise GradError(NESTED)
    _LEVELS.append(_Level())
    _push_tangents(True)
    MODE.rebuild = _with_tangents
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; tensors lose their tangents.

    Raises:
        GradError: none is open, or it is another one.
    """
    if not _LEVELS or level not in (None, 0):
        raise GradError("this level is not open")
    _LEVELS.pop().open = False
    MODE.rebuild = None
    _push_tangents(False)


def _push_tangents(wanted: bool) -> None:
    """Observe operations and changes in place, to push tangents, or no longer."""
    MODE.observe("on_call", _propagate, wanted)
    MODE.observe("on_change", follow, wanted)


@contextmanager
def dual_level() -> Iterator[int]:
    """Open a level for the ``with`` block; give its number."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


@contextmanager
def suspended() -> Iterator[None]:
    """Run a block in which no tangents are pushed."""
    pushed = _propagate in MODE.on_call
    _push_tangents(False)
    try:
        yield
    finally:
        _push_tangents(pushed)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Attach a tangent to a tensor, for the level that is open.

    Args:
        tensor: the primal, of floats.
        tangent: of its shape.
        level: accepted; one level can be open.

    Returns:
        A view of the tensor that carries the tangent; what is computed of it does too.

    Raises:
        GradError: no level is open, the shapes differ, or either carries a tangent.
        ValueError: the tensor or the tangent does not hold floats.
    """
    if not _LEVELS or any(tangent_of(t) is not None for t in (tensor, tangent)):
        raise GradError(
            "a dual tensor is made inside of dual_level(), of a tensor and a tangent "
            "that carry no tangents themselves"
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not _holds_floats(t):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {t.dtype}"
            )
    demand_fit(tensor, tangent)
    with suspended():
        dual: Tensor = call("alias", tensor)
    _carry(dual, tangent, made=True)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Separate a tensor from the tangent that it carries.

    Returns:
        ``(primal, tangent)``, of one shape; the second is None if it carries none.
    """
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    with suspended():
        return UnpackedDualTensor(call("alias", tensor), tangent)


def _holds_floats(tensor: Tensor) -> bool:
    return tensor.raw.dtype.kind in "fO"


def _carry(tensor: Tensor, tangent: Tensor | None, made: bool = False) -> None:
    if tangent is not None:
        tensor.__dict__[TANGENT] = _Dual(_LEVELS[-1], tangent, made)


def _was_made(tensor: Tensor) -> bool:
    dual = tensor.__dict__.get(TANGENT)
    return dual is not None and dual.level.open and dual.made


def _propagate(op: Any, inputs: Any, params: object, raw: object, out: object) -> None:
    """Push the tangents of an operation's inputs to its outputs."""
    if op.node is None:
        return
    chosen = inputs if op.variadic else [inputs[i] for i in differentiable_slots(op)]
    tangents = [tangent_of(x) for x in chosen]
    if all(t is None for t in tangents):
        return
    outputs = out if isinstance(out, tuple) else (out,)
    node = outputs[0].grad_fn
    if node is None:
        parts = tuple(part.raw for part in outputs)
        y = parts if isinstance(out, tuple) else parts[0]
        edges = (None,) * len(chosen)
        node = recorder(op).cls.made(edges, outputs[0].xp, raw, y, params)
    push_node(node, chosen, tangents, out)
    if outputs[0].grad_fn is node:
        of_inputs = {slot: tangent_of(x) for slot, x in enumerate(inputs)}
        _LEVELS[-1].saved[node] = of_inputs, [tangent_of(y) for y in outputs]


def _with_tangents(node: Node, inputs: Sequence[object], outputs: object) -> None:
    """Attach to a node's saved values the tangents that they had."""
    if node not in _LEVELS[-1].saved:
        return
    of_inputs, of_outputs = _LEVELS[-1].saved[node]
    for slot, x in enumerate(inputs):
        if isinstance(x, Tensor):
            _carry(x, of_inputs.get(slot))
    parts = outputs if isinstance(outputs, tuple) else (outputs,)
    for y, t in zip(parts, of_outputs, strict=True):
        if isinstance(y, Tensor):
            _carry(y, t)


def follow(t: Tensor, result: Tensor) -> None:
    """Give a tensor changed in place, its base and its views the new tangent.

    A base without a tangent of which duals were made stays without one.
    """
    base, fresh = base_of(t), tangent_of(result)
    views = live_views(base)
    made = [view for view in views if _was_made(view)]
    known = [tangent_of(each) for each in (base, t, *made)]
    if fresh is None and all(tangent is None for tangent in known):
        return
    recorded = any(x is not None and x.edge is not None for x in (fresh, *known))
    with suspended(), set_grad_enabled(MODE.enabled and recorded):
        whole = zeros_for(base) if known[0] is None else known[0]
        for part in made:
            whole = _written(whole, base, part, tangent_of(part))
        whole = _written(whole, base, t, fresh)
        if known[0] is not None or not made:
            _carry(base, whole)
        for view in views:
            if not made or tangent_of(view) is not None:
                at = positions(base, view)
                seen = call("as_strided.positions", whole, at)
                _carry(view, seen, _was_made(view))


def _written(
    whole: Tensor, base: Tensor, part: Tensor, tangent: Tensor | None
) -> Tensor:
    """Write the tangent of a part into the tangent of its base."""
    fresh = zeros_for(part) if tangent is None else tangent
    if part is base:
        return fresh
    found: Tensor = call("copy_slices.positions", whole, fresh, positions(base, part))
    return found


def push_node(
    node: Node, inputs: Sequence[object], tangents: Sequence[Tensor | None], out: object
) -> None:
    """Push the tangents of a node's inputs to its outputs."""
    known = [*inputs, *tangents]
    recorded = MODE.enabled and any(
        isinstance(t, Tensor) and t.edge is not None for t in known
    )
    given = list(tangents) if recorded else [raw_of(t) for t in tangents]
    with suspended(), set_grad_enabled(recorded):
        pushed = push(node, given, recorded)
    outputs = out if isinstance(out, tuple) else (out,)
    pushed = pushed if isinstance(pushed, tuple) else (pushed,)
    for output, t in zip(outputs, pushed, strict=False):
        if t is not None and isinstance(output, Tensor) and _holds_floats(output):
            _carry(output, lifted(t, output.xp))
