"""Modules that hold others, or parameters: in a row, in a list, by name.

Invariant: a member is registered under its position or its name, so that every walk
over modules and every state finds it. A plain tensor that a container of parameters is
given becomes a parameter; anything else stays what it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from itertools import groupby
from operator import index
from typing import Any

from ..engine.tensor import Tensor
from .module import Module, framed, indented, kind
from .parameter import Parameter


class _Numbered(Module, MutableSequence[Any]):
    """Members under the names "0", "1", ... or, in a `Sequential`, any names."""

    def _names(self) -> list[str]:
        return list(self._modules)

    def _name_at(self, at: int) -> str:
        position, names = index(at), self._names()
        if not -len(names) <= position < len(names):
            raise IndexError(f"index {position} is out of range")
        return names[position]

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self._names()])

    def __contains__(self, member: object) -> bool:
        return any(member is each for each in self)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(list(self)[at])
        return getattr(self, self._name_at(at))

    def __setitem__(self, at: Any, member: Any) -> None:
        setattr(self, self._name_at(at), member)

    def __delitem__(self, at: Any) -> None:
        chosen = self._names()[at] if isinstance(at, slice) else [self._name_at(at)]
        self._restart([getattr(self, n) for n in self._names() if n not in chosen])

    def _restart(self, members: Iterable[Any]) -> None:
        """Put other members in place of all, numbered from 0."""
        own = list(members)
        for name in self._names():
            delattr(self, name)
        self.extend(own)

    def insert(self, index: int, module: Any) -> None:
        """Add a module before the one at a position."""
        members = list(self)
        members.insert(index, module)
        self._restart(members)

    def append(self, member: Any) -> Any:
        """Add a member at the end."""
        self.add_module(str(len(self)), member)
        return self

    def extend(self, members: Iterable[Any]) -> Any:
        """Add members at the end."""
        for member in list(members):
            self.append(member)
        return self


class Sequential(_Numbered):
    """Modules that run one after the other, each on the result of the last.

    ``Sequential(a, b)``, or ``Sequential(OrderedDict(first=a, second=b))``.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], dict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return type(self)(OrderedDict(list(self._modules.items())[at]))
        return super().__getitem__(at)

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)


class ModuleList(_Numbered):
    """A list of modules; it computes nothing itself."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Show equal neighbours together: ``(0-1): 2 x Linear``."""
        lines, at = [], 0
        for text, run in groupby([repr(module) for module in self]):
            count = len([*run])
            last = f"-{at + count - 1}" if count > 1 else ""
            shown = f"{count} x {text}" if last else text
            lines.append(f"({at}{last}): {indented(shown)}")
            at += count
        return framed(type(self).__name__, "", lines)


class ParameterList(_Numbered):
    """A list of parameters; tensors given to it become parameters."""

    def __init__(self, values: Iterable[object] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(() if values is None else values)

    def _names(self) -> list[str]:
        return [str(at) for at in range(self._size)]

    def __setitem__(self, at: Any, value: object) -> None:
        setattr(self, self._name_at(at), _as_parameter(value))

    def _restart(self, members: Iterable[Any]) -> None:
        own, self._size = list(members), 0
        self.extend(own)

    def append(self, value: object) -> Any:
        """Add a member at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            _line(i, value, str(getattr(value, "dtype", "")))
            for i, value in enumerate(self)
        )


class _NamedMembers(Module, MutableMapping[str, Any]):
    """Members by name, in the order in which they came."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, members: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(() if members is None else members)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def keys(self) -> Any:
        """Return a view of the names."""
        return self._keys.keys()

    def popitem(self) -> tuple[str, Any]:
        """Remove the member that came last; its name and itself."""
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("the dict is empty")


class ModuleDict(_NamedMembers):
    """Modules by name; it computes nothing itself."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__(modules)

    def __setitem__(self, key: str, module: Module) -> None:
        self._keys[key] = None
        self.add_module(key, module)


class ParameterDict(_NamedMembers):
    """Parameters by name; tensors given to it become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)

    def __setitem__(self, key: str, value: object) -> None:
        super().__setitem__(key, _as_parameter(value))

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, kind(value)) for key, value in self.items())


def _as_parameter(value: object) -> Any:
    """Make a plain tensor a parameter; leave anything else as it is."""
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _line(name: object, value: object, of: str) -> str:
    """Return a container's line about a member, a tensor of the kind ``of``."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    return f"  ({name}): {what} containing: [{of} of size {size}]"


class DataParallel(Module):
    """Calls its module: everything runs on one device."""

    def __init__(self, module: Module, *others: object, **options: object) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
