"""A module's state: all parameters and persistent buffers by dotted name.

Invariant: loading either finds every name and shape in order or lists all that is not;
values that fit are copied into the module's own memory. What states of older releases
lack (`Module._may_miss`) is not missed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.modes import no_grad
from ..engine.tensor import Tensor
from .parameter import Parameter

if TYPE_CHECKING:
    from .module import Module


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def entries(module: Module, prefix: str) -> Iterator[tuple[str, Module, str, Tensor]]:
    """Full name, owner, own name and tensor of each entry of the state."""
    path = prefix.removesuffix(".")
    for where, owner in module.named_modules(None, path, remove_duplicate=False):
        start = f"{where}." if where else ""
        for table in (owner._parameters, owner._buffers):
            for name, tensor in table.items():
                kept = table is owner._parameters or name not in owner._transient
                if tensor is not None and kept:
                    yield start + name, owner, name, tensor


def collect(module: Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    into = OrderedDict() if destination is None else destination
    for full, _, _, tensor in entries(module, prefix):
        into[full] = tensor if keep_vars else tensor.detach()
    return into


def load(
    module: Module, state: Mapping[str, Any], strict: bool, assign: bool
) -> _IncompatibleKeys:
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    own = list(entries(module, ""))
    names = {full for full, *_ in own}
    missing = [
        full
        for full, owner, name, _ in own
        if full not in state and name not in owner._may_miss
    ]
    unexpected = [name for name in state if name not in names]
    problems: list[str] = []
    if strict:
        problems += [_listed("Missing", missing)] if missing else []
        problems += [_listed("Unexpected", unexpected)] if unexpected else []
    with no_grad():
        for full, owner, name, tensor in own:
            if full in state:
                problem = _take(owner, name, tensor, full, state[full], assign)
                problems += [problem] if problem else []
    if problems:
        lines = "\n\t".join(problems)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}"
        )
    return _IncompatibleKeys(missing, unexpected)


def _listed(what: str, names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{what} key(s) in state_dict: {quoted}. "


def _take(
    owner: Module, name: str, tensor: Tensor, full: str, given: Any, assign: bool
) -> str:
    """Take one value over; the problem in words if it does not fit."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{full}", expected torch.Tensor or '
            f"Tensor-like object from checkpoint but received {type(given)}"
        )
    if given.shape != tensor.shape:
        return (
            f"size mismatch for {full}: copying a param with shape {given.shape!r} "
            "from checkpoint, the shape in current model is "
            f"{tensor.shape!r}."
        )
    if not assign:
        tensor.copy_(given)
    elif isinstance(tensor, Parameter):
        setattr(owner, name, Parameter(given.detach(), tensor.requires_grad))
    else:
        setattr(owner, name, given)
    return ""
