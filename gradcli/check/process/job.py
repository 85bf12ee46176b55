"""Jobs for the checker and its answers; this module computes and imports little.

Invariant: every object here comes back equal from its JSON, non-finite numbers
included; arrays travel as the bytes of float64 numbers in C order.

    x = Input("x", Block.of((), [3.0]), claim=Block.of((), [6.0]))
    job = Job("x**2", (x,), output=Block.of((), [9.0]))
    Job.from_json(job.to_json()) == job
"""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass, replace
from itertools import product
from linecache import getline
from math import prod
from types import NoneType
from typing import (
    Any,
    ClassVar,
    Final,
    Self,
    get_args,
    get_origin,
    get_type_hints,
)

from ...ops.records import compared_record

MAX_FORM_CHARACTERS: Final = 60
"""Largest length, in characters, of a formula that is shown with a verdict."""

LEFT_OUT: Final = "conditions too long to show"
"""First words of the condition that stands for those that are not shown."""

PROVED: Final = "proved"
CERTIFIED: Final = "certified"
AGREES: Final = "agrees"
"""Verdict on a claim that holds at every point that was tested."""
SAMPLED: Final = "sampled"
ROUNDED: Final = "rounded"
UNKNOWN: Final = "unknown"
REFUTED: Final = "refuted"

STRENGTH: Final = (PROVED, CERTIFIED, AGREES, SAMPLED, ROUNDED, UNKNOWN, REFUTED)
"""Verdicts, strongest first; the verdict of a whole is that of its weakest part."""


def weakest(verdicts: Sequence[str]) -> str:
    """Return the verdict of a whole: the weakest of its parts; unknown if none."""
    return max(verdicts, key=STRENGTH.index, default=UNKNOWN)


def is_weaker(verdict: str, required: str) -> bool:
    """Return whether a verdict is weaker than the required one; finite is none."""
    if required == "finite":
        return False
    return STRENGTH.index(verdict) > STRENGTH.index(required)


def words_of(error: Exception) -> str:
    """Return an exception's message on one line, shortened to 120 characters."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words
    said = getattr(error, "message", None) or str(error)
    words = " ".join(said.split()) if is_internal_error(error) else ""
    words = words or "the check has no way to follow it"
    return words if len(words) <= 120 else words[:119] + "…"


_WORDS: Final[dict[type[Exception], str]] = {
    MemoryError: "the memory that a check may take ran out",
    OverflowError: "an intermediate number is beyond the range of floats",
    ZeroDivisionError: "an intermediate number is divided by 0",
    RecursionError: "it is nested too deeply",
}


def is_internal_error(error: Exception) -> bool:
    """Tell whether an exception was raised by a statement of this package, so that its
    message is for people."""
    trace = error.__traceback__
    if trace is None or type(error).__module__.startswith(PACKAGE):
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    line = getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    ours = str(trace.tb_frame.f_globals.get("__name__")).startswith(PACKAGE)
    return ours and line.lstrip().startswith("raise ")


PACKAGE: Final = __name__.partition(".")[0]

NOTHING_SHOWN: Final = "nothing could be shown"

AT_DRAWN: Final = "it agrees where it was tried, and was not proved"
"""Note on a formula that was certified at drawn numbers alone."""


TIME_OUT: Final = "time-out"
"""First word of the reason that a check ran out of time."""


RAN_OUT: Final = "ran out of time"
"""Last words of the reason that SymPy took its share of the time."""


def timed_out(seconds: float) -> str:
    """Return the reason for a check that took all its time."""
    return f"{TIME_OUT} after {seconds:g} s"


def lacked_time(note: str | None) -> bool:
    """Return whether a note gives lack of time as its reason."""
    return any(words in (note or "") for words in (TIME_OUT, RAN_OUT))


@compared_record
class JsonMessage:
    """Base of records that are written as JSON and read back."""

    def to_json(self) -> str:
        text = lambda value: b64encode(value).decode("ascii")
        return json.dumps(asdict(self), default=text)

    @classmethod
    def from_json(cls, text: str) -> Self:
        told: Self = decoded(cls, json.loads(text))
        return told


def decoded(kind: object, value: Any) -> Any:
    """Return a value of type ``kind`` made from lists, objects and plain values."""
    if is_dataclass(kind):
        kinds = get_type_hints(kind)
        return kind(**{name: decoded(kinds[name], v) for name, v in value.items()})  # type: ignore[operator]
    if kind is bytes:
        return b64decode(value)
    args = get_args(kind)
    if get_origin(kind) is tuple:
        each = args[:1] * len(value) if args[-1] is ... else args
        return tuple(map(decoded, each, value))
    if NoneType in args and value is not None:
        (own,) = set(args) - {NoneType}
        return decoded(own, value)
    return value


@compared_record
class NumberBlock:
    """An array of numbers: its shape, and the numbers in C order.

    data    the numbers as bytes of float64
    places  the positions, as bytes of int64, of the only entries in ``data``; None: all
    """

    shape: tuple[int, ...]
    data: bytes
    places: bytes | None = None

    @classmethod
    def of(cls, shape: Sequence[int], values: Sequence[float]) -> NumberBlock:
        return cls(tuple(shape), array("d", values).tobytes())

    @property
    def count(self) -> int:
        """Number of the array's entries, also of those that are not in ``data``."""
        if self.places is not None:
            return prod(self.shape)
        return len(self.data) // array("d").itemsize

    def values(self) -> list[float]:
        return array("d", self.data).tolist()


@compared_record
class JobInput:
    """One free name of the program.

    claim    the engine's numbers; None: its derivative is not asked for. For a gradient
             they have the input's shape; a Jacobian has one such part per entry of the
             output, in C order, a Hessian one per entry of all inputs asked for
    whole    whether the values are integers or booleans, which carry no derivative
    """

    name: str
    value: NumberBlock
    claim: NumberBlock | None = None
    whole: bool = False

    def labels(self) -> list[str]:
        """Return the names of the entries, such as ``a[0,1]``, in C order."""
        places = product(*map(range, self.value.shape))
        return [entry_name(self.name, place) for place in places]


def entry_name(name: str, index: Sequence[int]) -> str:
    """Return an entry's name, such as ``a[0,1]``, or the input's name for a scalar."""
    return f"{name}[{','.join(map(str, index))}]" if index else name


@compared_record
class Job(JsonMessage):
    """A program, a point, and the engine's numbers to be checked there.

    kind       ``gradient``, ``jacobian`` or ``hessian`` (of a scalar output)
    of         the name of the output; None: the last statement's value
    cotangent  the weights of a vector output's entries; None: ones
    formulas   whether every entry is wanted as a formula, however long
    """

    source: str
    inputs: tuple[JobInput, ...]
    output: NumberBlock
    kind: str = "gradient"
    of: str | None = None
    cotangent: NumberBlock | None = None
    dtype: str = "float64"
    seconds: float = 5.0
    seed: int = 0
    formulas: bool = False

    def unanswered(self) -> Verification:
        """Return the verification in which every input is still unknown."""
        return Verification.nothing(self, "")


@compared_record
class InputVerdict:
    """A verdict on one input's derivative, with its evidence.

    max_error    the largest relative error of the engine's numbers; None: not known
    closed_form  the derivative as a formula in the language's own syntax, if short
    note         why nothing stronger was shown, the offending entry, or rounding
    checked, of  the number of entries that were checked, and of all entries
    formulas     if they were asked for, one per number of the claim; None: not found
    missing      why formulas are missing
    max_ulps     the largest error in units in the last place
    latex        the formulas as LaTeX; names stand between U+E000 and U+E001
    digits       the number of correct digits of a number that is only `rounded`
    """

    name: str
    verdict: str = UNKNOWN
    max_error: float | None = None
    closed_form: str | None = None
    note: str | None = None
    checked: int = 0
    of: int = 0
    formulas: tuple[str | None, ...] = ()
    missing: str | None = None
    max_ulps: float | None = None
    latex: tuple[str | None, ...] = ()
    digits: int | None = None

    @property
    def stated(self) -> bool:
        """Whether there is a formula, whose conditions must then be stated."""
        return bool(self.closed_form) or any(self.formulas)


@compared_record
class Answer(JsonMessage):
    """An answer of the checking process: parts with a verdict and a note each, the
    seconds spent, and whether it is done. ``PARTS`` names the field with the parts.
    """

    PARTS: ClassVar[str]

    def ended(self, reason: str | None, seconds: float | None = None) -> Self:
        """Return the answer as done. Its parts that are neither proved nor refuted, and
        have no note, get ``reason``, which is why the work ended before its end, as
        theirs; ``seconds`` is the time spent where the caller knows it better."""
        answer: Any = self
        spent = answer.seconds if seconds is None else round(seconds, 3)

        def noted(part: Any) -> Any:
            why = reason or (NOTHING_SHOWN if part.verdict == UNKNOWN else None)
            final = part.verdict in (PROVED, REFUTED)
            return part if final else replace(part, note=part.note or why)

        parts = tuple(map(noted, getattr(self, self.PARTS)))
        return replace(answer, **{self.PARTS: parts}, seconds=spent, done=True)  # type: ignore[no-any-return]


@compared_record
class Verification(Answer):
    """The verdicts on all inputs, their weakest, and the conditions they hold under."""

    PARTS: ClassVar[str] = "inputs"

    verdict: str
    checked: int
    of: int
    seconds: float
    inputs: tuple[InputVerdict, ...]
    side_conditions: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    done: bool = False

    @classmethod
    def about(
        cls, inputs: Sequence[InputVerdict], seconds: float, **more: Any
    ) -> Verification:
        return cls(
            weakest([v.verdict for v in inputs]),
            sum(v.checked for v in inputs),
            sum(v.of for v in inputs),
            round(seconds, 3),
            tuple(inputs),
            **more,
        )

    def in_symbols(self) -> Verification:
        """Return the verdicts on formulas, whose symbols had drawn numbers: what was
        certified at these is sampled, and nothing else is said of them."""

        def about_formula(v: InputVerdict) -> InputVerdict:
            drawn = v.verdict in (CERTIFIED, ROUNDED)
            note = AT_DRAWN if drawn else None if v.verdict == PROVED else v.note
            return replace(
                v, verdict=SAMPLED if drawn else v.verdict, note=note,
                max_error=None, max_ulps=None, digits=None,
            )  # fmt: skip

        inputs = tuple(map(about_formula, self.inputs))
        return replace(
            self, inputs=inputs, verdict=weakest([v.verdict for v in inputs])
        )

    @classmethod
    def nothing(cls, job: Job, reason: str, seconds: float = 0.0) -> Verification:
        """Return the verification that shows nothing, with the reason as notes."""
        return cls.about(
            [
                InputVerdict(i.name, note=reason, of=i.claim.count)
                for i in job.inputs
                if i.claim is not None
            ],
            seconds,
            done=True,
        )
