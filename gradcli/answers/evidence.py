"""Evidence for a diagnosis, and the mistakes that numbers show: the test for each, its
sentence, and its repair.

Evidence is both sides of a false claim at many points, and the graphs recorded there,
with the names that a diagnosis uses. The verdict itself rests on balls; the numbers
here are the engine's own, which are quick to compute, and whose graphs show where a
number comes from. The numbers of a claim and those of a custom backward are tested by
the same hypotheses, each of which has a sentence for either.

Invariants: a hypothesis explains all pairs of right and given numbers together, and
neither side of the pairs is zero throughout: zeros alone never count as a match. The
two arrays of a sample are finite, and its graph keeps its saved values. A formula names
values as they are at the end of the program, so it uses no line that a loop may have
run several times with different values.

    samples = gather(task, claim, count=8, until=deadline)
    samples[0].true - samples[0].claimed
    SIGN.of_claim([(np.ones(2), -np.ones(2))]).repair       # "multiply by -1"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, permutations
from math import inf, isfinite, log, prod
from time import thread_time
from typing import Any, Final

import numpy as np

from ..check.claim_sides import MAX_CLAIM_STEPS, fitted_array, on_equation
from ..check.claims import (
    Claim,
    ClaimsTask,
    Point,
    positions,
    random_points,
    typed_point,
)
from ..check.process.budget import OutOfTime
from ..engine import NUMPY, Node, Tensor
from ..engine.errors import EngineError
from ..engine.raw import Host
from ..lang.errors import ProgramError
from ..lang.parser import parse
from ..lang.run import Input, evaluate
from ..lang.syntax import For, Target, While, walk
from ..large.blocks import blocks_of, gradient, of_order
from .factors import FactorWriter
from .graph_view import NameCollector, graph_view
from .survey import Path, PathStep, largest, met


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A fault of a claim, with its repair.

    cause   the kind of slip, in one word
    text    the slip, in a sentence
    repair  the change that would make the claim right
    """

    cause: str
    text: str
    repair: str


@dataclass(frozen=True, slots=True)
class FormulaPiece:
    """A formula of a derivative, and the conditions that it holds under."""

    formula: str
    where: tuple[str, ...] = ()


Array = Host
Pair = tuple[Array, Array]

CLOSE = 1e-8
"""Largest relative distance of two equal numbers that were computed differently."""

SIMPLE = 64
"""Largest denominator of a constant factor that someone may have forgotten."""


def same(a: Array, b: Array) -> bool:
    """Tell whether two arrays are finite and equal, ignoring dimensions of size 1."""
    a, b = np.squeeze(a), np.squeeze(b)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    size = max(largest(a), largest(b))
    return bool((abs(a - b) <= CLOSE * size).all())


def all_same(pairs: Iterable[Pair]) -> bool:
    return all(same(a, b) for a, b in pairs)


def speaking(pairs: Sequence[Pair]) -> bool:
    """Tell whether each side has an entry that is not zero."""
    return any(largest(a) for a, _ in pairs) and any(largest(b) for _, b in pairs)


def alike(pairs: Sequence[Pair]) -> bool:
    """Tell whether both sides are equal and neither is all zeros."""
    return speaking(pairs) and all_same(pairs)


def constant_factor(pairs: Sequence[Pair]) -> float | None:
    """Return the ``c`` with ``a = c * b`` for all pairs; None if there is none, or if a
    side is all zeros or not finite."""
    if any(np.squeeze(a).shape != np.squeeze(b).shape for a, b in pairs):
        return None
    if not pairs:
        return None
    a = np.concatenate([np.ravel(p) for p, _ in pairs])
    b = np.concatenate([np.ravel(q) for _, q in pairs])
    if not a.size or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    square = float(b @ b)
    if not square or not largest(a):
        return None
    c = float(a @ b) / square
    if not c or largest(a - c * b) > CLOSE * max(largest(a), abs(c) * largest(b)):
        return None
    return c


def simple_number(c: float) -> Fraction | None:
    """Return the simple fraction that a number is; None if it is none."""
    if not isfinite(c):
        return None
    near = Fraction(c).limit_denominator(SIMPLE)
    if abs(float(near) - c) > CLOSE * abs(c) or abs(near.numerator) > SIMPLE * SIMPLE:
        return None
    return near


def number_text(c: float) -> str:
    """Return a number as a simple fraction, as one with the logarithm of a whole
    number, or else as a short decimal."""
    simple = simple_number(c)
    if simple is not None:
        return str(simple)
    for base in range(2, MAX_LOGARITHM):
        over, under = simple_number(c / log(base)), simple_number(c * log(base))
        if over is not None:
            return f"log({base})" if over == 1 else f"{over}*log({base})"
        if under is not None:
            below = f"log({base})"
            below = f"({under.denominator}*{below})" if under.denominator > 1 else below
            return f"{under.numerator}/{below}"
    return f"{c:.8g}"


MAX_LOGARITHM: Final = 17
"""Least whole number whose logarithm is not recognised in a factor."""


MAX_DIMENSIONS = 4
"""Largest number of dimensions whose orders and sums are tried."""

Seen = Callable[[Array, Array], "Pair | None"]
"""Type of a function from right and given numbers to two arrays that are equal if
this is the mistake; it returns None if the shapes rule the mistake out."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A mistake that numbers may show, with its test and its sentences.

    cause        the kind of the mistake, in one word
    seen         a function that returns the two arrays that the mistake makes equal
    text         the sentence about a claim; ``repair`` says how to put it right
    of_gradient  cause, sentence and repair for a gradient, whose name replaces ``{}``
    scaled       whether a claim may also lack a constant factor
    unless       a divisor that is not taken for that factor: another mistake fits it
    """

    cause: str
    seen: Seen
    text: str
    repair: str
    of_gradient: tuple[str, str, str] = ("", "", "")
    scaled: bool = False
    unless: int = 1

    def _compared(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return the arrays that must be equal; none if a pair's shapes do not fit."""
        found = [self.seen(true, given) for true, given in pairs]
        known = [pair for pair in found if pair is not None]
        return known if len(known) == len(found) else []

    def of_claim(self, pairs: Sequence[Pair]) -> Diagnosis | None:
        """Return the diagnosis of a claim; None if it does not have this mistake."""
        compared = self._compared(pairs)
        plain = Diagnosis(self.cause, self.text, self.repair)
        if not self.scaled:
            return plain if alike(compared) else None
        c = constant_factor(compared)
        if c is None or (self.unless > 1 and simple_number(1 / c) == self.unless):
            return None
        if abs(c - 1) <= CLOSE:
            return plain
        also = number_text(c)
        text = f"{self.text}, and the factor {also}"
        return Diagnosis(self.cause, text, f"{self.repair} and multiply by {also}")

    def of_backward(self, pairs: Sequence[Pair], gradient: str) -> Diagnosis | None:
        """Return the diagnosis of a backward; None if it does not have this mistake."""
        cause, text, repair = self.of_gradient
        right = alike(self._compared(pairs))
        return Diagnosis(cause, text.format(gradient), repair) if right else None


def first_of(rows: Iterable[Hypothesis], pairs: Sequence[Pair]) -> Diagnosis | None:
    """Return the diagnosis of the first hypothesis that fits; None if none does."""
    return next(filter(None, (row.of_claim(pairs) for row in rows)), None)


SIGN = Hypothesis(
    "sign", lambda a, b: (a, -b), "the sign is wrong", "multiply by -1",
    of_gradient=("sign", "{} has the wrong sign", "multiply it by -1"),
)  # fmt: skip

OFF_DIAGONAL = Hypothesis(
    "diagonal",
    lambda a, b: (np.where(np.eye(*a.shape), a, 0), b)
    if a.ndim == 2 and a.shape == b.shape and a.size > 1 else None,
    "the entries off the diagonal are left out", "add them",
    of_gradient=(
        "path", "{} is right only for the entry of the same position: outputs depend "
        "on the other entries, too",
        "add what comes from the other entries of the output",
    ),
)  # fmt: skip

DIAGONALS = (
    OFF_DIAGONAL,
    Hypothesis(
        "diagonal",
        lambda a, b: (a, np.diag(np.ravel(b)))
        if a.shape == (b.size,) * 2 and a.size > 1 else None,
        "the derivative is a diagonal matrix, of which this is the diagonal",
        "take diag(...) of it",
    ),
    Hypothesis(
        "diagonal",
        lambda a, b: (np.diagonal(a), np.ravel(b))
        if a.shape == (b.size,) * 2 and a.size > 1 else None,
        "the derivative is a matrix, of which this is only the diagonal",
        "add the entries off the diagonal",
    ),
    Hypothesis(
        "diagonal",
        lambda a, b: (a, np.diagonal(b))
        if b.shape == (a.size,) * 2 and a.size > 1 else None,
        "the derivative is only the diagonal of this matrix",
        "take its diagonal",
    ),
)  # fmt: skip
"""Hypotheses that one side is a matrix and the other its diagonal."""

UPSIDE_DOWN = Hypothesis(
    "reciprocal", lambda a, b: (a, 1 / b) if a.all() and b.all() else None,
    "the result is upside down", "take 1 divided by it",
)  # fmt: skip


def transpositions(ndim: int, outer: int = 0) -> Iterator[Hypothesis]:
    """Yield the hypotheses that ``ndim`` dimensions, behind ``outer`` ones that stay in
    place, are in another order."""
    if ndim > MAX_DIMENSIONS:
        return
    for order in list(permutations(range(ndim)))[1:]:

        def seen(a: Array, b: Array, order: tuple[int, ...] = order) -> Pair | None:
            if b.ndim != outer + ndim:
                return None
            turned = b.transpose(*range(outer), *(outer + d for d in order))
            return (a, turned) if turned.shape == a.shape else None

        how = ".t()" if len(order) == 2 else f".permute{order}"
        yield Hypothesis(
            "transpose", seen, "the result is transposed", f"take {how} of it",
            of_gradient=("transpose", "{} is transposed", f"take {how} of it"),
            scaled=True,
        )  # fmt: skip


def sums(shape: tuple[int, ...], left_out: bool) -> Iterator[Hypothesis]:
    """Yield the hypotheses that a sum or a mean over some dimensions is left out of a
    claim of this shape, or is taken of a derivative of this shape."""
    if len(shape) > MAX_DIMENSIONS or (prod(shape) < 2 and not left_out):
        return
    for name, reduce in (("sum", np.sum), ("mean", np.mean)):
        for axes in _choices(len(shape)):
            every = len(axes) == len(shape)
            plural = "s" if len(axes) > 1 else ""
            along = f"dimension{plural} {', '.join(map(str, axes))}"
            along = "all entries" if every else along
            how = "" if every else f"dim={axes if plural else axes[0]}"
            if left_out:
                count = prod(shape[axis] for axis in axes)
                yield Hypothesis(
                    name, lambda a, b, f=reduce, axes=axes: (a, f(b, axis=axes)),  # type: ignore[misc]
                    f"a {name} over {along} is left out", f"take .{name}({how}) of it",
                    scaled=True, unless=count if name == "sum" else 1,
                )  # fmt: skip
            else:
                yield Hypothesis(
                    name, lambda a, b, f=reduce, axes=axes: (f(a, axis=axes), b),  # type: ignore[misc]
                    f"the claim takes a {name} over {along} of the derivative",
                    f"leave the {name} out",
                )  # fmt: skip


def _choices(ndim: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, ndim + 1):
        yield from combinations(range(ndim), count)


MIN_SAMPLES = 3
"""Smallest number of samples for a conclusion: any constant fits fewer."""

POINTS_PER_SAMPLE = 6
"""Number of points tried for each sample that is wanted."""

MAX_REPAIR_CHARACTERS = 120
"""Largest length of a changed part of a claim that a repair shows, in characters."""

NO_VALUE: Final = (ProgramError, EngineError, MemoryError)
"""Errors that mean that a program, a claim or a derivative has no value."""


@dataclass(frozen=True, slots=True)
class PointEvidence:
    """The true and the claimed derivative at one point, with the graph.

    target    the tensor that is differentiated, with its graph
    inputs    the leaves, by name
    named     everything that a claim may name, inputs included
    """

    true: Array
    claimed: Array
    target: Tensor
    inputs: Mapping[str, Tensor]
    named: Mapping[str, object]

    @property
    def variables(self) -> dict[str, Tensor]:
        """Return those of the named values that are tensors."""
        return {k: v for k, v in self.named.items() if isinstance(v, Tensor)}

    def aligned(self) -> Array | None:
        """Return the claim in the derivative's shape; None if it does not fit."""
        return fitted_array(self.claimed, self.true.shape)

    def finite(self) -> bool:
        """Tell whether the target and both derivatives are finite."""
        known = (self.target.raw, self.true, self.claimed)
        return all(bool(np.isfinite(values).all()) for values in known)


def gather(
    task: ClaimsTask, claim: Claim, count: int, until: float
) -> list[PointEvidence]:
    """Return up to ``count`` samples at random points; fewer if time runs out."""
    given = {g.name for g in task.inputs if g.values is not None} - set(claim.by)
    for kept in (frozenset[str](), frozenset(given)):
        points = random_points(task.inputs, task.seed + 1, kept)
        tried = islice(points, POINTS_PER_SAMPLE * count)
        found = list(islice(_samples(task, claim, tried, until), count))
        if len(found) > count // 2:
            return found
    return found or typed_sample(task, claim)


def typed_sample(task: ClaimsTask, claim: Claim) -> list[PointEvidence]:
    """Return the one sample at the typed point; none if no point was typed."""
    given = typed_point(task.inputs, task.seed)
    return list(_samples(task, claim, iter([given] if given else []), inf))


def _samples(
    task: ClaimsTask, claim: Claim, points: Iterator[Point], until: float
) -> Iterator[PointEvidence]:
    for point in points:
        if thread_time() > until:
            return
        with np.errstate(all="ignore"):
            try:
                sample = at(task, claim, point)
            except NO_VALUE:
                # A point at which the program fails tells nothing.
                continue
        if sample.finite():
            yield sample


def at(task: ClaimsTask, claim: Claim, point: Point) -> PointEvidence:
    """Return the sample at one point, where program and claim must not fail."""
    point = on_equation(task, point)
    inputs = {
        g.name: Tensor(np.array(point[g.name]).reshape(g.shape), NUMPY, True)
        for g in task.inputs
    }
    target, _, environment = evaluate(
        task.source, inputs, of=claim.output or task.of, seed=task.seed,
        max_steps=MAX_CLAIM_STEPS,
    )  # fmt: skip
    named = {**inputs, **environment, **inputs}
    claimed = claimed_numbers(task, claim, claimed_text(task, claim), inputs, named)
    return PointEvidence(
        derivative(claim, target, inputs), claimed, target, inputs, named
    )


def claimed_text(task: ClaimsTask, claim: Claim) -> str:
    """Return the text of the claimed side: an expression, or a program."""
    said = task.other if claim.expression is None else claim.expression
    assert said is not None
    return said


def claimed_numbers(
    task: ClaimsTask,
    claim: Claim,
    text: str,
    inputs: Mapping[str, Tensor],
    named: Mapping[str, Any],
) -> Array:
    """Return the numbers that a claim states if its other side reads ``text``."""
    if claim.expression is None:
        output, _, _ = evaluate(text, inputs, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
        return derivative(claim, output, inputs)
    said, _, _ = evaluate(text, named, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
    return np.asarray(said.raw, dtype=np.float64)


def derivative(claim: Claim, target: Tensor, inputs: Mapping[str, Tensor]) -> Array:
    """Return the engine's derivative, in the shape that a claim should have."""
    if not claim.by:
        return np.asarray(target.raw, dtype=np.float64)
    wanted = [inputs[name] for name in claim.by]
    lead = tuple(target.shape) if len(wanted) == 1 else ()
    at = positions(claim, lead, [tuple(x.shape) for x in wanted])
    if target.edge is None:
        return np.zeros(at.shape)
    if len(wanted) > 2:
        found = of_order(target, wanted[0], len(wanted))
        return np.asarray(found.raw, dtype=np.float64)
    if len(wanted) == 1:
        ((block,),) = blocks_of([target], wanted)
    else:
        different = list(dict.fromkeys(wanted))
        block = blocks_of(gradient(target, different), different)[0][-1]
    return np.asarray(block.raw, dtype=np.float64).reshape(-1)[at]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A false claim, and the samples on which hypotheses are tested.

    ``until`` is the reading of this thread's processor clock, in seconds, at which the
    work must end; ``differs_at_example`` says whether the two sides clearly differ at
    the point that is shown.
    """

    task: ClaimsTask
    claim: Claim
    samples: Sequence[PointEvidence]
    until: float
    differs_at_example: bool = False

    def check(self) -> None:
        """Raise `OutOfTime` if there is no time left."""
        if thread_time() >= self.until:
            raise OutOfTime

    @property
    def pairs(self) -> list[Pair]:
        """Return the true and the claimed derivative of each sample."""
        return [(sample.true, sample.claimed) for sample in self.samples]

    @property
    def sides(self) -> list[Pair]:
        """Return the same with claims in the derivative's shape; none if one of them
        does not fit."""
        pairs: list[Any] = [(sample.true, sample.aligned()) for sample in self.samples]
        return [] if any(claimed is None for _, claimed in pairs) else pairs

    @property
    def text(self) -> str:
        """Return the text that the derivative is compared with."""
        return claimed_text(self.task, self.claim)

    def is_right(self, text: str, names: Mapping[str, str] = {}) -> bool:
        """Tell whether a text is the derivative at every sample. ``names`` maps names
        in the text to other names whose values they take."""
        for sample in self.samples:
            exchanged = {a: sample.named[b] for a, b in names.items()}
            found = self.claimed(
                text, replace(sample, named={**sample.named, **exchanged})
            )
            if found is None or not same(found, sample.true):
                return False
        return True

    def claimed(self, text: str, sample: PointEvidence) -> Array | None:
        """Return the numbers of a claim that reads ``text``; None if it has none."""
        self.check()
        try:
            return claimed_numbers(
                self.task, self.claim, text, sample.inputs, sample.named
            )
        except NO_VALUE:
            # A changed claim need not have a value at all.
            return None


def rewritten(cause: str, text: str, before: str, after: str) -> Diagnosis:
    """Return the diagnosis whose repair shows the corrected text; of several lines it
    shows those that change."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = "; ".join(new.strip() for old, new in lines if new != old)
    short = len(changed) <= MAX_REPAIR_CHARACTERS
    repair = f"write {changed}" if short else "write that part otherwise"
    return Diagnosis(cause, text, repair)


Test = Callable[[Evidence], Diagnosis | None]
"""Type of a test for one mistake. It returns a diagnosis only if the claim, corrected
as proposed, agrees with the derivative at every sample."""


UNNAMED = "output"


class Texts:
    """The names and formulas of the values in one recorded graph."""

    def __init__(self, evidence: Evidence, sample: PointEvidence) -> None:
        source = evidence.task.source
        self._root = sample.target.edge
        self._names = NameCollector()
        inputs = [Input(name, x, True, True) for name, x in sample.inputs.items()]
        made = {k: v for k, v in sample.variables.items() if k not in sample.inputs}
        self._names.settle(inputs, made, _ambiguous(source))
        view = graph_view(
            sample.target, source=source, name=UNNAMED,
            variables=sample.variables, local_gradients=False,
        )  # fmt: skip
        self._sources = {node.address: node.source for node in view.nodes}
        self.factors = FactorWriter(self._names, view)

    def path(self, path: Path, end: str, in_full: bool = False) -> tuple[str, ...]:
        """Return the names along a path; ``in_full`` adds texts of unnamed values."""
        steps = met(self._root, path)
        labels = [self._label(step, in_full or k == 0) for k, step in enumerate(steps)]
        return (*[label for label in labels if label], end)

    def product(self, path: Path) -> str | None:
        """Return the formula of a path's contribution; None if there is none."""
        steps = [(step.node, step.nr) for step in met(self._root, path)]
        return self.factors.product(steps)

    def named(self, node: Node) -> str:
        """Return the program text that a node was recorded for, or its row's name."""
        return self._sources.get(id(node)) or node.op.name

    def _label(self, step: PathStep, spelled: bool) -> str | None:
        name = self._names.of(step.value)
        if name is None and spelled:
            name = self._sources.get(id(step.node))
        return name

    def unique(self, paths: Sequence[Path], end: str) -> list[str]:
        """Return a label for each path; texts are added only if names are ambiguous."""
        short = [self.path(path, end) for path in paths]
        if len(set(short)) < len(short):
            short = [self.path(path, end, in_full=True) for path in paths]
        return [" → ".join(labels) for labels in short]


def _ambiguous(source: str) -> frozenset[str]:
    """Return the names that may have had several values while the program ran."""
    nodes = list(walk(parse(source)))
    targets = Counter(node.name for node in nodes if isinstance(node, Target))
    looped = any(isinstance(node, For | While) for node in nodes)
    return frozenset(name for name, n in targets.items() if looped or n > 1)
