"""What a node of the graph shows of itself, as PyTorch's nodes do.

Invariant: nothing here takes part in recording or in a pass. ``_saved_...`` names are
derived from the row: ``self`` and ``other`` for its operands, ``result`` for what it
gave, a parameter's own name for its parameters; only what the reverse rules read is
there.

    (x ** 3).grad_fn._saved_exponent        # 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hooks import Extras

SAVED = "_saved_"
OPERANDS = (
    ("self", "input", "condition"),
    ("other", "mat2", "vec", "tensor", "vec2", "target", "source", "weight", "index"),
)
"""PyTorch's names for the first and the second operand of a row."""

SIZES = "_sym_sizes"


class Inspectable:
    """The face of a node: its name, its hooks, what is attached to it and saved."""

    __slots__ = ("extras",)
    extras: Extras

    def name(self) -> str:
        """PyTorch's name for the node."""
        return type(self).__name__

    def operation(self) -> str:
        """The name of what was done, as messages use it: ``Exp`` of ExpBackward0."""
        return self.name().rstrip("0123456789").removesuffix("Backward")

    @property
    def metadata(self) -> dict[str, Any]:
        """A place for whatever somebody wants to remember with this node."""
        from .hooks import extras_of

        return extras_of(self).metadata

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run backwards."""
        from .hooks import register_after

        return register_after(self, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """Call ``hook(grad_outputs)`` before the node runs backwards."""
        from .hooks import register_before

        return register_before(self, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Saving(Inspectable):
    """A node that shows what it saved."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith(SAVED):
            return saved_value(self, name.removeprefix(SAVED))
        raise _missing(self, name)


def saved_value(node: Any, name: str) -> Any:
    """What a node saved under a name of PyTorch's.

    Raises:
        AttributeError: it saves nothing of this name.
        GradError: what it saved has been freed.
    """
    from ..ops import parameters

    op = getattr(node, "op", None)
    if op is not None:
        if name == "result":
            return _result(node)
        slot = _slot(op, name)
        if slot is not None:
            return _input(node, slot)
        if name.endswith(SIZES) and _slot(op, name.removesuffix(SIZES)) == 0:
            return tuple(node.raw_inputs()[0].shape)
        if name in node.params:
            return _parameter(op, name, node.params[name])
        if name in parameters(op)[-len(op.fwd.__defaults__ or ()) or None :]:
            return _default(op, name)
    raise _missing(node, SAVED + name)


def _slot(op: Any, name: str) -> int | None:
    """The place of an input that PyTorch or the row calls by this name."""
    from ..ops import parameters

    count = 0 if op.variadic else len(op.partials or op.vjp)
    names = parameters(op)[:count]
    if name in names:
        return names.index(name)
    for slot, spellings in enumerate(OPERANDS[:count]):
        if name in spellings:
            return slot
    return None


def _missing(node: Any, name: str) -> AttributeError:
    return AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def _result(node: Any) -> Any:
    from .backward import rebuilt
    from .saved import rules_read

    if not rules_read(node).output:
        raise _missing(node, f"{SAVED}result")
    return rebuilt(node)[1]


def _input(node: Any, slot: int) -> Any:
    from .backward import rebuilt
    from .saved import rules_read, used_parts

    if slot not in rules_read(node).inputs:
        raise _missing(node, SAVED + OPERANDS[min(slot, 1)][0])
    return rebuilt(node)[0][slot] if slot in used_parts(node).inputs else None


def _parameter(op: Any, name: str, value: Any) -> Any:
    """A parameter; a lone dimension where the row takes several is a tuple."""
    takes_many = any(isinstance(c.params.get(name), tuple) for c in op.cases)
    return (value,) if takes_many and isinstance(value, int) else value


def _default(op: Any, name: str) -> Any:
    from ..ops import parameters

    names = parameters(op)
    defaults = op.fwd.__defaults__
    return _parameter(op, name, defaults[names.index(name) - len(names)])
