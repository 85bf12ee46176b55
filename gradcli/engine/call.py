"""Binding of a call's arguments to a row's inputs, and classes of named results.

Invariant: a row's parameters are the names in its ``fwd``; NumPy's spellings (`axis`,
`keepdims`) and PyTorch's (`input`, `other`) mean the same everywhere. A parameter that
is no input of the row is never a tensor that requires a gradient. A named result is a
tuple; its class has the name and fields of the one in ``torch.return_types``.

    Signature(OPS["sum.dim_IntList"]).bind((x, 0), {})      # (x,), {"dim": 0}
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from ..ops import (
    FUNCTIONS,
    KEYWORDS,
    OPS,
    Composite,
    Op,
    parameters,
    plain_types,
    plain_values,
)
from ..ops.op import WHOLES
from ..ops.saved_names import OUTPUTS, outputs_of
from .errors import CallError
from .promote import WRITTEN
from .raw import Params
from .tensor import Tensor, constant

CO_VARARGS = 0x04
"""The flag of a code object that takes any number of arguments (`inspect.CO_VARARGS`).
"""

KINDS: dict[type | None, str] = {
    float: "Number", int: "int", bool: "bool", str: "str", None: "a plain value",
}  # fmt: skip
"""PyTorch's names of the types of plain values."""

_FIRST = ("input", "self", "a", "x", "x1")
_OPERANDS = {**dict.fromkeys(_FIRST, 0), "other": 1, "x2": 1}
"""Position of the first two operands, by their names in PyTorch and in NumPy."""

Bound = tuple[tuple[object, ...], dict[str, object]]


class Signature:
    """The names and positions of the parameters of a row or a composite.

    ``inputs`` is the number of parameters that are inputs of the row. By the number of
    positional arguments given, ``missing`` holds the names that must be given by
    keyword. ``operands`` holds the parameters
    of a composite that are tensors, ``plain`` those that are plain values.
    """

    __slots__ = (
        "called", "entry", "formula", "inputs", "least", "missing", "most", "names",
        "operands", "plain", "star", "star_at", "variadic",
    )  # fmt: skip

    def __init__(self, entry: Op | Composite) -> None:
        is_row = isinstance(entry, Op)
        self.formula = formula = entry.fwd if isinstance(entry, Op) else entry.build
        self.called = entry.base if is_row else entry.name
        optional = {*(formula.__kwdefaults__ or ())}
        self.entry: Any = entry
        self.names = names = parameters(entry)
        self.star = entry.star
        self.star_at = 0 if entry.star is None else names.index(entry.star)
        self.variadic = isinstance(entry, Op) and entry.variadic
        self.operands = frozenset(getattr(entry, "operands", ()))
        plain = plain_values(entry) if isinstance(entry, Composite) else ()
        self.plain = frozenset(plain)
        self.most = formula.__code__.co_argcount - 1
        defaults = len(formula.__defaults__ or ())
        optional |= {*names[self.most - defaults : self.most]}
        self.inputs = _inputs(entry) if isinstance(entry, Op) else 0
        rest = [names[given:] for given in range(self.most + 1)]
        self.missing = [frozenset(n for n in r if n not in optional) for r in rest]
        given = [g for g in range(self.most + 1) if not self.missing[g]]
        self.least = max(given[0], self.inputs) if given else self.most + 1
        if self.variadic:
            self.most = -1

    def bind(self, args: tuple[object, ...], kwargs: Params) -> Bound:
        """Return the inputs and the parameters of a row that a call gives."""
        if self.star is not None:
            args = self._gathered(args)
        op, names = self.entry, self.names
        if self.variadic:
            params = {self._parameter(key): v for key, v in kwargs.items()}
            return tuple([operand(op, v, args) for v in args]), self._plain(params)
        if len(args) > len(names):
            self._refuse(len(args))
        values = dict(zip(names, args, strict=False))
        if kwargs or self.missing[min(len(args), self.most)]:
            values |= self._renamed(args, kwargs)
        defaults = op.fwd.__defaults__ or ()
        given = [*values.values()]
        inputs = [
            operand(op, values.pop(name), given)
            if name in values
            else defaults[nr - len(names)]
            for nr, name in enumerate(names[: self.inputs])
        ]
        return tuple(inputs), self._plain(values)

    def _plain(self, params: Params) -> Params:
        """Return a row's parameters; a tensor of one number becomes that number."""
        return {
            name: self._number(name, value) if isinstance(value, Tensor) else value
            for name, value in params.items()
        }

    def _number(self, name: str, value: Tensor) -> object:
        kind = plain_types(self.entry).get(name)
        whole = value.raw.dtype.kind in WHOLES if hasattr(value.raw, "dtype") else False
        alone = not value.ndim or (kind is int and whole and value.numel() == 1)
        if value.edge is None and alone:
            return value.item()
        if value.edge is None and kind is None:
            return value
        way_out = "give True or False" if kind is bool else ""
        if kind in (float, int):
            way_out = f"give the number{', as .item() returns it' * alone}"
        formula = self.entry.formula
        elementwise = isinstance(self.entry, Op) and self.entry.elementwise
        if kind is float and elementwise and " if " not in formula:
            way_out += f", or write {formula} in place of the call"
        raise CallError(
            f"{self.called}(): argument {name!r} must be {KINDS[kind]}, not Tensor: "
            f"{name} is a plain value, by which nothing is differentiated",
            self.names,
            way_out=way_out,
        )

    def _renamed(self, args: tuple[object, ...], kwargs: Params) -> Params:
        """Return the keyword arguments of a call under the names of ``entry``."""
        names, called = self.names, self.called
        given = min(len(args), self.formula.__code__.co_argcount - 1)
        renamed: Params = {}
        for key, value in kwargs.items():
            name = self._parameter(key)
            if name in renamed or name in names[:given]:
                raise CallError(f"{called}() got {key!r} twice", names, key)
            renamed[name] = value
        missing = [n for n in names if n in self.missing[given] and n not in renamed]
        if missing:
            raise CallError(f"{called}() needs {', '.join(missing)}", names)
        return renamed

    def arguments(self, args: tuple[object, ...], kwargs: Params) -> Bound:
        """Return the arguments of a composite under its own parameters' names."""
        args = self._gathered(args)
        if kwargs or not self.least <= len(args) <= self.most:
            kwargs = self._renamed(args, kwargs)
        given = [*args, *kwargs.values()]
        known = [
            self._argument(name, value, given)
            for name, value in zip(self.names, args, strict=False)
        ]
        named = {name: self._argument(name, v, given) for name, v in kwargs.items()}
        return (*known, *args[len(known) :]), named

    def _argument(self, name: str, value: object, given: Iterable[object]) -> object:
        """Return an argument of a composite: an operand as a tensor, and for a plain
        value the number in a tensor of one."""
        if isinstance(value, Tensor):
            return self._number(name, value) if name in self.plain else value
        if value is None or name not in self.operands:
            return value
        return written(value, given)

    def _gathered(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """Return the arguments with numbers as in ``x.view(2, 3)`` made one tuple."""
        if self.star is None:
            too_many = len(args) > len(self.names)
            if too_many and not self.formula.__code__.co_flags & CO_VARARGS:
                self._refuse(len(args))
            return args
        at = self.star_at
        rest = args[at:]
        if len(rest) > 1 or (len(rest) == 1 and not isinstance(rest[0], list | tuple)):
            return (*args[:at], tuple(rest))
        return args

    def _parameter(self, key: str) -> str:
        """Return the name of the parameter that a keyword stands for."""
        names = self.names
        for candidate in (key, KEYWORDS.get(key)):
            if candidate in names:
                return candidate
        from ..ops.saved_names import CALLED

        for at, called in enumerate(CALLED.get(self.called, ())):
            if key in called:
                return names[at]
        if key in _FIRST and "input" in names:
            return "input"
        slot = _OPERANDS.get(key)
        if slot is not None and slot < len(names):
            return names[slot]
        raise CallError(f"{self.called}() has no parameter {key!r}", names, key)

    def _refuse(self, given: int) -> None:
        count = len(self.names)
        takes = "1 argument" if count == 1 else f"{count} arguments"
        message = f"{self.called}() takes {takes}, {given} given"
        raise CallError(message, self.names)


def operand(
    op: Op, value: object, given: Iterable[object]
) -> str | Tensor | float | None:
    """Return an input of a row as a tensor, unless the row takes it as it is."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, int | float) and op.elementwise:
        return value
    if value is None or isinstance(value, str | bool):
        return value
    return written(value, given)


def written(value: object, given: Iterable[object] = ()) -> Tensor:
    """Return the tensor of a number, a list or an array that was given in a call.

    A list is put on the device of the tensors that were given with it.
    """
    made = constant(value)
    if made.shape and isinstance(value, list | tuple | range):
        made = _move_to_device(given, made)
    if isinstance(value, int | list | tuple):
        made.__dict__[WRITTEN] = True
    return made


def _move_to_device(given: Iterable[object], made: Tensor) -> Tensor:
    """Return ``made`` on the device of the tensors among ``given``."""
    for other in given:
        if isinstance(other, Tensor) and other.xp.device != made.xp.device:
            xp = other.xp
            return made if xp.symbolic else Tensor(xp.array(made.raw), xp)
    return made


def _inputs(op: Op) -> int:
    if op.partials is not None:
        return len(op.partials)
    if isinstance(op.vjp, tuple):
        return len(op.vjp)
    return len(op.cases[0].inputs)


class NamedResult(tuple[Any, ...]):
    """A tuple whose entries have names; ``fields`` are the names."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = zip(self.fields, self, strict=True)
        shown = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self).__name__, tuple(self))


def _again(name: str, parts: tuple[object, ...]) -> NamedResult:
    """Return the named result of a class given by its name, for pickling."""
    return classes()[name](parts)


def _field(index: int) -> property:
    return property(lambda self: self[index])


@cache
def _class(name: str, fields: tuple[str, ...]) -> type[NamedResult]:
    members: Params = {name: _field(i) for i, name in enumerate(fields)}
    return type(name, (NamedResult,), {"__slots__": (), "fields": fields, **members})


@cache
def class_of_row(op: Op) -> type[NamedResult] | None:
    """Return the class of a row's named results; None if they have no names."""
    if op.returns <= 1 or op.name not in OUTPUTS:
        return None
    return _class(op.base, outputs_of(op.name, op.returns))


def class_of(function: str) -> type[NamedResult] | None:
    """Return the class of the named results of a composite function; None if its
    results have no names."""
    if function not in OUTPUTS:
        return None
    return _class(function.replace(".", "_"), tuple(OUTPUTS[function].split()))


@cache
def classes() -> dict[str, type[NamedResult]]:
    """Return all classes of named results by their names."""
    made = [class_of_row(op) for op in OPS.values()]
    made += [
        class_of(name) for name, e in FUNCTIONS.items() if isinstance(e, Composite)
    ]
    return {kind.__name__: kind for kind in made if kind is not None}
