"""Modules that hold others: in a row, in a list, by name.

Invariant: members are registered under their position or their name, so that every
walk over modules and every state finds them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, TypeVar

from . import text
from .members import kind
from .module import Module

L = TypeVar("L", bound="_Numbered")


class _Numbered(Module):
    """Members under the names "0", "1", ... or, in a `Sequential`, any names."""

    def _name_at(self, at: int) -> str:
        position, count = index(at), len(self._modules)
        if not -count <= position < count:
            raise IndexError(f"index {position} is out of range")
        return list(self._modules)[position]

    def _restart(self, members: Iterable[Module | None]) -> None:
        """Put other members in place of all, numbered from 0."""
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
            raise TypeError(f"{kind(module)} is not a Module subclass")
        members = list(self._modules.values())
        members.insert(index, module)
        self._restart(members)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and give it back."""
        found = self[key]
        del self[key]
        return found

    def __getitem__(self, at: int | slice) -> Any:
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

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return type(self)(OrderedDict(list(self._modules.items())[at]))
        return self._modules[self._name_at(at)]

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before the one at a position, which has to be there."""
        if isinstance(module, Module) and not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def _times(self, other: object) -> int:
        if not isinstance(other, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {type(self)} and {type(other)}"
            )
        if other <= 0:
            raise ValueError(
                f"Non-positive multiplication factor {other} for {type(self)}"
            )
        return other

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*[m for _ in range(self._times(other)) for m in self])

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Sequential:
        return self.extend(list(self) * (self._times(other) - 1))


class ModuleList(_Numbered):
    """A list of modules; it computes nothing itself."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, at: int | slice) -> Any:
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

    def __init__(self, modules: object = None) -> None:
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

    def update(self, modules: object) -> None:
        """Add modules from a mapping or from pairs of a name and a module."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value "
                f"pairs, but got {type(modules).__name__}"
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for name, module in pairs:
            self[name] = module


class DataParallel(Module):
    """Calls its module: everything runs on one device."""

    def __init__(self, module: Module, *others: object, **options: object) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
