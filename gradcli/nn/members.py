"""What a module is made of: parameters, buffers and children, and the walks over them.

Invariant: parameters, buffers and children stand in three ordered tables, found as
attributes; a name stands in one of them at most, and its value is of the table's kind
or None. Whatever walks a module walks these tables and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ..engine import dtypes
from ..engine.tensor import Tensor
from .parameter import Parameter

Found = TypeVar("Found")
M = TypeVar("M", bound="Members[Any]")
Child = TypeVar("Child", bound="Members[Any]")
"""The class of children: modules again, of a class that is defined further on."""

TABLES = {
    "_parameters": ("parameter", "torch.nn.Parameter"),
    "_buffers": ("buffer", "torch.Tensor"),
    "_modules": ("child module", "torch.nn.Module"),
}
"""The word for a member of each table, and the class that it has to be of."""


def kind(value: object) -> str:
    """Return the word for a value: ``int``, or for a tensor ``torch.FloatTensor``."""
    if isinstance(value, Tensor):
        return f"torch.{dtypes.of(value.raw).legacy}Tensor"
    return type(value).__name__


class Members(Generic[Child]):
    """The tables of a module and the walks over them."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Child | None]
    _non_persistent_buffers_set: set[str]

    # attributes

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        table = _table_of(value)
        if table is not None:
            _demand_ready(self, table)
            own.pop(name, None)
            for other in TABLES:
                if other != table and own[other].pop(name, None) is not None:
                    self._non_persistent_buffers_set.discard(name)
            if table == "_parameters":
                _demand_free(self, table, name)
            own[table][name] = value
            return
        for table in TABLES:
            if name in own.get(table, ()):
                _demand(table, name, value)
                own[table][name] = value
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in TABLES:
            found = own.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        tables = [self.__dict__.get(table, {}) for table in TABLES]
        return sorted({*object.__dir__(self), *(n for t in tables for n in t)})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Enter a parameter by name; None keeps the name free of one."""
        self._enter("_parameters", name, param)

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Enter a tensor that belongs to the module's state and is not trained.

        Args:
            name: its attribute's name.
            tensor: what it holds, or None.
            persistent: whether it is part of `state_dict`.
        """
        self._enter("_buffers", name, tensor)
        short_lived = self._non_persistent_buffers_set
        (short_lived.discard if persistent else short_lived.add)(name)

    def add_module(self, name: str, module: Child | None) -> None:
        """Enter a child by name."""
        self._enter("_modules", name, module)

    register_module = add_module

    def _enter(self, table: str, name: str, value: object) -> None:
        """Put a member into a table under a name that no other attribute has."""
        _demand_ready(self, table)
        what = f"{TABLES[table][0]} name"
        if not isinstance(name, str):
            raise TypeError(f"{what} should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{what} can\'t be empty string ""')
        _demand_free(self, table, name)
        _demand(table, name, value)
        self.__dict__[table][name] = value

    # walking

    def named_modules(
        self, memo: set[Child] | None = None, prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Child]]:  # fmt: skip
        """Iterate over this module and all below it, each before its children, with
        dotted names."""
        seen = set() if memo is None else memo
        stack: list[tuple[str, Any]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if remove_duplicate:
                if module in seen:
                    continue
                seen.add(module)
            yield path, module
            stack.extend(
                (f"{path}.{name}" if path else name, child)
                for name, child in reversed(module._modules.items())
                if child is not None
            )

    def modules(self, remove_duplicate: bool = True) -> Iterator[Child]:
        """Iterate over this module and all below it, without their names."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Child]]:
        """Iterate over the modules directly below this one, each once, with names."""
        seen: set[Child] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Child]:
        """Iterate over the modules directly below this one."""
        for _, child in self.named_children():
            yield child

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over parameters with dotted names; a shared one comes once."""
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over all parameters, as an optimizer takes them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers with dotted names."""
        return self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self, get_members_fn: Callable[[Any], Iterable[tuple[str, Found]]],
        prefix: str = "", recurse: bool = True, remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Found]]:  # fmt: skip
        """Iterate over what a function finds in this module and in all below it."""
        seen: set[int] = set()
        walk = (
            self.named_modules(None, prefix, remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in walk:
            for name, member in get_members_fn(module):
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def get_submodule(self, target: str) -> Child:
        """Return the module with a dotted name; the empty name is this one.

        Raises:
            AttributeError: there is none.
        """
        found: Any = _below("_modules", self, target) if target else self
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Child, strict: bool = False) -> None:
        """Put a module under a dotted name.

        Args:
            strict: only in place of a module that is there.

        Raises:
            ValueError: the empty name, or what is no module.
            AttributeError: the owner of that name is not there.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict:
            owner.get_submodule(name)
        setattr(owner, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with a dotted name.

        Raises:
            AttributeError: there is none.
        """
        return _below("_parameters", self, target)  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with a dotted name.

        Raises:
            AttributeError: there is none.
        """
        return _below("_buffers", self, target)  # type: ignore[no-any-return]

    def apply(self: M, fn: Callable[[Any], object]) -> M:
        """Call ``fn`` with every module, children before their parents."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self


def _table_of(value: object) -> str | None:
    """Return the table that a value enters by itself; a plain tensor enters none."""
    if isinstance(value, Parameter):
        return "_parameters"
    return "_modules" if isinstance(value, Members) else None


def _demand_ready(module: Members[Any], table: str) -> None:
    """Raise AttributeError for a module whose constructor has not run."""
    if table not in module.__dict__:
        raise AttributeError(
            f"cannot assign {TABLES[table][0]}s before Module.__init__() call"
        )


def _demand_free(module: Members[Any], table: str, name: str) -> None:
    """Raise KeyError for the name of an attribute that is no member of the table."""
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute {name!r} already exists")


def _demand(table: str, name: str, value: object) -> None:
    """Raise TypeError for a value that is not of a table's kind."""
    plain = table == "_buffers" and isinstance(value, Tensor)
    if value is not None and not plain and _table_of(value) != table:
        called, wanted = TABLES[table]
        raise TypeError(
            f"cannot assign {kind(value)!r} as {called} {name!r} "
            f"({wanted} or None expected)"
        )


def _below(table: str, owner: Any, target: str) -> Any:
    """Return the member of a table that has a dotted name below a module.

    Raises:
        AttributeError: there is none.
    """
    path, dot, name = target.rpartition(".")
    if dot:
        owner = _below("_modules", owner, path)
    if not hasattr(owner, name):
        raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
    if name not in owner.__dict__[table]:
        raise AttributeError(f"`{name}` is not a {TABLES[table][0]}")
    return getattr(owner, name)
