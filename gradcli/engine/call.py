"""From a call as a user writes it to a row's inputs and parameters.

Invariant: a row's parameters are the names in its ``fwd``; NumPy's spellings (`axis`,
`keepdims`) and PyTorch's (`input`, `other`) mean the same everywhere.
"""

from __future__ import annotations

from typing import Any

from ..ops import KEYWORDS, Composite, Op, parameters
from .errors import CallError
from .tensor import Tensor, constant

_OPERANDS = {"input": 0, "self": 0, "other": 1}


def bind(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Split a call's arguments into inputs and parameters.

    Raises:
        CallError: an unknown, a missing or a superfluous argument.
    """
    if op.variadic:
        return _bind_variadic(op, args, kwargs)
    names = parameters(op)
    count = _inputs(op)
    values = dict(zip(names, _gather_star(op, names, args), strict=False))
    for key, value in kwargs.items():
        name = _parameter(op, names, key)
        if name in values:
            raise CallError(f"{op.base}() got {key!r} twice", names, key)
        values[name] = value
    defaults = op.fwd.__defaults__ or ()
    optional = names[len(names) - len(defaults) :]
    missing = [n for n in names if n not in values and n not in optional]
    if missing:
        raise CallError(f"{op.base}() needs {', '.join(missing)}", names)
    inputs = tuple([operand(op, values.pop(n)) for n in names[:count] if n in values])
    if len(inputs) < count:
        inputs += tuple(defaults[len(defaults) - len(names) + i] for i in
                        range(len(inputs), count))  # fmt: skip
    return inputs, values


def _bind_variadic(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names = parameters(op)
    params = {_parameter(op, names, k): v for k, v in kwargs.items()}
    return tuple([operand(op, v) for v in args]), params


def bind_composite(
    entry: Composite, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a composite, under its own parameters' names."""
    names = parameters(entry)
    args = tuple(_gather_star(entry, names, args))
    if entry.operands:
        pairs = zip(names, args, strict=False)
        args = tuple([_as_operand(entry, name, value) for name, value in pairs])
    if not kwargs and len(args) == len(names):
        return args, kwargs
    named = [(_parameter(entry, names, k), v) for k, v in kwargs.items()]
    renamed = {name: _as_operand(entry, name, v) for name, v in named}
    defaults = entry.build.__defaults__ or ()
    keyword_only = entry.build.__kwdefaults__ or {}
    positional = entry.build.__code__.co_argcount - 1
    twice = [k for k in renamed if k in names[: min(len(args), positional)]]
    if twice:
        raise CallError(f"{entry.name}() got {twice[0]!r} twice", names, twice[0])
    required = names[: positional - len(defaults)] + tuple(
        n for n in names[positional:] if n not in keyword_only
    )
    missing = [n for n in required[len(args) :] if n not in renamed]
    if missing:
        raise CallError(f"{entry.name}() needs {', '.join(missing)}", names)
    return args, renamed


def _as_operand(entry: Composite, name: str, value: Any) -> Any:
    """The value, as a tensor where the composite reads its shape."""
    return constant(value) if name in entry.operands and value is not None else value


def operand(op: Op, value: Any) -> Any:
    """A tensor, a plain number, or whatever a tensor can be made of."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, int | float) and op.elementwise:
        return value
    if value is None or isinstance(value, str | bool):
        return value
    return constant(value)


def _inputs(op: Op) -> int:
    if op.partials is not None:
        return len(op.partials)
    if isinstance(op.vjp, tuple):
        return len(op.vjp)
    return len(op.cases[0].inputs)


def _gather_star(
    entry: Op | Composite, names: tuple[str, ...], args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Collect ``x.view(2, 3)``'s numbers into the one parameter they mean."""
    if entry.star is None:
        if len(args) > len(names) and not _takes_many(entry):
            raise CallError(
                f"{entry.base}() takes {len(names)} arguments, {len(args)} given", names
            )
        return args
    at = names.index(entry.star)
    rest = args[at:]
    if len(rest) > 1 or (len(rest) == 1 and not isinstance(rest[0], list | tuple)):
        return (*args[:at], tuple(rest))
    return args


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
