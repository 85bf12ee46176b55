"""Nodes of the recorded graph: one class per row, named as PyTorch names it.

Invariant: a node knows its inputs' edges in order, what its rule needs, and nothing
about who uses it. An *edge* is what a tensor's gradient is handed to: the node that
made the tensor, a `Port` of a node with several outputs, the `AccumulateGrad` of a
leaf, or None. ``pull`` maps the output's cotangent to one cotangent per edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, TypeAlias
from weakref import ref

from ..ops import TRANSPOSED, Op
from ..ops.types import Array, Outputs, Partial
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .methods import NodeMethods
from .namespace import NumberSystem
from .raw import SCALARS, Params, Pulled, Raw, Restored, Value, as_scalar
from .rules import (
    NOTHING,
    Parts,
    joined,
    read_by_each,
    reading_slots,
    reverse_rules,
    shape_only_slots,
    sum_to,
)
from .versions import CLOCK

Edge: TypeAlias = "Node | Port | AccumulateGrad | None"

FREED = object()
"""Mark in place of a node's saved values that are freed, or packed by hooks."""


WRITTEN = "torch::autograd::"
"""Prefix of PyTorch's names for the classes of nodes that it does not generate."""


class Inspectable(NodeMethods):
    """A node with a name, hooks and attachments: the base of all classes of nodes."""

    __slots__ = ("extras",)
    extras: object
    hand_written = False
    """Whether PyTorch's class of the node is written by hand instead of generated."""

    def name(self) -> str:
        """Return PyTorch's name for the node."""
        name = type(self).__name__
        return f"{WRITTEN}{name}" if self.hand_written else name

    def operation(self) -> str:
        """Return the operation's name for messages, as ``Exp`` for ExpBackward0."""
        return self.name().rstrip("0123456789").removesuffix("Backward")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Shaped:
    """The shape of a value, kept in its place where rules read nothing else."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)


def broadcast_shapes(raw: Outputs, y: Array) -> tuple[Any, ...] | None:
    """Return the inputs' shapes; None if every array among them has the output's."""
    shapes = tuple([getattr(r, "shape", None) for r in raw])
    return None if {*shapes} <= {None, y.shape} else shapes


class Node(Inspectable):
    """The general class of nodes; simple rows have the faster classes below.

    ``saved`` are the raw inputs, ``y`` the raw output (a tuple if there are several),
    ``shapes`` the inputs' shapes where they were broadcast.
    """

    __slots__ = (
        "__weakref__", "born", "edges", "params", "saved", "shapes", "span", "wrote",
        "xp", "y",
    )  # fmt: skip
    op: ClassVar[Op]
    rules: ClassVar[Any]
    slots: ClassVar[tuple[int, ...]]
    bare: ClassVar[frozenset[int]]
    """Slots of the inputs of which only the shape is kept."""
    holds: ClassVar[bool]
    lets_go: ClassVar[bool] = False
    """Whether freeing a node only drops its saved values: the rules of all edges read
    some."""
    reading: ClassVar[tuple[bool, ...]]
    """Flag by edge, true if its rule reads values."""
    edges: tuple[Edge, ...]
    saved: Any
    y: Any
    params: Params
    shapes: tuple[tuple[int, ...], ...] | None
    xp: NumberSystem
    span: Any
    born: int
    """Time at which the inputs were saved, by the clock of in-place changes."""
    wrote: int
    """Time at which the output was written to an input's memory, if it was."""

    def keep(self, raw: Outputs, y: Any, params: Params) -> None:
        """Save the values that the rules read; for most linear rows only shapes."""
        op = self.op
        self.params = params
        self.shapes = broadcast_shapes(raw, y) if op.elementwise else None
        if op.keeps_shapes:
            bare = range(len(raw)) if op.variadic else self.bare
            self.saved = tuple([
                Shaped(r.shape) if i in bare and hasattr(r, "shape") else r
                for i, r in enumerate(raw)
            ])  # fmt: skip
            several = isinstance(y, tuple)
            self.y = tuple([Shaped(part.shape) for part in y]) if several else None
        else:
            self.saved = raw
            self.y = y

    @classmethod
    def create(
        cls,
        edges: Sequence[Edge],
        xp: NumberSystem,
        raw: Outputs,
        y: Any,
        params: Params,
    ) -> Any:
        """Return a new node with these edges and its saved values."""
        node = object.__new__(cls)
        node.edges, node.xp = tuple(edges), xp
        node.span, node.born = None, CLOCK.now
        node.keep(raw, y, params)
        return node

    def pull(self, g: Array) -> Pulled:
        """Return the cotangents of the edges, from the cotangent of the output."""
        saved, y = self.saved, self.y
        if saved is FREED:
            raise GradError(FREED_MESSAGE)
        return self.apply_rules(self.xp, g, y, saved)

    def apply_rules(
        self,
        xp: NumberSystem,
        g: Array,
        y: Value,
        inputs: Sequence[Array],
        edges: Sequence[Edge] | None = None,
    ) -> Pulled:
        """Return the cotangents that the row's reverse rules give in the namespace
        ``xp``; none for those ``edges`` (by default the node's own) that are None."""
        if xp.waits and xp.pending is not None:
            on_gpu: Pulled = xp.pending.pulled(self, g, y, inputs, edges)
            return on_gpu
        if self.op.variadic:
            return tuple(self.rules(xp, g, y, *inputs, **self.params))
        shapes, params = self.shapes, self.params
        pulled: list[Array | None] = []
        live = self.edges if edges is None else edges
        if self.op.together is not None:
            wanted = [edge is not None for edge in live]
            return tuple(self.op.together(xp, wanted, g, y, *inputs, **params))
        for rule, slot, edge in zip(self.rules, self.slots, live, strict=True):
            if edge is None:
                pulled.append(None)
                continue
            gi = rule(xp, g, y, *inputs, **params)
            pulled.append(gi if shapes is None else sum_to(xp, gi, shapes[slot]))
        return tuple(pulled)

    def restored(self) -> Restored:
        """Return the saved raw inputs, one per input of the row, and the raw output."""
        if self.saved is FREED:
            raise GradError(FREED_MESSAGE)
        return self.saved, self.y

    def raw_inputs(self) -> tuple[Any, ...]:
        """Return the saved raw inputs, one per input of the row."""
        return self.restored()[0]

    def free(self) -> None:
        """Drop the saved values if the rule of an edge reads some. If none does,
        another pass may follow, as in PyTorch, which then saves nothing."""
        read = zip(self.edges, self.reading, strict=True)
        if self.lets_go or any(edge is not None and reads for edge, reads in read):
            self.saved = FREED
            self.y = None

    def y_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the outputs with a gradient, where there are several."""
        if self.y is None:
            raise GradError(FREED_MESSAGE)
        return [part.shape for part in self.y[: carried(self.op, self.y)]]

    @classmethod
    def row(cls) -> Op | None:
        """Return the row of the table that made the node; None: there is none."""
        return getattr(cls, "op", None)

    @property
    def several(self) -> bool:
        """Return whether the row has several outputs, each with an edge of its own."""
        return self.op.returns != 1

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        """Return ``(node, output number)`` per input, as in PyTorch."""
        return tuple([output_at(edge) for edge in self.edges])


class PlainNode(Node):
    """A node of an elementwise row with one or two inputs and no parameters, whose
    partials are functions."""

    __slots__ = ()
    params: ClassVar[Params] = {}  # type: ignore[misc]  # in a slot's place

    def keep(self, raw: Outputs, y: Any, params: Params) -> None:
        self.saved = raw
        self.y = y
        self.shapes = broadcast_shapes(raw, y)


class ProductNode(PlainNode):
    """A node with two inputs, each of which is the partial of the other."""

    __slots__ = ()

    def pull(self, g: Array) -> Pulled:
        saved = self.saved
        if saved is FREED:
            raise GradError(FREED_MESSAGE)
        if self.xp.waits:
            return self.apply_rules(self.xp, g, self.y, saved)
        a, b = saved
        if type(g) in SCALARS:
            a, b = as_scalar(a), as_scalar(b)
        edge_a, edge_b = self.edges
        ga = None if edge_a is None else g * b
        gb = None if edge_b is None else g * a
        shapes = self.shapes
        if shapes is not None:
            if ga is not None:
                ga = sum_to(self.xp, ga, shapes[0])
            if gb is not None:
                gb = sum_to(self.xp, gb, shapes[1])
        return ga, gb


def _is_product(partials: Sequence[Partial]) -> bool:
    """Return whether each of two partials returns the other input itself."""
    y, a, b = object(), object(), object()
    try:
        return partials[0](None, y, a, b) is b and partials[1](None, y, a, b) is a
    except Exception:
        return False


class ConstantNode(Node):
    """A node whose partials are numbers, so that it saves and frees nothing."""

    __slots__ = ()
    factors: ClassVar[tuple[float, ...]]
    passes: ClassVar[bool]
    """Whether every factor is 1."""
    params: ClassVar[Params] = {}  # type: ignore[misc]  # in a slot's place

    def keep(self, raw: Outputs, y: Any, params: Params) -> None:
        self.saved = self.y = None
        self.shapes = broadcast_shapes(raw, y)

    def pull(self, g: Array) -> Pulled:
        shapes = self.shapes
        if shapes is None and self.passes and len(self.edges) == 2:
            a, b = self.edges
            return (None if a is None else g, None if b is None else g)
        pulled: list[Array | None] = []
        for slot, edge in enumerate(self.edges):
            if edge is None:
                pulled.append(None)
                continue
            factor = self.factors[slot]
            gi = g if factor == 1 else -g if factor == -1 else self.scaled(g, factor)
            pulled.append(gi if shapes is None else sum_to(self.xp, gi, shapes[slot]))
        return tuple(pulled)

    def scaled(self, g: Array, factor: float) -> Array:
        return g * factor if factor else self.xp.zeros_like(g)

    def restored(self) -> Restored:
        """Return None for each input and the output, since the rules read no values."""
        return (None,) * len(self.factors), None


class Port:
    """An edge to one output of a node with several outputs.

    Two ports of the same output are equal.
    """

    __slots__ = ("__weakref__", "node", "nr")

    def __init__(self, node: Node, nr: int) -> None:
        self.node = node
        self.nr = nr

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Port):
            return NotImplemented
        return self.node is other.node and self.nr == other.nr

    def __hash__(self) -> int:
        return hash((id(self.node), self.nr))

    @property
    def edges(self) -> tuple[Edge, ...]:
        return (self.node,)


def output_at(edge: Edge) -> tuple[Any, int]:
    """Return the node whose output an edge stands for, and that output's number."""
    return (edge.node, edge.nr) if isinstance(edge, Port) else (edge, 0)


class AccumulateGrad(Inspectable):
    """The end of the graph at a leaf, which adds cotangents to the leaf's ``grad``.

    ``raw`` and ``xp`` are the leaf's, so that a leaf that was dropped can be made anew.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_variable", "grad", "raw", "xp",
    )  # fmt: skip
    edges: ClassVar[tuple[Edge, ...]] = ()
    next_functions: ClassVar[tuple[()]] = ()

    several: ClassVar[bool] = False
    hand_written = True
    changeable = False
    """Whether the leaf may be changed in place, as an input of a function in forward
    mode may."""

    given_up = False
    """Whether the leaf belongs to a computation that is finished."""

    made_anew: ClassVar[Callable[[AccumulateGrad], object]]
    """Function that makes the leaf once more; the module of tensors sets it."""

    def __init__(self, variable: Any) -> None:
        self._variable = ref(variable)
        self.raw = variable.raw
        self.xp = variable.xp
        self.grad: Any = None

    @property
    def variable(self) -> Any:
        """Return the leaf, made anew on the same memory if it was dropped."""
        found = self._variable()
        if found is None:
            found = self.made_anew()
            self._variable = ref(found)
        return found


def node_class(op: Op) -> type[Node]:
    """Return the class of a row's nodes, named as PyTorch names it."""
    assert op.node is not None
    members: Params = {"__slots__": (), "op": op}
    partials: Any = op.partials
    base: type[Node] = Node
    count = 0 if partials is None else len(partials)
    if partials is not None and op.fwd.__code__.co_argcount - 1 <= count:
        if op.masks or op.vjp is not None:
            pass
        elif all(isinstance(p, int | float) for p in partials) and not op.always_saves:
            base = ConstantNode
            members["factors"] = partials
            members["passes"] = all(factor == 1 for factor in partials)
        elif count <= 2 and all(callable(p) for p in partials):
            base = ProductNode if count == 2 and _is_product(partials) else PlainNode
    rules = reverse_rules(op)
    members["rules"] = staticmethod(rules) if op.variadic else rules
    if op.lists_live_edges:
        members["next_functions"] = property(_live)
    elif op.onto_zeros:
        members["next_functions"] = property(_after_zeros)
    members["hand_written"] = not any(c.isdigit() for c in op.node)
    members["slots"] = differentiable_slots(op)
    members["bare"] = shape_only_slots(op)
    reads = not op.keeps_shapes or (not op.variadic and None in rules)
    members["reading"] = reading_slots(op)
    members["lets_go"] = all(members["reading"])
    members["holds"] = base is not ConstantNode and (op.always_saves or reads)
    if not op.variadic:
        members["rules"] = tuple(r for r in rules if r is not None)
    return type(op.node, (base,), members)


def _live(node: Node) -> tuple[tuple[Node | AccumulateGrad, int], ...]:
    """Return a node's ``next_functions`` without inputs that need no gradient."""
    ends = Node.next_functions.fget(node)  # type: ignore[attr-defined]
    return tuple([end for end in ends if end[0] is not None])


def _after_zeros(node: Node) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
    """Return ``next_functions`` after an entry for PyTorch's tensor of zeros."""
    found = Node.next_functions.fget(node)  # type: ignore[attr-defined]
    return (output_at(None), *found)


_ALTERED: dict[Any, type[Node]] = {}
"""Classes of nodes after changes in place, by the class that they derive from, and by
that and `ThroughView` for bases that were changed through a view."""


def turned_class(cls: type[Node]) -> type[Node]:
    """Return the class of a row's nodes where the result replaced a tensor in place."""
    op: Op | None = getattr(cls, "op", None)
    if op is None or not op.turned or cls.__name__ == op.turned:
        return cls
    if cls not in _ALTERED:
        _ALTERED[cls] = type(op.turned, (cls,), {"__slots__": ()})
    return _ALTERED[cls]


class ThroughView(Node):
    """The node of a base of which a view was changed. Its ``next_functions`` are the
    base and the change's other operands, as in PyTorch, without the change itself."""

    __slots__ = ()

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        base, change = Node.next_functions.fget(self)  # type: ignore[attr-defined]
        return (base, *change[0].next_functions[1:])


def through_view_class(cls: type[Node]) -> type[Node]:
    """Return the class of a row's nodes for a base that was changed through a view."""
    kinds = ThroughView, cls
    if kinds not in _ALTERED:
        _ALTERED[kinds] = type(cls.__name__, kinds, {"__slots__": ()})
    return _ALTERED[kinds]


def carried(op: Op, y: Sequence[object]) -> int:
    """Return how many outputs carry a gradient: all, if their number is not fixed."""
    return op.carries if op.returns > 1 else len(y)


def differentiable_slots(op: Op) -> tuple[int, ...]:
    """Return the inputs that can carry a gradient; the others have no edge."""
    if op.variadic:
        return ()
    return tuple(i for i, rule in enumerate(reverse_rules(op)) if rule is not None)


def input_edges(node: Node) -> dict[int, Edge]:
    """Return the edge of each input of a node, by the input's position."""
    return dict(zip(node.slots or range(len(node.edges)), node.edges, strict=False))


def used_parts(node: Node) -> Parts:
    """Return which of a node's values count as saved, and are still there."""
    if isinstance(node, ConstantNode):
        return NOTHING
    raw, y = node.restored()
    if node.op.variadic:
        return _empty_parts(Parts(tuple(range(len(raw))), False), raw, y)
    return _empty_parts(saved_parts(node), raw, y)


def saved_parts(node: Node) -> Parts:
    """Return which values of a node count as saved, by its row and edges."""
    pairs = zip(node.slots, node.edges, strict=True)
    return _saved(node.op, tuple([slot for slot, edge in pairs if edge is not None]))


@cache
def _saved(op: Op, live: tuple[int, ...]) -> Parts:
    """Return which values count as saved if the slots in ``live`` need a gradient."""
    every = read_by_each(op)
    read = joined(every)
    asked = joined(every[slot] for slot in live).inputs
    readers = Counter(slot for part in every for slot in part.inputs)
    inputs = tuple(slot for slot in read.inputs if readers[slot] > 1 or slot in asked)
    return read._replace(inputs=inputs)


def _empty_parts(parts: Parts, raw: tuple[Raw, ...], y: Raw) -> Parts:
    """Return the parts without values that the node does not have."""
    given = {slot for slot, value in enumerate(raw) if hasattr(value, "dtype")}
    inputs = tuple(slot for slot in parts.inputs if slot in given)
    return parts._replace(inputs=inputs, output=parts.output and y is not None)


def pushed_parts(node: Node) -> Parts:
    """Return which saved values the forward rule of a node reads."""
    op = node.op
    if op.partials is not None or op.jvp is TRANSPOSED:
        return used_parts(node)
    raw, y = node.restored()
    every = tuple(i for i, value in enumerate(raw) if hasattr(value, "dtype"))
    if callable(op.jvp):
        return _empty_parts(rules_read(node)._replace(inputs=every), raw, y)
    live = {i for i, e in zip(node.slots, node.edges, strict=False) if e is not None}
    return Parts(tuple(i for i in every if op.variadic or live != {i}), False)


def rules_read(node: Node) -> Parts:
    """Return which saved values the rules of all edges read."""
    if isinstance(node, ConstantNode):
        return NOTHING
    if node.op.variadic:
        return Parts(tuple(range(len(node.edges))), False)
    return joined(read_by_each(node.op))
