"""Which of a node's values its reverse rules read: the ones that count as saved.

Invariant: found by reading each rule's code once, never by running it. A value of
which only the shape is asked does not count, nor does one that is read by the rule of
an edge that needs no gradient, nor what a linear row keeps. So ``x * 5.0`` saves
nothing of ``x``, and ``exp`` saves its result, as in PyTorch.

    used_parts((x * w).grad_fn)          # Parts(inputs=(0, 1), output=False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..ops import Op
from .node import ConstantNode, Node

SHAPE_ONLY = ("shape", "ndim")
"""Attributes that can be read without the values."""

VARARGS = 0x04
"""The flag of a code object that takes ``*inputs`` (`inspect.CO_VARARGS`)."""


class Parts(NamedTuple):
    """The slots of the inputs that are read, and whether the output is."""

    inputs: tuple[int, ...]
    output: bool


_read: dict[Any, frozenset[int] | None] = {}


def used_parts(node: Node) -> Parts:
    """What the rules of the node's live edges read."""
    if isinstance(node, ConstantNode):
        return Parts((), False)
    op = node.op
    raw, y = node.restored()
    live = [
        _rule_of(op, slot)
        for slot, edge in zip(node.slots, node.edges, strict=not op.variadic)
        if edge is not None
    ]
    found = _parts([(op.vjp, 2)] if op.variadic else live, len(raw))
    held = tuple(slot for slot in found.inputs if hasattr(raw[slot], "dtype"))
    return Parts(held, found.output and y is not None)


def rules_read(node: Node) -> Parts:
    """What the rules of all edges read, whether they need a gradient or not."""
    if isinstance(node, ConstantNode):
        return Parts((), False)
    op = node.op
    if op.variadic:
        return _parts([(op.vjp, 2)], len(node.edges))
    count = len(op.partials or op.vjp)
    return _parts([_rule_of(op, slot) for slot in range(count)], count)


def _rule_of(op: Op, slot: int) -> tuple[Any, int]:
    """The rule that tells what an input's cotangent is made of, and the place of ``y``.

    A rule that takes its inputs as ``*inputs`` does not tell; beside it the partial,
    from which it is made, does.
    """
    vjp: Any = op.vjp
    if vjp is not None and not (op.partials and _is_open(vjp[slot])):
        return vjp[slot], 2
    assert op.partials is not None
    return op.partials[slot], 1


def _is_open(rule: Any) -> bool:
    return bool(callable(rule) and rule.__code__.co_flags & VARARGS)


def _parts(rules: list[tuple[Any, int]], count: int) -> Parts:
    """Collect over rules; ``before`` is the place of ``y`` among the parameters."""
    inputs: set[int] = set()
    output = False
    for rule, before in rules:
        if not callable(rule):
            continue
        read = _parameters_read(rule)
        if read is None:
            return Parts(tuple(range(count)), True)
        output = output or before in read
        inputs |= {i - before - 1 for i in read if 0 <= i - before - 1 < count}
    return Parts(tuple(sorted(inputs)), output)


def _parameters_read(rule: Callable[..., Any]) -> frozenset[int] | None:
    """The places of the parameters whose values a rule reads; None: it may be any."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_flags & VARARGS:
        return None
    if code not in _read:
        _read[code] = _loaded(code)
    return _read[code]


def _loaded(code: Any) -> frozenset[int]:
    from dis import get_instructions

    names = code.co_varnames[: code.co_argcount]
    loaded = {name for name in names if name in code.co_cellvars}
    steps = list(get_instructions(code))
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not step.opname.startswith("LOAD_FAST"):
            continue
        asked = following is not None and following.opname == "LOAD_ATTR"
        shape_only = asked and following.argval in SHAPE_ONLY  # type: ignore[union-attr]
        values = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        loaded |= set(values[:-1] if shape_only else values)
    return frozenset(i for i, name in enumerate(names) if name in loaded)
