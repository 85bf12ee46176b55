"""Rows of several tensors give, with nobody looking, what the general recorder gives:
value, graph, saved values and gradients, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine import grad
from gradcli.engine.modes import MODE
from gradcli.engine.record import recorder
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, outputs_of, tensors

TOGETHER = [at for at in spots() if recorder(OPS[at[0]]).of_several is not None]


def facts(node: Any) -> tuple[Any, ...]:
    """What a node is and holds, shapes in place of arrays' own addresses."""
    saved, y = node.restored()
    held = [getattr(value, "shape", value) for value in (*saved, y)]
    return type(node), node.params, node.shapes, held, [e is None for e in node.edges]


@by_row("at", TOGETHER, ident)
def test_nobody_looking_changes_nothing(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    found = []
    for looking in (False, True):
        with MODE.having(on_call=(lambda *_: None,) if looking else ()):
            leaves, y = spot.run()
        (out,) = outputs_of(y)
        told = facts(out.edge)
        pulled = [
            g if g is None else g.raw.tobytes() for g in grad([out], leaves, tensors(v))
        ]
        found.append((np.asarray(out.raw).tobytes(), told, pulled))
    assert found[0] == found[1]
