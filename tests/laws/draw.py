"""Inputs for the laws: what a case asks for, drawn from a seeded generator.

Invariant: the same row and case give the same numbers in every run, and no draw lies
near a kink that the case's bounds keep away from.

    spot = draw(OPS["mul"], 0)
    y = spot.run()                  # the output's tensors, with their graph
    spot.leaves                     # the inputs that carry a gradient
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, constant
from gradcli.engine.record import apply
from gradcli.ops import OPS, Case, Composite, Fixed, Op
from gradcli.ops.op import parameters

NO_FORMULA = {"matrix_exp": "its rule is an exponential of a matrix of twice the size"}
"""Rows whose reverse rule has no formula in exact numbers, and why."""

GAP = 0.1
"""How far apart distinct entries are, at least."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A row, at one point: its case, and the arrays that were drawn for it."""

    op: Op | Composite
    case: Case
    arrays: tuple[Any, ...]
    xp: Any = NUMPY

    @property
    def free(self) -> list[int]:
        """The positions of the inputs that were drawn and can carry a gradient."""
        drawn = [i for i, shape in enumerate(self.case.inputs) if is_shape(shape)]
        rules = rules_of(self.op)
        return [i for i in drawn if rules is None or rules[i] is not None]

    def run(self, values: Sequence[Any] | None = None) -> tuple[list[Tensor], Any]:
        """The inputs that carry a gradient as leaves, and the row's output.

        ``values`` takes the place of what was drawn for them.
        """
        chosen = self.values() if values is None else values
        leaves = [Tensor(value, self.xp, True) for value in chosen]
        return leaves, self.output(dict(zip(self.free, leaves, strict=True)))

    def output(self, given: Mapping[int, Tensor]) -> Any:
        """The row's output where these inputs are given, and the others are drawn."""
        numbers = range(len(self.arrays))
        inputs = [given[i] if i in given else self._fixed(i) for i in numbers]
        return apply(self.op, tuple(inputs), dict(self.case.params))

    def _fixed(self, i: int) -> Any:
        value = self.arrays[i]
        plain = value is None or isinstance(value, str | bool)
        return value if plain else Tensor(value, self.xp)

    def values(self) -> list[Any]:
        """What was drawn for the inputs that carry a gradient."""
        return [self.arrays[i] for i in self.free]

    def as_kind(self, convert: Any, xp: Any = NUMPY) -> Spot:
        """The same spot with its arrays converted."""
        arrays = tuple(convert(a) if hasattr(a, "dtype") else a for a in self.arrays)
        return Spot(self.op, self.case, arrays, xp)


def rules_of(op: Op) -> Sequence[Any] | None:
    """Per input whether it has a rule; None where all inputs share one."""
    if op.partials is not None:
        return op.partials
    return op.vjp if isinstance(op.vjp, tuple) else None


def is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(n, int) for n in value)


def is_differentiated(op: Op) -> bool:
    """Whether a case of the row has an input that is drawn, and so has a derivative."""
    return any(is_shape(value) for case in op.cases for value in case.inputs)


def generator(*names: object) -> np.random.Generator:
    """A generator whose seed follows from names."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


LIST = ("tensors",)
"""The parameters with which functions of a list of tensors begin."""


def handed(entry: Op | Composite, inputs: Sequence[Any]) -> list[Any]:
    """A case's inputs as a call hands them over: some functions take one list."""
    takes_a_list = isinstance(entry, Composite) and parameters(entry)[:1] == LIST
    return [list(inputs)] if takes_a_list else list(inputs)


def root(op: Op | Composite) -> str:
    """The row's name; a copy named "row with ..." draws what the row draws."""
    return op.name.partition(" ")[0]


def draw(op: Op | Composite, number: int) -> Spot:
    """The inputs of a row's case with that number, on memory of their own."""
    case = op.cases[number]
    arrays = remembered(case, (root(op), number), lambda: _drawn(op, number))
    return Spot(op, case, arrays)


def _drawn(op: Op | Composite, number: int) -> tuple[Any, ...]:
    case = op.cases[number]
    rng = generator(root(op), number)
    return tuple(
        draw_array(rng, shape, case) if is_shape(shape) else _given(shape)
        for shape in case.inputs
    )


_REMEMBERED: dict[Any, tuple[Case, tuple[Any, ...]]] = {}


def remembered(
    case: Case, names: tuple[object, ...], make: Callable[[], Sequence[Any]]
) -> tuple[Any, ...]:
    """Copies of what was once drawn for a case under these names."""
    key = (id(case), names)
    if key not in _REMEMBERED:
        # The case is held, so that no other has its number.
        _REMEMBERED[key] = (case, tuple(make()))
    _, drawn = _REMEMBERED[key]
    return tuple([a.copy("K") if isinstance(a, np.ndarray) else a for a in drawn])


def _given(value: Any) -> Any:
    value = value.value if isinstance(value, Fixed) else value
    plain = value is None or isinstance(value, str | bool)
    return value if plain else constant(np.asarray(value)).raw


def draw_array(rng: np.random.Generator, shape: tuple[int, ...], case: Case) -> Any:
    kind = case.make if case.make not in MATRICES or len(shape) > 1 else "uniform"
    return MAKERS[kind](rng, shape, case.low, case.high)


def _uniform(rng: Any, shape: tuple[int, ...], low: float, high: float) -> Any:
    return np.asarray(rng.uniform(low, high, shape))


def _distinct(rng: Any, shape: tuple[int, ...], low: float, high: float) -> Any:
    """Entries at least `GAP` apart, spread over the interval or beyond it."""
    count = int(np.prod(shape))
    ranks = rng.permutation(count) - (count - 1) / 2
    step = max(3 * GAP, (high - low) / max(count, 1))
    wiggle = rng.uniform(-0.3, 0.3, count)
    return np.asarray((low + high) / 2 + (ranks + wiggle) * step).reshape(shape)


def _spd(rng: Any, shape: tuple[int, ...], low: float, high: float) -> Any:
    square = rng.uniform(low, high, shape)
    if shape[-1] != shape[-2]:
        # The right side of a system.
        return np.asarray(square)
    return square @ np.swapaxes(square, -1, -2) + shape[-1] * np.eye(shape[-1])


def _regular(rng: Any, shape: tuple[int, ...], low: float, high: float) -> Any:
    """Well conditioned: the singular values lie between 1 and 3."""
    u, _, vt = np.linalg.svd(rng.uniform(low, high, shape), full_matrices=False)
    singular = rng.uniform(1.0, 3.0, (*shape[:-2], min(shape[-2:])))
    return (u * singular[..., None, :]) @ vt


MAKERS = {
    "uniform": _uniform,
    "distinct": _distinct,
    "spd": _spd,
    "symmetric": _spd,
    "regular": _regular,
}


MATRICES = ("spd", "symmetric", "regular")
"""Kinds that mean matrices; a vector beside one is drawn uniformly."""


def spots(differentiable: bool = True) -> Iterator[tuple[str, int]]:
    """Every row's name with each of its cases' numbers.

    Args:
        differentiable: only those that have an input to differentiate by.
    """
    for op in OPS.values():
        if differentiable and op.node is None:
            continue
        for number, case in enumerate(op.cases):
            if not differentiable or any(map(is_shape, case.inputs)):
                yield op.name, number


def ident(spot: tuple[str, int]) -> str:
    name, number = spot
    return f"{name}-{number}"
