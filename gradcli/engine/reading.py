"""Which values the reverse rules of a row read: the ones that count as saved.

Invariant: found by reading each rule's code once, never by running it. A value of
which only the shape is asked does not count.

    reading_slots(OPS["exp"])           # (True,): its rule reads the result
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ..ops import Op
from .rules import reverse_rules

SHAPE_ONLY = ("shape", "ndim")
"""Attributes that can be read without the values."""

VARARGS = 0x04
"""The flag of a code object that takes ``*inputs`` (`inspect.CO_VARARGS`)."""


class Parts(NamedTuple):
    """The slots of the inputs that are read, and whether the output is.

    Where there are several outputs, ``some`` are the numbers of those that are read;
    None: all of them may be.
    """

    inputs: tuple[int, ...]
    output: bool
    some: frozenset[int] | None = None

    def reads(self, nr: int) -> bool:
        """Whether output number ``nr`` is read."""
        return self.output and (self.some is None or nr in self.some)


NOTHING = Parts((), False)

Reading: TypeAlias = "dict[int, frozenset[int] | None]"
"""Of a rule's parameters, by place, the constant subscripts that are read of their
values; None: the whole."""

_read: dict[Any, Reading | None] = {}


def reading_slots(op: Op) -> tuple[bool, ...]:
    """Per edge whether its rule reads a value, or all do since the row says so."""
    if op.variadic or op.saves is not None:
        return (op.saves is not False,)
    rules: Any = op.partials or op.vjp
    found = [parts_of([rule_of(op, slot)], len(rules)) for slot in range(len(rules))]
    return tuple([
        bool(parts.inputs) or parts.output
        for parts, rule in zip(found, reverse_rules(op), strict=True)
        if rule is not None
    ])  # fmt: skip


def rule_of(op: Op, slot: int) -> tuple[Any, int]:
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


def parts_of(rules: list[tuple[Any, int]], count: int) -> Parts:
    """Collect over rules; ``before`` is the place of ``y`` among the parameters."""
    inputs: set[int] = set()
    outputs: list[frozenset[int] | None] = []
    for rule, before in rules:
        if not callable(rule):
            continue
        read = _parameters_read(rule)
        if read is None:
            return Parts(tuple(range(count)), True)
        if before in read:
            outputs.append(read[before])
        inputs |= {i - before - 1 for i in read if 0 <= i - before - 1 < count}
    known = [some for some in outputs if some is not None]
    some = frozenset().union(*known) if len(known) == len(outputs) else None
    return Parts(tuple(sorted(inputs)), bool(outputs), some)


def _parameters_read(rule: Callable[..., Any]) -> Reading | None:
    """The parameters whose values a rule reads; None: it may be any."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_flags & VARARGS:
        return None
    if code not in _read:
        _read[code] = _loaded(code)
    return _read[code]


def _loaded(code: Any) -> Reading:
    from dis import get_instructions

    names = code.co_varnames[: code.co_argcount]
    found: dict[str, frozenset[int] | None] = {
        name: None for name in names if name in code.co_cellvars
    }
    steps = list(get_instructions(code))
    for place, step in enumerate(steps):
        if not step.opname.startswith("LOAD_FAST"):
            continue
        *whole, last = step.argval if isinstance(step.argval, tuple) else [step.argval]
        found.update(dict.fromkeys(whole))
        following = steps[place + 1 : place + 3]
        if following[0].opname == "LOAD_ATTR" and following[0].argval in SHAPE_ONLY:
            continue
        before = found.get(last, frozenset())
        at = _subscript(following)
        found[last] = None if before is None or at is None else before | {at}
    return {i: found[name] for i, name in enumerate(names) if name in found}


def _subscript(following: list[Any]) -> int | None:
    """The constant by which two instructions subscript what was loaded before them."""
    constant, operation = following[0], following[-1]
    fixed = constant.opname.startswith("LOAD_") and isinstance(constant.argval, int)
    is_subscript = operation.opname == "BINARY_SUBSCR" or operation.argrepr == "[]"
    return constant.argval if fixed and is_subscript else None
