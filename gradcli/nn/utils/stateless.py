"""A module as a pure function of its parameters and buffers.

Invariant: the module is left as it was, whatever its forward does; the given tensors
take the places of its own only while it runs.

    y = functional_call(net, dict(net.named_parameters()), (x,))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    dicts = parameter_and_buffer_dicts
    given: dict[str, Tensor] = {}
    for part in [dicts] if isinstance(dicts, Mapping) else dicts:
        if given.keys() & part.keys():
            raise ValueError("a name appeared in multiple dictionaries")
        given.update(part)
    slots = {
        f"{prefix}.{key}" if prefix else key: (table, key)
        for prefix, owner in module.named_modules(remove_duplicate=False)
        for table in (owner._parameters, owner._buffers)
        for key, tensor in table.items()
        if tensor is not None
    }
    before: dict[str, Any] = {name: table[key] for name, (table, key) in slots.items()}
    known = {name: tensor for name, tensor in given.items() if name in slots}
    by_identity = {id(before[name]): tensor for name, tensor in known.items()}
    tied = {n: by_identity[id(t)] for n, t in before.items() if id(t) in by_identity}
    odd = {"Unexpected": given.keys() - slots, "Missing": slots.keys() - tied}
    if strict and any(odd.values()):
        raise RuntimeError(
            f"functional_call of {type(module).__name__}: "
            + "; ".join(
                f"{what} key(s): {sorted(names)}" for what, names in odd.items()
            )
        )
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    replaced = {**tied, **known} if tie_weights else known
    try:
        _put(slots, replaced)
        return module(*positional, **(kwargs or {}))
    finally:
        _put(slots, {name: before[name] for name in replaced})


def _put(slots: Mapping[str, tuple[Any, str]], tensors: Mapping[str, Any]) -> None:
    """Put tensors into the tables of parameters and buffers that have their names."""
    for name, tensor in tensors.items():
        table, key = slots[name]
        table[key] = tensor


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
