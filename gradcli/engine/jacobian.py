"""Blocks of Jacobians, from one pass for all their rows or all their columns.

Invariant: each node is pulled, or pushed, once for a whole batch, by its row's rules. A
custom function, or a rule that raises `NotLinear`, is run for each row of the batch.
Where a dense matrix would be too large, the rows are computed in halves.

    (block,) = rows_of(y, [x])          # y.shape + x.shape
    block.dense()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

import numpy as np

from ..ops import TRANSPOSED
from ..ops.types import Array
from .backward import materialise
from .batch import Batch, DenseTooLarge, NotLinear, batches_over, identity
from .custom import CustomNode
from .devices import NUMPY, host, scipy
from .errors import EngineError
from .forward import push, push_through
from .modes import WATCH, RecordingOff
from .node import AccumulateGrad, ConstantNode, Edge, Node, PlainNode, Port
from .saved import demand_unchanged
from .tensor import Tensor
from .versions import CLOCK
from .walk import accumulate, added, between, sent_below

MIN_SPARSE_ROWS = 64
"""Fewest rows of a sparse matrix; with fewer a dense one is faster."""


def is_sparse(matrix: object) -> bool:
    """Return whether a matrix is one of SciPy's that stores places with its numbers."""
    return hasattr(matrix, "indptr")


class TooManyEntries(EngineError):
    """Error of blocks that would store more entries than are allowed."""

    def __init__(self, entries: int, most: int) -> None:
        super().__init__(f"{entries:,} entries are more than the limit of {most:,}")


class JacobianBlock:
    """The derivatives of an output's entries by an input's entries.

    ``matrix`` has a row for each entry of the output and a column for each of the
    input: an array or, if most of it is zero for a known reason, a
    ``scipy.sparse.csr_array``; None: zero, the output does not depend on the input.
    """

    __slots__ = ("matrix", "output", "x")

    def __init__(self, matrix: Any, output: Tensor, x: Tensor) -> None:
        self.matrix = matrix
        self.output = output
        self.x = x

    @classmethod
    def of(cls, derivative: Tensor, output: Tensor, x: Tensor) -> JacobianBlock:
        """Return the block of an output and an input with the numbers of a tensor."""
        size = (output.numel(), x.numel())
        return cls(derivative.raw.reshape(size), output, x)

    @property
    def sparse(self) -> bool:
        return self.matrix is not None and is_sparse(self.matrix)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the output's shape followed by the input's."""
        return (*self.output.shape, *self.x.shape)

    def dense(self) -> Tensor:
        """Return the block as a tensor of shape `shape`, in the input's type."""
        raw, xp = self.x.raw, self.x.xp
        if self.matrix is None:
            return Tensor(xp.new_full(raw, self.shape, 0), xp)
        matrix = self.matrix.toarray() if self.sparse else self.matrix
        matrix = matrix if xp.device == "cpu" else xp.array(matrix)
        return Tensor(matrix.reshape(self.shape).astype(raw.dtype, copy=False), xp)

    def csr(self) -> Any:
        """Return the matrix as a ``scipy.sparse.csr_array``."""
        if self.sparse:
            return self.matrix
        csr_array = scipy("sparse").csr_array
        shape = (self.output.numel(), self.x.numel())
        return csr_array(shape if self.matrix is None else host(self.matrix))


def joined(blocks: Sequence[JacobianBlock]) -> JacobianBlock:
    """Return the blocks of one output as one matrix, with a row for each entry of the
    output: the block of the inputs' entries in one vector."""
    output, first = blocks[0].output, blocks[0].x
    xp, size = first.xp, sum(block.x.numel() for block in blocks)
    if any(block.sparse for block in blocks):
        matrix = scipy("sparse").hstack([block.csr() for block in blocks], "csr")
    else:
        shape = (output.numel(), -1)
        parts = [block.dense().reshape(*shape) for block in blocks if block.x.numel()]
        matrix = xp.cat([part.raw for part in parts], 1)
    flat = Tensor(xp.new_full(first.raw, (size,), 0), xp)
    return JacobianBlock(matrix, output.detach().reshape(-1), flat)


def nobody_looks(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
    """Return whether cotangents may be batched, because nothing looks at the nodes
    between inputs and outputs."""
    observer = WATCH.observer
    if observer is None:
        return True
    ends = _ends(inputs)
    roots = [y.edge for y in outputs if y.edge is not None]
    return not any(map(observer.sees, between(roots, ends)))


def rows_of(
    output: Tensor, inputs: Sequence[Tensor], most: int | None = None
) -> list[JacobianBlock]:
    """Return the blocks of an output by reverse rules; nothing is recorded or freed.

    Args:
        output: a tensor of a recorded graph.
        inputs: the tensors to differentiate by.
        most: entries that all blocks together may store; None: any number.

    Raises:
        GradError: saved values were freed, or changed in place.
        TooManyEntries: they store more.
    """
    root, ends = output.edge, _ends(inputs)
    there = root is not None and output.numel()
    order = between([root], ends)[::-1] if there else []
    if not order:
        return [JacobianBlock(None, output, x) for x in inputs]
    needed = frozenset(order)

    def send(edge: Edge, g: Any) -> Iterator[tuple[Edge, Any]]:
        return sent_below(edge, g, needed, pulled)

    plain = not any(isinstance(edge, CustomNode) for edge in order)

    def run(rows: range) -> list[object]:
        seed = _seed(output, rows, plain)
        arrived = accumulate(order, {root: seed}, send, added, keep=ends)
        return [_matrix(arrived.get(x.edge)) for x in inputs]

    found = _in_halves(run, range(output.numel()), most)
    return [JacobianBlock(m, output, x) for m, x in zip(found, inputs, strict=True)]


def columns_of(
    outputs: Sequence[Tensor], x: Tensor, most: int | None = None
) -> list[JacobianBlock]:
    """Return the block of each output by forward rules; nothing is recorded or freed.

    Args:
        outputs: tensors of one recorded graph.
        x: the tensor to differentiate by.
        most: entries that all blocks together may store; None: any number.

    Raises:
        GradError: saved values were freed, or changed in place.
        TooManyEntries: they store more.
    """
    if x.edge is None or not x.numel():
        return [JacobianBlock(None, y, x) for y in outputs]
    roots = [y.edge for y in outputs if y.edge is not None]
    plain = not any(isinstance(edge, CustomNode) for edge in between(roots, {x.edge}))

    def run(rows: range) -> list[Any]:
        known = {x.edge: _seed(x, rows, plain)}
        push_through(roots, known, pushed)
        return [None if y.edge is None else _matrix(known.get(y.edge)) for y in outputs]

    found: list[Any] = _in_halves(run, range(x.numel()), most)
    return [
        JacobianBlock(m.T.tocsr() if is_sparse(m) else None if m is None else m.T, y, x)
        for m, y in zip(found, outputs, strict=True)
    ]


def _seed(value: Tensor, rows: range, plain: bool) -> Batch:
    """Return the given rows of the derivative of a value by itself, as a batch.

    A sparse one is computed in the host's memory, where its places are known; a custom
    function, of which ``plain`` says that there is none, stays on its device.
    """
    home = value.xp.device == "cpu"
    sparse = (home or plain) and value.numel() >= MIN_SPARSE_ROWS
    base: Any = NUMPY if sparse and not home else value.xp
    shape = tuple(value.shape)
    return identity(rows, shape, value.raw, batches_over(base), sparse)


def _in_memory_of(node: Node, given: Sequence[Any]) -> Node:
    """Return a node whose values lie where batches do: the node itself, or a copy of it
    in the host's memory."""
    some = next(part for part in given if part is not None)
    if some.__gradcli_namespace__.device == node.xp.device or isinstance(
        node, CustomNode
    ):
        return node
    here: Node = object.__new__(type(node))
    here.edges, here.shapes, here.born = node.edges, node.shapes, node.born
    here.xp, here.span = NUMPY, None
    here.saved, here.y = _on_host(node.saved), _on_host(node.y)
    if not isinstance(node, PlainNode | ConstantNode):
        here.params = {name: _on_host(value) for name, value in node.params.items()}
    return here


def _on_host(value: Any) -> Any:
    """Return a value with arrays in the host's memory."""
    if isinstance(value, tuple | list):
        return type(value)([_on_host(part) for part in value])
    return host(value) if hasattr(value, "dtype") else value


def _in_halves(
    run: Callable[[range], list[object]], rows: range, most: int | None
) -> list[object]:
    """Return the matrices that ``run`` gives for ``rows`` with recording turned off,
    from several passes if those of one would be too large."""
    done = []
    ranges: list[range] = []
    waiting = [rows]
    while waiting:
        some = waiting.pop()
        try:
            with RecordingOff():
                done.append(run(some))
        except DenseTooLarge:
            middle = (some.start + some.stop) // 2
            waiting += [range(middle, some.stop), range(some.start, middle)]
        else:
            ranges.append(some)
            if most is not None:
                _demand_few(done, len(rows), most)
    return [_stacked(parts, ranges) for parts in zip(*done, strict=True)]


def _demand_few(done: Sequence[list[object]], rows: int, most: int) -> None:
    """Raise an error if matrices of ``rows`` rows will store more than ``most``; if one
    part is dense, all count as dense."""
    entries = 0
    for parts in zip(*done, strict=True):
        there = [part for part in parts if part is not None]
        full = next((part for part in there if not is_sparse(part)), None)
        if full is None:
            entries += sum(part.nnz for part in there)
        else:
            entries += rows * full.shape[1]
    if entries > most:
        raise TooManyEntries(entries, most)


def _stacked(parts: Sequence[Any], ranges: Sequence[range]) -> object:
    """Return one matrix of parts that hold some rows each; it is dense if a part is,
    and None if all parts are None."""
    like = next((part for part in parts if part is not None), None)
    if len(parts) == 1 or like is None:
        return like
    sparse = scipy("sparse")
    parts = [
        sparse.csr_array((len(rows), like.shape[1]), dtype=like.dtype)
        if part is None
        else part
        for part, rows in zip(parts, ranges, strict=True)
    ]
    if all(is_sparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.concatenate([p.toarray() if is_sparse(p) else p for p in parts])


def _ends(inputs: Sequence[Tensor]) -> frozenset[Node | Port | AccumulateGrad]:
    """Return the edges of the inputs that have one."""
    return frozenset(x.edge for x in inputs if x.edge is not None)


def pulled(node: Node, g: Any, wanted: Sequence[Edge]) -> list[Batch | None]:
    """Return the cotangents of a node's edges, at least of those in ``wanted``. ``g``
    is a batch, or a list of one per output."""
    if CLOCK.now and node.born != CLOCK.now:
        demand_unchanged(node)
    several = isinstance(g, list)
    node = _in_memory_of(node, g if several else [g])
    if not isinstance(node, CustomNode):
        inputs, y = node.restored()
        given = materialise(node, g) if several else g
        try:
            found = node.apply_rules(batches_over(node.xp), given, y, inputs, wanted)
            return _checked(found, g if several else [g])
        except NotLinear:
            pass

    def pull(parts: list[Any]) -> tuple[Array | None, ...]:
        return node.pull(materialise(node, parts) if several else parts[0])

    return _one_by_one(pull, g if several else [g])


def pushed(node: Node, arriving: list[object]) -> Any:
    """Return the tangent of a node's output, a tuple for several."""
    node = _in_memory_of(node, arriving)
    if not isinstance(node, CustomNode) and node.op.jvp is not TRANSPOSED:
        try:
            made = push(node, arriving, xp=batches_over(node.xp))
            several = isinstance(made, tuple)
            found = _checked(made if several else [made], arriving)
            return tuple(found) if several else found[0]
        except NotLinear:
            pass
    shapes: list[int] = []

    def forward(parts: list[object]) -> Any:
        made = push(node, parts)
        shapes.append(isinstance(made, tuple))
        return made if isinstance(made, tuple) else [made]

    rows = _one_by_one(forward, arriving)
    return tuple(rows) if shapes[0] else rows[0]


def _checked(parts: Sequence[Any], given: Sequence[Any]) -> list[Batch | None]:
    """Return the results of rules as batches; one that shares its matrix with another
    or with a given one is not its ``own``. Zeros are kept: times a derivative that is
    not finite they are NaN."""
    some = next(part for part in given if part is not None)
    met = [id(part.matrix) for part in given if part is not None]
    found: list[Batch | None] = []
    for part in parts:
        if isinstance(part, Batch):
            if id(part.matrix) in met:
                part.own = False
            met.append(id(part.matrix))
            found.append(part)
        elif part is None:
            found.append(None)
        elif not part.any():
            found.append(some.zeros(part.shape))
        else:
            raise NotLinear
    return found


def _one_by_one(
    run: Callable[[list[object]], Sequence[object]], given: Sequence[Any]
) -> list[Batch | None]:
    """Return the results of a rule, run on each row of batches, as batches."""
    some = next(part for part in given if part is not None)
    batches = [None if part is None else part.arranged() for part in given]
    made = [
        run([None if batch is None else batch[nr] for batch in batches])
        for nr in range(some.count)
    ]
    return [_collected(some, parts) for parts in zip(*made, strict=True)]


def _collected(some: Batch, parts: Sequence[Any]) -> Batch | None:
    like = next((part for part in parts if part is not None), None)
    if like is None:
        return None
    rows = [like * 0 if part is None else part for part in parts]
    return some.flattened(some.np.stack(rows))


def _matrix(g: Batch | None) -> object:
    """Return the matrix of a batch, with each entry stored once; None stays None."""
    if g is None:
        return None
    if not g.sparse:
        return g.matrix
    return g.matrix.csr() if g.matrix.known else g.matrix


def _npz(file: IO[bytes], block: JacobianBlock) -> None:
    from scipy.sparse import save_npz

    save_npz(file, host(block.csr()))


def _mtx(file: IO[bytes], block: JacobianBlock) -> None:
    from scipy.io import mmwrite

    mmwrite(file, host(block.csr()), symmetry="general")


def _npy(file: IO[bytes], block: JacobianBlock) -> None:
    np.save(file, host(block.dense().raw))


def _text(file: IO[bytes], block: JacobianBlock, delimiter: str) -> None:
    rows = host(block.dense().raw).reshape(block.output.numel(), block.x.numel())
    for row in rows.tolist():
        file.write(f"{delimiter.join(map(repr, row))}\n".encode())


WRITERS: Mapping[str, Callable[[IO[bytes], JacobianBlock], None]] = {
    ".npz": _npz,
    ".mtx": _mtx,
    ".npy": _npy,
    ".csv": partial(_text, delimiter=","),
    ".tsv": partial(_text, delimiter="\t"),
}
"""Writers by the ending of a file's name: SciPy's, Matrix Market's, NumPy's format, and
rows of text, each of an entry of the output."""
