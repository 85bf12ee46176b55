"""Attributes of a node that show what it saved, named as in PyTorch.

Invariant: nothing here takes part in recording or in a pass. ``_saved_...`` and
``_raw_saved_...`` names follow from the row and `gradcli.ops.saved_names`; a value that
was not kept is computed when it is asked for.

    (x ** 3).grad_fn._saved_exponent        # 3
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..ops import LINEAR, Op, parameters
from ..ops.between import NUMBERS, TENSORS
from ..ops.saved_names import (
    GIVEN,
    IN_PLACE_OF_NONE,
    MEASURED,
    NOT_SHOWN,
    PARAMETERS,
    PLACES,
    REDUCTIONS,
    RENAMED,
    RESULT_IN_PLACE,
    SIGNED,
    SIZED,
    UNGIVEN,
    inputs_of,
    outputs_of,
)
from .backward import rebuild
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .node import (
    FREED,
    AccumulateGrad,
    Edge,
    Node,
    Packed,
    Port,
    carried,
    input_edges,
    rules_read,
    saved_parts,
)
from .packing import INPUT, OUTPUT, Hooks, SavedTensor, hook_one
from .raw import Raw
from .tensor import Tensor, constant

SAVED, RAW = "_saved_", "_raw_saved_"

PARAMETER, PLACE, MEASURE, NUMBER, BETWEEN, SAME = BESIDE = (
    "parameter", "place", "measure", "number", "between", "same",
)  # fmt: skip
"""Kinds of saved values that are no input or output: a parameter, positions given by
one, the size of an input, a number or a tensor that is computed from the others, and
an argument that is the same in every call."""

KINDS = (INPUT, OUTPUT, *BESIDE)
TENSORS_OF_NODES = (INPUT, OUTPUT, BETWEEN, PLACE)

STRIDES = "_sym_strides"

MEASURES: dict[str, Callable[[Raw], object]] = {
    "_sym_sizes": lambda raw: tuple(raw.shape),
    "_sym_sizes_opt": lambda raw: tuple(raw.shape),
    STRIDES: lambda raw: tuple([step // raw.itemsize for step in raw.strides]),
    "_sym_numel": lambda raw: int(np.prod(raw.shape, dtype=int)),
    "_sym_argsize_0": lambda raw: raw.shape[0],
    "_sym_argsize_1": lambda raw: raw.shape[1],
    "_sym_argsize_2": lambda raw: raw.shape[2],
    "_sym_argsize_minus_1": lambda raw: raw.shape[-1],
    "_sym_argsize_minus_2": lambda raw: raw.shape[-2],
    "_dim": lambda raw: len(raw.shape),
}
"""Functions from an input to its sizes or strides, by the ending of PyTorch's name."""


NOT_KEPT = (
    "Calling register_hooks on a value that is computed when somebody looks at it: the "
    "node keeps nothing that hooks could pack. Set them on the tensors that the node "
    "saves, such as _raw_saved_self or _raw_saved_input."
)


class Shown(NamedTuple):
    """The place of a saved value in its node: its kind and its key in that kind."""

    kind: str
    key: Any
    of: Any = None


def saved_by_name(node: Any, name: str) -> Any:
    """Return a value that a node saved, by PyTorch's name of it."""
    for prefix, show in ((SAVED, saved_value), (RAW, raw_saved)):
        if name.startswith(prefix):
            shown = saved_keys(node).get(name.removeprefix(prefix))
            kinds = TENSORS_OF_NODES if prefix == RAW else KINDS
            if shown is not None and shown.kind in kinds:
                return show(node, shown)
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def names_shown(node: object) -> list[str]:
    """Return the names of a node's attributes, with those of its saved values."""
    known = saved_keys(node)
    tensors = [name for name, at in known.items() if at.kind in TENSORS_OF_NODES]
    found = [SAVED + name for name in known] + [RAW + name for name in tensors]
    return [*object.__dir__(node), *found]


def saved_keys(node: Any) -> dict[str, Shown]:
    """Return the place of each saved value of a node, by PyTorch's name."""
    op = getattr(node, "op", None)
    if op is None or op.lists_live_edges:
        return {}
    read = rules_read(node)
    found: dict[str, Shown] = {}
    count = 0 if op.variadic else len(op.partials or op.vjp)
    inputs = inputs_of(op.name, count)
    for slot, name in enumerate(inputs):
        if slot in read.inputs and slot not in node.bare:
            found[name] = Shown(INPUT, slot)
        elif slot == 0 and op.name in SIZED:
            found[f"{name}_sym_sizes"] = Shown(MEASURE, slot, "_sym_sizes")
    if read.output and op.jvp is not LINEAR:
        for nr, name in enumerate(outputs_of(op.name, op.returns)):
            if read.reads(nr):
                found[name] = Shown(OUTPUT, nr)
    renamed, places = RENAMED.get(op.name, PARAMETERS), PLACES.get(op.name)
    for name in parameters(op)[count:]:
        kind = PLACE if name == places else PARAMETER
        found[renamed.get(name, name)] = Shown(kind, name)
    for name in NOT_SHOWN.get(op.name, "").split():
        found.pop(name, None)
    for word in MEASURED.get(op.name, "").split():
        of = next(of for of in inputs if word.removeprefix(of) in MEASURES)
        found[word] = Shown(MEASURE, inputs.index(of), word.removeprefix(of))
    for name, value in GIVEN.get(op.name, {}).items():
        found[name] = Shown(SAME, value)
    for name, formula in NUMBERS.get(op.name, {}).items():
        found[name] = Shown(NUMBER, name, formula)
    for name, formula in TENSORS.get(op.name, {}).items():
        found[name] = Shown(BETWEEN, name, formula)
    if op.name in RESULT_IN_PLACE and type(node).__name__ == op.turned:
        del found[inputs[0]]
        found["result"] = Shown(BETWEEN, "result", partial(_again, op))
    return found


def _again(op: Op, xp: Any, y: Raw, *raw: Raw, **params: Any) -> Raw:
    """Return a row's result, computed once more."""
    result: Raw = op.fwd(xp, *raw, **params)
    return result


def saved_value(node: Node, shown: Shown) -> Any:
    """Return a saved value of a node, unpacked by its hooks.

    Raises:
        GradError: the value has been freed.
    """
    kind, key, of = shown
    if kind == SAME:
        return key
    if kind == PARAMETER:
        return _parameter(node.op, key, node.params)
    if kind == PLACE:
        return _places(node, key)
    if kind == MEASURE:
        return _measured(node, key, of)
    if kind in (NUMBER, BETWEEN):
        raw, y = node.restored()
        found = of(node.xp, y, *raw, **node.params)
        return found if kind == NUMBER else Tensor(found, node.xp)
    return _tensor(node, kind, key)


def _measured(node: Node, slot: int, of: str) -> object:
    """Return the sizes or strides of an input. As in PyTorch, strides of an input
    without a gradient are (), and the sizes of one that is not given are (0,)."""
    raw = node.raw_inputs()
    if of == STRIDES and input_edges(node).get(slot) is None:
        return ()
    return MEASURES[of](raw[slot]) if _is_given(raw, slot) else (0,)


def _is_given(raw: tuple[object, ...], slot: int) -> bool:
    return slot < len(raw) and raw[slot] is not None


def _tensor(node: Node, kind: str, key: int) -> object:
    """Return a saved input or output; None if no edge's rule needs it."""
    packed = isinstance(node.y, Packed)
    parts = node.y.parts if packed else saved_parts(node)
    if kind == INPUT and key not in parts.inputs:
        return None
    if packed:
        gives = node.y.inputs if kind == INPUT else node.y.outputs
        return _as_it_was(node, gives[key](), kind, key)
    raw, y = node.restored()
    if kind == INPUT:
        given = _is_given(raw, key)
        return _as_it_was(node, raw[key], kind, key) if given else None
    return _as_it_was(node, y[key] if isinstance(y, tuple) else y, kind, key)


def _as_it_was(node: Node, raw: Raw, kind: str, key: int) -> object:
    """Return a saved array as the tensor it was; a leaf is the same object again."""
    if kind == OUTPUT:
        several = node.op.returns != 1
        carries = not several or key < carried(node.op, (None,) * node.op.returns)
        made: Edge = (Port(node, key) if several else node) if carries else None
        return rebuild(raw, node.xp, made)
    if not hasattr(raw, "dtype"):
        return constant(np.asarray(raw))
    edge = input_edges(node).get(key)
    if isinstance(edge, AccumulateGrad) and edge.variable.raw is raw:
        return edge.variable
    return rebuild(raw, node.xp, edge)


def _places(node: Node, name: str) -> tuple[Tensor | None, ...]:
    """Return the index arrays in a parameter as tensors; None: a whole dimension."""
    if node.saved is FREED:
        raise GradError(FREED_MESSAGE)
    given = node.params[name]
    return tuple([
        None if place is None else Tensor(node.xp.as_index(place), node.xp)
        for place in given
    ])  # fmt: skip


def raw_saved(node: Node, shown: Shown) -> tuple[SavedTensor, ...] | SavedTensor:
    """Return a handle of a saved tensor, or several, on which hooks can be set."""
    kind, key, _ = shown
    if kind == PLACE:

        def place(nr: int) -> Tensor | None:
            return _places(node, key)[nr]

        return tuple([
            SavedTensor(partial(place, nr), _refuse_hooks)
            for nr in range(len(node.params[key]))
        ])  # fmt: skip
    one = partial(hook_one, node, (kind, key))
    register = _refuse_hooks if kind == BETWEEN else one
    return SavedTensor(lambda: saved_value(node, shown), register)


def _refuse_hooks(hooks: Hooks) -> None:
    """Raise an error: a value that is not kept takes no hooks.

    Raises:
        GradError: always.
    """
    raise GradError(NOT_KEPT)


def _parameter(op: Op, name: str, given: dict[str, Any]) -> object:
    """Return a parameter as PyTorch saves it; one dimension may become a tuple."""
    if name in given:
        value = given[name]
    else:
        defaults = op.fwd.__defaults__ or ()
        after = parameters(op)[::-1].index(name)
        value = defaults[-1 - after] if after < len(defaults) else None
        value = (op.fwd.__kwdefaults__ or {}).get(name, value)
        value = UNGIVEN.get(op.name, {}).get(name, value)
    if name == "reduction":
        return REDUCTIONS.get(value, value)
    if value is None:
        return IN_PLACE_OF_NONE.get(op.name, {}).get(name)
    takes_many = any(isinstance(c.params.get(name), tuple) for c in op.cases)
    if name not in SIGNED:
        value = _unsigned(value)
    return (value,) if takes_many and isinstance(value, int) else value


def _unsigned(value: float) -> object:
    """Return a size or a position as an unsigned 64-bit integer, as PyTorch does."""
    if isinstance(value, tuple | list):
        return tuple([_unsigned(each) for each in value])
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value % 2**64 if plain else value
