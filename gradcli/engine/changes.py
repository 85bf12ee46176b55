"""In-place changes: their effects on memory, on versions and on the graph.

Invariant: after a change every tensor on the changed memory has an edge that computes
what it now holds: the changed tensor itself, its base if it is a view, and the other
views of that base. The memory is written exactly once, after everything that can fail.

    change(x, lambda old: old * 2)      # x.mul_(2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops import OPS
from .errors import EngineError, ShapeError
from .fast import guarded
from .modes import MODE, WATCH
from .node import (
    AccumulateGrad,
    Edge,
    Node,
    output_at,
    through_view_class,
    turned_class,
)
from .promote import RANK
from .raw import Host, Raw, Run
from .record import recorder
from .tensor import (
    LostView,
    Tensor,
    base_of,
    demand_sturdy,
    live_views,
    sharers,
    with_edge,
)
from .versions import CLOCK, note_in_place, owner, replaced, touch

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = f"a view of {LEAF}"
OVERLAPPING = (
    "unsupported operation: more than one element of the written-to tensor refers to a "
    "single memory location. Please clone() the tensor before performing the operation."
)


def demand_changeable(t: Tensor, part: bool = False) -> None:
    """Raise an error if a tensor may not be changed: a leaf, or a view of one.

    Args:
        part: only a part of the tensor is to be changed.
    """
    if not t.xp.plain:
        _demand_writeable(t)
    if MODE.made is not None:
        MODE.made.demand(t.raw)
    if not MODE.enabled:
        return
    base = base_of(t)
    if base is not t and _is_fixed(base.edge):
        raise EngineError(VIEW_OF_LEAF)
    if _is_fixed(t.edge):
        raise EngineError(VIEW_OF_LEAF if part else LEAF)
    demand_sturdy(t)


def _is_fixed(edge: Edge) -> bool:
    return isinstance(edge, AccumulateGrad) and not edge.changeable


def _demand_writeable(t: Tensor) -> None:
    xp = t.xp
    if not xp.writeable and len(sharers(t)) > 1:
        raise EngineError(
            "what shares its entries with another name cannot be changed in place "
            "here; give the new value a name of its own"
        )
    stopped = xp.symbolic and getattr(t.raw, "stopped", False)
    unseen = xp.symbolic and not MODE.enabled and t.edge is not None
    apart = xp.symbolic and t.edge is not None and _is_shared(t)
    if stopped or apart or (unseen and getattr(xp, "watching", True)):
        raise EngineError("a change that no graph knows of has no meaning to symbols")


def _is_shared(t: Tensor) -> bool:
    """Return whether another tensor with a graph shares entries with this one, but is
    neither its base nor a view of the same base."""
    base = base_of(t)
    return any(
        base_of(other) is not base
        and other.edge is not None
        and np.isin(_addresses(other), _addresses(t)).any()
        for other in sharers(t)
    )


def change(t: Tensor, compute: Callable[[Tensor], Tensor]) -> Tensor:
    """Write ``compute(t)`` to the entries of ``t``, and record the change."""
    demand_changeable(t)
    # ``compute`` reads a copy where a node may save what it reads.
    raw = t.raw.copy() if MODE.enabled and not MODE.renews else t.raw
    result = compute(with_edge(raw, t.xp, t.edge))
    _demand_fit(t, result)
    write(t, (), result.raw)
    if MODE.enabled and (result.edge is not None or t.edge is not None):
        edge = result.edge
        if isinstance(edge, Node):
            edge.__class__ = turned_class(type(edge))
            if edge.y is result.raw and edge.y is not None:
                edge.y, edge.wrote = t.raw, CLOCK.now
        rebase(t, edge)
    elif not MODE.enabled:
        renew_views(t)
    return t


def _demand_fit(t: Tensor, result: Tensor) -> None:
    if t.raw.dtype is result.raw.dtype and t.raw.shape == result.raw.shape:
        return
    have, want = tuple(t.raw.shape), tuple(result.raw.shape)
    if have != want:
        raise ShapeError(
            f"output with shape {list(have)} doesn't match the broadcast shape "
            f"{list(want)}"
        )
    demand_numbers(t, result)
    demand_castable(result, t)


def demand_numbers(t: Tensor, value: Tensor) -> None:
    """Raise an error if formulas or balls would be written into an array of numbers, as
    by a traced function that changes a tensor made outside of it."""
    if value.xp.symbolic and not t.xp.symbolic:
        raise EngineError(
            "a tensor that was made elsewhere is changed in place by what has no "
            "numbers here; make it where it is changed, or clone() it there"
        )


def demand_castable(result: Tensor, out: Tensor) -> None:
    """Raise an error if a result is of a kind of numbers that ``out`` cannot hold."""
    if RANK[result.raw.dtype.kind] > RANK[out.raw.dtype.kind]:
        raise EngineError(
            f"result type {result.dtype.legacy} can't be cast to the desired output "
            f"type {out.dtype.legacy}"
        )


def write(t: Tensor, at: object, value: Any) -> None:
    """Write ``value`` to the entries of ``t`` at an index; () selects all of them."""
    raw = t.raw
    if not t.xp.writeable:
        settle_memory(t, value)
        return
    if at == () and is_expanded(raw):
        raise EngineError(OVERLAPPING)
    if MODE.renews and renew(t):
        t.raw[at or ...] = value
        return
    MODE.change(raw)
    if isinstance(value, np.generic):
        value = value.astype(raw.dtype)  # wraps around, where a number would not fit
    if isinstance(raw, np.generic):
        settle_memory(t, t.xp.clone(raw))
        t.raw[at or ...] = value
        note_change(raw, t.raw)
        return
    if not getattr(raw.flags, "writeable", True):  # an array of CuPy's always is
        _make_writeable(raw)
    raw[at if at != () else ...] = value
    note_change(raw, raw)


def is_expanded(raw: Raw) -> bool:
    """Return whether several entries share one place in memory, as after `expand`."""
    if 0 not in raw.strides or not raw.size:
        return False
    steps = zip(raw.shape, raw.strides, strict=True)
    return any(n > 1 and not step for n, step in steps)


def note_change(before: object, now: Raw) -> None:
    """Count a change of a tensor's memory, whether in place or by another array."""
    if isinstance(before, np.generic):
        replaced(before, now)
    else:
        touch(now)


def renew(t: Tensor) -> bool:
    """Give a tensor, and all that share its memory, a copy of that memory; return
    whether one was made, as none is of a user's array whose memory has gaps."""
    xp, before = t.xp, owner(t.raw)
    after = xp.clone(before)
    if isinstance(before, np.generic):
        settle_memory(t, after)
        return True
    steps = zip(before.shape, before.strides, after.strides, strict=True)
    if before.size and any(n > 1 and old != new for n, old, new in steps):
        return False
    start, moved = xp.address(before), xp.address(after)
    for each in sharers(t):
        raw = each.raw
        address = moved + xp.address(raw) - start
        whole = raw is before
        settle_memory(each, after if whole else xp.carried(raw, after, address))
    return True


def settle_memory(t: Tensor, raw: Raw) -> None:
    """Make an array the memory of a tensor and, for a leaf, of its end in the graph."""
    if MODE.made is not None:
        MODE.made.move(t.raw, raw)
    t.raw = raw
    if isinstance(t.edge, AccumulateGrad):
        t.edge.raw = raw


def _make_writeable(raw: Raw) -> None:
    """Make a write-protected view writeable if the memory that it lies in is."""
    if not owner(raw).flags.writeable:
        raise EngineError(
            "the memory of this tensor is read-only; clone() it to change it"
        )
    raw.flags.writeable = True


def _may_overlap(raw: Raw) -> bool:
    """Return whether two entries may have one address, judged by the strides."""
    reach = 0
    for step, n in sorted(zip(map(abs, raw.strides), raw.shape, strict=True)):
        if n > 1:
            if step <= reach:
                return True
            reach += step * (n - 1)
    return False


def edge_of(
    name: str, operands: tuple[Tensor, ...], edges: tuple[Edge, ...], **params: object
) -> Edge:
    """Return a new node for a value that is computed already; None without edges."""
    if all(edge is None for edge in edges):
        return None
    raw = tuple([t.raw for t in operands])
    cls: type[Node] = recorder(OPS[name]).cls
    node: Node = cls.create(edges, operands[0].xp, raw, raw[0], params)
    for look in MODE.on_node:
        look(node)
    return node


def rebase(t: Tensor, edge: Edge) -> None:
    """Give ``t``, and all tensors that share its memory, new edges."""
    base = base_of(t)
    outside = base.edge is None
    if base is t:
        _settle(t, edge)
    else:
        at = positions(base, t)
        name = "overlapping" if _may_overlap(t.raw) else "positions"
        name = f"copy_slices.{name}"
        written = edge_of(name, (base, t), (base.edge, edge), at=at)
        if isinstance(written, Node) and isinstance(edge, Node):
            written.__class__ = through_view_class(type(written))
        _settle(base, written)
    for view in live_views(base):
        if view is t or outside or view.edge is not None:
            _settle(view, _read_anew(base, view))
        elif type(view) is Tensor:
            view.__class__ = LostView


def renew_views(t: Tensor, but: Tensor | None = None) -> None:
    """Give views new edges from their base after a change that is not recorded."""
    base = base_of(t)
    if base.edge is None:
        return
    for view in live_views(base):
        if view is not but and view.edge is not None:
            _settle(view, _read_anew(base, view))


def _read_anew(base: Tensor, view: Tensor) -> Edge:
    at = positions(base, view)
    return edge_of("as_strided.positions", (base,), (base.edge,), at=at)


def _settle(t: Tensor, edge: Edge) -> None:
    before, t.edge = t.edge, edge
    node, nr = output_at(edge)
    if isinstance(node, Node):
        note_in_place(t.raw, f"output {nr} of {node.operation()}")
    if WATCH.observer is not None:
        WATCH.observer.moved(t, before)


def change_by(
    t: Tensor, run: Run, others: Sequence[Tensor], numbers: Sequence[float] = ()
) -> Tensor:
    """Write an elementwise function of the entries, of other tensors and of numbers to
    ``t``, which has no graph: on a GPU as one kernel."""
    if t.xp.pending is None:
        return change(t, lambda old: run(old, *others, *numbers))
    demand_changeable(t)
    raw: Any = t.raw
    MODE.change(raw)

    def into(x: Any, *given: Any) -> None:
        x[...] = run(x, *given)

    given = raw, *[other.raw for other in others]
    name = f"{run.__name__}_in_place"
    t.xp.pending.kernels.change((change_by, run), name, into, given, numbers)
    note_change(raw, raw)
    return t


def positions(base: Tensor, view: Tensor) -> Any:
    """Return the position in the flattened base of each entry of a view."""
    addresses = _addresses(base).reshape(-1)
    order = np.argsort(addresses, kind="stable")
    found = np.searchsorted(addresses[order], _addresses(view))
    return base.xp.array(order[found])


def _addresses(t: Tensor) -> Host:
    """Return the address in memory of every entry, in bytes."""
    raw = t.raw
    total = np.asarray(t.xp.address(raw), "int64")
    for dim, (n, step) in enumerate(zip(raw.shape, raw.strides, strict=True)):
        line = np.arange(n, dtype="int64") * step
        total = total[..., None] + line if dim or not total.ndim else total + line
    return total.reshape(raw.shape)


def augmented(operator: str) -> Run:
    """Return the operator that changes a tensor in place, as ``+=``, for that of the
    name ``__add__``."""
    apply = getattr(Tensor, operator)
    general = guarded(lambda x, other: change(x, lambda old: apply(old, other)))

    def run(self: Tensor, other: object) -> Any:
        if not _is_unobserved(self) or getattr(other, "edge", None) is not None:
            return general(self, other)
        result = apply(self, other)
        raw = self.raw
        if (
            type(result) is not Tensor
            or result.raw.dtype is not raw.dtype
            or result.raw.shape != raw.shape
        ):
            return general(self, other)
        raw[...] = result.raw
        touch(raw)
        return self

    return run


def _is_unobserved(t: Tensor) -> bool:
    """Return whether a tensor may be overwritten by writing only its memory, because
    it has no graph and no views, and no observer is active."""
    raw = t.raw
    return (
        t.edge is None
        and MODE.fast
        and not (MODE.renews or MODE.before_change)
        and type(raw) is np.ndarray
        and t.xp.plain
        and t.view_of is None
        and not t.__dict__
        and raw.flags.writeable
        and 0 not in raw.strides
    )
