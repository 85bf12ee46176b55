"""Where floats of two widths meet, each value's gradient has the value's own type: at
leaves, at hooks, and in recorded passes, whose rules refuse to mix types."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.engine.errors import EngineError
from gradcli.engine.record import apply, call
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, outputs_of, tensors

WIDTHS = ("float32", "float64")
CLOSE = {"rtol": 1e-3, "atol": 1e-3}
"""Of derivatives of two orders that were computed in part in float32."""

FEWEST = 140
"""Of so many cases at least types are mixed; other rows refuse that, as PyTorch's."""

MET = [at for at in spots() if len(draw(OPS[at[0]], at[1]).free) > 1]


def through_products(leaf: Tensor) -> Tensor:
    """The same values, by a product whose rule takes operands of one type alone."""
    count = leaf.raw.size
    eye = Tensor(np.eye(count, dtype=leaf.raw.dtype), leaf.xp)
    line = call("matmul", call("reshape", leaf, (1, count)), eye)
    found: Tensor = call("reshape", line, leaf.raw.shape)
    return found


def derivatives(at: tuple[str, int], widths: Any) -> tuple[Any, Any, Any] | None:
    """Per leaf the gradient, and one of a sum of its squares, from leaves of these
    types; the types that hooks saw; None if the row takes no such leaves."""
    spot = draw(OPS[at[0]], at[1])
    seen: list[Any] = []
    inputs = [Tensor(a, spot.xp) if hasattr(a, "dtype") else a for a in spot.arrays]
    leaves = []
    for nr, (place, width) in enumerate(zip(spot.free, widths, strict=False)):
        leaf = Tensor(spot.arrays[place].astype(width), spot.xp, True)
        inputs[place] = through_products(leaf)
        inputs[place].register_hook(lambda g, nr=nr: seen.append((nr, g.raw.dtype)))
        leaves.append(leaf)
    try:
        y = apply(spot.op, tuple(inputs), dict(spot.case.params))
    except EngineError:
        return None
    outputs = outputs_of(y)
    v = [t.to(o.dtype) for t, o in zip(tensors(cotangents(spot)), outputs, strict=True)]
    first = grad(outputs, leaves, v, create_graph=True)
    once = [np.asarray(g.raw) for g in first if g is not None]
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if not squares:
        return once, [], seen
    found = grad(squares, leaves, [None] * len(squares))
    return once, [None if g is None else np.asarray(g.raw) for g in found], seen


@by_row("at", MET, ident)
def test_gradients_have_the_types_of_their_values(at: tuple[str, int]) -> None:
    count = len(draw(OPS[at[0]], at[1]).free)
    wide = derivatives(at, ["float64"] * count)
    assert wide is not None
    for turn in range(2):
        widths = [WIDTHS[(n + turn) % 2] for n in range(count)]
        found = derivatives(at, widths)
        if found is None:
            continue
        for mine, theirs in zip(found[:2], wide[:2], strict=True):
            for g, other, width in zip(mine, theirs, widths, strict=False):
                if g is not None:
                    assert g.dtype == width
                    np.testing.assert_allclose(g, other, **CLOSE)
        assert found[2]
        assert all(type_ == widths[nr] for nr, type_ in found[2])


def test_types_are_mixed_in_many_rows() -> None:
    mixed = [at for at in MET if derivatives(at, WIDTHS * 2) is not None]
    assert len(mixed) >= FEWEST
