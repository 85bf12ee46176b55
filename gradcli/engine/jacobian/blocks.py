"""The pass: what becomes of the cotangents of all entries of an output at once.

Invariant: each node is pulled once, by its row's own rules. A node that is somebody's
own function, or whose rules are not linear word by word, is pulled entry by entry.

    (block,) = jacobian_of(y, [x])
    block.dense()                   # y.shape + x.shape
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..anomaly import ANOMALY
from ..backward import materialise
from ..custom import CustomNode
from ..hooks import HOOKS
from ..node import Node, Port
from ..reverse import accumulate
from ..tensor import Tensor
from ..unchanged import demand_unchanged
from ..versions import CLOCK
from ..walk import inputs_first
from .cotangents import Cotangents, NotLinear, identity, is_sparse
from .namespace import batches_over

MIN_SPARSE_ROWS = 64
"""Outputs of fewer entries have dense cotangents: they are quicker there."""


class Block:
    """The derivatives of an output's entries by an input's: a matrix, and both shapes.

    ``matrix`` is an array or, if most of it is zero for a known reason, a
    ``scipy.sparse.csr_array``; None: zero, the output does not depend on the input.
    """

    __slots__ = ("matrix", "output", "x")

    def __init__(self, matrix: Any, output: Tensor, x: Tensor) -> None:
        self.matrix = matrix
        self.output = output
        self.x = x

    @property
    def sparse(self) -> bool:
        return self.matrix is not None and is_sparse(self.matrix)

    def dense(self) -> Tensor:
        """A tensor of the output's shape followed by the input's."""
        shape = (*self.output.shape, *self.x.shape)
        xp = self.x.xp
        if self.matrix is None:
            return Tensor(xp.new_full(self.x.raw, shape, 0), xp)
        matrix = self.matrix.toarray() if self.sparse else self.matrix
        return Tensor(matrix.reshape(shape).astype(self.x.raw.dtype, copy=False), xp)

    def csr(self) -> Any:
        """A ``scipy.sparse.csr_array``: a row for each entry of the output."""
        from scipy.sparse import csr_array

        shape = (self.output.numel(), self.x.numel())
        return csr_array(shape) if self.matrix is None else csr_array(self.matrix)


def can_run() -> bool:
    """Whether nobody looks at single cotangents on their way."""
    return not (HOOKS.used or ANOMALY.enabled)


def jacobian_of(output: Tensor, inputs: Sequence[Tensor]) -> list[Block]:
    """A block for each input; saved values are kept, nothing is recorded.

    Raises:
        GradError: saved values were freed, or changed in place.
    """
    root = output.edge
    ends = frozenset(x.edge for x in inputs if x.edge is not None)
    order = [] if root is None else _between(root, ends)
    if not order or not output.numel():
        return [Block(None, output, x) for x in inputs]
    xp = batches_over(output.xp)
    sparse = output.xp.device == "cpu" and output.numel() >= MIN_SPARSE_ROWS
    seed = identity(tuple(output.shape), output.raw, xp, sparse)
    needed = frozenset(order)

    def pull(edge: Any, g: Any) -> Iterator[tuple[Any, Any]]:
        if isinstance(edge, Port):
            yield edge.node, _among_outputs(edge, g)
        elif isinstance(edge, Node):
            pairs = zip(edge.edges, pulled(edge, g), strict=True)
            yield from ((e, gi) for e, gi in pairs if e in needed and gi is not None)

    arrived = accumulate(order, {root: seed}, pull, added, keep=ends)
    return [Block(_matrix(arrived.get(x.edge)), output, x) for x in inputs]


def _between(root: Any, ends: frozenset[Any]) -> list[Any]:
    """What leads from ``root`` to ``ends``, each after all that lead to it."""
    needed: dict[Any, None] = {}
    for edge in inputs_first([root]):
        if edge in ends or any(e in needed for e in edge.edges):
            needed[edge] = None
    return list(reversed(needed))


def pulled(node: Node, g: Any) -> list[Cotangents | None]:
    """The cotangents of a node's edges; a list is one of several outputs."""
    if CLOCK.now and node.born != CLOCK.now:
        demand_unchanged(node)
    if not isinstance(node, CustomNode):
        xp = batches_over(node.xp)
        inputs, y = node.restored()
        whole = materialise(node, g) if isinstance(g, list) else g
        try:
            return _apart(node.apply_rules(xp, whole, y, inputs), g)
        except NotLinear:
            pass
    return _one_by_one(node, g)


def _apart(parts: Sequence[Any], g: Any) -> list[Cotangents | None]:
    """What rules gave; a matrix that two hold, or that came in, belongs to neither."""
    met = [id(part.matrix) for part in _parts(g)]
    found: list[Cotangents | None] = []
    for part in parts:
        if isinstance(part, Cotangents):
            if id(part.matrix) in met:
                part.own = False
            met.append(id(part.matrix))
            found.append(part)
        elif part is None or not part.any():
            found.append(None)
        else:
            raise NotLinear
    return found


def _one_by_one(node: Node, g: Any) -> list[Cotangents | None]:
    """As `pulled`, by a pull for each cotangent of the batch."""
    some = next(iter(_parts(g)))
    given = g if isinstance(g, list) else [g]
    batches = [None if part is None else part.arranged() for part in given]
    rows: list[list[Any]] = [[] for _ in node.edges]
    for nr in range(some.count):
        one = [None if batch is None else batch[nr] for batch in batches]
        each = node.pull(materialise(node, one) if isinstance(g, list) else one[0])
        for row, gi in zip(rows, each, strict=True):
            row.append(gi)
    return [_stacked(some, row) for row in rows]


def _stacked(some: Cotangents, row: list[Any]) -> Cotangents | None:
    like = next((gi for gi in row if gi is not None), None)
    if like is None:
        return None
    zero = like * 0
    batch = some.np.stack([zero if gi is None else gi for gi in row])
    return some.flattened(batch)


def _parts(g: Any) -> list[Cotangents]:
    return [part for part in (g if isinstance(g, list) else [g]) if part is not None]


def _among_outputs(port: Port, g: Any) -> list[Any]:
    """The cotangent of one output, in its position among the node's outputs."""
    return [g if nr == port.nr else None for nr in range(len(port.node.y_shapes()))]


def added(a: Any, b: Any) -> Any:
    """The sum of two cotangents; lists hold one of each output, None for none."""
    if not isinstance(a, list):
        return a + b
    return [
        y if x is None else x if y is None else x + y for x, y in zip(a, b, strict=True)
    ]


def _matrix(g: Cotangents | None) -> Any:
    """The matrix in its final form: sorted, each entry once."""
    if g is None:
        return None
    if not g.sparse or g.matrix.has_canonical_format:
        return g.matrix
    matrix = g.matrix.copy()
    matrix.sum_duplicates()
    return matrix
