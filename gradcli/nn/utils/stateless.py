"""A module as a pure function of its parameters and buffers.

Invariant: the module is left as it was, whatever its forward does; the given tensors
take the places of its own only while it runs.

    y = functional_call(net, dict(net.named_parameters()), (x,))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.record import call
from ...engine.tensor import Tensor
from ..module import Module

Named = Mapping[str, Tensor]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Named | Sequence[Named],
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Run ``module`` with tensors in place of its parameters and buffers.

    Args:
        parameter_and_buffer_dicts: tensors by dotted name; of several dicts, all.
        args: the arguments; anything but a tuple is the only one.
        kwargs: the keyword arguments.
        tie_weights: what has several names takes the tensor given under one of them.
        strict: demand a tensor for every parameter and buffer, and for nothing else.

    Raises:
        ValueError: a name is in two of the dicts.
        RuntimeError: with ``strict``, a name is missing, or is not the module's.
    """
    given = _merged(parameter_and_buffer_dicts)
    slots = _slots(module)
    known = {name: tensor for name, tensor in given.items() if name in slots}
    tied = _tied(known, slots)
    odd = {
        "Unexpected": [name for name in given if name not in slots],
        "Missing": [name for name in slots if name not in tied],
    }
    if strict and any(odd.values()):
        raise RuntimeError(
            f"functional_call of {type(module).__name__}: "
            + "; ".join(f"{what} key(s): {names}" for what, names in odd.items())
        )
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(slots, tied if tie_weights else known):
        return module(*positional, **(kwargs or {}))


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters and the buffers of modules of one class by name.

    Raises:
        RuntimeError: there are none, or they are of several classes or modes.
    """
    if len({(type(model), model.training) for model in models}) != 1:
        raise RuntimeError(
            "there has to be at least one model, and all of one class and mode"
        )
    parameters = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(named: Sequence[Named]) -> dict[str, Tensor]:
    """Make new leaves, where what is stacked asks for gradients."""
    found = {}
    for name, first in named[0].items():
        if len({tensors[name].requires_grad for tensors in named}) > 1:
            raise RuntimeError(f"models differ in whether {name} requires a gradient")
        stacked: Tensor = call(
            "stack", [tensors[name].detach() for tensors in named], 0
        )
        found[name] = stacked.requires_grad_() if first.requires_grad else stacked
    return found


def _merged(dicts: Named | Sequence[Named]) -> dict[str, Tensor]:
    parts = [dicts] if isinstance(dicts, Mapping) else list(dicts)
    merged: dict[str, Tensor] = {}
    for part in parts:
        twice = merged.keys() & part.keys()
        if twice:
            raise ValueError(f"{sorted(twice)} appeared in multiple dictionaries")
        merged.update(part)
    return merged


Slot = tuple[Any, str]
"""A module's table of parameters or buffers, and the name in it."""


def _slots(module: Module) -> dict[str, Slot]:
    """Find each parameter and buffer, under every name that it has."""
    found: dict[str, Slot] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for table in (owner._parameters, owner._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    found[f"{prefix}.{name}" if prefix else name] = table, name
    return found


def _tied(given: Named, slots: Mapping[str, Slot]) -> dict[str, Tensor]:
    """Give what was given also under the other names of the same tensors."""
    own = {name: id(table[key]) for name, (table, key) in slots.items()}
    by_identity = {own[name]: tensor for name, tensor in given.items()}
    found = {name: by_identity[i] for name, i in own.items() if i in by_identity}
    return found | {**given}


@contextmanager
def _replaced(slots: Mapping[str, Slot], given: Named) -> Iterator[None]:
    before = [(slots[name], slots[name][0][slots[name][1]]) for name in given]
    try:
        for name, tensor in given.items():
            table, key = slots[name]
            table[key] = tensor
        yield
    finally:
        for (table, key), tensor in before:
            table[key] = tensor
