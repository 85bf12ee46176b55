"""Only floats carry gradients, and every public function writes where it is told."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcli
from gradcli.engine import Tensor
from gradcli.engine.public import is_public
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots

CASTS = ("long", "int", "short", "char", "byte", "bool")
PUBLIC = [
    at
    for at in spots(differentiable=False)
    if is_public(at[0])
    and at[0] not in gradcli._HOME  # those are constructors
    and not (OPS[at[0]].variadic or OPS[at[0]].query)
]


def parts_of(y: Any) -> list[Tensor]:
    found = y if isinstance(y, tuple | list) else [y]
    return [part for part in found if isinstance(part, Tensor)]


@by_row("at", spots(), ident)
def test_no_whole_numbers_and_no_truth_values_require_a_gradient(
    at: tuple[str, int],
) -> None:
    leaves, y = draw(OPS[at[0]], at[1]).run()
    found = [*parts_of(y), *[getattr(t, cast)() for t in leaves for cast in CASTS]]
    assert not [t for t in found if t.requires_grad and not t.is_floating_point()]


@by_row("at", PUBLIC, ident)
def test_a_function_writes_to_out_what_it_returns(at: tuple[str, int]) -> None:
    op = OPS[at[0]]
    spot = draw(op, at[1])
    apply = getattr(gradcli, op.name)
    inputs = [Tensor(a, spot.xp) if hasattr(a, "dtype") else a for a in spot.arrays]
    wanted = apply(*inputs, **spot.case.params)
    parts = parts_of(wanted)
    out = tuple(gradcli.empty(0, dtype=part.dtype) for part in parts)
    several = isinstance(wanted, tuple)
    found = apply(*inputs, **spot.case.params, out=out if several else out[0])
    assert (found is out[0]) is not several
    for part, given in zip(parts, out, strict=True):
        np.testing.assert_array_equal(given.numpy(), part.numpy())
