"""Computing a value and its gradient to a given number of certified digits.

The program and the engine's own reverse pass run on balls, whose precision is doubled
until every ball is narrow enough to determine its digits, or the limit is reached.

Invariant: a decimal means what is typed: 0.1 is a tenth. If a constant is known to only
17 digits, the result says so.

    precise(job, {"x": "0.1"}, None, digits=50).output.texts      # ("0.0998334…",)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from flint import arb

from ..engine import Tensor, grad
from ..lang.exactly import ExactFactory, ExactLibrary, exact_code
from ..lang.machine import Machine
from ..lang.parser import parse
from ..ops.records import compared_record
from .balls import LINEAR, NAN, PRODUCTS, Ball, decimal, is_infinite, is_nan, working
from .crossings import WIDE_BITS
from .kinks import MAX_ENTRIES_AT_KINK, OutputFunction
from .namespace import ObjectArray, ObjectNamespace
from .process.job import Job
from .subject import exact_output, objects
from .system import Balls, Number, has_many_digits

BITS_OF_DIGIT: Final = 3.33

SPARE_BITS: Final = 64
"""Number of bits added to those that the wanted digits take."""

MAX_PRECISION_DOUBLINGS: Final = 7


@compared_record
class Numerals:
    """Numbers as text, in C order; ``unsettled``: some have fewer digits than asked."""

    shape: tuple[int, ...]
    texts: tuple[str, ...]
    unsettled: bool


@compared_record
class Precisely:
    """The output and the gradient by each input, or None if no gradient reaches it.

    doubtful  the constants that are known to only 17 digits
    kinked    by input, the entry that has no derivative, and the slopes on its sides
    """

    digits: int
    output: Numerals
    gradients: Mapping[str, Numerals | None]
    doubtful: tuple[float, ...]
    kinked: Mapping[str, str] = field(default_factory=dict)


def precise(
    job: Job, typed: Mapping[str, str], cotangent: str | None, digits: int
) -> Precisely:
    """Return the value and gradients with ``digits`` certified digits, where possible;
    ``typed`` has the texts of values, ``cotangent`` that of the output's, None for
    ones."""
    bits = int(digits * BITS_OF_DIGIT) + SPARE_BITS
    for _ in range(MAX_PRECISION_DOUBLINGS):
        with working(bits):
            found = _Pass(job, typed, cotangent)
        if found.is_sure(digits):
            break
        bits *= 2
    kinked = _kinked(job, typed) if found.system.met else {}
    return replace(found.numerals(digits), kinked=kinked)


def _kinked(job: Job, typed: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs of whose entries one has no derivative, with words for it."""
    with working(WIDE_BITS):
        point = _Pass(job, typed, None, ahead=False).point
    asked = [i for i in job.inputs if i.claim is not None]
    field, found = OutputFunction(job, point), dict[str, str]()
    location = [b for i in asked for b in point[i.name]]
    labels = [(i.name, label) for i in asked for label in i.labels()]
    for at, (name, label) in enumerate(labels[:MAX_ENTRIES_AT_KINK]):
        side = field.side(location, at, (name, label))
        if name not in found and not side.is_smooth:
            found[name] = side.words
    return found


class _Precise(Balls):
    """The number system of balls; it remembers floats that may have had more digits.

    met  whether numbers that are equal, or may be, were compared, or a function that is
         not linear was applied to 0, as `abs` or a power may be
    """

    def __init__(self) -> None:
        super().__init__()
        self.doubtful: dict[float, None] = {}
        self.met = False

    def apply(self, name: str, *elements: Ball) -> Ball:
        if not (self.met or name in LINEAR or name in PRODUCTS):
            self.met = any(e.contains(0) for e in elements)
        return super().apply(name, *elements)

    def side(self, a: Ball, b: Ball) -> int:
        self.met = self.met or bool((a - b).contains(0))
        return super().side(a, b)

    def kink(self, element: Ball, what: str) -> None:
        self.met = True

    def lift(self, number: Number) -> Ball:
        if type(number) is float and has_many_digits(number):
            self.doubtful[number] = None
        return super().lift(number)


class _Pass:
    def __init__(
        self, job: Job, typed: Mapping[str, str], cotangent: str | None,
        ahead: bool = True,
    ) -> None:  # fmt: skip
        self.system = _Precise()
        self.namespace = ObjectNamespace(self.system)
        self.namespace.precise = True
        self.library = ExactLibrary(ExactFactory(self.namespace, "float64", job.seed))
        given = {i.name: self._input(i, typed.get(i.name)) for i in job.inputs}
        self.point = {n: list(t.raw.data.flat) for n, t in given.items()}
        """The numbers of the inputs, by name and in C order."""
        if not ahead:
            return
        output = exact_output(job, given, self.library)
        asked = [i.name for i in job.inputs if i.claim is not None]
        start = None if cotangent is None else Tensor(
            self.namespace.reshape(self._typed(cotangent), output.shape), output.xp
        )  # fmt: skip
        found = grad([output], [given[name] for name in asked], [start])
        raws = [output.raw, *[None if g is None else g.raw for g in found]]
        self.arrays: dict[str | None, Any] = dict(
            zip((None, *asked), raws, strict=True)
        )
        """The gradients by the inputs' names, and the output."""

    def _input(self, given: Any, text: str | None) -> Tensor:
        if text is None or text.lstrip().startswith("@"):
            values = given.value.values()
            decimals = [NAN if v != v else arb(repr(v)) for v in values]
            numbers = objects(decimals, given.value.shape)
            raw: Any = ObjectArray(numbers, self.namespace)
        else:
            raw = self._typed(text)
        return Tensor(raw, self.namespace, given.claim is not None)

    def _typed(self, text: str) -> object:
        """Return the array that a typed VALUE means, with exact decimals."""
        value = Machine(exact_code(parse(text)), {}, self.library).run().value
        if isinstance(value, Tensor):
            return value.raw
        return self.library.factory.raw(self.library.factory.numbers_of(value))

    def is_sure(self, digits: int) -> bool:
        numerals = self._numerals(digits).values()
        open_ = any(each is not None and each.unsettled for each in numerals)
        return not open_ and not self.system.undecided

    def _numerals(self, digits: int) -> dict[str | None, Numerals | None]:
        found: dict[str | None, Numerals | None] = dict.fromkeys(self.arrays)
        for name, array in self.arrays.items():
            if array is not None:
                texts = tuple(_text(b, digits) for b in array.data.flat)
                open_ = not all(_is_sure(b, digits) for b in array.data.flat)
                found[name] = Numerals(array.shape, texts, open_)
        return found

    def numerals(self, digits: int) -> Precisely:
        found: dict[Any, Any] = self._numerals(digits)
        output = found.pop(None)
        return Precisely(digits, output, found, tuple(self.system.doubtful))


def _is_sure(b: Ball, digits: int) -> bool:
    if not b.is_finite():
        return is_nan(b) or is_infinite(b)
    bits = int((digits + 1) * BITS_OF_DIGIT)
    return bool(b.rel_accuracy_bits() >= bits or _is_nothing(b, digits))


def _is_nothing(b: Ball, digits: int) -> bool:
    if not b.is_finite() or not b.contains(0):
        return False
    return bool(b.is_zero() or b.abs_upper() < arb(10) ** -(2 * digits + 20))


def _text(b: Ball, digits: int) -> str:
    if is_nan(b) or not (b.is_finite() or is_infinite(b)):
        return "nan"
    if is_infinite(b):
        return "inf" if b > 0 else "-inf"
    return "0.0" if _is_nothing(b, digits) else decimal(b, digits)
