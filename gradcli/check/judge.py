"""Verdicts on one float compared with the true number, on the numbers of a claim, and
on a whole input.

The true number is a ball. Rounding explains an error only if the engine's own rules,
run on balls, give the true number; running error analysis of the engine's steps then
bounds how large a rounding error can be.

Invariant: a `certified` number has an error with a proven bound, and as many digits as
`DIGITS` asks of its type; a `refuted` one has an error beyond what rounding explains,
or a rule that is wrong. An entry's verdict rests only on what was done for that entry;
an input's verdict is that of its weakest entry.

    judge(0.877, Reference(true, rule, step), roundings, size=1.0).verdict
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import floor, isfinite, isinf, isnan, log10
from random import Random
from typing import Any, Final

import numpy as np

from ..engine.raw import Host
from ..lang.nested import bracketed
from ..ops.records import compared_record
from .balls import ZERO, Ball, ball, close, is_known, size, text, to_float, working
from .graph import ACCURATE_BITS, Evaluation, is_nothing
from .process.job import (
    CERTIFIED,
    MAX_FORM_CHARACTERS,
    PROVED,
    RAN_OUT,
    REFUTED,
    ROUNDED,
    SAMPLED,
    UNKNOWN,
    InputVerdict,
    JobInput,
    entry_name,
    weakest,
)
from .rounding import (
    BITS,
    LEAST_POWERS,
    LOST_RELATIVE_ERROR,
    MAX_POWERS,
    Roundings,
    least_normal,
)
from .subject import Place

DIGITS: Final = {"float64": 6, "float32": 3, "float16": 1}
"""Number of correct digits that a certified float must have, by its type."""

NEAR_UNITS: Final = 64
"""Largest error, in units of rounding, that is accepted without an analysis."""

FEW_UNITS: Final = 1024
"""Largest error, in units of rounding, that is accepted if no rule runs on balls."""

FAIR: Final = 16
"""Factor by which an error may exceed its estimate."""

CONSTANT_UNITS: Final = 8
"""Largest distance, in units of float64's rounding, of a rule's number from the true
one that comes of the rule's own constants or series; also the largest error of a number
that a Python program computed."""

LAST_STEPS: Final = 4
"""Number of steps between a type's smallest floats that count as rounding."""

START: Final = 96
"""Precision, in bits, of comparisons of balls with floats."""


@compared_record
class Reference:
    """A true number, and the number that the engine's rules give for it.

    rule  the ball that the rules give; None: they do not run on balls
    step  the step that the rules give, or the program's own step for a value
    lone  whether the rules use finite numbers alone, so that a NaN is the rules' own
    growth  the factor by which the rounding of a constant exponent is magnified in the
            rules' number; 0 if they have no such power
    moved  the distance by which roundings of numbers that a Python program computed
           move the rules' number from the true one
    """

    true: Ball
    rule: Ball | None = None
    step: int | None = None
    lone: bool = False
    growth: float = 0.0
    moved: Ball = ZERO


@dataclass(slots=True, kw_only=True)
class Finding:
    """A verdict on one number, with bounds of its error.

    error   a bound of the relative error; None if the true number is 0
    ulps    a bound of the error in units in the last place
    absolute  a bound of the absolute error, if the true number is 0
    digits  the number of correct digits, if there are fewer than there should be
    """

    verdict: str = UNKNOWN
    error: float | None = None
    ulps: float | None = None
    absolute: float | None = None
    digits: int | None = None
    reason: str | None = None


def judge(
    number: float, reference: Reference, roundings: Roundings, beside: float
) -> Finding:
    """Return the verdict on the engine's number, compared with the true one. Errors at
    0 are measured by ``beside``, the largest number of the same row."""
    with working(START):
        return _Judge(number, reference, roundings, max(1.0, beside)).finding()


def is_right(number: float, true: Ball, roundings: Roundings) -> bool:
    """Tell whether a float is the true number up to a few units of rounding."""
    with working(START):
        known = is_known(true, ACCURATE_BITS) or _is_small(true)
        if not (known and true.is_finite() and isfinite(number)):
            return False
        return _is_near(abs(ball(number) - true), true, NEAR_UNITS, roundings)


def _is_near(error: Ball, true: Ball, units: int, roundings: Roundings) -> bool:
    last = LAST_STEPS * roundings.least
    return bool(error <= units * roundings.unit * abs(true) + last)


class _Judge:
    def __init__(
        self, number: float, reference: Reference, roundings: Roundings, beside: float
    ) -> None:
        self.number, self.beside = number, beside
        self.reference = reference
        self.true, self.rule = reference.true, reference.rule
        self.roundings, self.dtype = roundings, roundings.dtype

    def finding(self) -> Finding:
        true, rule = self.true, self.rule
        if not is_known(true, ACCURATE_BITS) and not _is_small(true):
            untold = f"{self.roundings.evaluation.bits} bits do not tell the true value"
            return Finding(reason=f"the engine gave {self.number!r}; {untold}")
        if not true.is_finite():
            return Finding(reason=self._no_number())
        meets = self._rule_meets()
        error = abs(ball(self.number) - true) if isfinite(self.number) else None
        found = Finding() if error is None else self._measured(error)
        if meets is False and rule is not None:
            given = f"exactly, the engine's rules give {text(rule)}"
            found.verdict, found.reason = REFUTED, f"{self._both()}; {given}"
            if rule.is_nan() and error is not None and self._is_near(error, NEAR_UNITS):
                # The number is right, though the rules have no value at this point.
                found.verdict = UNKNOWN
        elif error is None:
            return self._beyond(meets)
        elif not self._is_near(error, NEAR_UNITS if meets else FEW_UNITS) and (
            meets is None or not self._is_explained(error)
        ):
            found.verdict, found.reason = REFUTED, self._both()
            if meets is None:
                found.verdict = UNKNOWN
                found.reason += "; its rules have no value on balls that could be told"
        elif rule is not None and _is_small(true) and not rule.contains(0):
            # With the rule's larger precision the true value is not 0.
            reason = (
                f"the engine gave {self.number!r}, the true value is less than any "
                f"{self.dtype}: underflow, 0 correct digits"
            )
            return Finding(verdict=ROUNDED, reason=reason, digits=0)
        else:
            digits = self._digits(error)
            if digits >= DIGITS[self.dtype]:
                found.verdict = CERTIFIED
                found.absolute = _up(error) if found.error is None else None
            else:
                tiny = not true.is_zero() and abs(true) < least_normal(self.dtype)
                why = "underflow, " if tiny else ""
                found.reason = f"{self._both()}: {why}{digits} correct digits"
                found.verdict, found.digits = ROUNDED, digits
        return found

    def _no_number(self) -> str:
        if isfinite(self.number):
            return "the derivative has no finite value at this point"
        if isnan(self.number):
            return "nan: the derivative is not defined at this point"
        return "the derivative is infinite at this point"

    def _both(self) -> str:
        # A ball with 0 in it that is known is smaller than any float.
        true = "0.0" if self.true.contains(0) else text(self.true)
        return f"the engine gave {self.number!r}, the true value is {true}"

    def _rule_meets(self) -> bool | None:
        """Tell whether the engine's rules, run on balls, give the true number; None if
        that cannot be decided."""
        rule, reference, least = self.rule, self.reference, self.roundings.least
        if rule is None:
            return None
        if rule.is_nan():
            return False if reference.lone else None
        gap = rule - self.true
        if not is_known(rule, ACCURATE_BITS) and not _is_small(rule):
            # Even a wide ball shows that a rule is wrong if it misses the true number.
            return False if rule.is_finite() and not gap.contains(0) else None
        if bool(abs(rule) < least) and bool(abs(self.true) < least):
            # Both round to 0 in the engine's type.
            return True
        if gap.contains(0) or self._is_beyond(to_float(rule)):
            # In the second case both are the same infinity in the engine's type.
            return True
        unit = 2.0 ** -BITS["float64"] * size(self.true)
        allowed = unit * (1 + reference.growth)
        rooms = allowed, allowed + reference.moved
        return any(bool(abs(gap) <= CONSTANT_UNITS * room) for room in rooms)

    def _beyond(self, meets: bool | None) -> Finding:
        """Return the verdict on an infinity or nan where the true number is finite."""
        step, both = self.reference.step, self._both()
        if self._is_beyond(self.number):
            why = f": overflow, beyond any {self.dtype}"
        elif meets and step is not None and not isfinite(self.roundings.rounded(step)):
            why = f"; intermediate numbers leave the range of {self.dtype}"
        else:
            lost = UNKNOWN if isnan(self.number) else REFUTED
            return Finding(verdict=lost, reason=both)
        return Finding(verdict=ROUNDED, reason=both + why, digits=0)

    def _is_beyond(self, number: float) -> bool:
        """Tell whether a number is the infinity that the true number rounds to in the
        engine's type."""
        largest = ball(2) ** MAX_POWERS[self.dtype] * (1 - 2.0 ** -BITS[self.dtype])
        side = self.true if number > 0 else -self.true
        return isinf(number) and bool(side >= largest)

    def _is_near(self, error: Ball, units: int) -> bool:
        return _is_near(error, self.true, units, self.roundings)

    def _is_explained(self, error: Ball) -> bool:
        step, roundings = self.reference.step, self.roundings
        assert step is not None
        floats = ball(roundings.rounded(step))
        if floats.is_finite() and self._is_near(abs(floats - self.number), NEAR_UNITS):
            # Running the engine's steps one by one in floats gives this number, too.
            return True
        slack = roundings.slack(step)
        if error <= slack and ball(slack) <= LOST_RELATIVE_ERROR * abs(self.true):
            return True
        if slack and roundings.is_linear(step):
            return bool(error <= FAIR * slack)
        # An analysis of the first order does not hold here. The spread of results under
        # random roundings shows how large the error of lost digits may be.
        return bool(error <= FAIR * roundings.spread(step, self.true))

    def _digits(self, error: Ball) -> int:
        if _is_small(self.true):
            # Such a number is right if its error is small beside its row.
            fine = error <= FEW_UNITS * self.roundings.unit * self.beside
            return BITS[self.dtype] if fine else 0
        power = to_float((error / abs(self.true)).abs_upper())
        if not isfinite(power):
            return 0
        return max(0, floor(-log10(power))) if power > 0 else BITS[self.dtype]

    def _measured(self, error: Ball) -> Finding:
        upper = error.abs_upper()
        if _is_small(self.true):
            exact = self.number == 0 and self.true.is_zero()
            return Finding(error=0.0 if exact else None)
        relative = _up(upper / abs(self.true).abs_lower())
        return Finding(
            error=relative, ulps=_up(upper / last_place(self.true, self.dtype))
        )


def last_place(true: Ball, dtype: str) -> Ball:
    """Return the distance between neighbouring floats of ``dtype`` at a number."""
    significand, power = true.mid().man_exp()
    top = int(power) + int(significand).bit_length()
    return ball(2) ** max(top - BITS[dtype], LEAST_POWERS[dtype])


def _up(b: Ball) -> float:
    """Return a float at or above the upper end of a ball's absolute value."""
    found = to_float(b.abs_upper())
    if not found and not b.is_zero():
        return 2.0 ** LEAST_POWERS["float64"]
    return found * (1 + 2.0**-50) if isfinite(found) else found


def _is_small(b: Ball) -> bool:
    return is_nothing(b) and bool(b.contains(0))


def same(a: Ball, b: Ball, dtype: str | None = None) -> bool:
    """Tell whether two balls may be the same number; with ``dtype``, up to a few of its
    roundings."""
    relative = 0.0 if dtype is None else FEW_UNITS * 2.0 ** -BITS[dtype]
    with working(START):
        return close(a, b, relative)


NOTABLE_RELATIVE_ERROR: Final = 1e-6
"""Smallest relative error from rounding that a note mentions."""

OUT_OF_TIME: Final = f"SymPy {RAN_OUT}"


@dataclass(slots=True, eq=False)
class JudgedEntry(Finding):
    """One number of the engine, the verdict on it, and the evidence.

    row         the row of the derivative that it is in; 0 for a gradient
    place       the entry that is differentiated by
    step        the step of that entry
    true        the true number; set when the entry's row is computed
    rule        the step that the engine's rules give; None: they did not run
    derivative  SymPy's derivative of the program, if it meets the true number
    form        the derivative as a `gradcli.check.formulas.Form`
    withheld    whether the program has no value there, so that the verdict stays
    """

    label: str
    number: float
    row: int = 0
    place: Place = ("", 0)
    step: int = -1
    true: Ball = ZERO
    rule: int | None = None
    derivative: Any = None
    form: Any = None
    on_kink: bool = False
    withheld: bool = False

    def judge(self, reference: Reference, roundings: Roundings, beside: float) -> None:
        """Set the verdict by comparing the number with the true one."""
        if self.withheld:
            return
        found, before = judge(self.number, reference, roundings, beside), self.reason
        for each in fields(found):
            setattr(self, each.name, getattr(found, each.name))
        told = found.reason is not None
        self.reason = f"{self.label}: {found.reason}" if told else before

    def twin(self, step: int) -> JudgedEntry:
        """Return an entry for the same number in another run of the program."""
        return JudgedEntry(self.label, self.number, self.row, self.place, step)

    def round_off(self, why: str) -> None:
        """Make a refuted entry `rounded`, for a reason, with its count of digits."""
        self.verdict, self.reason = ROUNDED, f"{self.reason}: {why}"
        self.digits = max(0, floor(-log10(self.error))) if self.error else 0

    def lower(self, verdict: str, reason: str) -> None:
        """Lower the verdict to ``verdict``, if that is weaker, with a reason."""
        if weakest([self.verdict, verdict]) == verdict != self.verdict:
            self.verdict, self.reason = verdict, reason
        elif verdict == self.verdict == ROUNDED:
            # The entry's own reason is kept, because it tells of another number.
            self.reason = "; ".join(filter(None, (self.reason, reason)))

    def withhold(self, reason: str) -> None:
        """Make the verdict unknown for good, because the program has no value there."""
        self.verdict, self.reason, self.withheld = UNKNOWN, reason, True

    def is_next_to_zero(self) -> bool:
        """Tell whether the number is 0, and the true one is smaller than any float but
        is not known to be 0."""
        return self.number == 0 and self.absolute is not None

    def vanish(self) -> None:
        """Set the errors for a true number that was proved to be 0."""
        self.absolute = abs(self.number) or None
        self.error = None if self.number else 0.0

    def at_kink(self, what: str) -> None:
        """Make the verdict unknown: the point is on a kink, described by ``what``."""
        self.on_kink = True
        self.verdict, self.error, self.ulps, self.digits = UNKNOWN, None, None, None
        self.reason = (
            f"{self.label}: {what}; the engine's convention gave {self.number!r}"
        )


class Claimed:
    """The numbers of an input's claim; its length counts those not handed over, too.

    own     the number of entries of the input, and so of a row of the claim
    places  the positions of the numbers handed over, in order
    order   the positions of these numbers, in the order that ``draw`` gives
    """

    def __init__(self, given: JobInput, draw: Random, drawn: int) -> None:
        claim = given.claim
        assert claim is not None
        self.given = given
        self.own = max(1, given.value.count)
        self.numbers = np.frombuffer(claim.data, dtype=np.float64)
        count = len(self.numbers)
        self.places: Host = np.arange(count)
        if claim.places is not None:
            self.places = np.frombuffer(claim.places, dtype=np.int64)
        self._count = claim.count
        first = draw.sample(range(count), min(drawn, count))
        rest = np.ones(count, dtype=bool)
        rest[first] = False
        order = np.concatenate([np.array(first, dtype=np.int64), np.flatnonzero(rest)])
        self.order: Host = self.places[order]

    def __len__(self) -> int:
        return self._count

    def entries(
        self, positions: Host, steps: Any, in_rows: bool
    ) -> Iterator[JudgedEntry]:
        """Yield the entries at some positions, which must have been handed over;
        ``steps`` are those of the input's entries, and labels name the row if there are
        several."""
        at = np.searchsorted(self.places, positions)
        name, shape = self.given.name, self.given.value.shape
        for position, number in zip(positions, self.numbers[at], strict=True):
            row, place = divmod(int(position), self.own)
            label = entry_name(name, [int(i) for i in np.unravel_index(place, shape)])
            label = f"row {row}, {label}" if in_rows else label
            yield JudgedEntry(
                label, float(number), row, (name, place), int(steps[place])
            )


@dataclass
class Row:
    """The chosen entries of a row of the derivative: that of the weighted output.

    engine  a function that runs the engine's rules and returns their steps by input
    trues   a function that returns the true numbers of the entries in an evaluation
    """

    cotangent: Sequence[float]
    entries: list[JudgedEntry]
    engine: Callable[[], dict[str, Any]]
    trues: Callable[[Evaluation], list[Ball]]

    @cached_property
    def rules(self) -> list[int] | None:
        """The step of each entry by the engine's rules; None: these do not run."""
        try:
            steps = self.engine()
            rules = [int(steps[e.place[0]][e.place[1]]) for e in self.entries]
        except Exception:
            # Without the rules' steps, the numbers alone are judged.
            return None
        for entry, rule in zip(self.entries, rules, strict=True):
            entry.rule = rule
        return rules


@dataclass(slots=True)
class InputReport:
    """The entries of one input's claim that were checked, and notes on the others.

    closed   the derivative as a formula
    remark   why SymPy did not get further
    unseen   the number of entries that were not checked
    sampled  how the checked entries were chosen
    more     how the other entries were compared
    slopes   notes on rules of the program whose slope is not that of the value
    wanted   whether every entry's derivative is wanted as a formula
    """

    name: str
    entries: list[JudgedEntry]
    closed: str | None = None
    remark: str | None = None
    unseen: int = 0
    sampled: str | None = None
    more: str | None = None
    slopes: tuple[str, ...] = ()
    wanted: bool = False

    def verdict(self) -> InputVerdict:
        verdict = self._verdict()
        checked = [e for e in self.entries if e.verdict != UNKNOWN]
        worst = max((e.error for e in checked if e.error is not None), default=None)
        digits = [e.digits for e in self.entries if e.digits is not None]
        forms = [e.form for e in self.entries] if self.wanted else []
        return InputVerdict(
            self.name,
            verdict,
            worst,
            None if verdict == UNKNOWN else self.closed,
            "; ".join(self._notes(verdict, worst, len(checked))) or None,
            len(checked),
            len(self.entries) + self.unseen,
            tuple(form and form.text for form in forms),
            self._missing(forms),
            max((e.ulps for e in checked if e.ulps is not None), default=None),
            tuple(form and form.latex for form in forms),
            min(digits, default=None),
        )

    def _missing(self, forms: Sequence[object]) -> str | None:
        """Return why fewer formulas than wanted were found; None if all were."""
        lost = forms.count(None)
        if not lost:
            return None
        reasons = [e.reason for e in self.entries if e.form is None and e.reason]
        if lost == len(reasons):
            return reasons[0]
        return (
            f"{self.remark or OUT_OF_TIME}: {len(forms) - lost} of {len(forms)} "
            "formulas were found"
        )

    def _verdict(self) -> str:
        if not self.entries:
            unseen = SAMPLED if self.more else UNKNOWN
            return unseen if self.unseen else PROVED
        verdicts = [e.verdict for e in self.entries]
        return weakest([*verdicts, SAMPLED] if self.unseen else verdicts)

    def _notes(self, verdict: str, worst: float | None, count: int) -> Iterator[str]:
        shown = verdict in (CERTIFIED, PROVED)
        if verdict != SAMPLED:
            reasons = [e.reason for e in self.entries
                       if e.reason and (shown or e.verdict == verdict)]  # fmt: skip
            yield from reasons[:1]
        if verdict == REFUTED:
            yield from self.slopes
        if self.unseen:
            yield from [self.sampled] if self.sampled else []
            if worst is not None:
                yield f"max_error is for these {count} only"
            yield from [self.more] if self.more else []
        counts = Counter(e.verdict for e in self.entries)
        if len(counts) > 1:
            yield ", ".join(f"{n} {name}" for name, n in counts.items())
        off = [e.absolute for e in self.entries if e.absolute is not None]
        if off and (shown or verdict == SAMPLED):
            yield (
                f"the true value{f' of {len(off)} entries' if len(off) > 1 else ''} is "
                f"0, with an absolute error of at most {at_most(max(off))}"
            )
        if verdict in (CERTIFIED, SAMPLED) and self.remark:
            yield self.remark
        if shown and worst is not None and worst > NOTABLE_RELATIVE_ERROR:
            yield f"rounding: a relative error of {worst:.1g}"

    def close(self, forms: Sequence[str | None], shape: tuple[int, ...]) -> None:
        """Keep the formulas of all entries as nested lists, if they are short."""
        known = [form for form in forms if form is not None]
        if len(known) == len(forms):
            text = bracketed(known, shape)
            self.closed = text if len(text) <= MAX_FORM_CHARACTERS else None


def at_most(gap: float) -> str:
    """Return a gap as a short decimal that is not smaller than it."""
    shown = f"{gap:.1g}"
    return shown if float(shown) >= gap else f"{gap * 1.06:.2g}"
