"""Only floats carry gradients."""

from __future__ import annotations

from typing import Any

from gradcli.engine import Tensor
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots

CASTS = ("long", "int", "short", "char", "byte", "bool")


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
