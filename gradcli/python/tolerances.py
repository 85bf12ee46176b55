"""Numbers in a function's own code that make its gradient slightly inexact: an ``eps``,
an ``rtol``, or a literal that is rounded to ten digits.

Invariant: a number explains an error only if both change together when the function is
run with another number in its place.

    explained(call, block, rerun, seconds)      # "rtol = 1e-09"
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from sysconfig import get_paths
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from ..autograd.function import Function, FunctionNode
from ..engine.queries import finfo
from ..engine.walk import inputs_first
from ..nn.module import Module
from .function_call import Both, Call
from .user_lines import is_ours

SMALL: Final = 1e-3
"""Largest number that may be a tolerance."""

MOST: Final = 1e-6
"""Largest error, relative to the largest entry, that a number in the code can explain;
a larger one is a mistake."""

TIMES: Final = 100.0
"""Largest ratio of an error to the tolerance that causes it."""

SMALLER: Final = 0.01
"""Factor by which a tolerance is reduced, to see whether the error falls as
well."""

FALLEN: Final = 0.25
"""Largest share of the error that may remain with the reduced tolerance."""

MOVED: Final = 0.1
"""Smallest share of the error by which backward must change with the number; a number
that backward does not depend on belongs to forward alone."""

LEAST: Final = 1e-13
"""Smallest number for which linearity of backward in it can be tested."""

BENT: Final = 0.01
"""Largest relative distance from a line of something that counts as linear."""

RIGHT: Final = 1e-3
"""Largest share of the error that may remain if another number, or the other sign, is
the right one."""

DIGITS: Final = range(6, 15)
"""Numbers of significant digits that a rounded literal may have."""

WITHIN: Final = 0.9
"""Largest error of a rounded or cut literal, in units of its last digit."""

LEFT: Final = 0.05
"""Largest share of the error that rounded literals may leave unexplained."""

MAX_TRIED: Final = 6
"""Largest number of candidates that are tried."""

MAX_FUNCTIONS: Final = 300
"""Largest number of functions whose code is searched."""


@dataclass(frozen=True, slots=True)
class Place:
    """A number or other value in the code; ``write`` puts another value there."""

    value: object
    text: str
    write: Callable[[Any], None]


_STDLIB = get_paths()["stdlib"]


def explained(
    call: Call, block: Both, rerun: Callable[[], Both | None],
    seconds: Callable[[], float],
) -> str | None:  # fmt: skip
    """Return the number in a function's code that explains an error, by its name there;
    None if none does.

    Args:
        block: the block of the input in question.
        rerun: a function that computes it anew, with the code as it then is, or fails.
        seconds: a function that returns the time that is left.
    """
    error = block.largest_error()
    if not 0 < error <= SMALL:
        return None
    places = list(_inside(call))
    numbers: dict[float, str] = {}
    for place in places:
        for c in _numbers(place.value):
            written = f"{c:g}" if abs(c) <= SMALL else repr(c)
            numbers.setdefault(c, place.text.format(written))
    small = sorted(c for c in numbers if abs(c) <= SMALL and TIMES * abs(c) >= error)
    trial = Trial(block, places, rerun, error)
    for c in small[:MAX_TRIED]:
        if seconds() > 0 and trial.guards(c, numbers):
            return f"which is at the size of {numbers[c]}"
    long = [c for c in numbers if _unit(c)][:MAX_TRIED]
    cut = trial.rounded(long) if long and seconds() > 0 else []
    if cut:
        return f"which is the rounding of {' and '.join(numbers[c] for c in cut)}"
    return None


@dataclass(frozen=True, slots=True)
class Trial:
    """Runs of a function with changed numbers in its code."""

    block: Both
    places: Sequence[Place]
    rerun: Callable[[], Both | None]
    error: float

    def run(self, old: float, new: float, at: Place | None = None) -> Both | None:
        """Return the block of a run with one number replaced, everywhere or at one
        place; None if the run fails."""
        with ExitStack() as stack:
            for place in self.places if at is None else [at]:
                if old in _numbers(place.value):
                    stack.callback(place.write, place.value)
                    place.write(_other(place.value, old, new))
            try:
                return self.rerun()
            except Exception:
                return None

    def guards(self, c: float, others: Iterable[float]) -> bool:
        """Tell whether an error comes from a number that keeps something from being 0,
        or ends an iteration.

        The error then falls with the number, and backward changes with it. The number
        is no factor or term, in which backward would be linear, and neither another
        number of the code in its place nor the other sign makes backward right.
        """
        other = self.run(c, SMALLER * c)
        if other is None or not other.largest_error() <= FALLEN * self.error:
            return False
        given, gaps = self.block.given, _gaps(self.block)
        if not np.abs(other.given - given).max() >= MOVED * np.abs(gaps).max():
            return False
        if abs(c) >= LEAST and self._is_linear(c, other):
            return False
        # A number that is smaller by far lets the error vanish in any case.
        large = abs(c) * max(RIGHT, LEAST / self.error)
        like = [x for x in others if large < abs(x) <= SMALL and x != c]
        for d in like[:MAX_TRIED]:
            if self._is_right(self.run(c, d)):
                return False
        held = [place for place in self.places if c in _numbers(place.value)]
        return len(held) < 2 or not any(
            self._is_right(self.run(c, -c, place)) for place in held[:MAX_TRIED]
        )

    def _is_right(self, found: Both | None) -> bool:
        return found is not None and found.largest_error() <= RIGHT * self.error

    def _is_linear(self, c: float, smaller: Both) -> bool:
        """Tell whether the gradients of backward are linear in a number."""
        far = self.run(c, 1.0)
        if far is None:
            return False
        ratio = (1.0 - c) / (c - SMALLER * c)
        moved = far.given - self.block.given
        told = (self.block.given - smaller.given) * ratio
        return bool(np.abs(moved - told).max() <= BENT * np.abs(moved).max())

    def rounded(self, long: Sequence[float]) -> list[float]:
        """Return the literals whose rounding explains the error; none if unclear."""
        gaps = _gaps(self.block)
        columns = []
        for c in long:
            other = self.run(c, c + _unit(c))
            if other is None:
                return []
            columns.append(_gaps(other) - gaps)
        moves = np.array(columns).T
        if not np.isfinite(moves).all():
            return []
        units = np.linalg.lstsq(moves, -gaps, rcond=1e-6)[0]
        left = np.abs(gaps + moves @ units).max()
        if (np.abs(units) > WITHIN).any() or left > LEFT * np.abs(gaps).max():
            return []
        parts = np.abs(moves * units).max(axis=0)
        least = LEFT * np.abs(gaps).max()
        return [c for c, each in zip(long, parts, strict=True) if each >= least]


def _gaps(block: Both) -> Any:
    return (block.given - block.true).ravel()


def _unit(number: float) -> float:
    """Return a unit in the last digit of a literal that looks rounded, else 0."""
    if abs(number) <= SMALL or number == int(number):
        return 0.0
    written = Decimal(repr(number)).normalize()
    parts = written.as_tuple()
    if len(parts.digits) not in DIGITS:
        return 0.0
    return float(Decimal(1).scaleb(int(parts.exponent)))


def _other(value: Any, old: float, new: float) -> Any:
    """Return a value with one number replaced, also inside tuples, lists and dicts."""
    if isinstance(value, float):
        return new if value == old else value
    if isinstance(value, Mapping):
        return {k: _other(v, old, new) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return type(value)([_other(v, old, new) for v in value])
    return value


def _numbers(value: object) -> Iterator[float]:
    """Yield the finite floats in a value that are not integers, also inside tuples,
    lists and dicts."""
    if isinstance(value, float) and np.isfinite(value) and value != int(value):
        yield value
    elif type(value) in (tuple, list):
        for each in value:  # type: ignore[attr-defined]
            yield from _numbers(each)
    elif type(value) is dict:
        yield from _numbers(list(value.values()))


def _inside(call: Call) -> Iterator[Place]:
    """Yield the values in a call's arguments and in the code that it reaches."""
    for type_ in {slot.given.dtype.name for slot in call.slots}:
        eps = float(np.finfo(type_).eps)
        yield Place(eps, "finfo.eps = {}", partial(_write_eps, eps))
    for nr, (name, value) in enumerate(zip(call.names, call.arguments, strict=False)):
        yield Place(value, f"{name} = {{}}", partial(call.arguments.__setitem__, nr))
    waiting: list[Any] = [*_applied(call), call.function]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_FUNCTIONS:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, partial):
            waiting.append(each.func)
            yield from _called(each.keywords)
        elif isinstance(each, type) and issubclass(each, Function | Module):
            for cls in filter(_is_users, each.__mro__):
                for name, value in vars(cls).items():
                    yield Place(value, f"{name} = {{}}", partial(setattr, cls, name))
                    waiting.append(getattr(each, name))
        elif isinstance(each, Module):
            yield from _called(vars(each))
            waiting += [type(each), *vars(each).values(), *each.children()]
        elif hasattr(each, "__func__"):
            waiting += [each.__func__, each.__self__]
        elif isinstance(each, FunctionType) and _is_users(each):
            yield from _of_function(each)
            waiting += _named_in(each)


def _write_eps(own: float, value: float) -> None:
    """Let `finfo` give another distance from 1 to the next number, or its own."""
    finfo.replaced = {} if value == own else {"eps": value}


def _applied(call: Call) -> Iterator[type[Function]]:
    """Yield the custom functions that a run of a call applies."""
    roots = [y.edge for y in call.outputs(call.leaves()) if y.edge is not None]
    for edge in inputs_first(roots):
        if isinstance(edge, FunctionNode):
            yield edge.made_by


def _called(held: dict[str, Any]) -> Iterator[Place]:
    """Yield the values of a dict as places, named by their keys."""
    for name, value in list(held.items()):
        yield Place(value, f"{name} = {{}}", partial(held.__setitem__, name))


def _is_users(each: Any) -> bool:
    """Tell whether a function or class is from a user's file or an installed one."""
    module = sys.modules.get(each.__module__ or "")
    code = getattr(each, "__code__", None)
    file = code.co_filename if code else getattr(module, "__file__", None)
    if file is None:
        return each.__module__ not in sys.builtin_module_names
    return not is_ours(file) and not (
        file.startswith(_STDLIB) and "site-packages" not in file
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions defined in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _of_function(function: FunctionType) -> Iterator[Place]:
    """Yield a function's literals, defaults, closure values and globals as places."""
    code = function.__code__
    given = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    for nr, name in enumerate(given[len(given) - len(defaults) :]):

        def write(value: Any, nr: int = nr) -> None:
            now = list(function.__defaults__ or ())
            now[nr] = value
            function.__defaults__ = tuple(now)

        yield Place(defaults[nr], f"{name} = {{}}", write)
    yield from _called(function.__kwdefaults__ or {})
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        put = partial(setattr, cell, "cell_contents")
        yield Place(cell.cell_contents, f"{name} = {{}}", put)
    known = function.__globals__
    for each in _codes(code):
        where = f"{Path(each.co_filename).name}:{each.co_firstlineno}"
        for constant in _numbers(each.co_consts):
            text = f"{{}} in {each.co_name} ({where})"
            yield Place(constant, text, partial(_write_literal, function, constant, []))
        for name in each.co_names:
            if name in known:
                put = partial(known.__setitem__, name)
                yield Place(known[name], f"{name} = {{}}", put)


def _write_literal(
    function: FunctionType, constant: float, kept: list[CodeType], value: float
) -> None:
    """Replace a literal of a function, or restore the code for its own value."""
    if value == constant:
        function.__code__ = kept.pop()
        return
    kept.append(function.__code__)
    function.__code__ = _recoded(function.__code__, constant, value)


def _recoded(code: CodeType, old: float, new: float) -> CodeType:
    """Return a code object with one number replaced, also in functions inside it."""
    consts = [
        _recoded(each, old, new)
        if isinstance(each, CodeType)
        else _other(each, old, new)
        for each in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))


def _named_in(function: FunctionType) -> Iterator[Any]:
    """Yield the objects that a function's code names, also inside modules."""
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [function.__globals__.get(name) for name in names]
    yield from held
    for module in held:
        if isinstance(module, ModuleType):
            yield from (getattr(module, name, None) for name in names)
