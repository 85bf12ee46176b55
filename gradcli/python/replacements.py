"""Custom functions whose backward reads other values than those that were saved.

Invariant: forward and backward are the user's own. Only some tensors that ``ctx`` gives
back differ: each is an input, an output, or its value before a change in place.

    for each in replacements(call, "saved"): each.function.apply(x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..autograd.function import Function
from ..engine.modes import MODE
from ..engine.tensor import Tensor
from .function_call import Call

if TYPE_CHECKING:
    from ..engine.raw import Raw

MAX_TENSORS: Final = 8
"""Largest number of a function's tensors for which replacements are tried."""

Key = int | str
"""Type of a saved tensor's key: its position, or its attribute's name on ``ctx``."""

Picked = Callable[[Any], Any]
"""Type of a function that returns, from a ``ctx``, the tensor to put in a place."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A function that reads other values, with the text and repair of the mistake."""

    function: type[Function]
    text: str
    repair: str


class _View:
    """A ``ctx`` that gives other tensors in some places."""

    def __init__(self, ctx: Any, instead: dict[Key, Picked]) -> None:
        self._ctx, self._instead = ctx, instead

    @property
    def saved_tensors(self) -> tuple[object, ...]:
        return tuple(
            self._instead[k](self._ctx) if k in self._instead else t
            for k, t in enumerate(self._ctx.saved_tensors)
        )

    def __getattr__(self, name: str) -> object:
        if name in self._instead:
            return self._instead[name](self._ctx)
        return getattr(self._ctx, name)


def replacements(call: Call, cause: str) -> Iterator[Replaced]:
    """Yield functions that read other values, each one a mistake of kind ``cause``."""
    made_by = call.custom
    if made_by is None:
        return
    ctx = _context(made_by, call)
    places = _places(ctx)
    if cause == "in-place":
        for key in places:
            if _before(ctx, key) is not None:
                yield Replaced(
                    _reading(made_by, {key: lambda c, k=key: _before(c, k)}),  # type: ignore[misc]
                    f"{_named(key)} is changed in place after it was saved",
                    f"write the change as a new tensor, or save {_named(key)}.clone()",
                )
        return
    names = _names(ctx, call)
    if len(places) > MAX_TENSORS or len(names) > MAX_TENSORS:
        return
    if cause == "swapped":
        for a, b in combinations(places, 2):
            instead: dict[Key, Picked] = {
                a: lambda c, k=b: _value(c, k),  # type: ignore[misc]
                b: lambda c, k=a: _value(c, k),  # type: ignore[misc]
            }
            text = f"{_named(a)} and {_named(b)} are taken for one another in backward"
            yield Replaced(_reading(made_by, instead), text, "exchange them there")
        return
    if cause == "transpose":
        for key in places:
            shape = tuple(_value(ctx, key).shape)
            if len(shape) > 1 and shape[-1] == shape[-2]:
                yield Replaced(
                    _reading(made_by, {key: lambda c, k=key: _value(c, k).mT}),  # type: ignore[misc]
                    f"{_named(key)}{_called(ctx, names, key)} is taken for its "
                    "transpose in backward",
                    f"write {_named(key)}.mT there, or leave a transposition out",
                )
            for count in range(1, min(len(shape), 2) + 1):
                dims = tuple(range(-count, 0))
                turned = lambda c, k=key, d=dims: _value(c, k).flip(d)
                yield Replaced(
                    _reading(made_by, {key: turned}),
                    f"{_named(key)}{_called(ctx, names, key)} is taken in the wrong "
                    "order in backward: turned round along its last "
                    f"{'dimension' if count == 1 else 'two dimensions'}, or not",
                    f"write {_named(key)}.flip({', '.join(map(str, dims))}) there, or "
                    "leave a flip out",
                )
        return
    for key in places:
        held = _value(ctx, key)
        for name, pick in names.items():
            there = pick(ctx)
            if there.shape == held.shape and there is not held:
                yield Replaced(
                    _reading(made_by, {key: pick}),
                    f"backward takes {_named(key)} for {name}, but another tensor was "
                    "saved",
                    f"save {name} there",
                )


def _reading(made_by: type[Function], instead: dict[Key, Picked]) -> type[Function]:
    """Return the function with a backward that reads other tensors in some places."""

    def backward(ctx: object, *cotangents: object) -> object:
        own: Callable[..., object] = made_by.backward
        if own is Function.backward:
            own = made_by.vjp
        return own(_View(ctx, instead), *cotangents)

    return _watched(made_by, backward)


def _watched(
    made_by: type[Function], backward: Callable[..., object]
) -> type[Function]:
    """Return the function with a ctx that keeps its inputs, its outputs, and the values
    that changed tensors had before the change."""

    def noted(ctx: object, args: Sequence[object], run: Callable[[], object]) -> object:
        had: dict[int, object] = {}
        ctx.__dict__["_had"] = had

        def look(raw: Raw) -> None:
            had.setdefault(id(raw), raw.copy())

        with MODE.having(before_change=look):
            output = run()
        parts = output if isinstance(output, tuple) else (output,)
        ctx.__dict__["_given"] = [
            x.detach() if isinstance(x, Tensor) else x for x in args
        ]
        ctx.__dict__["_made"] = [y.detach() for y in parts if isinstance(y, Tensor)]
        return output

    if made_by.setup_context is not Function.setup_context:

        def setup_context(
            ctx: object, inputs: tuple[object, ...], output: object
        ) -> None:
            noted(ctx, inputs, lambda: output)
            made_by.setup_context(ctx, inputs, output)

        given: dict[str, object] = {"setup_context": staticmethod(setup_context)}
    else:

        @wraps(made_by.forward)
        def forward(ctx: object, *args: object) -> object:
            return noted(ctx, args, lambda: made_by.forward(ctx, *args))

        given = {"forward": staticmethod(forward)}
    body = {**given, "backward": staticmethod(backward), "vjp": Function.vjp}
    return type(made_by.__name__, (made_by,), body)


def _context(made_by: type[Function], call: Call) -> Any:
    """Return the ``ctx`` of one run of the function."""
    found = []

    def backward(ctx: object, *cotangents: object) -> object:
        raise NotImplementedError

    watching = _watched(made_by, backward)
    outputs = call.with_function(watching).outputs(call.leaves())
    for y in outputs:
        if y.grad_fn is not None:
            found.append(y.grad_fn.ctx)
    return found[0]


def _places(ctx: Any) -> list[Key]:
    saved: list[Key] = [
        k for k, t in enumerate(ctx.saved_tensors) if isinstance(t, Tensor)
    ]
    return saved + [
        name
        for name, t in vars(ctx).items()
        if isinstance(t, Tensor) and not name.startswith("_")
    ]


def _value(ctx: Any, key: Key) -> Any:
    return ctx.saved_tensors[key] if isinstance(key, int) else getattr(ctx, key)


def _before(ctx: Any, key: Key) -> Tensor | None:
    """Return a saved tensor's value before it was first changed in place; None if it
    never was changed."""
    t = _value(ctx, key)
    raw = ctx._had.get(id(t.raw))
    return None if raw is None else Tensor(raw, t.xp)


def _names(ctx: Any, call: Call) -> dict[str, Picked]:
    """Return functions that pick an input or output from a ctx, by their names."""
    found: dict[str, Picked] = {}
    by_key = {slot.key: slot.name for slot in call.slots}
    for k, x in enumerate(ctx._given):
        if isinstance(x, Tensor) and k in by_key:
            found[f"the input {by_key[k]}"] = lambda c, k=k: c._given[k]  # type: ignore[misc]
    for k in range(len(ctx._made)):
        name = "the output" if len(ctx._made) == 1 else f"output {k}"
        found[name] = lambda c, k=k: c._made[k]  # type: ignore[misc]
    return found


def _called(ctx: Any, names: dict[str, Picked], key: Key) -> str:
    """Return which tensor was saved in a place, such as ``, the input w,``, if any."""
    held = _value(ctx, key)
    for name, pick in names.items():
        there = pick(ctx)
        if there.shape == held.shape and np.array_equal(there.raw, held.raw):
            return f", {name},"
    return ""


def _named(key: Key) -> str:
    return f"ctx.saved_tensors[{key}]" if isinstance(key, int) else f"ctx.{key}"
