"""Slips: one small fault in a rule of the table, planted while the rule runs.

A rule calls ``xp.name`` and uses operators, and nothing else; so a rule that is handed
wrapped values shows every operator and every sum that it is made of, with its place in
the source, helpers included, and any one of them can be made to slip.

Invariant: a wrapped rule that slips nowhere gives what the rule gives, in every number
system; a slip leaves the shape of what it spoils as it was.

    wrapped(rule, Survey())                             # runs as rule does, and lists
    wrapped(rule, Plant("loss.py:30:12-30:17 mul", "left factor dropped"))
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from gradcli.ops.exact import is_plain

Rule = Callable[..., Any]
Slip = Callable[..., Any]
"""``(xp, true result, *operands)`` -> the wrong result."""
Watch = Callable[[str, FrameType, Any, Any, Any], Any]
"""Told of each step of a rule: what is done, where, in which namespace, what comes out,
and of what; it gives what the rule is to go on with."""


@cache
def place(code: CodeType, offset: int) -> str:
    """Where an expression stands: file, line and column of both its ends."""
    line, last, column, end = list(code.co_positions())[offset // 2]
    return f"{Path(code.co_filename).name}:{line}:{column}-{last}:{end}"


class Survey:
    """Keeps the slips that are possible where a rule comes along."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], None] = {}

    def __call__(
        self, name: str, frame: FrameType, xp: Any, true: Any, operands: Any
    ) -> Any:
        for slip in SLIPS.get(name, ()):
            if tells(name, slip, operands):
                self.found[f"{place(frame.f_code, frame.f_lasti)} {name}", slip] = None
        return true


class Plant:
    """Makes one slip at one place, each time that a rule comes along."""

    def __init__(self, site: str, slip: str) -> None:
        self.site = site
        self.name = site.rpartition(" ")[2]
        self.slip = slip

    def __call__(
        self, name: str, frame: FrameType, xp: Any, true: Any, operands: Any
    ) -> Any:
        here = name == self.name and tells(name, self.slip, operands)
        if here and f"{place(frame.f_code, frame.f_lasti)} {name}" == self.site:
            return SLIPS[name][self.slip](xp, true, *operands)
        return true


def tells(name: str, slip: str, operands: Any) -> bool:
    """Whether a slip can show: not where a 1 is dropped from a product, a 0 from a sum,
    or where a sum has one term."""
    if name in SUMS:
        x, dim = operands
        return any(x.shape[d] != 1 for d in dims_summed(x, dim))
    trivial = 1 if name in ("mul", "truediv") else 0
    lost = {"left": 0, "right": -1}.get(slip.partition(" ")[0])
    return lost is None or not (is_plain(operands[lost]) and operands[lost] == trivial)


def dims_summed(x: Any, dim: Any) -> list[int]:
    if dim is None:
        return list(range(x.ndim))
    return [d % x.ndim for d in (dim if isinstance(dim, tuple | list) else (dim,))]


# Factors that are dropped leave a 1 of their shape behind, terms a 0.


def ones(xp: Any, x: Any) -> Any:
    return 1 if is_plain(x) else xp.ones_like(x)


def zeros(xp: Any, x: Any) -> Any:
    return 0 if is_plain(x) else xp.zeros_like(x)


def first_term(xp: Any, true: Any, x: Any, dim: Any) -> Any:
    """The first term of each sum in place of the sum."""
    for d in dims_summed(x, dim):
        x = xp.narrow(x, d, 0, 1)
    return xp.reshape(x, true.shape)


def first_slice(xp: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """One slice of a cotangent where the sum over a broadcast input is due."""
    lead = len(g.shape) - len(shape)
    for d, n in enumerate(g.shape):
        if d < lead or (shape[d - lead] == 1 and n > 1):
            g = xp.narrow(g, d, 0, 1)
    return xp.reshape(g, shape)


SUMS = ("sum", "mean", "cumsum")
"""Functions of the namespace that add up: their operands are an array and its dims."""

SLIPS: dict[str, dict[str, Slip]] = {
    "mul": {
        "left factor dropped": lambda xp, true, a, b: ones(xp, a) * b,
        "right factor dropped": lambda xp, true, a, b: a * ones(xp, b),
    },
    "truediv": {
        "left factor dropped": lambda xp, true, a, b: ones(xp, a) / b,
        "right factor dropped": lambda xp, true, a, b: a * ones(xp, b),
    },
    "pow": {"a factor dropped": lambda xp, true, a, b: a ** (b - 1)},
    "add": {
        "left term missing": lambda xp, true, a, b: zeros(xp, a) + b,
        "right term missing": lambda xp, true, a, b: a + zeros(xp, b),
        "wrong sign": lambda xp, true, a, b: a - b,
    },
    "sub": {
        "left term missing": lambda xp, true, a, b: zeros(xp, a) - b,
        "right term missing": lambda xp, true, a, b: a - zeros(xp, b),
        "wrong sign": lambda xp, true, a, b: a + b,
    },
    "neg": {"wrong sign": lambda xp, true, a: a},
    "sum": {"missing sum": first_term},
    "mean": {"missing sum": first_term},
    "cumsum": {"missing sum": lambda xp, true, x, dim: x},
}


class Watched:
    """A value of a rule; whoever watches is asked for each result."""

    __slots__ = ("_held", "_watch", "_xp")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, held: Any, xp: Any, watch: Watch) -> None:
        self._held = held
        self._xp = xp
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def __getitem__(self, index: Any) -> Any:
        return Watched(self._held[opened(index)], self._xp, self._watch)

    def __bool__(self) -> bool:
        return bool(self._held)

    def __int__(self) -> int:
        return int(self._held)

    def __float__(self) -> float:
        return float(self._held)

    def __index__(self) -> int:
        return operator.index(self._held)

    def __len__(self) -> int:
        return len(self._held)


def _watching(name: str, reflected: bool) -> Any:
    apply = getattr(operator, name)

    def run(self: Watched, *others: Any) -> Any:
        operands = (self._held, *map(opened, others))
        operands = operands[::-1] if reflected else operands
        true, frame = apply(*operands), sys._getframe(1)
        xp, watch = self._xp, self._watch
        return Watched(watch(name, frame, xp, true, operands), xp, watch)

    return run


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and",
              "or", "xor"):  # fmt: skip
    _known = f"{_name}_" if _name in ("and", "or") else _name
    setattr(Watched, f"__{_name}__", _watching(_known, False))
    setattr(Watched, f"__r{_name}__", _watching(_known, True))
for _name in ("neg", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Watched, f"__{_name}__", _watching(_name, False))


class WatchedSpace:
    """A rule's namespace: it opens what it is given and wraps what it gives."""

    plain = False

    def __init__(self, xp: Any, watch: Watch) -> None:
        self._xp = xp
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        xp, watch = self._xp, self._watch
        found = getattr(xp, name)
        if not callable(found):
            return found

        def run(*args: Any, **params: Any) -> Any:
            given = opened(args)
            result = found(*given, **opened(params))
            if name in SUMS:
                dim = given[1] if len(given) > 1 else params.get("dim")
                operands = given[0], opened(dim)
                result = watch(name, sys._getframe(1), xp, result, operands)
            return closed(result, xp, watch)

        return run


def opened(value: Any) -> Any:
    """What is wrapped, also inside sequences."""
    if isinstance(value, Watched):
        return value._held
    if isinstance(value, tuple | list):
        return type(value)([opened(v) for v in value])
    if isinstance(value, dict):
        return {k: opened(v) for k, v in value.items()}
    return value


def closed(value: Any, xp: Any, watch: Watch) -> Any:
    """The same with all arrays wrapped; numbers, shapes and None as they are."""
    if isinstance(value, tuple | list):
        return type(value)([closed(v, xp, watch) for v in value])
    plain = isinstance(value, bool | str | slice | Watched) or value is None
    return value if plain or is_plain(value) else Watched(value, xp, watch)


def wrapped(rule: Rule, watch: Watch) -> Rule:
    """The rule, watched at every step."""

    def run(xp: Any, *args: Any, **params: Any) -> Any:
        given = [closed(a, xp, watch) for a in args]
        return opened(rule(WatchedSpace(xp, watch), *given, **params))

    return run
