"""A module's state: all parameters and persistent buffers by dotted name.

Invariant: each module saves and loads its own entries (`_save_to_state_dict`,
`_load_from_state_dict`), which it may override, and its children theirs; loading lists
all that does not fit. Values that fit are copied into the module's own memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..engine.hooks import RemovableHandle
from ..engine.modes import no_grad
from ..engine.raw import Params
from ..engine.tensor import Tensor
from .hooks import Hook, Hooks, Shelf
from .members import Child, Members
from .parameter import Parameter

EXTRA = "_extra_state"
"""The name of what a module saves beside its tensors."""


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


class Stateful(Members[Child]):
    """The part of a module that saves and loads."""

    _version: int = 1

    def _own_hooks(self) -> Hooks:
        raise NotImplementedError

    # saving

    def state_dict(
        self, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by dotted name, detached.

        The tensors share the module's memory; copy them to keep what they are now.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for _, _, hook in self._state_hooks("before_save"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        children: Params = self._modules
        for name, child in children.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.",
                    keep_vars=keep_vars,
                )  # fmt: skip
        for _, _, hook in self._state_hooks("after_save"):
            new = hook(self, destination, prefix, metadata)
            destination = destination if new is None else new
        return destination

    def _save_to_state_dict(
        self, destination: Any, prefix: str, keep_vars: bool
    ) -> None:
        """Put the module's own entries into ``destination``, not its children's."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        for table in (self._parameters, self._buffers):
            for name, tensor in table.items():
                lasts = name not in self._non_persistent_buffers_set
                if tensor is not None and (lasts or table is self._parameters):
                    yield name, tensor

    def get_extra_state(self) -> Any:
        """What the state holds beside tensors; a subclass says what that is."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be "
            "called: a module with state of its own defines it"
        )

    def set_extra_state(self, state: object) -> None:
        """Take over what `get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be "
            "called: a module with state of its own defines it"
        )

    # loading

    def load_state_dict(
        self,
        state_dict: Mapping[str, object],
        strict: bool = True,
        assign: bool = False,
    ) -> _IncompatibleKeys:
        """Take over the values of a state.

        Args:
            state_dict: tensors by dotted name.
            strict: whether its names have to be exactly the module's own.
            assign: put the given tensors in place rather than copy their values.

        Returns:
            The missing and the unexpected names.

        Raises:
            RuntimeError: names or shapes do not match; all of them are listed.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        versions = getattr(state_dict, "_metadata", {})
        given = OrderedDict(state_dict)
        given._metadata = versions  # type: ignore[attr-defined]
        keys = _IncompatibleKeys([], [])
        problems: list[str] = []
        _load(self, given, "", versions, assign, keys, problems)
        if strict:
            named = (
                ("Missing", keys.missing_keys),
                ("Unexpected", keys.unexpected_keys),
            )
            problems[:0] = [_listed(what, names) for what, names in named if names]
        if problems:
            lines = "\n\t".join(problems)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        return keys

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
        strict: bool, missing_keys: list[str], unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Take the module's own entries from ``state_dict``, not its children's."""
        rest = (
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
            error_msgs,
        )  # fmt: skip
        for shelf, key, hook in self._state_hooks("before_load"):
            hook(*((self,) if shelf.wants(key, "with_module") else ()), *rest)
        assign = local_metadata.get("assign_to_params_buffers", False)
        known = dict(self._own_state())
        for name, tensor in known.items():
            full = prefix + name
            if full in state_dict:
                problem = _take(self, name, tensor, full, state_dict[full], assign)
                error_msgs += [problem] if problem else []
            elif strict:
                missing_keys.append(full)
        extra = prefix + EXTRA
        takes_extra = type(self).set_extra_state is not Stateful.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif takes_extra and strict:
            missing_keys.append(extra)
        if strict:
            unexpected_keys += [
                key
                for key in state_dict
                if key.startswith(prefix)
                and not (key == extra and takes_extra)
                and not self._knows(key[len(prefix) :], known)
            ]

    def _knows(self, name: str, known: dict[str, Tensor]) -> bool:
        first, dot, _ = name.partition(".")
        return first in self._modules if dot else first in known

    # hooks

    def _state_hooks(self, kind: str) -> list[tuple[Shelf, int, Hook]]:
        own = self.__dict__.get("_hooks")
        if own is None:
            return []
        shelf: Shelf = getattr(own, kind)
        return [(shelf, key, hook) for key, hook in shelf.items()]

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is gathered."""
        return self._own_hooks().before_save.put(hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after it is; it may
        change ``state_dict``, or return another."""
        return self._own_hooks().after_save.put(hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module takes its entries."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        return self._own_hooks().before_load.put(hook, with_module=with_module)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after it has; it may change the
        lists of keys."""
        return self._own_hooks().after_load.put(hook)


def _load(
    module: Any, state: Params, prefix: str, versions: Any, assign: bool,
    keys: _IncompatibleKeys, problems: list[str],
) -> None:  # fmt: skip
    """Let a module and then its children take their entries."""
    metadata = versions.get(prefix[:-1], {}) if versions else {}
    if assign:
        metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state, prefix, metadata, True, keys.missing_keys, keys.unexpected_keys, problems
    )
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {k: v for k, v in state.items() if k.startswith(below)}
            _load(child, part, below, versions, assign, keys, problems)
    for _, _, hook in module._state_hooks("after_load"):
        hook(module, keys)


def _listed(what: str, names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{what} key(s) in state_dict: {quoted}. "


def _take(
    owner: object, name: str, tensor: Tensor, full: str, given: object, assign: bool
) -> str:
    """Take one value over; the problem in words if it does not fit."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{full}", expected torch.Tensor or '
            f"Tensor-like object from checkpoint but received {type(given)}"
        )
    if tensor.ndim == 0 and tuple(given.shape) == (1,):
        given = given[0]
    if given.shape != tensor.shape:
        return (
            f"size mismatch for {full}: copying a param with shape {given.shape!r} "
            "from checkpoint, the shape in current model is "
            f"{tensor.shape!r}."
        )
    with no_grad():
        if not assign:
            tensor.copy_(given)
            return ""
        if isinstance(tensor, Parameter) and not isinstance(given, Parameter):
            given = Parameter(given.detach(), tensor.requires_grad)
        elif isinstance(tensor, Parameter):
            given.requires_grad_(tensor.requires_grad)
        setattr(owner, name, given)
    return ""
