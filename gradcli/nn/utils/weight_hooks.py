"""Hooks that make a module's weight anew before each forward pass.

Invariant: a weight has at most one hook of a kind; the module holds, in place of the
parameter, what the hook computes it from.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ..module import Module

M = TypeVar("M", bound=Module)


class WeightHook:
    """A hook that sets the attribute ``name`` of the module that it is called with."""

    kind: str
    name: str

    def make(self, module: Module) -> Any:
        """The weight for this pass."""
        raise NotImplementedError

    def remove(self, module: Module) -> None:
        """Put a plain parameter in place of all that the module holds for the hook."""
        raise NotImplementedError

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.make(module))

    @classmethod
    def of(cls, module: Module, name: str) -> tuple[int, Any] | None:
        """A module's hook of this kind for a weight, and its key."""
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                return key, hook
        return None

    @classmethod
    def refuse_second(cls, module: Module, name: str) -> None:
        """Raise RuntimeError where the weight has such a hook."""
        if cls.of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two {cls.kind} hooks on the same parameter {name}"
            )

    @classmethod
    def removed_from(cls, module: Module, name: str) -> Any:
        """The hook of a weight, after it is removed.

        Raises:
            ValueError: the weight has none.
        """
        found = cls.of(module, name)
        if found is None:
            raise ValueError(f"{cls.kind} of '{name}' not found in {module}")
        key, hook = found
        hook.remove(module)
        module._forward_pre_hooks.pop(key)
        return hook
