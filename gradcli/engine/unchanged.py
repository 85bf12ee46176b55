"""Checks that the values from which a gradient is computed were not changed in place.

Invariant: only values that the node's rules read are looked at, and only if something
was changed since the node was made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np

from . import dtypes
from .anomaly import ANOMALY
from .errors import GradError
from .limits import MAX_CHANGES_TOLD_APART
from .node import (
    FREED,
    Edge,
    Node,
    Port,
    UnaryNode,
    carried,
    input_edges,
    output_at,
    used_parts,
)
from .raw import Raw
from .rules import Parts
from .versions import CLOCK, version, version_at

CHANGED = (
    "one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [{what}]{made} is at version {now}; expected version {then} "
    "instead. Hint: {hint}"
)
ENABLE = (
    "enable anomaly detection to find the operation that failed to compute its "
    "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
ENABLED = (
    "the backtrace further above shows the operation that failed to compute its "
    "gradient. The variable in question was changed in there or anywhere later. Good "
    "luck!"
)


DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with "
    ".detach_().This is not supported, please use out-of-place `.detach()` instead"
)

_detached: WeakSet[Node | Port] = WeakSet()
"""Edges of tensors that were taken out of the graph in place."""


_successors: WeakKeyDictionary[Any, ref[Any]] = WeakKeyDictionary()
"""Present edge of a tensor that was changed in place, by the edge it had before."""


def note_successor(before: Edge, after: Edge) -> None:
    """Note the new edge of a tensor that was changed in place."""
    _successors[before] = ref(after)


def forget_edge(edge: Node | Port) -> None:
    """Let every pass fail that would use values saved with a detached tensor's edge."""
    _detached.add(edge)
    CLOCK.now += 1


class _Moves:
    """The earlier arrays of a tensor, held weakly where that is possible, and its
    present one."""

    __slots__ = ("before", "now")

    def __init__(self) -> None:
        self.before: deque[Callable[[], Raw | None]]
        self.before = deque(maxlen=MAX_CHANGES_TOLD_APART)
        self.now: Raw

    def add(self, before: Raw, now: Raw) -> None:
        alive = [held for held in self.before if held() is not None]
        self.before.clear()
        self.before.extend(alive)
        held: Callable[[], Raw | None] = lambda: before
        self.before.append(ref(before) if type(before) is np.ndarray else held)
        self.now = now


_moves: WeakKeyDictionary[Any, _Moves] = WeakKeyDictionary()
"""Moves of tensors to other memory, by their edges."""


def note_move(edge: Edge, before: Raw, now: Raw) -> None:
    """Note that a tensor was given other memory, as by ``x.data = y``. A pass then
    reads the new memory in place of the values that were saved."""
    moves = _moves.get(edge)
    if moves is None:
        moves = _moves[edge] = _Moves()
    moves.add(before, now)
    CLOCK.now += 1


def moved(raw: Raw, edge: Edge) -> Raw:
    """Return the present array of an edge's tensor if ``raw`` was one, else ``raw``."""
    moves = _moves.get(edge) if edge is not None else None
    if moves is None or not any(raw is held() for held in moves.before):
        return raw
    return moves.now


def _follow_moves(node: Node) -> None:
    """Replace a node's saved inputs by the arrays that their tensors have now."""
    raw, _ = node.restored()
    found = list(raw)
    for slot, edge in input_edges(node).items():
        found[slot] = moved(raw[slot], edge)
        if found[slot] is not raw[slot]:
            _demand(raw[slot], node.born, edge)
    if any(a is not b for a, b in zip(raw, found, strict=True)):
        node.saved = found[0] if isinstance(node, UnaryNode) else tuple(found)


def demand_unchanged(
    node: Node, parts_of: Callable[[Node], Parts] = used_parts
) -> None:
    """Raise an error if a value that a node saved was changed in place since.

    Args:
        parts_of: a function from the node to the values that are going to be read.

    Raises:
        GradError: in PyTorch's words, naming the value.
    """
    if node.saved is FREED or (node.y is None and node.saved is None):
        return
    if _moves:
        _follow_moves(node)
    parts = parts_of(node)
    raw, y = node.restored()
    wrote = getattr(node, "wrote", node.born)
    for value in node.params.values():
        for part in value if isinstance(value, tuple) else (value,):
            _demand(part, node.born, None)
    edges = input_edges(node)
    for slot in parts.inputs:
        edge = edges.get(slot)
        if _detached and edge in _detached:
            raise GradError(DETACHED)
        _demand(raw[slot], node.born, edge)
    for nr, part in enumerate(y if isinstance(y, tuple) else (y,)):
        if parts.reads(nr):
            made = nr < carried(node.op, y) if isinstance(y, tuple) else True
            _demand(part, wrote, Port(node, nr) if made else None, as_made=True)


def _demand(raw: Raw, born: int, edge: Edge, as_made: bool = False) -> None:
    if not hasattr(raw, "dtype"):
        return
    demand_version(raw, version_at(raw, born), edge, as_made)


def demand_version(raw: Raw, then: int, edge: Edge, as_made: bool = False) -> None:
    """Raise an error if the memory of a saved value has another version than ``then``.

    Args:
        edge: the edge of the tensor when it was saved.
        as_made: name the value as the output of the node at ``edge``, even if later
            changes gave the tensor another edge.

    Raises:
        GradError: in PyTorch's words, naming the value.
    """
    now = version(raw)
    if now != then:
        kind = dtypes.of(raw).legacy
        what = f"torch.{kind}Tensor {list(raw.shape)}"
        made = _made_by(edge if as_made else _present(edge))
        hint = ENABLED if ANOMALY.enabled else ENABLE
        raise GradError(
            CHANGED.format(what=what, made=made, now=now, then=then, hint=hint)
        )


def _present(edge: Edge) -> Any:
    """Return the edge that a tensor has now, after changes in place."""
    following = _successors.get(edge) if edge is not None else None
    while following is not None and (after := following()) is not None:
        edge = after
        following = _successors.get(edge)
    return edge


def _made_by(edge: Edge) -> str:
    node, nr = output_at(edge)
    if not isinstance(node, Node):
        return ""
    return f", which is output {nr} of {node.operation()},"
