"""What a node of the graph shows of itself, as PyTorch's nodes do.

Invariant: nothing here takes part in recording or in a pass. ``_saved_...`` and
``_raw_saved_...`` names follow from the row and `gradcli.ops.saved_names`; of inputs
and outputs only what the reverse rules read is there.

    (x ** 3).grad_fn._saved_exponent        # 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hooks import Extras

SAVED, RAW = "_saved_", "_raw_saved_"

WRITTEN = "torch::autograd::"
"""What PyTorch puts before the names of classes that it does not generate."""

INPUT, OUTPUT, PARAMETER, SIZES = "input", "output", "parameter", "sizes"
"""What a saved value is of its node."""

TENSORS = (INPUT, OUTPUT)


class Inspectable:
    """The face of a node: its name, its hooks, what is attached to it and saved."""

    __slots__ = ("extras",)
    extras: Extras
    hand_written = False
    """Whether PyTorch generates no class for it, but has one in its own room."""

    def name(self) -> str:
        """PyTorch's name for the node."""
        name = type(self).__name__
        return f"{WRITTEN}{name}" if self.hand_written else name

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
        for prefix, show in ((SAVED, saved_value), (RAW, raw_saved)):
            if name.startswith(prefix):
                place = saved_places(self).get(name.removeprefix(prefix))
                if place is not None:
                    return show(self, *place)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __dir__(self) -> list[str]:
        places = saved_places(self)
        tensors = [name for name, (kind, _) in places.items() if kind in TENSORS]
        found = [SAVED + name for name in places] + [RAW + name for name in tensors]
        return [*super().__dir__(), *found]


def saved_places(node: Any) -> dict[str, tuple[str, Any]]:
    """What PyTorch's names of a node's saved values mean here: a kind and a place.

    Kinds are `INPUT` and `OUTPUT`, with a number; `PARAMETER`, with its name; `SIZES`
    of an input of which nothing else is kept.
    """
    from ..ops import LINEAR
    from ..ops.saved_names import PARAMETERS, inputs_of, outputs_of
    from .saved import rules_read

    op = getattr(node, "op", None)
    if op is None:
        return {}
    read = rules_read(node)
    found: dict[str, tuple[str, Any]] = {}
    count = 0 if op.variadic else len(op.partials or op.vjp)
    alone = op.returns == 1 and op.jvp is not LINEAR
    shapes_alone = node.slots if op.jvp is LINEAR else ()
    for slot, name in enumerate(inputs_of(op.name, count)):
        if slot in read.inputs and slot not in shapes_alone:
            found[name] = INPUT, slot
        elif slot == 0 and not op.elementwise and not (read.output and alone):
            found[f"{name}_sym_sizes"] = SIZES, slot
    if read.output and op.jvp is not LINEAR:
        for nr, name in enumerate(outputs_of(op.name, op.returns)):
            if read.reads(nr):
                found[name] = OUTPUT, nr
    for name in _settings(op, count):
        found[PARAMETERS.get(name, name)] = PARAMETER, name
    return found


def _settings(op: Any, count: int) -> tuple[str, ...]:
    """A row's parameters that are not inputs."""
    from ..ops import parameters

    return parameters(op)[count:]


def saved_value(node: Any, kind: str, place: Any) -> Any:
    """What a node saved, unpacked.

    Raises:
        GradError: it has been freed.
    """
    from .node import Packed

    if kind == PARAMETER:
        return _parameter(node.op, place, node.params)
    if kind == SIZES:
        return tuple(node.raw_inputs()[place].shape)
    if isinstance(node.y, Packed):
        gives = node.y.inputs if kind == INPUT else node.y.outputs
        return _as_it_was(node, gives[place](), kind, place)
    raw, y = node.restored()
    if kind == INPUT:
        return _as_it_was(node, raw[place], kind, place)
    return _as_it_was(node, y[place] if isinstance(y, tuple) else y, kind, place)


def _as_it_was(node: Any, raw: Any, kind: str, place: int) -> Any:
    """A saved raw value as its tensor: a leaf as the object that it was."""
    from .backward import input_edges, rebuild
    from .node import AccumulateGrad, Port, carried
    from .saved import used_parts

    if kind == OUTPUT:
        several = node.op.returns != 1
        carries = not several or place < carried(node.op, (None,) * node.op.returns)
        edge: Any = (Port(node, place) if several else node) if carries else None
        return rebuild(raw, node.xp, edge)
    if place not in used_parts(node).inputs:
        return None
    edge = input_edges(node).get(place)
    if isinstance(edge, AccumulateGrad) and edge.variable.raw is raw:
        return edge.variable
    return rebuild(raw, node.xp, edge)


def raw_saved(node: Any, kind: str, place: Any) -> Any:
    """What a node saved, before it is unpacked: hooks can be set on it.

    Raises:
        AttributeError: it is no tensor.
    """
    from .packing import SavedTensor, hook_one

    if kind not in TENSORS:
        raise AttributeError(f"{place!r} is no tensor")
    return SavedTensor(
        lambda: saved_value(node, kind, place),
        lambda hooks: hook_one(node, (kind, place), hooks),
    )


def _parameter(op: Any, name: str, given: dict[str, Any]) -> Any:
    """A parameter as PyTorch saves it: several dimensions as a tuple, one too."""
    from ..ops import parameters
    from ..ops.saved_names import REDUCTIONS

    if name in given:
        value = given[name]
    else:
        defaults = op.fwd.__defaults__ or ()
        after = parameters(op)[::-1].index(name)
        value = defaults[-1 - after] if after < len(defaults) else None
        value = (op.fwd.__kwdefaults__ or {}).get(name, value)
    if name == "reduction":
        return REDUCTIONS.get(value, value)
    takes_many = any(isinstance(c.params.get(name), tuple) for c in op.cases)
    return (value,) if takes_many and isinstance(value, int) else value
