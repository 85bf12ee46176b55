"""Hooks that make a module's weight anew before each forward pass.

Invariant: a weight has at most one hook of a kind; the module holds, in place of the
parameter, what the hook computes it from.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from ..module import Module
from ..parameter import Parameter

M = TypeVar("M", bound=Module)


class WeightHook:
    """A hook that sets the attribute ``name`` of the module that it is called with.

    The module holds what the weight is made of under ``NAME_PART``, for each of
    ``parts``.
    """

    kind: str
    parts: tuple[str, ...]
    name: str

    def make(self, module: Module) -> Tensor:
        """The weight for this pass."""
        raise NotImplementedError

    def settled(self, module: Module) -> Tensor:
        """The weight that stays when the hook is removed."""
        return self.make(module)

    def held(self, module: Module) -> list[Tensor]:
        """What the module holds for the hook, in the order of ``parts``."""
        return [getattr(module, f"{self.name}_{part}") for part in self.parts]

    def remove(self, module: Module) -> None:
        """Put a plain parameter in place of all that the module holds for the hook."""
        with no_grad():
            weight = self.settled(module)
        for name in (self.name, *(f"{self.name}_{part}" for part in self.parts)):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: object) -> None:
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
