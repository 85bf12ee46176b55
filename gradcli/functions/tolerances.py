"""Numbers in a function's own code that make its gradient slightly inexact: an ``eps``,
an ``rtol``, or a literal that is rounded to ten digits.

A number counts if a custom function hands it to an operation on tensors; there another
one can be put in its place.

Invariant: a number explains an error only if both change together when the function is
run with another number in its place.

    explained(call, block, rerun, seconds)      # "which is at the size of eps = 1e-09"
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

from ..answers.callers import outside
from ..check.namespace import setting
from ..engine.modes import MODE
from ..engine.namespace import NumberSystem
from ..engine.tensor import Tensor
from ..ops import Op
from .function_call import Both, FunctionCall

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
that backward does not depend on belongs only to forward."""

LEAST: Final = 1e-13
"""Smallest number for which linearity of backward in it can be tested."""

BENT: Final = 0.01
"""Largest relative distance from a line of something that counts as linear."""

RIGHT: Final = 1e-3
"""Largest share of the error that may remain if another number, or the other sign, is
the right one."""

NEAR: Final = 1e-3
"""Relative distance by which a tolerance is moved, to see whether more than the count
of an iteration's steps depends on it."""

DIGITS: Final = range(6, 15)
"""Numbers of significant digits that a rounded literal may have."""

WITHIN: Final = 0.9
"""Largest error of a rounded or cut literal, in units of its last digit."""

LEFT: Final = 0.05
"""Largest share of the error that rounded literals may leave unexplained."""

MAX_TRIED: Final = 6
"""Largest number of candidates that are tried."""

COMPARISONS: Final = ("__lt__", "__le__", "__gt__", "__ge__")
"""Names of the operators that end an iteration at a tolerance."""

Place = tuple[object, int]
"""Type of a place in a user's code: the code object, and the instruction there."""

Change = Callable[[Any, "FrameType | None"], Any]
"""Type of a function from an operand and the user's frame to what takes its place."""


def explained(
    call: FunctionCall, block: Both, rerun: Callable[[], Both | None],
    seconds: Callable[[], float], linear: bool = True,
) -> str | None:  # fmt: skip
    """Return the number in a function's code that explains a block's error, by its name
    there; None if none does. ``seconds`` returns the time that is left. Unless backward
    is ``linear`` in its cotangents, only the end of an iteration explains that."""
    if not 0 < block.largest_error() <= SMALL:
        return None
    trial = ToleranceTrial(call, block, rerun)
    known = trial.numbers
    if not (linear or trial.loops):
        return None
    least = block.largest_error() / TIMES
    small = sorted(c for c in known if least <= abs(c) <= SMALL)
    for c in small[:MAX_TRIED]:
        if seconds() > 0 and trial.guards(c):
            return f"which is at the size of {trial.words(c)}"
    ends = sorted(c for c in known if abs(c) <= SMALL) if trial.loops else []
    if 1 < len(ends) <= MAX_TRIED and seconds() > 0 and trial.guards(*ends):
        return f"which is at the size of {' and '.join(map(trial.words, ends))}"
    long = [c for c in known if linear and _unit(c)][:MAX_TRIED]
    cut = trial.rounded(long) if long and seconds() > 0 else []
    if cut:
        return f"which is the rounding of {' and '.join(map(trial.words, cut))}"
    return None


class ToleranceTrial:
    """Runs of a function with other numbers in its code.

    numbers  the numbers that custom functions hand to operations, each with the places
             where they do, and the words for it there
    loops    whether a comparison of tensors is made again and again at one place
    """

    def __init__(
        self, call: FunctionCall, block: Both, rerun: Callable[[], Both | None]
    ) -> None:
        self.block, self.rerun = block, rerun
        self.error = block.largest_error()
        self.numbers: dict[float, dict[Place, str]] = {}

        def note(x: Any, frame: FrameType | None) -> Any:
            if isinstance(x, float) and np.isfinite(x) and x != int(x) and frame:
                places = self.numbers.setdefault(float(x), {})
                places.setdefault(place_in(frame), _words(float(x), frame, call))
            return x

        # A loop makes it in one frame, or calls from one what makes it.
        compared = Counter[object]()
        self._with(note, compared)
        self.loops = max(compared.values(), default=0) > 1

    def words(self, c: float) -> str:
        *_, last = self.numbers[c].values()
        return last

    def _with(
        self, change: Change, compared: Counter[object] | None = None
    ) -> Both | None:
        with handing(change, compared=compared):
            try:
                return self.rerun()
            except Exception:
                return None

    def run(self, old: float, new: float, at: Place | None = None) -> Both | None:
        """Return the block of a run with one number replaced, everywhere or at one
        place; None if the run fails."""
        return self._with(replacing(old, new, at))

    def times(self, factor: float, numbers: Sequence[float]) -> Both | None:
        """Return the block of a run with all these numbers multiplied by a factor."""

        def change(x: Any, frame: FrameType | None) -> Any:
            return type(x)(factor * x) if isinstance(x, float) and x in numbers else x

        return self._with(change)

    def guards(self, c: float, *more: float) -> bool:
        """Tell whether an error comes from a number that keeps something from being 0,
        or ends an iteration; with ``more`` numbers, whether all of them end iterations,
        and the error comes of them together.

        The error then falls with the number, and backward changes with it. The number
        is no factor or term, in which backward would be linear, and neither another
        number of the code in its place nor the other sign makes backward right.
        """
        other = self.times(SMALLER, (c, *more))
        if other is None or not other.largest_error() <= FALLEN * self.error:
            return False
        given, gaps = self.block.given, _gaps(self.block)
        least = MOVED * np.abs(gaps).max()
        moves = bool(np.abs(other.given - given).max() >= least)
        ends = self.loops and all(map(self._ends, (c, *more)))
        if more and not ends:
            return False
        if ends:
            # Of an iteration in forward, the derivative of its steps moves.
            return moves or bool(np.abs(other.true - self.block.true).max() >= least)
        if not moves:
            return False
        if abs(c) >= LEAST and self._is_linear(c, other):
            return False
        # A number that is smaller by far lets the error vanish in any case.
        large = abs(c) * max(RIGHT, LEAST / self.error)
        like = [x for x in self.numbers if large < abs(x) <= SMALL and x != c]
        if any(self._is_right(self.run(c, x)) for x in like[:MAX_TRIED]):
            return False
        held = [*self.numbers[c]]
        return len(held) < 2 or not any(
            self._is_right(self.run(c, -c, place)) for place in held[:MAX_TRIED]
        )

    def _ends(self, c: float) -> bool:
        """Tell whether a number only ends an iteration: gradients do not move with it
        as long as the count of steps stays."""
        near = self.run(c, c * (1 + min(1.0, max(NEAR, LEAST / abs(c)))))
        return near is not None and np.array_equal(near.given, self.block.given)

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


def replacing(old: float, new: float, at: Place | None = None) -> Change:
    """Return the change of one number, everywhere or at one place."""

    def change(x: Any, frame: FrameType | None) -> Any:
        if not isinstance(x, float | np.float32) or x != type(x)(old):
            return x
        here = at is None or (frame is not None and place_in(frame) == at)
        return type(x)(new) if here else x

    return change


@contextmanager
def handing(
    change: Change, recorded: bool = False, compared: Counter[object] | None = None
) -> Iterator[None]:
    """Let ``change`` replace what is handed to operations in this block, to those that
    are recorded or, as in custom functions, to those that are not; ``compared`` counts
    comparisons by their places."""

    def whole_row(xp: NumberSystem, op: Op, raw: Any, params: Any) -> Any:
        if MODE.enabled == recorded:
            frame = outside(sys._getframe(1))
            raw = [change(x, frame) for x in raw]
            params = {name: change(x, frame) for name, x in params.items()}
        return op.fwd(xp, *raw, **params)

    def comparing(name: str) -> Any:
        plain = getattr(Tensor, name)

        def compare(x: Tensor, y: Any) -> Any:
            if MODE.enabled == recorded:
                frame = outside(sys._getframe(1))
                if compared is not None and frame is not None:
                    compared[frame, frame.f_lasti] += 1
                    above = frame.f_back, frame.f_back and frame.f_back.f_lasti
                    compared[above, place_in(frame)] += 1
                y = change(y, frame)
            return plain(x, y)

        return compare

    with ExitStack() as stack:
        for name in COMPARISONS:
            stack.enter_context(setting(Tensor, name, comparing(name)))
        stack.enter_context(setting(NumberSystem, "whole_row", whole_row))
        # The fast recorders, which ask no namespace, do not run while one looks.
        stack.enter_context(MODE.having(on_call=(*MODE.on_call, lambda *call: None)))
        yield


def place_in(frame: FrameType) -> Place:
    return frame.f_code, frame.f_lasti


def _words(c: float, frame: FrameType, call: FunctionCall) -> str:
    """Return a number with its name at a place, or with that of the function there."""
    code = frame.f_code
    written = f"{c:g}" if abs(c) <= SMALL else repr(c)
    named = {**{n: frame.f_globals.get(n) for n in code.co_names}, **frame.f_locals}
    same = (n for n, x in named.items() if isinstance(x, float) and x == c)
    name = call.name_of(c) or (None if c in code.co_consts else next(same, None))
    if name is not None:
        return f"{name} = {written}"
    where = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    return f"{written} in {code.co_name} ({where})"


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
