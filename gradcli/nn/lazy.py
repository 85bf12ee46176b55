"""Layers that take their sizes from their first input.

Invariant: a lazy layer's parameters have no shape until its first call, or until it
loads a state; after the first call it is a layer of the plain class.

    net = Sequential(LazyLinear(8), ReLU(), LazyLinear(1))
    net(torch.ones(5, 3))           # now Linear(3, 8) and Linear(8, 1)
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from ..engine.modes import no_grad
from ..engine.raw import Params
from ..engine.signatures import constructor, new_class
from ..engine.tensor import Tensor
from .hooks import Hook
from .module import Module
from .parameter import (
    UninitializedBuffer,
    UninitializedParameter,
    UninitializedTensorMixin,
    is_lazy,
)

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """A module whose parameters get their shapes from its first input.

    A subclass gives them as `UninitializedParameter` and says in
    ``initialize_parameters`` what they are, given the arguments of the first call; it
    may name in ``cls_to_become`` the class that it is from then on.
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        infer: Hook = self._infer_parameters
        self._initialize_hook = self.register_forward_pre_hook(infer, with_kwargs=True)

    def _lazy_load_hook(self, state_dict: Params, prefix: str, *_: object) -> None:
        """Give parameters the shapes of what is loaded into them."""
        for name, tensor in self._own_state():
            given = state_dict.get(prefix + name)
            if (
                isinstance(tensor, UninitializedTensorMixin)
                and isinstance(given, Tensor)
                and not is_lazy(given)
            ):
                tensor.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes and values, from the first call's input."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether anything that the module itself holds has no shape yet."""
        tensors = [*self._parameters.values(), *self._buffers.values()]
        return any(map(is_lazy, tensors))

    def _infer_parameters(
        self, module: Module, args: tuple[object, ...], kwargs: Params | None = None
    ) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"module {type(self).__name__} has not been fully initialized"
            )
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class _Sized(LazyModuleMixin):
    """A layer of ``cls_to_become`` but for its first argument, a size of its input."""

    size: ClassVar[str]
    """The attribute that holds the size."""
    usual: ClassVar[Params] = {}
    """Options that have other defaults than the plain layer's."""

    def _begin(self, given: Params) -> None:
        """Begin as a layer of the given options whose size is not known yet."""
        super().__init__(0, **given)
        self._given = given
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter(
                    True, parameter.device, parameter.dtype
                )
        for name, buffer in self._buffers.items():
            if buffer is not None and not buffer.numel():
                self._buffers[name] = UninitializedBuffer(
                    False, buffer.device, buffer.dtype
                )

    def reset_parameters(self) -> None:
        """Draw the values anew, once they have a shape."""
        if getattr(self, self.size) and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def _size_in(self, input: Tensor) -> int:
        return int(input.shape[1])

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the shapes and values that the plain class has for the input's size."""
        given = self.__dict__.pop("_given", {})
        if not self.has_uninitialized_params():
            return
        assert self.cls_to_become is not None
        made = self.cls_to_become(self._size_in(input), **given)
        setattr(self, self.size, getattr(made, self.size))
        with no_grad():
            for mine, its in (
                (self._parameters, made._parameters),
                (self._buffers, made._buffers),
            ):
                for name, tensor in mine.items():
                    if isinstance(tensor, UninitializedTensorMixin):
                        fresh: Any = its[name]
                        tensor.materialize(fresh.shape)
                        tensor.copy_(fresh)


class _LazyLinear(_Sized):
    """A linear layer with as many inputs as its first input has."""

    size = "in_features"
    in_features: int

    def _size_in(self, input: Tensor) -> int:
        return int(input.shape[-1])

    def initialize_parameters(self, input: Tensor) -> None:
        super().initialize_parameters(input)
        self.in_features = self._size_in(input)


class _LazyConv(_Sized):
    """A convolution with as many input channels as its first input has."""

    size = "in_channels"
    rank: ClassVar[int]

    def _size_in(self, input: Tensor) -> int:
        rank = self.rank
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape!r}"
            )
        return int(input.shape[-rank - 1])


class _LazyNorm(_Sized):
    """A normalisation of as many channels as its first input has."""

    size = "num_features"
    usual: ClassVar[Params] = {"affine": True, "track_running_stats": True}


def lazy(plain: type[Module], family: type[_Sized]) -> type[Module]:
    """Make the class ``Lazy...`` of layers that become ``plain`` ones."""
    name = f"Lazy{plain.__name__}"
    options = list(inspect.signature(plain).parameters.values())[1:]
    shown = [
        each.replace(default=family.usual.get(each.name, each.default))
        for each in options
    ]
    return new_class(
        name,
        (family, plain),
        {
            "__doc__": f"`{plain.__name__}` whose size is that of its first input.",
            "__init__": constructor(name, shown, family._begin),
            "cls_to_become": plain,
        },
    )
