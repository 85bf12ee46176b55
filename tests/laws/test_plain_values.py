"""What is a plain value of a function may be a tensor of one number, as in PyTorch.

Such a tensor gives what its number gives, node for node, and none that a gradient is
asked for is taken and dropped: it is refused, or the gradient reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.engine.errors import CallError
from gradcli.engine.record import function
from gradcli.engine.walk import inputs_first
from gradcli.ops import FUNCTIONS, Composite, Op, defaults, plain_types
from tests.grouped import by_row

from .draw import draw, handed, is_shape

POWERS = "a power by a tensor has a node of its own"
REPEATS = "a tensor of counts is of integers, one for each slice"

OTHERWISE = {
    ("root", "n"): POWERS,
    ("repeat_interleave", "repeats"): REPEATS,
}
"""Functions to which a tensor means something else than its number, and why."""

FLAT = {("quantile", "q"), ("nanquantile", "q")}
"""Parameters with which nothing moves where ``interpolation`` picks entries."""


class Place(NamedTuple):
    """A parameter that is a plain value, in one case of a function."""

    entry: Op | Composite
    number: int
    name: str
    kind: type
    value: Any

    @property
    def ident(self) -> str:
        return f"{self.entry.name}-{self.number}-{self.name}"

    def run(self, given: object) -> Any:
        spot = draw(self.entry, self.number)
        pairs = enumerate(zip(spot.arrays, spot.case.inputs, strict=True))
        inputs = [Tensor(a, NUMPY, True) if is_shape(s) else spot._fixed(i)
                  for i, (a, s) in pairs]  # fmt: skip
        with np.errstate(all="ignore"):
            params = {**spot.case.params, self.name: given}
            return function(self.entry.name)(*handed(self.entry, inputs), **params)


def places() -> Iterator[Place]:
    for entry in FUNCTIONS.values():
        usual = defaults(entry)
        for number, case in enumerate(entry.cases):
            for name, kind in plain_types(entry).items():
                value = case.params.get(name, usual.get(name))
                place = Place(entry, number, name, kind, value)
                wanted = (entry.name, name) not in OTHERWISE
                if wanted and isinstance(value, float | int) and is_run(place):
                    yield place


def is_run(place: Place) -> bool:
    """Whether every input that was drawn may ask for a gradient."""
    try:
        place.run(place.value)
    except ValueError:
        return False
    return True


def tensors(y: Any) -> list[Tensor]:
    if isinstance(y, Tensor):
        return [y]
    return [t for part in y for t in tensors(part)]


PLACES = list(places())


@by_row("place", PLACES, attrgetter("ident"))
def test_a_tensor_of_one_number_stands_for_it(place: Place) -> None:
    given = [np.asarray(place.value)]
    if place.kind is int and isinstance(place.value, int):
        given.append(np.asarray([place.value]))
    expected = tensors(place.run(place.value))
    for array in given:
        found = tensors(place.run(Tensor(array, NUMPY)))
        for a, b in zip(found, expected, strict=True):
            assert a.raw.dtype == b.raw.dtype
            assert np.array_equal(a.raw, b.raw, equal_nan=a.raw.dtype.kind == "f")
            assert type(a.edge) is type(b.edge)


def is_refused(run: Callable[[], object]) -> bool:
    """Whether a call says that nothing is differentiated by what it is given."""
    try:
        run()
    except CallError as refusal:
        return "by which nothing is differentiated" in str(refusal)
    return False


def moves(place: Place) -> bool:
    """Whether the result depends on the number as on one that may be any."""
    picks = "interpolation" in place.entry.cases[place.number].params
    flat = picks and (place.entry.name, place.name) in FLAT
    return place.kind is not bool and not flat


@by_row("place", [p for p in PLACES if moves(p)], attrgetter("ident"))
def test_no_gradient_of_a_plain_value_is_dropped(place: Place) -> None:
    leaf = Tensor(np.asarray(float(place.value)), NUMPY, True)
    if is_refused(lambda: place.run(leaf)):
        return
    y = place.run(leaf)
    reached = inputs_first([t.edge for t in tensors(y) if t.edge is not None])
    assert leaf.edge in reached


def test_what_means_something_else_does_so_still() -> None:
    for name, parameter in OTHERWISE:
        assert parameter in plain_types(FUNCTIONS[name])


def test_constructors_refuse_a_number_that_a_gradient_is_asked_for() -> None:
    import gradcli as torch

    leaf = torch.tensor(2.0, requires_grad=True)
    for make in (
        lambda: torch.full((2,), leaf),
        lambda: torch.arange(leaf),
        lambda: torch.linspace(0, leaf, 3),
        lambda: torch.full_like(torch.ones(2), leaf),
    ):
        with pytest.raises(TypeError, match="must be Number, not Tensor"):
            make()
