"""The number type of a result, by PyTorch's rules.

Invariant: floats win over integers, integers over truth values; within a
kind, tensors with dimensions decide over those without, and those over plain numbers.
A function that turns integers into floats gives floats of the default type.

    result_of([float32 vector, float64 scalar])     # float32
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy

from ..ops import Op
from ..ops.op import AS_IS, FIRST, FLOATS, GIVEN, TRUTH, WHOLE
from .dtypes import DEFAULT, named, of
from .errors import OVERFLOW, EngineError, KindError
from .modes import MODE
from .raw import BYTES_OF_HALF_FLOAT, MAX_NUMBER_OF_ALL_TYPES, Params, Raw
from .rules import HALF

BYTES_OF_DOUBLE = 8

RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "O": 2}
"""Ranks of kinds of numbers: truth values, integers, floats and other real numbers."""


def promoted(a: Any, b: Any) -> Any:
    """Return the type that holds two types' numbers; floats keep their width."""
    if a == b or RANK[a.kind] > RANK[b.kind]:
        return a
    if RANK[b.kind] > RANK[a.kind]:
        return b
    return numpy.promote_types(a, b)


def result_of(values: Iterable[Any]) -> Any:
    """Return the NumPy dtype of the result of arithmetic on arrays and numbers."""
    ranked = [None, None, None]
    for value in values:
        rank = 2 if not hasattr(value, "dtype") else 0 if value.shape else 1
        held, found = ranked[rank], type_of(value)
        ranked[rank] = found if held is None else promoted(held, found)
    result = None
    for found in reversed(ranked):
        if found is None:
            continue
        if result is None or RANK[found.kind] >= RANK[result.kind]:
            result = found
    return result


def type_of(value: object) -> Any:
    """Return the NumPy dtype of an array, or the default one of a plain number."""
    if hasattr(value, "dtype"):
        return value.dtype
    if isinstance(value, bool):
        return numpy.dtype(bool)
    return numpy.dtype("int64" if isinstance(value, int) else DEFAULT.name)


NONE = numpy.dtype(object)
"""Stand-in dtype for values without one."""

WRITTEN = "written"
"""Key in ``__dict__`` that marks a tensor made of numbers written out in a call."""


def fitting(number: float, type_: Any, wraps: bool = False) -> float:
    """Return a plain number as an array of a NumPy dtype holds it.

    Args:
        wraps: an integer that is too large wraps around, as an operand does.

    Raises:
        EngineError: the number is too large, or is NaN or infinite and the type holds
            integers. A negative number in an unsigned type wraps around instead.
    """
    if type_.kind in "bO" or (
        type_.kind == "f" and abs(number) <= MAX_NUMBER_OF_ALL_TYPES
    ):
        return number
    if type_.kind == "f":
        large = abs(number) > float(numpy.finfo(type_).max)
        fits = not large or abs(number) == math.inf
    else:
        top = numpy.iinfo(type_).max
        bottom = numpy.iinfo(type_).min
        if wraps and abs(number) <= MAX_NUMBER_OF_INTEGERS:
            return (int(number) - bottom) % (top - bottom + 1) + bottom
        low = -top if type_.kind == "u" else bottom
        fits = low <= number <= top
    if not fits:
        raise EngineError(OVERFLOW.format(_scalar_name(type_.name)))
    if type_.kind == "f":
        return number
    return int(number) % (top + 1) if type_.kind == "u" else int(number)


MAX_NUMBER_OF_INTEGERS = (1 << 63) - 1
"""Largest plain integer that PyTorch takes."""

OPERANDS = ("number", "other", "base")
"""Names of parameters that are operands of a row, and wrap around as tensors do."""


def _typed(value: object, type_: Any, wraps: bool = True) -> Any:
    return fitting(value, type_, wraps) if type(value) is int else value


def in_one_type(
    op: Op, raw: tuple[Raw, ...], params: Params, inputs: tuple[object, ...]
) -> tuple[tuple[Any, ...], Params, bool]:
    """Return the inputs and the parameters of a row in the type of its result, and
    whether no input is an array of floats.

    ``raw`` are the arrays of ``inputs``.

    Raises:
        EngineError: the row takes no operands of different types, or no integers.
    """
    first = None
    alike = True
    for slot, r in enumerate(raw):
        found = getattr(r, "dtype", None)
        if found is None or found is first:
            continue
        if first is None:
            first = found
        elif found.kind != "i" or not _is_of_positions(op, slot):
            alike = False
            break
    if op.no_truths and bool in map(type, (*raw, *params.values())):
        raise KindError(op.no_truths)
    if first is None or (alike and first.kind == "f"):
        if op.refuses and first is not None and first.itemsize == BYTES_OF_HALF_FLOAT:
            _refuse(op, _operands(op, raw) or arrays_of(raw))
        return raw, params, False
    operands = _operands(op, raw)
    if op.refuses:
        _refuse(op, [*(operands or arrays_of(raw)[:1]), *_numbers(op, raw)])
    if op.no_truths and any(r.dtype.kind == "b" for r in operands):
        raise KindError(op.no_truths)
    if op.one_type:
        raw = _written_alike(op, raw, inputs)
        operands = _operands(op, raw)
        _demand_one_type(op, raw, operands)
    given = raw if op.result is WHOLE else (*raw, *params.values())
    numbers = [*operands, *_numbers(op, given)]
    if numbers:
        result = first if op.result is FIRST else result_of(numbers)
        followed = MODE.enabled and op.result is FIRST and result.kind != "f"
        if followed and any(getattr(v, "edge", None) is not None for v in inputs):
            kind = named(result.name).legacy
            raise KindError(f"Autograd not support dtype: {kind}")
        if op.result is FLOATS and result.kind != "f":
            result = numpy.dtype(DEFAULT.name)
        ours = {id(v) for v in operands if v.dtype != result}
        if ours:
            raw = tuple([r.astype(result) if id(r) in ours else r for r in raw])
        if op.elementwise and result.kind in "iu" and op.result is not AS_IS:
            wraps = op.node is None or None not in (op.partials or ())
            raw = tuple([_typed(r, result, wraps) for r in raw])
            params = {k: _typed(v, result, k in OPERANDS) for k, v in params.items()}
    return raw, params, all(getattr(r, "dtype", first).kind != "f" for r in raw)


def _is_of_positions(op: Op, slot: int) -> bool:
    """Return whether an input holds indices, whose integers keep their type."""
    rules = op.vjp
    return not op.elementwise and type(rules) is tuple and rules[slot] is None


def _refuse(op: Op, operands: list[Raw]) -> None:
    """Raise an error if all operands are of kinds, or together of a type, that the row
    does not take."""
    types = [type_of(operand) for operand in operands]
    refused, *named = op.refuses.split(" ")
    alike = {type_.kind for type_ in types} <= set(refused)
    if alike or result_of(operands).name in named:
        kind = of(operands[0]).legacy
        raise KindError(
            f"\"{op.base}\" not implemented for '{kind}': convert the operand first"
        )


def arrays_of(raw: tuple[Raw, ...]) -> list[Raw]:
    """Return the arrays among a row's inputs."""
    return [r for r in raw if hasattr(r, "dtype")]


def _operands(op: Op, raw: tuple[Raw, ...]) -> list[Raw]:
    """Return the arrays among the inputs that decide on the type of the result."""
    rules = op.partials if op.partials is not None else op.vjp
    if op.variadic or (op.node is None and op.elementwise):
        slots = list(range(len(raw)))
    elif isinstance(rules, tuple):
        slots = [i for i, rule in enumerate(rules) if rule is not None]
    else:
        return []
    return [raw[i] for i in slots if hasattr(raw[i], "dtype")]


def narrowed(op: Op, raw: tuple[Raw, ...]) -> tuple[Any, ...]:
    """Return the inputs of an elementwise formula, with plain numbers in the type of
    the arrays if these are narrow floats, since a function of a Python number gives a
    double."""
    if not op.elementwise or op.result is AS_IS:
        return raw
    for r in raw:
        first = getattr(r, "dtype", None)
        if first is not None:
            break
    if first is None or first.kind != "f" or first.itemsize >= BYTES_OF_DOUBLE:
        return raw
    return tuple([first.type(r) if isinstance(r, int | float) else r for r in raw])


def widen_halves(
    op: Op, raw: tuple[Raw, ...], written: tuple[Raw, ...], params: Params
) -> tuple[tuple[Any, ...], Params] | None:
    """Return the operands and the parameters of a formula in single precision, where a
    row divides half floats by a number, or multiplies them with one, that has more
    digits, as it was ``written``; None: they are others."""
    if not op.exact_other or getattr(raw[0], "dtype", None) != HALF or raw[0] is None:
        return None
    other = written[1] if len(written) > 1 else params.get("number")
    if getattr(other, "shape", ()) or getattr(other, "dtype", None) == HALF:
        return None
    exact: Any = numpy.asarray(other) if isinstance(other, int | float) else other
    exact = exact.astype("float32")
    wide = raw[0].astype("float32")
    if len(written) > 1:
        return (wide, exact), params
    return (wide,), params | {"number": exact}


def _numbers(op: Op, given: tuple[object, ...]) -> list[Any]:
    """Return the plain numbers that an elementwise row computes with."""
    if not op.elementwise:
        return []
    return [v for v in given if isinstance(v, int | float)]


def _written_alike(
    op: Op, raw: tuple[Raw, ...], inputs: tuple[object, ...]
) -> tuple[Raw, ...]:
    """Return the inputs; written-out integers get the type of the first floats, so that
    ``dot(x, [1, 2])`` has two operands of one type."""
    dtypes = [r.dtype for r in raw if hasattr(r, "dtype") and r.dtype.kind == "f"]
    if not dtypes:
        return raw
    ours = {id(r) for r in _operands(op, raw) if r.dtype.kind in "iu"}
    return tuple([
        r.astype(dtypes[0])
        if id(r) in ours and WRITTEN in getattr(given, "__dict__", ())
        else r
        for r, given in zip(raw, inputs, strict=True)
    ])  # fmt: skip


def _demand_one_type(op: Op, raw: tuple[Raw, ...], operands: list[Raw]) -> None:
    """Raise an error for the first operand whose type is not that of the first, unless
    it is a weight without dimensions, behind two operands of an elementwise row."""
    ours = {id(operand) for operand in operands}
    first = None
    for slot, r in enumerate(raw):
        if id(r) not in ours and getattr(r, "dtype", NONE).kind != "f":
            continue
        if first is None:
            first = r
        elif r.dtype != first.dtype and (slot < 2 or not op.elementwise or r.shape):
            raise EngineError(
                f"expected scalar type {of(first).legacy} but found {of(r).legacy}: "
                f"{op.base} takes operands of one type"
            )


def whole_parameters(op: Op, params: Params) -> Params:
    """Return the parameters of a row on integers, cut to integers if its result is
    whole; raise an error if one is a fraction, and the row takes none."""
    fraction = next((k for k, v in params.items() if type(v) is float), None)
    if fraction is not None and not op.fractions:
        raise EngineError(
            f"For integral input tensors, argument {fraction} must not be a floating "
            "point number."
        )
    if op.result is not WHOLE:
        return params
    return {k: int(v) if type(v) is float else v for k, v in params.items()}


def _scalar_name(name: str) -> str:
    """Return the name of a C type, for errors on the conversion of a number."""
    names = {"int32": "int", "float32": "float", "float64": "double",
             "float16": "c10::Half"}  # fmt: skip
    return names.get(name, f"{name}_t")


def rounds_integers(
    y: Any, raw: tuple[Raw, ...], params: Params, written: object, given: Params
) -> bool:
    """Return whether a result of only integers is of floats, and inexact: of half
    floats, which libraries make of one-byte integers, or of operands that were cast to
    a narrower type than they were ``written`` and ``given`` in."""
    first = y[0] if isinstance(y, tuple) and y else y
    type_ = getattr(first, "dtype", NONE)
    if type_.kind != "f":
        return False
    half = type_.itemsize == BYTES_OF_HALF_FLOAT
    return half or raw is not written or params is not given


def in_floats(raw: tuple[Raw, ...]) -> tuple[Any, ...]:
    """Return the arrays among a row's inputs as floats of the default type."""
    return tuple([r.astype(DEFAULT.name) if hasattr(r, "dtype") else r for r in raw])


def in_result_type(op: Op, raw: tuple[Raw, ...], y: Any) -> Any:
    """Return the result of a row on only integers in the type that PyTorch gives."""
    if op.result is GIVEN:
        return y
    if op.result is FIRST:
        return y.astype(raw[0].dtype)
    if op.result is TRUTH:
        return y.astype("uint8") if raw[0].dtype == "uint8" else y
    if isinstance(y, tuple):
        return tuple([in_result_type(op, raw, part) for part in y])
    if op.result is WHOLE:
        return y.astype(result_of(_operands(op, raw)))
    kind = y.dtype.kind
    if kind == "u" and y.dtype.itemsize == 8:
        return y.astype("int64")
    if kind != "f":
        return y
    return y if y.dtype.name == DEFAULT.name else y.astype(DEFAULT.name)
