"""Claims: which derivative of what, and the expression it should equal; tasks on them,
and the points at which they are tested: the given one, random ones, and simple ones.

Invariant: an error in a claim has a place in the claim's own text; no expression is
evaluated here. A task and its answer come back equal from their JSON, and the same task
always gives the same points in the same order.

    claim = read_claim("d2L/dw dv = outer(w, v)")
    claim.output, claim.by, claim.expression      # "L", ("w", "v"), " outer(w, v)"
    read_claim("w.grad[0] = 1").at                # ("0",)
    ClaimsTask("x**2", (Given("x", ()),), (read_claim("d/dx = 2*x"),))
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, cycle, islice, pairwise, product
from math import prod
from random import Random
from typing import ClassVar, Final, NoReturn

import numpy as np

from ..engine.raw import Host
from ..lang.errors import ProgramError, Span
from ..lang.maxima import MAX_NAME_CHARACTERS
from ..lang.parser import parse
from ..lang.syntax import assigned_names, free_names
from ..ops.records import compared_record
from .process.job import UNKNOWN, Answer, JsonMessage

_NAME: Final = rf"[^\W\d²][^\W²]{{0,{MAX_NAME_CHARACTERS}}}"
_AT: Final = r"(?:\s*+\[(?P<{}>[^][=]*)\])?"
_TWO: Final = r"(?:\^|\*\*)?2|²"
_FIRST: Final = rf"(?P<first>{_NAME}){_AT.format('at')}"
_LAST: Final = rf"(?P<last>{_NAME}){_AT.format('at_last')}"
_WORD: Final = (
    rf"(?:(?P<second>∇\s*+(?:{_TWO})|hessian|hess)|∇|gradient|grad|jacobian|jac)"
)
_OUTPUT: Final = rf"(?P<output>{_NAME})"

SPELLINGS: Final = tuple(
    re.compile(rf"\s*+{pattern}\s*+")
    for pattern in (
        rf"[d∂]\s*+(?P<second>{_TWO})?\s*+{_OUTPUT}?\s*+/\s*+[d∂]\s*+{_FIRST}\s*+"
        rf"(?:(?P<twice>{_TWO})|[d∂]\s*+{_LAST})?",
        rf"{_FIRST}\s*+\.\s*+grad{_AT.format('at_last')}",
        rf"{_WORD}\s*+\(\s*+(?:{_OUTPUT}\s*+,\s*+)?{_FIRST}\s*+\)",
        rf"{_WORD}(?:(?<=[∇²2])|[\s_])\s*+_?{_FIRST}(?:\s+{_OUTPUT})?",
    )
)
"""Patterns of ``dL/dw``, ``w.grad``, ``grad(L, w)`` and ``grad w``, in this order."""

_HIGHER: Final = re.compile(
    rf"\s*+[d∂]\s*+(?:\^|\*\*)?\s*+(?P<order>[3-9³⁴⁵⁶⁷⁸⁹])\s*+{_OUTPUT}?\s*+/\s*+[d∂]\s*+"
    r"(?P<below>\w+?)\s*+(?:\^|\*\*)?\s*+(?P=order)\s*+"
)
"""Pattern of ``d3y/dx3``; both orders are the same digit in the same writing."""

_BARE: Final = re.compile(rf"\s*+[d∂](?P<first>{_NAME}){_AT.format('at')}\s*+")
_NABLA: Final = re.compile(r"\s*(?:∇|grad\b|nabla\b)\s*\(?(?P<output>[^\W\d]\w*)\)?\s*")
"""Pattern of the gradient of an output by its only input."""

_SUBSCRIPT: Final = re.compile(
    r"\s*(?P<output>[^\W\d_]+)_\{?(?P<below>[^\W\d_]+)\}?\s*"
)
"""Pattern of a partial derivative whose inputs are a subscript."""

_PRIMED: Final = re.compile(
    rf"\s*+{_OUTPUT}\s*+(?P<primes>['′’]{{1,9}}|[″‴])\s*+(?:\(\s*+(?P<first>{_NAME})\s*+\))?\s*+"
)
_PARENTHESES: Final = re.compile(rf"(?<=[d∂])\s*+\(\s*+({_NAME})\s*+\)")
_FRACTION: Final = re.compile(
    r"\\[dt]?frac\s*+\{\s*+(?:d|\\partial|\\mathrm\{d\})\s*+([^{}]*)\}\s*+\{\s*+(?:d|\\partial|\\mathrm\{d\})\s*+([^{}]*)\}"
)
_HINT: Final = (
    'write "d/dw = EXPR", "dL/dw[0] = EXPR", "d2L/dw dv = EXPR" or "d3L/dw3 = EXPR"'
)


@compared_record
class Claim:
    """One equation to judge, as it was typed and in parts.

    output      the variable that is differentiated; None: the program's output
    by          the inputs: one for a gradient or a Jacobian, two for a Hessian, one
                repeated for a higher order, none where the values are compared
    expression  the claimed derivative; None: the derivative of the other program
    offset      the position in ``text`` at which the expression begins
    at          the index of the claimed entries, by input; None: all entries
    shown       the label, if the parts are not those of the text; None: they are
    """

    text: str
    output: str | None = None
    by: tuple[str, ...] = ()
    expression: str | None = None
    offset: int = 0
    at: tuple[str | None, ...] = ()
    shown: str | None = None

    @property
    def label(self) -> str:
        """The left-hand side in one spelling, whatever was typed."""
        if self.shown or not self.by:
            return self.shown or "value"
        order = len(self.by)
        if order > 2:
            return f"d{order}{self.output or ''}/d{self.by[0]}{order}"
        power = "2" if order > 1 else ""
        at = self.at or (None,) * len(self.by)
        below = " ".join(
            f"d{name}" if index is None else f"d{name}[{index}]"
            for name, index in zip(self.by, at, strict=True)
        )
        return f"d{power}{self.output or ''}/{below}"

    @property
    def is_complete(self) -> bool:
        """Whether all entries are claimed, since no index was typed."""
        return not any(self.at)

    def rewritten(
        self, ranks: dict[str, int | None], tell: Callable[[str], None], named: bool
    ) -> Claim:
        """Return the claim with mathematical notation in the language; tell how it was
        read where readers could take it in two ways. Where no value is ``named``, the
        output is the program's only one, whatever the claim calls it."""
        assert self.expression is not None
        try:
            program = parse(self.expression, ranks, lambda: ranks)
        except ProgramError as error:
            raise self.located(error) from None
        for remark in program.notes:
            tell(remark.message)
        typed, written = self.expression, program.source
        lead = typed[: len(typed) - len(typed.lstrip())]
        written = written if written.startswith(lead) else lead + written
        output = self.output if named or self.output in ranks else None
        text = self.text[: self.offset] + written
        return replace(self, text=text, expression=written, output=output)

    def located(self, error: ProgramError) -> ProgramError:
        """Return an error in the expression, with its place in the whole text."""
        if error.span is None or error.source != self.expression:
            return error
        start, end = error.span
        hint = error.hint
        if error.right:
            left = self.text[: self.offset].rstrip()
            hint = f"{error.lead} {left} {error.right}"
        return ProgramError(
            error.code, error.message, Span(start + self.offset, end + self.offset),
            self.text, hint=hint, exit_status=error.exit_status,
        )  # fmt: skip


_Target = tuple[str | None, tuple[str, ...], tuple[str | None, ...]]
"""Type of the left-hand side of a claim: its output, its inputs, the index at each."""


def read_claim(
    text: str,
    names: Collection[str] = (),
    variables: Collection[str] = (),
    wrt: Collection[str] | None = None,
) -> Claim:
    """Return the claim that a text states; raise `ProgramError` if it is no equation,
    or its left-hand side no derivative. The program's inputs ``names`` tell ``dxdy``
    and ``dx`` from names; ``f'`` with a name not in ``variables`` is the output's. A
    claim that names no input is about the one in ``wrt``."""
    asked = names if wrt is None else wrt
    if text.lstrip().startswith("$"):
        text = text.strip().removeprefix("$").removesuffix("$")
    left, equals, right = text.partition("=")
    if not equals and len(asked) == 1 and text.strip():
        (name,) = asked
        before = f"d/d{name} = "
        return Claim(before + text, None, (name,), text, len(before))
    if not equals:
        _refuse(text, Span(0, max(1, len(text))), "a claim is an equation")
    offset = len(left) + 1 + right.startswith("=")
    expression = text[offset:]
    if not expression.strip():
        _refuse(text, Span(len(left), offset), "nothing is claimed behind '='")
    plain = _FRACTION.sub(r"d\1/d\2", left).replace("\\", "")
    plain = _PARENTHESES.sub(r"\1 ", plain)
    side = Span(0, max(1, len(left.rstrip())))
    target = (
        _whole_gradient(plain, names, variables, asked)
        or _target(plain, names)
        or _primed(plain, asked, variables)
        or _subscripted(plain, names, variables)
    )
    if target is None:
        _refuse_several(text, side, _NABLA.fullmatch(plain), asked)
        _refuse(text, side, "the left-hand side is no derivative", left.strip(), names)
    output, by, at = target
    if not by:
        _refuse(text, side, "a second derivative is by two inputs, a first by one")
    return Claim(text, output, by, expression, offset, at)


def by_input(text: str, names: Sequence[str]) -> list[str]:
    """Return the claims about each input that are one about the gradient by all of
    them, `∇f = (2*x*y, x^2)`; the text alone if it is no such claim."""
    left, equals, right = text.partition("=")
    found = _NABLA.fullmatch(left.replace("\\", ""))
    entries = _entries(right.strip())
    if not equals or found is None or not 1 < len(names) == len(entries):
        return [text]
    of = found["output"]
    if of in names:
        return [text]
    return [f"∂{of}/∂{name} = {e}" for name, e in zip(names, entries, strict=True)]


def _entries(text: str) -> list[str]:
    """Return what stands between the outer commas of a list in brackets."""
    if text[:1] + text[-1:] not in ("()", "[]"):
        return []
    depth, ends = 0, [0]
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 1:
            ends.append(at)
        if not depth and at < len(text) - 1:
            return []
    ends.append(len(text) - 1)
    return [text[start + 1 : end].strip() for start, end in pairwise(ends)]


def _target(left: str, names: Collection[str]) -> _Target | None:
    """Return a left-hand side's target; without inputs if orders do not fit."""
    higher = _HIGHER.fullmatch(left)
    if higher is not None:
        order = int(unicodedata.normalize("NFKC", higher["order"]))
        return higher["output"], (higher["below"],) * order, ()
    for pattern in SPELLINGS:
        found = pattern.fullmatch(left)
        if found is not None:
            return _ordered(found, names)
    found = _BARE.fullmatch(left)
    if found is None or found["first"] not in names:
        return None
    return None, (found["first"],), _indices([found["at"]])


def _whole_gradient(
    left: str,
    names: Collection[str],
    variables: Collection[str],
    asked: Collection[str],
) -> _Target | None:
    """Return the target of ``∇f`` or ``grad f``, where f is the output and one input is
    asked for; None for another left-hand side."""
    found = _NABLA.fullmatch(left)
    if found is None or found["output"] in names or len(asked) != 1:
        return None
    output = found["output"] if found["output"] in variables else None
    return output, tuple(asked), ()


def _subscripted(
    left: str, names: Collection[str], variables: Collection[str]
) -> _Target | None:
    """Return the target of ``f_x`` or ``f_xy``; None for another left-hand side."""
    found = _SUBSCRIPT.fullmatch(left)
    if found is None or (variables and found["output"] not in variables):
        return None
    below = found["below"]
    by = (below,) if below in names else tuple(below)
    output = found["output"] if found["output"] in variables else None
    return (output, by, ()) if {*by} <= {*names} else None


def _primed(
    left: str, names: Collection[str], variables: Collection[str]
) -> _Target | None:
    """Return the target of ``f'(x)``, or of ``f''`` if there is only one input."""
    found = _PRIMED.fullmatch(left)
    if found is None or (found["first"] is None and len(names) != 1):
        return None
    first = found["first"] or next(iter(names))
    primes = found["primes"]
    order = {"″": 2, "‴": 3}.get(primes, len(primes))
    output = found["output"] if found["output"] in variables else None
    return output, (first,) * order, ()


def _ordered(found: re.Match[str], names: Collection[str]) -> _Target:
    groups = {"second": None, "twice": None, "last": None, "at_last": None,
            "output": None, **found.groupdict()}  # fmt: skip
    first, last, ats = found["first"], groups["last"], [found["at"], groups["at_last"]]
    worded = bool(groups["second"]) and "/" not in found[0]
    if groups["second"] and not last and not groups["twice"]:
        first, last = (first, first) if worded else _halves(first, names)
    elif groups["twice"]:
        last = first
    if bool(groups["second"]) != (last is not None):
        return None, (), ()
    if last is None:
        # The index may be written behind the name or behind ".grad".
        return groups["output"], (first,), _indices([ats[0] or ats[1]])
    return groups["output"], (first, last), _indices(ats)


def _halves(below: str, names: Collection[str]) -> tuple[str, str | None]:
    """Return the inputs of ``w2`` or ``wdv``; the text and None if it is no pair."""
    twice = below.endswith("2") and len(below) > 1
    pairs = [(below[:-1], below[:-1])] if twice else []
    pairs += [
        (below[:at], below[at + 1 :])
        for at, letter in enumerate(below[1:-1], start=1)
        if letter in "d∂"
    ]
    known = [pair for pair in pairs if set(pair) <= set(names)]
    return next(iter(known or pairs), (below, None))


def _indices(texts: list[str | None]) -> tuple[str | None, ...]:
    return tuple(texts) if any(texts) else ()


def _refuse(
    text: str, span: Span, message: str, left: str = "", names: Collection[str] = ()
) -> NoReturn:
    hint = f'write "d/d{left} = EXPR"' if left in names else _HINT
    raise ProgramError("E595", message, span, text, hint=hint, exit_status=2)


def _refuse_several(
    text: str, side: Span, found: re.Match[str] | None, asked: Collection[str]
) -> None:
    """Refuse the gradient of an output with several inputs that names none."""
    if found is not None and len(asked) > 1:
        ways = " or ".join(f'"∇_{name} {found["output"]} = …"' for name in asked)
        message = "a gradient by which input?"
        raise ProgramError(
            "E595", message, side, text, hint=f"write {ways}", exit_status=2
        )


Index = tuple[int | slice, ...]


def positions(
    claim: Claim, lead: Sequence[int], inputs: Sequence[Sequence[int]]
) -> Host:
    """Return the positions, in the flat derivative of shape ``(*lead, *inputs…)``, of
    the claimed entries, in the shape that the claim should have; raise `IndexError` or
    `ValueError` if an index does not fit."""
    shape = (*lead, *(n for sizes in inputs for n in sizes))
    numbers = np.arange(prod(shape)).reshape(shape)
    if claim.is_complete:
        return numbers
    index: Index = (slice(None),) * len(lead)
    for text, sizes in zip(claim.at, inputs, strict=True):
        keys = () if text is None else read_index(text)
        if len(keys) > len(sizes):
            raise IndexError(f"{len(keys)} indices for {len(sizes)} dimensions")
        index += keys + (slice(None),) * (len(sizes) - len(keys))
    return np.asarray(numbers[index])


def read_index(text: str) -> Index:
    """Return an index as keys, read from a text in brackets such as ``0, 1:``; raise
    `ValueError` if a part is neither a number nor a slice."""
    keys: list[int | slice] = []
    for part in text.split(","):
        ends = [int(end) if end.strip() else None for end in part.split(":")]
        keys.append(slice(*ends) if len(ends) > 1 else int(part))
    return tuple(keys)


@compared_record
class ClaimInput:
    """An input: its shape, and its numbers in C order or None if none were given."""

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@compared_record
class ClaimsTask(JsonMessage):
    """A program, its inputs, and what is claimed of it, or a second program, ``other``,
    that it is compared with at a number of random ``points``.

    If the program stands for an equation, ``tied`` is the name that the equation makes
    a function of the others. The program is then a step of Newton's method for it.
    """

    source: str
    inputs: tuple[ClaimInput, ...]
    claims: tuple[Claim, ...]
    of: str | None = None
    other: str | None = None
    tied: str | None = None
    points: int = 8
    seed: int = 0
    prove: bool = True
    seconds: float = 5.0

    def unanswered(self) -> Judgement:
        """Return the judgement in which every claim is still unknown."""
        return Judgement(tuple(Ruling() for _ in self.claims))


@compared_record
class Counterexample:
    """A point where a claim is false.

    inputs   the name, shape and numbers, in C order, of each input
    entry    the position of the entry shown; None: shapes differ, so all are shown
    """

    inputs: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...]
    entry: tuple[int, ...] | None
    claimed: tuple[float, ...]
    true: tuple[float, ...]
    claimed_shape: tuple[int, ...] = ()
    true_shape: tuple[int, ...] = ()


@compared_record
class Ruling:
    """A verdict on one claim, with its evidence.

    points  the number of points at which the claim was compared with the truth
    """

    verdict: str = UNKNOWN
    points: int = 0
    counterexample: Counterexample | None = None
    note: str | None = None
    side_conditions: tuple[str, ...] = ()


@compared_record
class Judgement(Answer):
    """The rulings on all claims, in order."""

    PARTS: ClassVar[str] = "rulings"

    rulings: tuple[Ruling, ...]
    seconds: float = 0.0
    done: bool = False


POINT_DECIMALS: Final = 3

MAX_GRID_ENTRIES: Final = 3
"""Largest number of all inputs' entries for which every small point is tried."""

SMALL_POINT_TRIES: Final = 60

Point = Mapping[str, tuple[float, ...]]

SIMPLE: Final = (0.0, 1.0, 2.0, -1.0, 3.0, -2.0, 0.5, 4.0, -3.0, 1.5, -0.5, 5.0)
"""Coordinates of simple points, the simplest first."""

Sampler = Callable[[Random], float]

_SAMPLERS: Final[tuple[Sampler, ...]] = (
    lambda random: random.gauss(0, 1),
    lambda random: abs(random.gauss(0, 1)) + 0.1,
    lambda random: random.gauss(0, 2),
    lambda random: random.uniform(0.05, 0.95),
    lambda random: random.uniform(1.05, 3),
)
"""Ways to draw a coordinate, one for each point in turn; most domains contain points
of one of them."""


def unread_term(name: str) -> str:
    """Return what is added to a constant, so that it may be derived by a name."""
    return f" + 0*{name}"


def typed_point(inputs: Sequence[ClaimInput], seed: int) -> Point | None:
    """Return the typed point, random where it has gaps; None if nothing was typed."""
    typed = frozenset(given.name for given in inputs if given.values is not None)
    return next(random_points(inputs, seed, typed)) if typed else None


def about_a_point(task: ClaimsTask, claim: Claim) -> bool:
    """Tell whether a claim gives numbers for the one point at which all was typed."""
    if claim.expression is None or any(g.values is None for g in task.inputs):
        return False
    known = {given.name for given in task.inputs}
    known |= set(assigned_names(parse(task.source, known)))
    return known.isdisjoint(free_names(parse(claim.expression, known)))


def random_points(
    inputs: Sequence[ClaimInput], seed: int, pinned: frozenset[str] = frozenset()
) -> Iterator[Point]:
    """Yield random points without end; inputs in ``pinned`` keep their values."""
    random = Random(seed)
    for draw in cycle(_SAMPLERS):
        numbers = (round(draw(random), POINT_DECIMALS) for _ in count())
        yield _filled(inputs, pinned, numbers)


def counting_point(inputs: Sequence[ClaimInput], pinned: frozenset[str]) -> Point:
    """Return the point whose inputs have the entries 1, 2, 3, … in C order."""
    return {g.name: _filled([g], pinned, map(float, count(1)))[g.name] for g in inputs}


def small_points(
    inputs: Sequence[ClaimInput], seed: int, pinned: frozenset[str]
) -> Iterator[Point]:
    """Yield finitely many points of simple numbers, roughly the simplest first."""
    size = sum(given.size for given in inputs if given.name not in pinned)
    for numbers in map(iter, _small_numbers(size, Random(seed))):
        yield _filled(inputs, pinned, numbers)


def _filled(
    inputs: Sequence[ClaimInput], pinned: frozenset[str], numbers: Iterator[float]
) -> Point:
    """Return the point at which inputs in ``pinned`` have their values, and the entries
    of the others, in order, the next of ``numbers``."""
    return {
        given.name: given.values
        if given.values is not None and given.name in pinned
        else tuple(islice(numbers, given.size))
        for given in inputs
    }


def _small_numbers(count: int, random: Random) -> Iterator[Sequence[float]]:
    if count <= MAX_GRID_ENTRIES:
        indices = product(range(len(SIMPLE)), repeat=count)
        for at in sorted(indices, key=lambda p: (sum(p), max(p, default=0))):
            yield [SIMPLE[i] for i in at]
        return
    yield [1.0] * count
    for attempt in range(SMALL_POINT_TRIES):
        among = SIMPLE[: 3 + attempt // 8]
        yield [random.choice(among) for _ in range(count)]


def simpler(value: float) -> Sequence[float]:
    """Return the simple numbers that come before a number, simplest first."""
    return SIMPLE[: SIMPLE.index(value)] if value in SIMPLE else SIMPLE
