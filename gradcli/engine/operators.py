"""Operators and methods of tensors, put in place from the table.

Invariant: a method is the table's function of its name with the tensor as its first
argument, unless the class has its own of that name. An operator is the row or function
named here. What else PyTorch's tensors have is put in place by `gradcli.torch`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..ops import OPS, parameters
from ..ops.basis import COMPARISONS
from ..ops.families import offered_names
from .changes import augmented
from .fast import WHOLE, binary, guarded, operand, plain
from .indexing import getitem, rows_of
from .methods import Methods, late
from .raw import MAX_NUMBER_OF_ALL_TYPES, Params, Run
from .record import call, function, recorder
from .tensor import Tensor

TRANSPOSES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Functions of the table behind attributes of a tensor."""

FUNCTIONS_OF_TWO = {"floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul"}
"""Functions of operators that are reflected by exchanging the operands."""


CHANGING = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
"""Python's names of the operators that have a form in place, as ``+=``."""


def install() -> None:
    """Give `Tensor` its operators; called once when the engine is imported."""
    names = ("add.Tensor", "sub.Tensor", "mul", "div.Tensor")
    add, sub, mul, div = (binary(recorder(OPS[name]), operand) for name in names)
    reciprocal = function("reciprocal")
    members: Params = {
        "__add__": add,
        "__radd__": add,
        "__sub__": sub,
        "__rsub__": _chosen(
            _by_number("rsub.Scalar"), _named("sub.Tensor", reflected=True)
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
        "__pow__": _chosen(_by_number("pow.Tensor_Scalar"), _named("pow")),
        "__rpow__": _chosen(_by_number("pow.Scalar"), _named("pow", reflected=True)),
        "__getitem__": getitem,
        "__iter__": rows_of,
        "__hash__": object.__hash__,
        # NumPy's operators leave the work to a tensor on their right.
        "__array_priority__": 1000,
    }
    for name in COMPARISONS:
        members[f"__{name}__"] = _comparison(name)
    for name, ours in FUNCTIONS_OF_TWO.items():
        members[f"__{name}__"] = _named(ours)
        members[f"__r{name}__"] = _named(ours, reflected=True)
    for name, member in members.items():
        setattr(Tensor, name, member)
    for name in CHANGING:
        setattr(Tensor, f"__i{name}__", augmented(f"__{name}__"))
    for name in offered_names():
        if name not in vars(Tensor):
            late(Methods, name, partial(function, name))
    for name, transposed in TRANSPOSES.items():
        setattr(Tensor, name, property(function(transposed)))


def _named(name: str, reflected: bool = False) -> Callable[[Tensor, object], object]:
    """Return the operator for a function of the table, looked up on its first use."""
    return guarded(partial(call, name), reflected)


def _by_number(name: str) -> Callable[[Tensor, float], object]:
    """Return the operator for a row of one tensor and one plain number."""
    record = recorder(OPS[name])
    _, parameter = parameters(record.op)
    return lambda x, number: record.general((x,), {parameter: number})


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
