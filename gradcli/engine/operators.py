"""Operators and methods of tensors, put in place from the table.

Invariant: a method is the public function of its name with the tensor as its first
argument, unless the class has its own of that name; a name that ends in an underscore
changes the tensor in place. An operator is the row or function named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from numpy import ndarray

from ..ops import OPS
from ..ops.basis import COMPARISONS
from ..ops.families import offered_names
from . import queries
from .fast import WHOLE, binary, guarded, operand, plain, with_number
from .indexing import getitem, rows_of
from .methods import Methods, NodeMethods, late
from .modes import MODE
from .public import public, public_function
from .raw import MAX_NUMBER_OF_ALL_TYPES, Params, Run
from .record import call, function, recorder, replace
from .tensor import Tensor

General = Callable[..., object]


def reading(general: General) -> Callable[[Tensor, Any], Any]:
    """Return a fast function for ``x[1]`` and ``x[1:3]``."""
    select, narrow = (recorder(OPS[name]).see for name in ("select", "slice.Tensor"))
    assert select is not None
    assert narrow is not None

    def read(x: Tensor, index: Any) -> object:
        raw = x.raw
        kind = type(index)
        if not MODE.fast or not x.xp.plain or not raw.shape:
            return general(x, index)
        if kind is int:
            try:
                y = raw[index, ...]
            except IndexError:
                y = None
            if y is not None:
                return select(x, raw, y, {"dim": 0, "index": index})
        if kind is slice:
            start, end, step = index.start, index.stop, index.step
            if step is None:
                step = 1
            if (
                (start is None or type(start) is int)
                and (end is None or type(end) is int)
                and type(step) is int
                and step > 0
            ):
                params = {"dim": 0, "start": start, "end": end, "step": step}
                return narrow(x, raw, raw[index], params)
        return general(x, index)

    return read


def turning(general: General) -> Callable[[Tensor], object]:
    """Return a fast function for ``x.T``."""
    permute = recorder(OPS["permute"]).see
    assert permute is not None

    def turn(x: Tensor) -> object:
        raw = x.raw
        if MODE.fast and x.xp.plain and len(raw.shape) == 2:
            return permute(x, raw, raw.T, {"dims": (1, 0)})
        return general(x)

    return turn


def reshaping(general: General) -> General:
    """Return a fast function for ``reshape`` of a contiguous tensor."""
    view = recorder(OPS["view.default"]).see
    assert view is not None

    def reshape(*args: object, **kwargs: object) -> Any:
        if kwargs or len(args) < 2 or not MODE.fast:
            return general(*args, **kwargs)
        x = args[0]
        shape = args[1] if len(args) == 2 else args[1:]
        if type(shape) is not tuple or not isinstance(x, Tensor):
            return general(*args)
        for n in shape:
            if type(n) is not int or n < -1:
                return general(*args)
        raw = x.raw
        if type(raw) is not ndarray or not x.xp.plain or not raw.flags.c_contiguous:
            return general(*args)
        try:
            y = raw.reshape(shape)
        except ValueError:
            y = None
        return general(*args) if y is None else view(x, raw, y, {"shape": y.shape})

    return reshape


TRANSPOSES = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Functions of the table behind attributes of a tensor."""

FUNCTIONS_OF_TWO = {"floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul"}
"""Functions of operators that are reflected by exchanging the operands."""


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
        "__invert__": queries.bitwise_not,
        "__pow__": _chosen(_with_number("pow.Tensor_Scalar"), _named("pow")),
        "__rpow__": _chosen(_with_number("pow.Scalar"), _named("pow", reflected=True)),
        "__getitem__": reading(getitem),
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
    for name in queries.OPERATORS:
        members[f"__{name}__"] = guarded(queries.OPERATORS[name])
        members[f"__r{name}__"] = guarded(queries.OPERATORS[name], reflected=True)
    for name, member in members.items():
        setattr(Tensor, name, member)
    replace("reshape", reshaping)
    replace("numpy_T", turning)
    _install_methods()
    for name, transposed in TRANSPOSES.items():
        setattr(Tensor, name, property(function(transposed)))


def _with_number(name: str) -> Callable[[Tensor, float], Tensor]:
    return with_number(recorder(OPS[name]))


def _named(name: str, reflected: bool = False) -> Callable[[Tensor, object], object]:
    """Return the operator for a function of the table, looked up on its first use."""
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


# Methods, which are found when they are first used.

ELSEWHERE = {
    "convert": "view to type type_as float double half long int short char byte bool "
    "cpu cuda numpy contiguous is_contiguous stride storage_offset data_ptr "
    "element_size get_device nelement ndimension "
    "__array__ __array_wrap__ __dlpack__ __dlpack_device__ pin_memory",
    "draws": "bernoulli multinomial uniform_ normal_ random_ bernoulli_ exponential_",
    "creation": "new new_zeros new_ones new_full new_empty new_tensor "
    "_become_alias:become_alias _floats_of:floats_of",
    "operators": "where",
    "queries": "equal allclose nonzero unique conj is_complex bitwise_and bitwise_or "
    "bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm",
    "inplace": "zero_ fill_ copy_ fill_diagonal_ squeeze_ "
    "unsqueeze_ transpose_ __setitem__ __iadd__ "
    "__isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ "
    "__ixor__ __ilshift__ __irshift__",
    "backward": "backward:backward_of",
    "hooks": "retain_grad register_hook:register_tensor_hook "
    "register_post_accumulate_grad_hook:register_post_accumulate",
    "show": "__repr__:show",
    "copies": "__deepcopy__:deeply __reduce_ex__:reduced untyped_storage",
}
"""Names of methods by the module that defines them; a colon is followed by the name of
the function if it differs."""

OF_NODES = {
    "hooks": "metadata register_hook:register_after register_prehook:register_before",
    "saved": "__getattr__:saved_by_name __dir__:names_shown",
}
"""Modules that define methods of nodes, written as in `ELSEWHERE`."""


def defined(table: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each method, and the module and the function that define it."""
    for module, listed in table.items():
        for word in listed.split():
            name, _, other = word.partition(":")
            yield name, module, other or name


def _install_methods() -> None:
    """Put the methods in their classes; each is imported when it is first used."""
    taken = {*vars(Tensor), *(name for name, _, _ in defined(ELSEWHERE))}
    for name, overwriting in offered_names().items():
        if name not in taken:
            late(Methods, name, partial(public_function, name))
            if overwriting:
                late(Methods, f"{name}_", partial(_in_place, name))
    for name in ("real", "imag"):
        setattr(Tensor, name, property(partial(_asked, name)))
    for home, table in ((Methods, ELSEWHERE), (NodeMethods, OF_NODES)):
        for name, module, own in defined(table):
            if name not in vars(Tensor):
                late(home, name, partial(_imported, module, own, name))


def where(self: Tensor, condition: Tensor, other: object) -> Any:
    """Return the tensor's entries where the condition is true, else the other's."""
    return public("where")(condition, self, other)


def _asked(name: str, self: Tensor) -> object:
    return _imported("queries", name)(self)


def _in_place(name: str) -> Callable[..., Tensor]:
    from . import inplace

    own = vars(inplace).get(f"{name}_")
    return own or inplace.in_place(name)


def _imported(module: str, own: str, name: str = "") -> Any:
    """Return a function of a module of this room, under the name that it is given."""
    found = getattr(import_module(f"{__package__}.{module}"), own)
    if name not in ("", own):
        found.__name__ = found.__qualname__ = name
    return found
