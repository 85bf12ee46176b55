"""Methods and attributes that tensors and nodes have in PyTorch.

Invariant: a method of the table's is its public function, which takes ``dtype`` too,
with the tensor as its first argument; a name that ends in an underscore changes the
tensor in place. A method's module is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from ..engine.changes import augmented
from ..engine.fast import guarded
from ..engine.methods import Methods, NodeMethods, late
from ..engine.tensor import Tensor
from ..ops.families import offered_names
from . import queries
from .public import public, public_function

ELSEWHERE = {
    "conversions": "view to type type_as float double half long int short char byte "
    "bool cpu cuda numpy contiguous is_contiguous stride storage_offset data_ptr "
    "element_size get_device nelement ndimension "
    "__array__ __array_wrap__ __dlpack__ __dlpack_device__ pin_memory",
    "draws": "bernoulli multinomial uniform_ normal_ random_ bernoulli_ exponential_",
    "creation": "new new_zeros new_ones new_full new_empty new_tensor "
    "_become_alias:become_alias _floats_of:floats_of",
    "tensor_methods": "where",
    "queries": "equal allclose nonzero unique conj is_complex",
    "inplace": "zero_ fill_ copy_ fill_diagonal_ squeeze_ unsqueeze_ transpose_ "
    "__setitem__",
    "passes": "backward:backward_of",
    "node_hooks": "retain_grad register_hook:register_tensor_hook",
    "show": "__repr__:show",
    "copies": "__deepcopy__:deeply __reduce_ex__:reduced untyped_storage",
}
"""Names of methods by the module that defines them; a colon is followed by the name of
the function if it differs."""

OF_NODES = {
    "node_hooks": "metadata register_hook:register_after "
    "register_prehook:register_before",
    "saved_values": "__getattr__:saved_by_name __dir__:names_shown",
}
"""Modules that define methods of nodes, written as in `ELSEWHERE`."""


def defined(table: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each method, and the module and the function that define it."""
    for module, listed in table.items():
        for word in listed.split():
            name, _, other = word.partition(":")
            yield name, module, other or name


def install() -> None:
    """Put the methods in their classes; called once when the room is imported."""
    own = {*vars(Tensor)}
    for name, overwriting in offered_names().items():
        if name not in own:
            late(Methods, name, partial(public_function, name))
            if overwriting:
                late(Methods, f"{name}_", partial(_in_place, name))
    for home, table in ((Methods, ELSEWHERE), (NodeMethods, OF_NODES)):
        for name, module, function in defined(table):
            if name not in own:
                late(home, name, partial(_imported, module, function, name))
    Tensor.__invert__ = queries.inverted  # type: ignore[method-assign, assignment]
    for name in queries.OPERATORS:
        run = partial(queries.combined, name)
        setattr(Tensor, f"__{name}__", guarded(run))
        setattr(Tensor, f"__r{name}__", guarded(run, reflected=True))
        setattr(Tensor, f"__i{name}__", augmented(f"__{name}__"))
    for name in ("real", "imag"):
        setattr(Tensor, name, property(getattr(queries, name)))


def where(self: Tensor, condition: Tensor, other: object) -> Any:
    """Return the tensor's entries where the condition is true, else the other's."""
    return public("where")(condition, self, other)


def _in_place(name: str) -> Callable[..., Tensor]:
    from . import inplace

    own = vars(inplace).get(f"{name}_")
    return own or inplace.in_place(name)


def _imported(module: str, own: str, name: str) -> Any:
    """Return a function of a module of this room, under the name that it is given."""
    found = getattr(import_module(f"{__package__}.{module}"), own)
    if name != own:
        found.__name__ = found.__qualname__ = name
    return found
