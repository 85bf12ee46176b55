"""Where a partial of a row is 0 nothing passes, in either direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import grad
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import outputs_of, tensors

MASKING = [
    at for at in spots()
    for op in (OPS[at[0]],)
    if op.masks or (op.partials is not None and op.vjp is not None)
]  # fmt: skip


def pushed(at: tuple[str, int], nr: int) -> Any:
    """Return the tangent where that of the input with this number is infinite."""
    leaves, y = draw(OPS[at[0]], at[1]).run()
    t = [np.full(x.shape, np.inf if i == nr else 0) for i, x in enumerate(leaves)]
    (out,) = jvp(outputs_of(y), leaves, tensors(t))
    return out.raw


@by_row("at", MASKING, ident)
def test_an_infinity_that_does_not_pass_leaves_no_nan(at: tuple[str, int]) -> None:
    leaves, y = draw(OPS[at[0]], at[1]).run()
    found = grad(outputs_of(y), leaves, tensors([np.full(y.shape, np.inf)]))
    assert not any(np.isnan(g.raw).any() for g in found if g is not None)
    assert not any(np.isnan(pushed(at, nr)).any() for nr in range(len(leaves)))


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@by_row("at", MASKING, ident)
def test_an_infinite_tangent_passes_where_it_passes_in_pytorch(
    at: tuple[str, int], torch: Any
) -> None:
    from .in_torch import applied, argument

    spot = draw(OPS[at[0]], at[1])
    params = dict(spot.case.params)
    for nr, slot in enumerate(spot.free):
        with torch.autograd.forward_ad.dual_level():
            inputs = [argument(array) for array in spot.arrays]
            infinite = torch.full_like(inputs[slot], torch.inf)
            inputs[slot] = torch.autograd.forward_ad.make_dual(inputs[slot], infinite)
            (y,) = applied(spot.op, inputs, params)
            tangent = torch.autograd.forward_ad.unpack_dual(y).tangent
            theirs = np.zeros(y.shape) if tangent is None else tangent.numpy()
        ours = pushed(at, nr)
        # PyTorch subtracts the tangents of two operands of which one is chosen.
        told = ~np.isnan(theirs)
        np.testing.assert_array_equal(ours[told], theirs[told])
