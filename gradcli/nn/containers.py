"""Modules that hold others: in a row, in a list, by name.

Invariant: members are registered under their position or their name, so that every
walk over modules and every state finds them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index
from typing import Any, TypeVar

from ..engine.tensor import Tensor
from . import text
from .module import Module
from .parameter import Parameter

L = TypeVar("L", bound="_Numbered")


class _Numbered(Module):
    """Members under the names "0", "1", ... or, in a `Sequential`, any names."""

    def _name_at(self, at: Any) -> str:
        whole, count = index(at), len(self._modules)
        if not -count <= whole < count:
            raise IndexError(f"index {whole} is out of range")
        return list(self._modules)[whole]

    def _restart(self, members: Iterable[Module | None]) -> None:
        """Number the members anew."""
        own = list(members)
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(own))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __contains__(self, module: object) -> bool:
        return any(member is module for member in self._modules.values())

    def __setitem__(self, at: int, module: Module) -> None:
        setattr(self, self._name_at(at), module)

    def __delitem__(self, at: int | slice) -> None:
        chosen = (
            list(self._modules)[at] if isinstance(at, slice) else [self._name_at(at)]
        )
        for name in chosen:
            del self._modules[name]
        self._restart(list(self._modules.values()))

    def append(self: L, module: Module) -> L:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: L, modules: Iterable[Module]) -> L:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but "
                f"got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self: L, index: int, module: Module) -> L:
        """Add a module before the one at a position."""
        if not isinstance(module, Module):
            raise TypeError(f"{text.kind(module)} is not a Module subclass")
        members = list(self._modules.values())
        members.insert(index, module)
        self._restart(members)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and give it back."""
        found = self[key]
        del self[key]
        return found

    def __getitem__(self, at: Any) -> Any:
        raise NotImplementedError

    def __iadd__(self: L, modules: Iterable[Module]) -> L:
        return self.extend(modules)


class Sequential(_Numbered):
    """Modules that run one after the other, each on the result of the last.

    ``Sequential(a, b)``, or ``Sequential(OrderedDict(first=a, second=b))``.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], Mapping)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(OrderedDict(list(self._modules.items())[at]))
        return self._modules[self._name_at(at)]

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)


class ModuleList(_Numbered):
    """A list of modules; it computes nothing itself."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(list(self)[at])
        return self._modules[self._name_at(at)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        parts = text.grouped([repr(module) for module in self])
        lines = [f"{label}: {text.indented(shown)}" for label, shown in parts]
        return text.framed(type(self).__name__, "", lines)


class ModuleDict(Module):
    """Modules by name; it computes nothing itself."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        return self._modules.items()

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and give it back."""
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs of a name and a module."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value "
                f"pairs, but got {type(modules).__name__}"
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for name, module in pairs:
            self[name] = module


def as_parameter(value: Any) -> Any:
    """A plain tensor as a parameter; anything else as it is."""
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _shown(parameters: Iterable[tuple[str, Any]], kind: Callable[[Any], str]) -> str:
    """A line for each parameter: its name, what it holds, and its sizes."""
    return "\n".join(
        f"  ({name}): Parameter containing: "
        f"[{kind(p)} of size {'x'.join(map(str, p.shape))}]"
        for name, p in parameters
    )


class ParameterList(Module):
    """A list of parameters; tensors given to it become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def _name_at(self, at: Any) -> str:
        at, count = index(at), len(self)
        if not -count <= at < count:
            raise IndexError(f"index {at} is out of range")
        return str(at % count)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(list(self)[at])
        return self._parameters[self._name_at(at)]

    def __setitem__(self, at: int, value: Any) -> None:
        self.register_parameter(self._name_at(at), as_parameter(value))

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return _shown(self._parameters.items(), lambda p: str(p.dtype))


class ParameterDict(Module):
    """Parameters by name; tensors given to it become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        pairs = parameters.items() if isinstance(parameters, Mapping) else parameters
        for name, value in pairs or ():
            self[name] = value

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        return self._parameters.keys()

    def values(self) -> Iterable[Any]:
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        return self._parameters.items()

    def extra_repr(self) -> str:
        return _shown(self._parameters.items(), text.kind)
