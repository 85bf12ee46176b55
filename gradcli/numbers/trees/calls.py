"""Calls of public functions, made from the inputs and parameters of rows, their values,
and zeros with something written at an index as such calls.

Invariants: an argument that a call leaves out is equal to the function's default.
``put`` and ``added`` do what ``put_view`` and ``put_add`` of a namespace do; each
dimension takes one call, so an index of one slice is one call.

    row_call(OPS["softmax"], (x,), {"dim": 1})      # ((x, 1), {})
    put(xp, (5,), (slice(1, 3),), g)        # slice_scatter(zeros([5]), g, 0, 1, 3)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Final, TypeAlias

import numpy as np

from ...engine import NUMPY
from ...engine.raw import Host, Params
from ...ops import FUNCTIONS, Composite, Op, defaults, parameters
from ...ops.op import Formula
from .tree import LITERAL, Tree, TreeMaker, valued

Call: TypeAlias = tuple[tuple[object, ...], dict[str, object]]

VARARGS: Final = 0x04
"""Flag, in ``co_flags``, of a function with any number of positional arguments."""


def basis_call(
    name: str, args: tuple[object, ...], params: Mapping[str, object]
) -> Call:
    """Return a call of an array function: positional arguments, and those by name."""
    known = signature(getattr(NUMPY, name)).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in known.values()):
        return args, dict(params)
    defaults = {p.name: p.default for p in known.values() if p.default is not p.empty}
    return _arranged(
        {**dict(zip(known, args, strict=False)), **params}, defaults, known
    )


def row_call(op: Op, raw: tuple[object, ...], params: Mapping[str, object]) -> Call:
    """Return a call of a row's public function, in the order of its parameters."""
    public = FUNCTIONS[op.base]
    names = parameters(public)
    if op.variadic:
        return _variadic(public, names, raw, params)
    own = parameters(op)
    given = {**dict(zip(own, raw, strict=False)), **params}
    left_out = defaults(op)
    code = _formula(public).__code__
    ordered = {name: given[name] for name in names if name in given}
    ordered |= {n: v for n, v in given.items() if not _same(v, left_out.get(n, ...))}
    return _arranged(ordered, left_out, names[: code.co_argcount - 1])


def _variadic(
    public: Op | Composite, names: tuple[str, ...], raw: tuple[object, ...],
    params: Mapping[str, object],
) -> Call:  # fmt: skip
    """Return a call with inputs one by one if it takes any number, else as a tuple."""
    first = tuple([params[name] for name in names if name in params])
    if _formula(public).__code__.co_flags & VARARGS:
        return (*first, *raw), {}
    return (raw,), dict(params)


def _arranged(
    given: Mapping[str, Any], defaults: Mapping[str, object], order: Iterable[str]
) -> Call:
    """Return a call with arguments without default by position, the others by name; a
    list of one dimension is that dimension."""
    args = []
    params: Params = {}
    expected = iter(order)
    for name, value in given.items():
        lone = name == "dim" and isinstance(value, tuple | list) and len(value) == 1
        plain = value[0] if lone else value
        in_order = not params and next(expected, None) == name
        if name not in defaults and in_order and not isinstance(value, str):
            args.append(plain)
        elif name not in defaults or not _same(value, defaults[name]):
            params[name] = plain
    return tuple(args), params


def _formula(entry: Op | Composite) -> Formula:
    return entry.fwd if isinstance(entry, Op) else entry.build


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and not isinstance(a, Tree) and a == b)


# values


def uniform(value: object) -> bool:
    """Tell whether all entries of an array are equal; true without entries."""
    return isinstance(value, np.ndarray) and bool((value == first(value)).all())


def first(value: Host) -> Any:
    """Return an array's first entry; without entries, zero of its type."""
    return value.flat[0] if value.size else value.dtype.type()


def publicly(name: str, call: Call) -> Any:
    """Return what a public function gives for a call's values; None if it fails."""
    try:
        with np.errstate(all="ignore"):
            return NUMPY.call(name, *valued(call[0]), **valued(call[1]))
    except Exception:
        # A public function may refuse what its row takes, with an error of any kind.
        return None


def agree(value: Host, spelled: object) -> bool:
    """Tell whether a function's results equal the formula's."""
    if isinstance(spelled, tuple) or isinstance(value, tuple):
        several = isinstance(spelled, tuple) and isinstance(value, tuple)
        return several and all(map(agree, value, spelled))
    ours, theirs = np.asarray(value), np.asarray(valued(spelled))
    return ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=1e-9, atol=1e-12, equal_nan=True
    )


# zeros with something written at an index


def put(xp: TreeMaker, shape: tuple[int, ...], index: object, g: Tree) -> Tree:
    """Return zeros with ``g`` put at ``index``; of equal positions the last counts."""
    items = _spread(index, len(shape))
    if not all(isinstance(i, int | slice) for i in items):
        zeros, where = _zeros_and_positions(xp, shape, items)
        return xp.word("index_put", zeros, where, g)
    now = g
    for dim, item in enumerate(items):
        if isinstance(item, int):
            sizes = (*now.shape[:dim], shape[dim], *now.shape[dim:])
            now = xp.word("select_scatter", xp.filled(sizes, 0.0), now, dim, item)
        elif range(shape[dim])[item] != range(shape[dim]):
            sizes = (*now.shape[:dim], shape[dim], *now.shape[dim + 1 :])
            start, stop, step = item.indices(shape[dim])
            pace = () if step == 1 else (step,)
            now = xp.word(
                "slice_scatter", xp.filled(sizes, 0.0), now, dim, start, stop, *pace
            )
    return now


def added(xp: TreeMaker, shape: tuple[int, ...], index: object, g: Tree) -> Tree:
    """Return zeros with ``g`` added at ``index``; at equal positions it adds up."""
    zeros, where = _zeros_and_positions(xp, shape, _spread(index, len(shape)))
    return xp.word("index_put", zeros, where, g, accumulate=True)


def _zeros_and_positions(
    xp: TreeMaker, shape: tuple[int, ...], items: Sequence[object]
) -> tuple[Tree, tuple[object, ...]]:
    where = [_position(i, size) for i, size in zip(items, shape, strict=False)]
    return xp.filled(shape, 0.0), tuple(where)


def _position(item: object, size: int) -> object:
    """Return an index item as a list of positions; None stands for all of them."""
    if isinstance(item, slice):
        chosen = range(size)[item]
        return None if chosen == range(size) else list(chosen)
    if isinstance(item, Tree) and item.head == LITERAL and item.dtype.kind != "b":
        return item.value.tolist()
    return item


def _spread(index: object, ndim: int) -> list[Any]:
    """Return an index as items that together take all ``ndim`` dimensions."""
    items = list(index) if isinstance(index, tuple) else [index]
    taken = sum(_dimensions(i) for i in items if i is not ...)
    untouched = [slice(None)] * (ndim - taken)
    if any(i is ... for i in items):
        at = next(k for k, i in enumerate(items) if i is ...)
        return [*items[:at], *untouched, *items[at + 1 :]]
    return [*items, *untouched]


def _dimensions(item: Any) -> int:
    """Return how many dimensions an index item takes: a mask takes several."""
    mask = getattr(getattr(item, "dtype", None), "kind", None) == "b"
    return item.ndim if mask else 1
