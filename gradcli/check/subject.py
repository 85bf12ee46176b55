"""One run of a program for the checker, on scalar terms or on a tape.

Invariant: the program sees tensors as always; only this module knows that they hold
terms. The independent derivative never looks at the recorded graph; the engine's own
reverse pass is run on the same steps, to be compared with it.

    subject = run_of(job, evaluate)
    subject.evaluation.gradient(subject.outputs, [1.0], subject.entries["x"])
    subject.engine_row([1.0])                   # {"x": steps} by the engine's rules
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import isfinite, prod
from typing import Any, Final

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..engine.raw import Host
from ..lang.exactly import ExactLibrary, exactly_compiled
from ..lang.run import computed, evaluate
from .balls import START_BITS, in_floats, is_infinite, is_nan, to_float, working
from .namespace import ObjectArray, ObjectNamespace
from .process.budget import load_sympy
from .process.job import Job, entry_name
from .rounding import Roundings
from .system import NoMeaning
from .tape import Tape, TapeNamespace
from .terms import Term, Terms

MAX_RULED_STEPS: Final = 20_000
"""Largest program, in steps, whose rules are all run on balls and whose numbers are
followed in floats; in a larger one, rules are run only for numbers that look wrong."""

Evaluate = Callable[[dict[str, Tensor]], Any]
"""Type of a program: a function from tensors by name to the output tensor."""

Place = tuple[str, int]
"""Type of an entry's place: an input's name, and the entry's position in C order."""

Pair = tuple[int, int]
"""Type of a tie: two steps that are equal, and may differ if an entry moves."""


class Subject:
    """A run of the program whose steps are numbered, on terms or on a tape.

    outputs   the numbers of the steps that compute the output's entries
    entries   by name, the steps of the inputs that derivatives are asked by
    kinks     pairs of a kink in words and the step that lies on it
    """

    def __init__(
        self, job: Job, namespace: Any, output: Tensor, tensors: dict[str, Tensor]
    ) -> None:
        self.job = job
        self.namespace = namespace
        self.output = output
        self.tensors = tensors
        self.asked = [i.name for i in job.inputs if i.claim is not None]
        self.system: Terms | Tape = namespace.system
        self.outputs: list[int] = list(map(int, self.steps_of(output)))
        self.entries = {name: self.steps_of(tensors[name]) for name in self.asked}
        self.evaluation = self.system.evaluation
        self.roundings = self.system.roundings or Roundings(self.evaluation, job.dtype)
        self.kinks = [(what, step) for step, what in self.system.kinks.items()]
        self.zeros = set(self.system.zeros)
        self.size = int(self.evaluation.graph.steps)
        self._ties: list[Any] = self.system.tied_pairs()
        self._row: tuple[tuple[float, ...], dict[str, Any]] | None = None

    @property
    def terms(self) -> Terms:
        """The terms of a run that is not on a tape."""
        assert isinstance(self.system, Terms)
        return self.system

    @property
    def is_on_terms(self) -> bool:
        return isinstance(self.system, Terms)

    @property
    def unsure(self) -> bool:
        """Whether a tie or a jump is decided by the rounding of floats."""
        return bool(self.system.unsure)

    def steps_of(self, tensor: Tensor) -> Any:
        """Return the numbers of the steps that are a tensor's entries, in C order; on a
        tape as an array."""
        found: Host = self.namespace.elements(tensor.raw).reshape(-1)
        return list(map(int, found)) if self.is_on_terms else found

    def terms_of(self, steps: Iterable[int]) -> list[Term]:
        return [self.terms.made[s] for s in steps]

    @property
    def output_terms(self) -> list[Term]:
        return self.terms_of(self.outputs)

    def all_entries(self) -> list[Term]:
        """Return the terms of all entries of all inputs asked for, in order."""
        return self.terms_of(chain.from_iterable(self.entries.values()))

    def is_single(self, step: int) -> bool:
        """Tell whether no step below a rule's step is infinite, and every step of the
        program below it is finite."""
        steps = self.evaluation.below([step])
        return not any(
            is_infinite(b) or (s < self.size and not b.is_finite())
            for s, b in zip(steps, self.evaluation.settled(steps), strict=True)
        )

    def growth(self, step: int) -> float:
        """Return the factor by which a rule's step magnifies the rounding of a constant
        exponent: the largest logarithm of a base below it that has such an exponent."""
        graph, found = self.evaluation.graph, [0.0]
        for each in self.evaluation.below([step]):
            if each >= self.size and graph.name(each) == "pow":
                base, exponent = graph.args(each)
                if graph.name(exponent) == "number":
                    (settled,) = self.evaluation.settled([base])
                    found.append(abs(to_float(abs(settled).log())))
        return max(filter(isfinite, found))

    def leaves_range(self, step: int | None) -> bool:
        """Tell whether floats that are 0 or infinite made the program, or the rule that
        gave ``step``, choose another way than exact numbers choose."""
        if self.evaluation.graph.steps > MAX_RULED_STEPS:
            return False
        roots = [*map(int, self.outputs), *([] if step is None else [step])]
        return self.roundings.leaves_range(roots)

    def without_value(self) -> set[int]:
        """Return the entries that a step without a value depends on, or a step with a
        derivative that is NaN."""
        evaluation, steps = self.evaluation, range(self.size)
        evaluation.settled(steps)
        lost = [
            step for step in steps
            if is_nan(evaluation.value(step)) or any(
                evaluation.slope(step, position, START_BITS).is_nan()
                for position, _ in evaluation.graph.carrying(step)
            )
        ]  # fmt: skip
        return evaluation.entries_below(lost) if lost else set()

    def mark(self, positions: Mapping[str, object]) -> int:
        """Prepare derivatives by these entries; return how many steps they take."""
        if isinstance(self.system, Tape):
            marked = [self.entries[name][at] for name, at in positions.items()]
            self.system.mark(np.concatenate(marked), self.size)
        return self.system.work()

    def mark_places(self, places: Sequence[Place]) -> list[int]:
        """Prepare derivatives by the entries at these places; return their steps."""
        positions: dict[str, list[int]] = {name: [] for name in self.asked}
        for name, at in places:
            positions[name].append(at)
        self.mark(positions)
        return [int(self.entries[name][at]) for name, at in places]

    def outside(self) -> frozenset[int]:
        """Return the steps whose functions have no value around their arguments, if
        known."""
        return self.system.outside(self.outputs)

    @cached_property
    def sign_of_zero(self) -> tuple[str, tuple[int, ...]] | None:
        """Words for a function that depends on the sign of a zero, which no real number
        has, and the steps that lie there; None if there is none."""
        if self.zeros:
            return "the sign of a zero decides", tuple(sorted(self.zeros)[:1])
        evaluation, graph = self.evaluation, self.evaluation.graph
        for step in evaluation.below(map(int, self.outputs)):
            values = evaluation.values(graph.args(step), START_BITS)
            zeros = [k for k, v in enumerate(values) if v.is_zero()]
            name, at = graph.name(step), [to_float(v) for v in values if zeros]
            for k in zeros:
                other = [*at[:k], -0.0, *at[k + 1 :]]
                # A library may round differently when a zero has the other sign.
                pair = in_floats(name, at), in_floats(name, other)
                if not np.isclose(*pair, equal_nan=True):
                    return f"{name} depends on the sign of a zero", (step,)
        return None

    def edges(self) -> Iterable[tuple[str, int]]:
        """Return pairs of a kink and its step that are found only after the run."""
        return ((what, step) for step, what in self.system.edges(self.size))

    def ties(self) -> list[Pair]:
        """Return the ties that an entry marked last may part."""
        return self.system.live_ties(self._ties)

    def crowd(self) -> list[int]:
        """Return the steps that are part of a tie of more than two steps."""
        return self.system.crowd(self._ties)

    def engine_row(self, cotangent: Sequence[float]) -> dict[str, Any]:
        """Return the engine's gradient of the contracted output, as steps by name,
        computed again only for a new cotangent."""
        key = tuple(cotangent)
        if self._row is None or self._row[0] != key:
            if isinstance(self.system, Tape):
                self.system.cut(self.size)
            self._row = key, self._pulled(self.output, cotangent)
        return self._row[1]

    @cached_property
    def gradient(self) -> list[Tensor]:
        """The engine's recorded gradient of a scalar output, by input."""
        return self._gradients(self.output, None, create_graph=True)

    def second_row(self, row: int) -> dict[str, Any]:
        """Return row ``row`` of the engine's Hessian, one row for each entry."""
        for part in self.gradient:
            count = part.numel()
            if row < count:
                return self._pulled(part, unit(count, row))
            row -= count
        raise IndexError(row)

    def _pulled(self, output: Tensor, cotangent: Sequence[float]) -> dict[str, Any]:
        g = self.namespace.array(np.array(cotangent).reshape(output.shape))
        found = self._gradients(output, Tensor(g, self.namespace))
        return dict(zip(self.asked, map(self.steps_of, found), strict=True))

    def _gradients(
        self, output: Tensor, cotangent: Tensor | None, create_graph: bool = False
    ) -> list[Tensor]:
        """Return the engine's gradients by the inputs asked for; 0 if unused."""
        xp, inputs = self.namespace, [self.tensors[name] for name in self.asked]
        found: Sequence[Tensor | None] = [None] * len(inputs)
        if output.edge is not None:
            with working(START_BITS), xp.taking_numbers():
                found = grad([output], inputs, [cotangent], True, create_graph)
        return [
            Tensor(xp.zeros_like(x.raw), xp) if g is None else g
            for x, g in zip(inputs, found, strict=True)
        ]

    def text_of(self, steps: Iterable[int]) -> str:
        """Return the steps as formulas in brackets; an empty text if they are long."""
        if not self.is_on_terms:
            return ""
        # SymPy is imported here, because it is needed only where a kink is named.
        load_sympy()
        from .formulas import shown

        parts = list(filter(None, map(shown, self.terms_of(steps))))
        return f" ({' and '.join(parts)})" if parts else ""


def run_of(
    job: Job, evaluate: Evaluate, namespace: ObjectNamespace | None = None
) -> Subject:
    """Return the run of a program on terms or a tape: by default on new terms, which
    treat numbers that differ by no more than rounding as tied; raise `NoMeaning` for
    other values. Inputs that are integers stay so."""
    basis: Any = (
        ObjectNamespace(Terms(0, job.dtype)) if namespace is None else namespace
    )
    tensors = {}
    for given in job.inputs:
        values, shape = given.value.values(), given.value.shape
        asked = given.claim is not None
        if given.whole:
            whole = np.array(values).astype(np.int64).reshape(shape)
            tensors[given.name] = Tensor(whole, NUMPY)
        elif isinstance(basis, TapeNamespace):
            raw = basis.symbols(np.array(values), shape, asked)
            tensors[given.name] = Tensor(raw, basis, asked)
        else:
            tensors[given.name] = symbols(given.name, shape, values, basis, asked)
    with basis.watched(), working(START_BITS):
        output = of_elements(evaluate(dict(tensors)), basis)
    if output.shape != job.output.shape:
        raise NoMeaning(
            f"run by the checker the program gives shape {output.shape}, run by the "
            f"engine {job.output.shape}"
        )
    return Subject(job, basis, output, tensors)


def of_elements(value: object, namespace: ObjectNamespace) -> Tensor:
    """Return a program's value as a tensor of the namespace's elements."""
    raw = value.raw if isinstance(value, Tensor) else value
    if isinstance(value, Tensor) and isinstance(raw, ObjectArray):
        return value
    return Tensor(namespace.array(raw), namespace)


def symbols(
    name: str, shape: Sequence[int], values: Iterable[object],
    namespace: ObjectNamespace, requires_grad: bool = True,
) -> Tensor:  # fmt: skip
    """Return a tensor of symbols, each named after the input and the entry's index."""
    symbol = namespace.system.symbol  # type: ignore[attr-defined]
    pairs = zip(np.ndindex(*shape), values, strict=True)
    made = objects([symbol(entry_name(name, at), value) for at, value in pairs], shape)
    return Tensor(ObjectArray(made, namespace), namespace, requires_grad)


def objects(values: Iterable[object], shape: Sequence[int]) -> Host:
    """Return objects, such as terms or balls in C order, as an array."""
    found = np.empty(prod(shape), dtype=object)
    found[:] = list(values)
    return found.reshape(tuple(shape))


def unit(count: int, position: int) -> list[float]:
    return [1.0 if i == position else 0.0 for i in range(count)]


def exact_output(job: Job, tensors: dict[str, Tensor], library: ExactLibrary) -> Tensor:
    """Return a program's output on tensors of exact numbers of the library's kind."""
    code = exactly_compiled(job.source, frozenset(tensors))
    with library.factory.xp.taking_numbers():
        output: Tensor = computed(code, tensors, library, job.of)[0]
    return output


def program_of(job: Job) -> Evaluate:
    """Return a function that runs the job's program on tensors of any number system."""
    options: dict[str, Any] = {"of": job.of, "seed": job.seed, "dtype": job.dtype}
    return lambda inputs: evaluate(job.source, inputs, **options)[0]
