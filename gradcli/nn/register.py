"""How an assignment to a module's attribute finds its table.

Invariant: a name stands in one table at most; a table's member can be replaced only by
a value of its kind or by None.
"""

from __future__ import annotations

from ..engine.raw import Params
from ..engine.tensor import Tensor
from .hooks import entering
from .parameter import Buffer, Parameter
from .text import kind

TABLES = ("_parameters", "_buffers", "_modules")

# What an attribute is called whose value is not of the table's kind.
WANTED = {
    "_parameters": ("as parameter", "torch.nn.Parameter or None expected"),
    "_buffers": ("as buffer", "torch.nn.Buffer, torch.Tensor or None expected"),
    "_modules": ("as child module", "torch.nn.Module or None expected"),
}

NOT_READY = {
    "_parameters": "cannot assign parameters before Module.__init__() call",
    "_buffers": "cannot assign buffers before Module.__init__() call",
    "_modules": "cannot assign module before Module.__init__() call",
}


class Tabled:
    """What has a table for each kind of its members: every module, and nothing else."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: Params
    _non_persistent_buffers_set: set[str]


def is_module(value: object) -> bool:
    """Whether a value is a module."""
    return isinstance(value, Tabled)


def table_of(value: object) -> str | None:
    """The table that a value enters by itself; a plain tensor enters none."""
    if isinstance(value, Parameter):
        return "_parameters"
    if isinstance(value, Buffer):
        return "_buffers"
    return "_modules" if is_module(value) else None


def enter(module: Tabled, table: str, name: str, value: object) -> None:
    """Put a value into a table, as the hooks of every module let it."""
    if value is not None or table != "_parameters":
        value = entering(module, table, name, value)
    module.__dict__[table][name] = value


def check_name(module: Tabled, name: str, table: str, what: str) -> None:
    """Raise for a name that a new member of ``table`` cannot have."""
    if table not in module.__dict__:
        raise AttributeError(NOT_READY.get(table, NOT_READY["_modules"]))
    if not isinstance(name, str):
        raise TypeError(f"{what} should be a string. Got {type(name).__name__}")
    if "." in name:
        got = f", got: {name}" if table == "_modules" else ""
        raise KeyError(f'{what} can\'t contain "."{got}')
    if not name:
        raise KeyError(f'{what} can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute {name!r} already exists")


def store(module: Tabled, name: str, value: object) -> bool:
    """Put a value into the table where it belongs; False if it belongs to none."""
    own = module.__dict__
    kind_table = table_of(value)
    if kind_table is not None:
        if kind_table not in own:
            raise AttributeError(NOT_READY[kind_table])
        _forget(module, name, kind_table)
        new = name not in own[kind_table]
        if kind_table == "_parameters" and new and hasattr(module, name):
            raise KeyError(f"attribute {name!r} already exists")
        enter(module, kind_table, name, value)
        if isinstance(value, Buffer):
            short_lived = module._non_persistent_buffers_set
            (short_lived.discard if value.persistent else short_lived.add)(name)
        return True
    for table in TABLES:
        if name in own.get(table, ()):
            if value is not None and not (
                table == "_buffers" and isinstance(value, Tensor)
            ):
                how, wanted = WANTED[table]
                raise TypeError(
                    f"cannot assign {kind(value)!r} {how} {name!r} ({wanted})"
                )
            enter(module, table, name, value)
            return True
    return False


def _forget(module: Tabled, name: str, keep: str) -> None:
    """Remove a name from wherever else it stands."""
    module.__dict__.pop(name, None)
    for table in TABLES:
        if table != keep and module.__dict__[table].pop(name, None) is not None:
            module._non_persistent_buffers_set.discard(name)
