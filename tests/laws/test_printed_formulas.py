"""A formula that `gradcli ops` prints is a program that computes what it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.answers.catalog import catalog, is_program
from gradcli.engine import NUMPY, Tensor
from gradcli.lang.compiler import compile_program
from gradcli.lang.factory import Factory
from gradcli.lang.machine import Machine
from gradcli.lang.parser import parse
from gradcli.lang.syntax import free_names
from gradcli.lang.tensor_library import CONSTANTS, TensorLibrary
from gradcli.ops import OPS, Fixed, Op, defaults, parameters
from tests.grouped import by_row

from .draw import draw
from .forward import OFFERED, Entry
from .recorded import Trial, apart
from .recorded import tensors as as_tensors

BY_NUMBERS = re.compile(r"\b(?:max|min)\(| if | and | or ")
"""What a formula of single numbers has."""

ENTRIES_SHOWN = 4

SAYS_LESS = {
    "linalg_vector_norm.default-4": "the order 0 counts",
    "norm-0": "the order has a name",
    "norm-2": "the order is infinite",
    "solve-4": "several vectors, one for each matrix",
    "linear-1": "there is no bias",
}
"""Cases that a formula leaves out, and why."""


def is_read(entry: Entry) -> bool:
    names = parameters(entry)
    return not OPS.get(entry.name, entry).internal and is_program(entry.formula, names)


def says_all(entry: Entry, number: int) -> bool:
    """Whether the formula speaks of all that a case gives."""
    case = entry.cases[number]
    said = {*free_names(parse(entry.formula), CONSTANTS), *_called(entry)}
    given = {*case.params, *parameters(entry)[: len(case.inputs)]}
    nothing = any(isinstance(i, Fixed) and i.value is None for i in case.inputs)
    return given <= said and not nothing


def _called(entry: Entry) -> set[str]:
    return set(re.findall(r"\w+", entry.formula))


CASES = [
    (entry, i)
    for entry in OFFERED
    if is_read(entry)
    for i in range(len(entry.cases))
    if says_all(entry, i) and f"{entry.name}-{i}" not in SAYS_LESS
]


def value(formula: str, names: Mapping[str, Any]) -> Any:
    """What a formula gives as a program: an array, or several."""
    library = TensorLibrary(Factory(NUMPY, "float64", 0))
    found = Machine(compile_program(parse(formula, names)), names, library).run().value
    return [raw(f) for f in found] if isinstance(found, tuple | list) else [raw(found)]


def raw(found: Any) -> Any:
    return np.asarray(found.raw if isinstance(found, Tensor) else found)


def tensors(arrays: Mapping[str, Any]) -> dict[str, Tensor]:
    return {name: Tensor(np.asarray(a), NUMPY) for name, a in arrays.items()}


def agree(found: Any, true: Any) -> bool:
    if not np.isfinite(found).all() and np.isfinite(true).all():
        return True  # What is printed overflows where the row takes care not to.
    shaped = np.broadcast_to(found, np.shape(true))
    return bool(np.allclose(shaped, true, rtol=1e-9, atol=1e-12, equal_nan=True))


def unlike(formula: str, found: Any, true: Any, at: Mapping[str, Any]) -> str:
    """What is said where a formula is not the row."""
    return f"{formula} is {apart(found, true, 'the row', at)}"


@by_row("entry, number", CASES, lambda case: f"{case[0].name}-{case[1]}")
def test_a_printed_formula_is_read_back_to_the_same_value(
    entry: Entry, number: int
) -> None:
    spot = draw(entry, number)
    made = Trial(entry.name, number).run(as_tensors(spot.arrays))
    true = [raw(t) for t in (made if isinstance(made, tuple) else (made,))]
    arrays = dict(zip(parameters(entry), spot.arrays, strict=False))
    given = {**defaults(entry), **spot.case.params}
    if not (BY_NUMBERS.search(entry.formula) and is_of_numbers(spot.arrays, true)):
        found = value(entry.formula, {**given, **tensors(arrays)})
        alike = all(agree(f, t) for f, t in zip(found, true, strict=True))
        assert alike, unlike(entry.formula, found, true, {**arrays, **given})
        return
    flat = [np.ravel(a) for a in np.broadcast_arrays(*arrays.values())]
    for i in range(min(ENTRIES_SHOWN, true[0].size)):
        at = dict(zip(arrays, [column[i] for column in flat], strict=True))
        (found,) = value(entry.formula, {**given, **tensors(at)})
        entry_of_it = true[0].reshape(-1)[i]
        said = unlike(entry.formula, found, entry_of_it, {**at, **given})
        assert agree(found, entry_of_it), said


def case_of(op: Op, text: str) -> int | None:
    """The first case that gives a value to all that a derivative is written with."""
    needed = set(free_names(parse(text), CONSTANTS)) - {"y"}
    for i, case in enumerate(op.cases):
        given = {**defaults(op), **case.params}
        inputs = parameters(op)[: len(case.inputs)]
        known = {*inputs, *(name for name, v in given.items() if v is not None)}
        if needed <= known and not any(isinstance(s, Fixed) for s in case.inputs):
            return i
    return None


def is_of_numbers(arrays: Any, true: Any) -> bool:
    """Whether an entry of the result is of one entry of each operand."""
    return true[0].shape == np.broadcast_shapes(*[np.shape(a) for a in arrays])


DERIVATIVES = [
    (OPS[row.name], name, text, case)
    for function in catalog()
    for row in function.rows
    for name, text in row.derivatives.items()
    if text is not None and (case := case_of(OPS[row.name], text)) is not None
]


@by_row("op, name, text, number", DERIVATIVES, lambda d: f"{d[0].name}-{d[1]}")
def test_a_printed_derivative_is_read_back_to_the_same_value(
    op: Op, name: str, text: str, number: int
) -> None:
    spot = draw(op, number)
    names = parameters(op)
    arrays = dict(zip(names, spot.arrays, strict=False))
    given = {**defaults(op), **spot.case.params}
    y = spot.run()[1]
    at = names.index(name)
    assert op.partials is not None
    partial = op.partials[at]
    true = partial
    if callable(partial):
        params = {k: v for k, v in given.items() if k not in arrays}
        true = partial(NUMPY, raw(y), *spot.arrays, **params)
    (found,) = value(text, {**given, **tensors(arrays), "y": y})
    expected = np.broadcast_to(true, np.shape(raw(y)))
    assert agree(found, expected), unlike(text, found, expected, {**arrays, **given})


def test_most_formulas_are_programs() -> None:
    assert len(CASES) > 450
    assert len(DERIVATIVES) > 120
