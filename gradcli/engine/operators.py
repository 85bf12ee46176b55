"""Operators and methods of tensors, put in place from the table.

Invariant: a method is the public function of its name with the tensor as its first
argument; an operator is the row or function named here and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..ops import ALIASES, FUNCTIONS, OPS
from ..ops.basis import COMPARISONS
from . import bits
from .fast import WHOLE, binary, guarded, operand, plain, with_number
from .indexing import getitem, rows_of
from .limits import MAX_NUMBER_OF_ALL_TYPES
from .members import install as members_of_tensors
from .raw import Params, Run
from .record import call, function, recorder, replace
from .seeing import reading, reshaping, transposing, turning
from .tensor import Tensor

TRANSPOSES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Attributes of a tensor and the functions behind them."""

FUNCTIONS_OF_TWO = {"floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul"}
"""Operators whose reflection is the same function with its operands exchanged."""


def install() -> None:
    """Give `Tensor` its operators; called once when the engine is imported."""
    add, sub, mul, div = (_binary(n) for n in ("add.Tensor", "sub.Tensor", "mul",
                                               "div.Tensor"))  # fmt: skip
    reciprocal = function("reciprocal")
    members: Params = {
        "__add__": add,
        "__radd__": add,
        "__sub__": sub,
        "__rsub__": _chosen(
            _with_number("rsub.Scalar"), _named("sub.Tensor", reflected=True)
        ),
        "__mul__": mul,
        "__rmul__": mul,
        "__truediv__": div,
        "__rtruediv__": _chosen(
            lambda x, number: mul(reciprocal(x), number), _named("div", reflected=True)
        ),
        "__rdiv__": lambda x, other: mul(reciprocal(x), other),
        "__neg__": function("neg"),
        "__pos__": function("positive"),
        "__abs__": function("abs"),
        "__invert__": bits.bitwise_not,
        "__pow__": _chosen(_with_number("pow.Tensor_Scalar"), _named("pow")),
        "__rpow__": _chosen(_with_number("pow.Scalar"), _named("pow", reflected=True)),
        "__getitem__": reading(getitem),
        "__iter__": rows_of,
        "__hash__": object.__hash__,
        # NumPy's own operators give way to a tensor's on their right.
        "__array_priority__": 1000,
    }
    for name in COMPARISONS:
        members[f"__{name}__"] = _comparison(name)
    for name, ours in FUNCTIONS_OF_TWO.items():
        members[f"__{name}__"] = _named(ours)
        members[f"__r{name}__"] = _named(ours, reflected=True)
    for name in bits.OPERATORS:
        members[f"__{name}__"] = guarded(bits.OPERATORS[name])
        members[f"__r{name}__"] = guarded(bits.OPERATORS[name], reflected=True)
    for name, member in members.items():
        setattr(Tensor, name, member)
    replace("reshape", reshaping)
    replace("numpy_T", turning)
    replace("transpose", transposing)
    members_of_tensors()
    for name, transposed in TRANSPOSES.items():
        setattr(Tensor, name, property(function(transposed)))


def _binary(name: str) -> Callable[[Tensor, object], object]:
    return binary(recorder(OPS[name]), operand)


def _with_number(name: str) -> Callable[[Tensor, float], Tensor]:
    return with_number(recorder(OPS[name]))


def _named(name: str, reflected: bool = False) -> Callable[[Tensor, object], object]:
    """Return a function of the table, looked up when it is first used."""
    return guarded(partial(call, name), reflected)


def _chosen(with_a_number: Run, otherwise: Run) -> Callable[[Tensor, object], object]:
    def choose(x: Tensor, other: object) -> object:
        if isinstance(other, int | float):
            return with_a_number(x, plain(other))
        return otherwise(x, other)

    return choose


def _comparison(name: str) -> Callable[[Tensor, object], object]:
    compare = guarded(function(name))

    def run(x: Tensor, other: object) -> Any:
        if isinstance(other, int | float) and (
            x.raw.dtype.kind not in WHOLE
            or (isinstance(other, int) and 0 <= other <= MAX_NUMBER_OF_ALL_TYPES)
        ):
            return Tensor(getattr(x.xp, name)(x.raw, other), x.xp)
        return compare(x, other)

    return run


def method(name: str) -> Run | None:
    """Return the public function behind ``tensor.name(...)``."""
    name = ALIASES.get(name, name)
    return function(name) if name in FUNCTIONS else None
