"""A value and its gradient with as many digits as are asked for.

The program and the engine's own reverse pass run on mpmath's numbers, twice, with
different precisions; a digit is shown if both agree on it.

Invariant: a decimal means what is typed, 0.1 a tenth; where a number is known to 17
digits only, the result says so.

    precise("sin(x)", {"x": "0.1"}, {...}, digits=50).output      # ["0.0998334…"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..engine import Tensor, grad
from ..lang.code import Code
from ..lang.machine import run as run_code
from ..lang.parser import parse
from ..lang.run import output_of
from ..numbers.arrays import ObjectArray, boxed
from ..numbers.exactly import Precise, PreciseLibrary, PreciseNamespace, with_decimals
from ..numbers.precision import context_of
from .process.job import Job

GUARD: Final = 20
HARDEST: Final = 8
"""How many times the digits asked for may be worked with before giving up."""

_NUMBER: Final = re.compile(r"\s*[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_LIST: Final = re.compile(r"\s*\[[-+0-9.eE,\[\]\s]*\]\s*")


@dataclass(frozen=True, slots=True)
class Numerals:
    """Numbers as text, in C order; ``unsettled``: of some, fewer digits are known."""

    shape: tuple[int, ...]
    texts: tuple[str, ...]
    unsettled: bool


@dataclass(frozen=True, slots=True)
class Precisely:
    """The output and the gradient by each input; None where none arrives.

    ``doubtful`` are constants that were known to 17 digits only.
    """

    digits: int
    output: Numerals
    gradients: Mapping[str, Numerals | None]
    doubtful: tuple[float, ...]


def precise(
    job: Job, typed: Mapping[str, str], cotangent: str | None, digits: int
) -> Precisely:
    """Compute with more and more digits until ``digits`` of them stand.

    Args:
        job: the program and its inputs as floats.
        typed: the text that an input's value was given by, where it has one.
        cotangent: the text of the output's cotangent.
        digits: how many are wanted.
    """
    work = digits + GUARD
    while True:
        before = _Pass(job, typed, cotangent, work)
        after = _Pass(job, typed, cotangent, work + work // 8 + GUARD)
        if after.settles(before, digits) or work > HARDEST * (digits + GUARD):
            return after.told(before, digits)
        work *= 2


class _Pass:
    """The program and its reverse pass with one precision."""

    def __init__(
        self, job: Job, typed: Mapping[str, str], cotangent: str | None, work: int
    ) -> None:
        self.context = context_of(work)
        self.system = Precise(self.context)
        self.namespace = PreciseNamespace(self.system)
        self.library = PreciseLibrary(self.namespace, job.seed)
        given = {i.name: self._input(i, typed.get(i.name)) for i in job.inputs}
        code = self._code(job.source, given)
        with np.errstate(all="ignore"):
            result = run_code(code, given, self.library)
        output = output_of(result, job.of, code, self.library.home)[0]
        asked = [i.name for i in job.inputs if i.claim is not None]
        start = None if cotangent is None else Tensor(
            self.namespace.reshape(self._typed(cotangent), output.shape), output.xp
        )  # fmt: skip
        found = grad([output], [given[name] for name in asked], [start])
        self.output = output.raw
        raw = [None if g is None else g.raw for g in found]
        self.gradients = dict(zip(asked, raw, strict=True))

    def _code(self, source: str, names: Mapping[str, Any]) -> Code:
        program = parse(source, names)
        return with_decimals(program, self.context)

    def _input(self, given: Any, text: str | None) -> Tensor:
        if text is None or text.lstrip().startswith("@"):
            shown = [repr(v) for v in given.value.values()]
            raw = self.namespace.reshape(self._of(shown), given.value.shape)
        else:
            raw = self._typed(text)
        return Tensor(raw, self.namespace, given.claim is not None)

    def _typed(self, text: str) -> Any:
        """The array that a VALUE means, every decimal as it is written."""
        if _NUMBER.fullmatch(text):
            return self._of(self.context.mpf(text.strip().replace("_", "")))
        if _LIST.fullmatch(text):
            try:
                return self._of(json.loads(text, parse_int=str, parse_float=str))
            except ValueError:
                # Python's spelling of a list, as [.5,], is left to the language.
                pass
        value = run_code(self._code(text, {}), {}, self.library).value
        if isinstance(value, Tensor):
            return value.raw
        return self.library.home.raw(self.library.home.numbers_of(value))

    def _of(self, value: Any) -> ObjectArray:
        array = np.array(value, dtype=object)
        numbers = np.empty(array.shape, dtype=object)
        flat = [self.context.mpf(v) for v in array.reshape(-1).tolist()]
        numbers.reshape(-1)[:] = flat
        return ObjectArray(boxed(numbers), self.namespace)

    def _arrays(self) -> list[Any]:
        return [self.output, *[g for g in self.gradients.values() if g is not None]]

    def settles(self, before: _Pass, digits: int) -> bool:
        return all(
            _agree(a, b, digits)
            for one, other in zip(self._arrays(), before._arrays(), strict=True)
            for a, b in zip(one.data.flat, other.data.flat, strict=True)
        )

    def told(self, before: _Pass, digits: int) -> Precisely:
        def numerals(now: Any, then: Any) -> Numerals | None:
            if now is None:
                return None
            pairs = list(zip(now.data.flat, then.data.flat, strict=True))
            texts = tuple(_text(a, b, digits) for a, b in pairs)
            known = all(_agree(a, b, digits) for a, b in pairs)
            return Numerals(now.shape, texts, not known)

        output = numerals(self.output, before.output)
        assert output is not None
        return Precisely(
            digits,
            output,
            {n: numerals(g, before.gradients[n]) for n, g in self.gradients.items()},
            tuple(self.system.doubtful),
        )


def _agree(a: Any, b: Any, digits: int) -> bool:
    """Whether two passes agree on so many digits; of a zero that rounding blurs, each
    has less left than the one before."""
    m = a.context
    if not (m.isfinite(a) and m.isfinite(b)):
        return bool(a == b or (m.isnan(a) and m.isnan(b)))
    if abs(a - b) <= m.mpf(10) ** -(digits + 1) * abs(a):
        return True
    return _fades(a, b, digits)


def _fades(a: Any, b: Any, digits: int) -> bool:
    """Whether what is left is rounding: it shrinks by the digits that were added."""
    m = a.context
    far = m.mpf(10) ** -GUARD
    return bool(abs(a) <= abs(b) * far and abs(b) <= m.mpf(10) ** -digits)


def _text(a: Any, b: Any, digits: int) -> str:
    m = a.context
    if m.isnan(a):
        return "nan"
    if m.isinf(a):
        return "inf" if a > 0 else "-inf"
    if _fades(a, b, digits):
        return "0.0"
    return str(m.nstr(a, digits, min_fixed=-5, max_fixed=max(digits, 16)))


def nested(numerals: Numerals) -> Any:
    """The texts in the shape of the array."""
    level: list[Any] = list(numerals.texts)
    for size in reversed(numerals.shape):
        starts = range(0, len(level), size) if size else ()
        level = [level[start : start + size] for start in starts]
    return level[0] if level else []
