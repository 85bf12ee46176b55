"""Parameters and buffers that are computed from others.

Invariant: a parametrized module is of a class of its own, made for it, in which the
tensor is a property: it is what the modules of its `ParametrizationList` make, one
after the other, of the original that the list holds.

    register_parametrization(layer, "weight", Symmetric())
    layer.weight            # Symmetric()(layer.parametrizations.weight.original)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any, ClassVar, NoReturn

from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

BY_STATE_ALONE = (
    "Serialization of parametrized modules is only supported through state_dict(): "
    "save that, and parametrize a new module before it is loaded"
)


class _Cache:
    """Values of properties while `cached` is on, by module and name."""

    depth = 0
    values: ClassVar[dict[tuple[int, str], Any]] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within the block."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values.clear()


def _unchanged(what: str, before: object, now: object, names: tuple[str, str]) -> None:
    """Raise unless a parametrization keeps shape and dtype."""
    for of in ("dtype", "shape"):
        old, new = getattr(before, of), getattr(now, of)
        if old != new:
            raise ValueError(
                f"{what} may not change the {of} of the tensor, unless `unsafe` flag "
                f"is enabled.\n{names[0]} {of}: {old!s}\n{names[1]} {of}: {new!s}"
            )


def _registered(before: object, made: object, names: tuple[str, str]) -> None:
    """Raise unless a parametrization made a tensor like the one before."""
    if not isinstance(made, Tensor):
        raise ValueError(
            f"A parametrization must return a tensor. Got {type(made).__name__}."
        )
    _unchanged("Registering a parametrization", before, made, names)


class ParametrizationList(ModuleList):
    """The modules that a tensor is computed by, and what it is computed from.

    Args:
        modules: the first is given the original, or the originals.
        original: the tensor as it was.
        unsafe: let shape and dtype change.

    Raises:
        ValueError: they do, or an inverse does not give tensors.
    """

    original: Any
    unsafe: bool

    def __init__(
        self, modules: Sequence[Module], original: Tensor, unsafe: bool = False
    ) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()
        new = original
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                f"tuple...). Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the "
                    f"dtype.\noriginal.dtype: {original.dtype}\nright_inverse(original)"
                    f".dtype: {new.dtype}"
                )
            # The parameter stays the same object: an optimizer may hold it.
            with no_grad():
                original.data = new
            _enter(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors "
                        f"(list, tuple...). Got element {i} of the sequence with type "
                        f"{type(part).__name__}."
                    )
                kept = Parameter(part) if isinstance(original, Parameter) else part
                kept.requires_grad_(original.requires_grad)
                _enter(self, f"original{i}", kept)
        if not unsafe:
            _registered(before, self(), ("unparametrized", "parametrized"))

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the tensor becomes a value.

        Raises:
            RuntimeError: a module has no ``right_inverse``.
        """
        with no_grad():
            new: Any = value
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement "
                        "right_inverse."
                    )
                new = module.right_inverse(new)
            if self.is_tensor:
                if not isinstance(new, Tensor):
                    raise ValueError(
                        "`right_inverse` should return a tensor. Got "
                        f"{type(new).__name__}"
                    )
                new = [new]
            else:
                if not isinstance(new, Sequence):
                    raise ValueError(
                        "'right_inverse' must return a sequence of tensors. Got "
                        f"{type(new)}."
                    )
                if len(new) != self.ntensors:
                    raise ValueError(
                        "'right_inverse' must return a sequence of tensors of length "
                        f"{self.ntensors}. Got a sequence of length {len(new)}."
                    )
            for name, part in zip(self._originals(), new, strict=True):
                current = getattr(self, name)
                if current.dtype != part.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {part.dtype}"
                        f" while `{name}` has dtype {current.dtype}"
                    )
                current.data = part

    def _originals(self) -> list[str]:
        """The names of what the tensor is computed from."""
        if self.is_tensor:
            return ["original"]
        return [f"original{i}" for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        first, *rest = self
        made: Tensor = first(*[getattr(self, name) for name in self._originals()])
        for module in rest:
            made = module(made)
        return made


def _enter(module: Module, name: str, tensor: Tensor) -> None:
    """Register what it is, a parameter or a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _own_class(module: Module) -> None:
    """Give a module a class of its own, of the same behaviour."""
    kind = type(module)

    def refuse(self: object, *_: object) -> NoReturn:
        raise RuntimeError(BY_STATE_ALONE)

    def copied(self: object, memo: dict[int, object]) -> object:
        if id(self) in memo:
            return memo[id(self)]
        twin = self.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__ = deepcopy(self.__dict__, memo)
        twin.__class__ = _twin_class(type(self))
        return twin

    module.__class__ = type(
        f"Parametrized{kind.__name__}",
        (kind,),
        {"__getstate__": refuse, "__deepcopy__": copied, "__module__": kind.__module__},
    )


def _twin_class(kind: type) -> type:
    """The same class anew: what is registered with one module concerns it alone."""
    members = {
        k: v for k, v in kind.__dict__.items() if k not in ("__dict__", "__weakref__")
    }
    return type(kind.__name__, kind.__bases__, members)


def _property(kind: type, name: str) -> None:
    def get(self: Any) -> Any:
        key = id(self), name
        if key in _Cache.values:
            return _Cache.values[key]
        made = self.parametrizations[name]()
        if _Cache.depth:
            _Cache.values[key] = made
        return made

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(kind, name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or a buffer be what a module computes from it.

    A parametrization may have a ``right_inverse(tensor)``, which gives the original (or
    a sequence of several originals) for a value: then the tensor keeps its value where
    it can, and can be assigned to. A second one is given what the first one makes.

    Args:
        module: the owner; it becomes of a class ``Parametrized...``.
        tensor_name: the attribute's name.
        parametrization: called with the original.
        unsafe: let shape and dtype change; nothing is checked.

    Raises:
        ValueError: there is no such tensor, or shape or dtype would change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parts = module.parametrizations
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization)
        parts[tensor_name].append(parametrization)
        parts[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _own_class(module)
        module.parametrizations = ModuleDict()
    _property(type(module), tensor_name)
    module.parametrizations[tensor_name] = made
    return module


def _check_next(before: Tensor, parametrization: Module) -> None:
    """Raise unless a further parametrization takes the tensor to one like it."""
    made = parametrization(before)
    _registered(before, made, ("module", "parametrization(module)"))
    if hasattr(parametrization, "right_inverse"):
        back = parametrization.right_inverse(made)
        if not isinstance(back, Tensor):
            raise ValueError(
                "parametrization.right_inverse must return a tensor. Got: "
                f"{type(back).__name__}"
            )
        names = ("parametrization.right_inverse", "Tensor")
        _unchanged("The tensor returned by parametrization.right_inverse", made, back,
                   names)  # fmt: skip


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrized tensors, or a certain one."""
    parts = module._modules.get("parametrizations")
    if not isinstance(parts, ModuleDict):
        return False
    return len(parts) > 0 if tensor_name is None else tensor_name in parts


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a tensor a plain one again.

    Args:
        leave_parametrized: with the value that was computed, or with the original.

    Raises:
        ValueError: it is not parametrized, or has several originals to be left with.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {module} does not have a parametrization on {tensor_name}"
        )
    parts = module.parametrizations
    parts_of_name = parts[tensor_name]
    if parts_of_name.is_tensor:
        original = parts_of_name.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        trained = value.requires_grad
        original = Parameter(value.detach()) if trained else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del parts[tensor_name]
    _enter(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """A module's class without the one that parametrization made for it."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize a module as another one is, and copy what is parametrized.

    Args:
        tensor_name: one tensor alone; None: all.
    """
    if not is_parametrized(from_module):
        return to_module
    parts = from_module.parametrizations
    if tensor_name is not None and tensor_name not in parts:
        return to_module
    for name in list(parts) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for module in parts[name]:
            register_parametrization(to_module, name, module)
        theirs = to_module.parametrizations
        for key, parameter in parts[name]._parameters.items():
            setattr(theirs[name], key, Parameter(parameter.detach()))
    return to_module
