"""From a call as a user writes it to a row's inputs and parameters.

Invariant: a row's parameters are the names in its ``fwd``; NumPy's spellings (`axis`,
`keepdims`) and PyTorch's (`input`, `other`) mean the same everywhere. A call that gives
everything under the row's own names is bound without a look at the others.

    Signature(OPS["sum.dim_IntList"]).bind((x, 0), {})      # (x,), {"dim": 0}
"""

from __future__ import annotations

from typing import Any

from ..ops import KEYWORDS, Composite, Op, parameters
from .errors import CallError
from .promote import WRITTEN
from .tensor import Tensor, constant

_OPERANDS = {"input": 0, "self": 0, "other": 1}

Bound = tuple[tuple[Any, ...], dict[str, Any]]


class Signature:
    """What a row or a composite may be called with.

    ``inputs`` is the number of parameters that are inputs of the row. By the number of
    positional arguments given, ``free`` holds the names that may still be given by
    keyword, and ``missing`` those that have to be.
    """

    __slots__ = (
        "entry", "free", "inputs", "least", "missing", "most", "names", "operands",
        "star", "variadic",
    )  # fmt: skip

    def __init__(self, entry: Op | Composite) -> None:
        formula = entry.fwd if isinstance(entry, Op) else entry.build
        optional = {*(formula.__kwdefaults__ or ())}
        self.entry: Any = entry
        self.names = names = parameters(entry)
        self.star = entry.star
        self.variadic = isinstance(entry, Op) and entry.variadic
        self.operands = [names.index(n) for n in getattr(entry, "operands", ())]
        self.most = formula.__code__.co_argcount - 1
        defaults = len(formula.__defaults__ or ())
        optional |= {*names[self.most - defaults : self.most]}
        self.inputs = _inputs(entry) if isinstance(entry, Op) else 0
        rest = [names[given:] for given in range(self.most + 1)]
        self.free = [frozenset(r) for r in rest]
        self.missing = [frozenset(n for n in r if n not in optional) for r in rest]
        given = [g for g in range(self.most + 1) if not self.missing[g]]
        self.least = max(given[0], self.inputs) if given else self.most + 1
        if self.variadic:
            self.most = -1

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """Split a call of a row into inputs and parameters.

        Raises:
            CallError: an unknown, a missing or a superfluous argument.
        """
        if self.star is not None:
            args = self._gathered(args)
        given = len(args)
        if kwargs or not self.least <= given <= self.most:
            if self.variadic:
                return self._bound_many(args, kwargs)
            if not self._fits(given, kwargs):
                return self._bound(args, kwargs)
        count = self.inputs
        inputs = args if given == count else args[:count]
        for value in inputs:
            if not isinstance(value, Tensor):
                inputs = tuple([operand(self.entry, v) for v in inputs])
                break
        if given > count:
            named = dict(zip(self.names[count:], args[count:], strict=False))
            return inputs, named | kwargs if kwargs else named
        return inputs, kwargs

    def _fits(self, given: int, kwargs: dict[str, Any]) -> bool:
        """Whether a call gives what is needed, all under the names of ``entry``."""
        if not self.inputs <= given <= self.most:
            return False
        keys = kwargs.keys()
        return keys <= self.free[given] and keys >= self.missing[given]

    def _bound_many(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        params = {_parameter(self.entry, self.names, k): v for k, v in kwargs.items()}
        return tuple([operand(self.entry, v) for v in args]), params

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        op, names, count = self.entry, self.names, self.inputs
        if len(args) > len(names):
            self._refuse(len(args))
        values = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            name = _parameter(op, names, key)
            if name in values:
                raise CallError(f"{op.base}() got {key!r} twice", names, key)
            values[name] = value
        missing = [n for n in names if n in self.missing[0] and n not in values]
        if missing:
            raise CallError(f"{op.base}() needs {', '.join(missing)}", names)
        defaults = op.fwd.__defaults__ or ()
        inputs = [
            operand(op, values.pop(name))
            if name in values
            else defaults[place - len(names)]
            for place, name in enumerate(names[:count])
        ]
        return tuple(inputs), values

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """The arguments of a composite, under its own parameters' names.

        Raises:
            CallError: an unknown, a missing or a superfluous argument.
        """
        entry, names, most = self.entry, self.names, self.most
        args = self._gathered(args)
        for place in self.operands:
            if place < len(args) and not isinstance(args[place], Tensor):
                pairs = zip(names, args, strict=False)
                args = tuple([_as_operand(entry, name, v) for name, v in pairs])
                break
        if not kwargs and self.least <= len(args) <= most:
            return args, kwargs
        named = [(_parameter(entry, names, k), v) for k, v in kwargs.items()]
        renamed = {name: _as_operand(entry, name, v) for name, v in named}
        twice = [k for k in renamed if k in names[: min(len(args), most)]]
        if twice:
            raise CallError(f"{entry.name}() got {twice[0]!r} twice", names, twice[0])
        needed = self.missing[min(len(args), most)]
        missing = [n for n in names if n in needed and n not in renamed]
        if missing:
            raise CallError(f"{entry.name}() needs {', '.join(missing)}", names)
        return args, renamed

    def _gathered(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Collect ``x.view(2, 3)``'s numbers into the one parameter they mean."""
        star = self.star
        if star is None:
            if len(args) > len(self.names) and not _takes_many(self.entry):
                self._refuse(len(args))
            return args
        at = self.names.index(star)
        rest = args[at:]
        if len(rest) > 1 or (len(rest) == 1 and not isinstance(rest[0], list | tuple)):
            return (*args[:at], tuple(rest))
        return args

    def _refuse(self, given: int) -> None:
        count = len(self.names)
        takes = "1 argument" if count == 1 else f"{count} arguments"
        message = f"{self.entry.base}() takes {takes}, {given} given"
        raise CallError(message, self.names)


def _as_operand(entry: Composite, name: str, value: Any) -> Any:
    """The value, as a tensor where the composite reads its shape."""
    if isinstance(value, Tensor) or value is None or name not in entry.operands:
        return value
    return written(value)


def operand(op: Op, value: Any) -> Any:
    """A tensor, a plain number, or whatever a tensor can be made of."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, int | float) and op.elementwise:
        return value
    if value is None or isinstance(value, str | bool):
        return value
    return written(value)


def written(value: Any) -> Tensor:
    """The tensor that is meant by a number or a list, or by an array."""
    made = constant(value)
    if isinstance(value, int | list | tuple):
        made.__dict__[WRITTEN] = True
    return made


def _inputs(op: Op) -> int:
    if op.partials is not None:
        return len(op.partials)
    if isinstance(op.vjp, tuple):
        return len(op.vjp)
    return len(op.cases[0].inputs)


def _takes_many(entry: Op | Composite) -> bool:
    formula = entry.fwd if isinstance(entry, Op) else entry.build
    return bool(formula.__code__.co_flags & 0x04)


def _parameter(entry: Op | Composite, names: tuple[str, ...], key: str) -> str:
    """The parameter that a keyword means."""
    for candidate in (key, KEYWORDS.get(key)):
        if candidate in names:
            return candidate
    slot = _OPERANDS.get(key)
    if slot is not None and slot < len(names):
        return names[slot]
    raise CallError(f"{entry.base}() has no parameter {key!r}", names, key)
