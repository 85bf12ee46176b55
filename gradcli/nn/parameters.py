"""Containers of parameters: a list and a dict.

Invariant: a member is an attribute of the container, so that a parameter stands in its
table; a plain tensor that is given becomes a parameter, anything else stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any

from ..engine.tensor import Tensor
from .members import kind
from .module import Module
from .parameter import Parameter


def as_parameter(value: object) -> Any:
    """A plain tensor as a parameter; anything else as it is."""
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _line(name: object, value: object, kind: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    return f"  ({name}): {what} containing: [{kind} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors given to it become parameters."""

    def __init__(self, values: Iterable[object] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, at: int) -> str:
        at, count = index(at), len(self)
        if not -count <= at < count:
            raise IndexError(f"index {at} is out of range")
        return str(at % count)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return type(self)(list(self)[at])
        return getattr(self, self._name_at(at))

    def __setitem__(self, at: int, value: object) -> None:
        setattr(self, self._name_at(at), as_parameter(value))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: object) -> ParameterList:
        """Add a member at the end."""
        self._size += 1
        self[len(self) - 1] = value
        return self

    def extend(self, values: Iterable[object]) -> ParameterList:
        """Add members at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[object]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(
            _line(i, value, str(getattr(value, "dtype", "")))
            for i, value in enumerate(self)
        )


class ParameterDict(Module):
    """Parameters by name; tensors given to it become parameters."""

    def __init__(self, parameters: object = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: object) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a "
                f"string (type is '{type(key).__name__}'). Open an issue on github if "
                "you need non-string keys."
            )
        self._keys[key] = None
        setattr(self, key, as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The members."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and members."""
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: object = None) -> Any:
        """The member of a name, or the default."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: object = None) -> Any:
        """The member of a name; the default becomes it if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove a member and give it back."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Remove the member that came last; its name and itself."""
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all members."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Another dict of the same members."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: object = None) -> ParameterDict:
        """A dict of one member under several names."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: object) -> None:
        """Add members from a mapping or from pairs of a name and a member."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value "
                f"pairs, but got {type(parameters).__name__}"
            )
        named = isinstance(parameters, Mapping | ParameterDict)
        for key, value in parameters.items() if named else parameters:  # type: ignore[attr-defined]
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        return ParameterDict({**dict(self.items()), **dict(other.items())})

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        return ParameterDict({**dict(other.items()), **dict(self.items())})

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, kind(value)) for key, value in self.items())
