"""Jacobian blocks: the one place where the derivative of whole tensors is put together.

Invariant: a block's shape is the output's followed by the input's, as in PyTorch; an
input that the output does not depend on has a block of zeros. Reverse mode takes a pass
per entry of an output, by the rules' `vjp`; forward mode a pass per entry of an input,
by `jvp` and the partials. Both give the same numbers. Whoever needs a Jacobian asks
`blocks_of` for tensors, or `structured` for matrices that store no zeros.

    ((block,),) = blocks_of([y], [x])    # y of shape (2,), x of shape (3,)
    block.shape                          # (2, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from typing import Any, Literal, TypeAlias

from ..engine.backward import grad
from ..engine.errors import NOT_SCALAR, GradError
from ..engine.forward import jvp
from ..engine.jacobian import (
    JacobianBlock,
    TooManyEntries,
    columns_of,
    nobody_looks,
    rows_of,
)
from ..engine.modes import RecordingOff
from ..engine.record import call
from ..engine.support import column_of, has_nan, row_of
from ..engine.tensor import Tensor, ones_for, zeros_for

Mode: TypeAlias = Literal["auto", "rev", "fwd"]

MAX_ENTRIES = 1 << 27
"""Most entries of all blocks together: 1 GiB in float64."""


@dataclass(frozen=True, slots=True)
class Jacobian:
    """One block per input, the mode they were computed in and in how many passes."""

    blocks: tuple[JacobianBlock, ...]
    mode: Literal["rev", "fwd"]
    passes: int


def jacobian(output: Tensor, inputs: Sequence[Tensor], mode: Mode = "auto") -> Jacobian:
    """Return the derivative of every entry of ``output`` by every entry of ``inputs``:
    a block per input, of shape ``output.shape + input.shape``.

    ``rev`` takes a backward pass per entry of the output, ``fwd`` a forward pass per
    entry of the inputs; ``auto`` takes whichever is fewer.

    Raises:
        TooManyEntries: the blocks together store more than `MAX_ENTRIES`.
    """
    rows, columns = output.numel(), sum(x.numel() for x in inputs)
    forward = mode == "fwd" or (mode == "auto" and _is_high(output, inputs))
    with RecordingOff():
        (blocks,) = without_lost([output], inputs, forward, MAX_ENTRIES)
    return Jacobian(
        tuple(blocks), "fwd" if forward else "rev", columns if forward else rows
    )


def hessian(output: Tensor, inputs: Sequence[Tensor]) -> list[list[JacobianBlock]]:
    """Return the second derivatives of a scalar: for each input x a list of one block
    for each input z, of shape ``x.shape + z.shape``.

    Raises:
        GradError: the output has more than one entry.
        TooManyEntries: the blocks together store more than `MAX_ENTRIES`.
    """

    def compute() -> list[list[JacobianBlock]]:
        return without_lost(gradient(output, inputs), inputs, most=MAX_ENTRIES)

    if not _together([output], inputs, False):
        return compute()
    return _by_plan(output, inputs, gradient, MAX_ENTRIES, False, compute)


def hessian_product(
    output: Tensor, inputs: Sequence[Tensor], vectors: Sequence[Tensor]
) -> list[Tensor]:
    """Return the Hessian of a scalar times a vector, by one reverse pass through the
    recorded gradient; vector and product have a part for each input, of its shape.

    Raises:
        GradError: the output has more than one entry.
    """
    first = gradient(output, inputs)
    with RecordingOff():
        return filled(pull(first, inputs, vectors), inputs)


def gradient(output: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradient of a scalar by each input, recorded.

    Raises:
        GradError: the output has more than one entry.
    """
    if output.numel() != 1:
        raise GradError(NOT_SCALAR)
    first = pull([output], inputs, [ones_for(output)], create_graph=True)
    return filled(first, inputs)


def derivatives(
    kind: str, y: Tensor, inputs: Sequence[Tensor]
) -> Sequence[Tensor | None]:
    """Return the gradient of a scalar (``grad``), whose graph is freed, with None for
    inputs that it does not depend on; the ``jacobian``, or the ``hessian`` of a scalar:
    its blocks for all pairs of inputs, in order."""
    if kind == "grad":
        return grad([y], inputs) if y.edge is not None else [None] * len(inputs)
    outputs = gradient(y, inputs) if kind == "hessian" else [y]
    if not inputs:
        return []
    forward = kind == "jacobian" and _is_high(y, inputs)
    return [*chain(*by_passes(outputs, inputs, forward))]


def _is_high(output: Tensor, inputs: Sequence[Tensor]) -> bool:
    """Return whether a Jacobian has more rows than columns."""
    return sum(x.numel() for x in inputs) < output.numel()


def by_passes(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], forward: bool
) -> list[list[Tensor]]:
    """Return the blocks of `structured` as tensors, which may be columns, from a pass
    for each row or each column; what no path leads to is zero in them, too."""
    with RecordingOff():
        if not forward:
            return [_rows(y, inputs, False, row_of) for y in outputs]
        per_input = [_columns(outputs, x, False, column_of) for x in inputs]
    return [[blocks[nr] for blocks in per_input] for nr in range(len(outputs))]


def check_size(entries: int) -> None:
    """Raise TooManyEntries if blocks with so many entries, zeros included, are too
    large."""
    if entries > MAX_ENTRIES:
        raise TooManyEntries(entries, MAX_ENTRIES)


def pull(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    create_graph: bool = False,
) -> list[Tensor | None]:
    """Return the cotangents of ``inputs``: those of ``outputs`` times the Jacobian;
    None where no output depends on an input. The graph is retained."""
    pairs = zip(outputs, cotangents, strict=True)
    live = [(y, g) for y, g in pairs if y.edge is not None]
    if not live:
        return [None] * len(inputs)
    ys, gs = zip(*live, strict=True)
    return grad(ys, inputs, gs, retain_graph=True, create_graph=create_graph)


def filled(found: Sequence[Tensor | None], like: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors, with zeros of the shapes of ``like`` in place of None."""
    pairs = zip(found, like, strict=True)
    return [zeros_for(x) if t is None else t for t, x in pairs]


def fresh_alias(x: Tensor, recorded: bool = True) -> Tensor:
    """Return a tensor to differentiate by: an alias of ``x`` if that has a graph and
    results are ``recorded``, else a new leaf with the numbers of ``x``."""
    if recorded and x.edge is not None:
        found: Tensor = call("alias", x)
        return found
    return x.detach().requires_grad_(True)


def blocks_of(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    create_graph: bool = False,
    forward: bool = False,
) -> list[list[Tensor]]:
    """Return, per output, the Jacobian block of each input, of shape ``output.shape +
    input.shape``; the graph is retained.

    Args:
        create_graph: record the passes, so that blocks can be differentiated.
        forward: compute in forward mode rather than in reverse mode.
    """
    if not create_graph and _together(outputs, inputs, forward):
        found = structured(outputs, inputs, forward)
        return [[block.dense() for block in row] for row in found]
    if not forward:
        return [_rows(y, inputs, create_graph) for y in outputs]
    per_input = [_columns(outputs, x, create_graph) for x in inputs]
    return [[blocks[nr] for blocks in per_input] for nr in range(len(outputs))]


def structured(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    forward: bool = False,
    most: int | None = None,
) -> list[list[JacobianBlock]]:
    """Return the blocks of `blocks_of` as matrices, which store no entry that is known
    to be zero; record nothing.

    Raises:
        TooManyEntries: all blocks together store more than ``most``, if it is given.
    """
    if not _together(outputs, inputs, forward):
        if most is not None:
            rows, columns = (sum(t.numel() for t in ts) for ts in (outputs, inputs))
            if rows * columns > most:
                raise TooManyEntries(rows * columns, most)
        found = blocks_of(outputs, inputs, forward=forward)
        return [
            [JacobianBlock.of(t, y, x) for t, x in zip(row, inputs, strict=True)]
            for row, y in zip(found, outputs, strict=True)
        ]

    def row_of_blocks(y: Tensor) -> list[list[JacobianBlock]]:
        if forward:
            return [[columns_of([y], x, most)[0] for x in inputs]]
        return [rows_of(y, inputs, most)]

    planned = (
        _by_plan(y, inputs, itself, most, forward, partial(row_of_blocks, y))
        for y in outputs
    )
    return [*chain(*planned)]


def without_lost(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    forward: bool = False,
    most: int | None = None,
) -> list[list[JacobianBlock]]:
    """Return the blocks of `structured`, in which what no path leads to is zero, and
    has no part in a sum, also where it is multiplied by what is not finite."""
    rows = structured(outputs, inputs, forward, most)
    for y, row in zip(outputs, rows, strict=True):
        for x, block in zip(inputs, row, strict=True):
            # NaN of a matrix that stores no zeros is at the end of a path.
            dense = block.matrix is not None and not block.sparse
            if dense and has_nan(block.matrix):
                ((alone,),) = by_passes([y], [x], forward)
                block.matrix = JacobianBlock.of(alone, y, x).matrix
    return rows


def itself(y: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the value itself, whose derivatives are asked for."""
    return [y]


_SPARSE: set[Hashable] = set()
"""Questions, by the shapes of output and inputs, whose last answer was sparse."""


def _by_plan(
    y: Tensor,
    inputs: Sequence[Tensor],
    outputs: Callable[[Tensor, Sequence[Tensor]], list[Tensor]],
    most: int | None,
    forward: bool,
    compute: Callable[[], list[list[JacobianBlock]]],
) -> list[list[JacobianBlock]]:
    """Return the blocks by a plan for graphs of this structure, if there is one, and
    else what ``compute`` returns; a question is planned for once it had a sparse
    answer."""
    question = outputs, forward, y.raw.shape, *[x.raw.shape for x in inputs]
    if question in _SPARSE:
        from .again import asked_again

        planned = asked_again(y, inputs, outputs, most, forward)
        if planned is not None:
            return planned
    found = compute()
    sparse = any(block.sparse for row in found for block in row)
    (_SPARSE.add if sparse else _SPARSE.discard)(question)
    return found


def _together(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], forward: bool
) -> bool:
    """Return whether all rows, or columns, may be computed in one pass: of arrays,
    and not where anomaly mode or (in reverse mode) hooks watch it."""
    looked_at = outputs, () if forward else inputs
    return nobody_looks(*looked_at) and not any(y.xp.symbolic for y in outputs)


def _rows(
    y: Tensor,
    inputs: Sequence[Tensor],
    create_graph: bool,
    again: Callable[..., list[Any]] | None = None,
) -> list[Tensor]:
    """Return the blocks of one output, computed by reverse passes; a row with NaN is
    computed ``again``."""
    units = _units(y) if y.edge is not None else []
    passes = []
    for nr, unit in enumerate(units):
        row = pull([y], inputs, [unit], create_graph)
        if again is not None and any(g is not None and has_nan(g.raw) for g in row):
            row = [*map(_mended, row, again(y, inputs, nr))]
        passes.append(row)
    return [
        _assembled([row[nr] for row in passes], x, (*y.shape, *x.shape), x.shape, 0)
        for nr, x in enumerate(inputs)
    ]


def _columns(
    outputs: Sequence[Tensor],
    x: Tensor,
    create_graph: bool,
    again: Callable[..., list[Any]] | None = None,
) -> list[Tensor]:
    """Return the blocks of one input, computed by forward passes; a column with NaN is
    computed ``again``."""
    if x.edge is None:
        return [zeros_for(x, (*y.shape, *x.shape)) for y in outputs]
    passes: list[Sequence[Any]] = []
    for nr, unit in enumerate(_units(x)):
        column: Sequence[Any] = jvp(outputs, [x], [unit], create_graph)
        if again is not None and any(has_nan(t.raw) for t in column):
            column = [*map(_mended, column, again(outputs, x, nr))]
        passes.append(column)
    return [
        _assembled([column[nr] for column in passes], y, (*y.shape, *x.shape),
                   y.shape, -1)
        for nr, y in enumerate(outputs)
    ]  # fmt: skip


def _mended(t: Tensor | None, found: Any) -> Tensor | None:
    """Return a derivative with the entries that were ``found`` in place of NaN."""
    if t is None or not has_nan(t.raw):
        return t
    raw = t.xp.where(t.xp.isnan(t.raw), 0 if found is None else found, t.raw)
    return Tensor(raw, t.xp)


def _units(like: Tensor) -> list[Tensor]:
    """Return the tensors that are one at one entry and zero elsewhere."""
    xp, shape = like.xp, tuple(like.shape)
    return [Tensor(row.reshape(shape), xp) for row in xp.eye(like.numel(), like.raw)]


def _assembled(
    parts: Sequence[Tensor | None],
    like: Tensor,
    shape: tuple[int, ...],
    part_shape: tuple[int, ...],
    dim: int,
) -> Tensor:
    """Stack rows (``dim`` 0) or columns (-1) to a block; a missing one is zeros."""
    if not prod(shape) or all(part is None for part in parts):
        return zeros_for(like, shape)
    full = [zeros_for(like, part_shape) if part is None else part for part in parts]
    found: Tensor = call("reshape", call("stack", full, dim), shape)
    return found


def mixed_derivatives(
    y: Tensor, xs: Sequence[Tensor], powers: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Tensor]:
    """Return derivatives of one number by others, which are numbers, too.

    Args:
        y: the number.
        xs: the numbers that it is differentiated by.
        powers: for each derivative, how often it is taken by each of ``xs``; lower
            orders first, and all of them.
    """
    found: dict[tuple[int, ...], Tensor] = {}
    for own in powers:
        at = next((k for k, power in enumerate(own) if power), None)
        if at is None:
            found[own] = y
            continue
        before = found[(*own[:at], own[at] - 1, *own[at + 1 :])]
        g = None
        if before.edge is not None:
            (g,) = grad([before], [xs[at]], [None], True, True)
        found[own] = Tensor(y.xp.zeros_like(y.raw), y.xp) if g is None else g
    return found


def of_order(y: Tensor, x: Tensor, order: int) -> Tensor:
    """Return the derivative of ``y`` by ``x`` of this order, which is at least 1."""
    found: Tensor | None = y
    for last in (n == order for n in range(1, order + 1)):
        if found is None or found.edge is None:
            break
        (found,) = grad([found], [x], [None], True, not last)
    else:
        if found is not None:
            return found
    return Tensor(x.xp.zeros_like(x.raw), x.xp)
