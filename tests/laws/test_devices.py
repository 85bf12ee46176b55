"""Array in, same kind of array out, in both passes; nothing moves between devices.

They run on a GPU that CuPy reaches; where there is none, on the stand-in for CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import Spot, draw, ident, spots
from .measure import cotangents, directions, outputs_of, pull, push, value_at

UNDIFFERENTIATED = sorted(set(spots(False)) - set(spots()))
"""Cases that no pass goes through."""


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, tuple | list):
        return [x for part in value for x in tensors_in(part)]
    return [value] if isinstance(value, Tensor) else []


def passes(spot: Spot, v: list[Any], t: list[Any]) -> dict[str, list[Any]]:
    """The raw arrays of every pass on a spot whose arrays are of one kind."""
    leaves, y = spot.run()
    outputs = outputs_of(y)
    upstream = [Tensor(a, spot.xp) for a in v]
    tangents = [Tensor(a, spot.xp) for a in t]
    plain = grad(outputs, leaves, upstream, retain_graph=True)
    recorded = grad(outputs, leaves, upstream, create_graph=True)
    return {
        "value": [o.raw for o in outputs],
        "gradient": [g.raw for g in plain if g is not None],
        "recorded gradient": [g.raw for g in recorded if g is not None],
        "tangent": [o.raw for o in jvp(outputs, leaves, tangents)],
    }


def expected(spot: Spot, v: list[Any], t: list[Any]) -> dict[str, list[Any]]:
    pulled = pull(spot, v)
    return {
        "value": value_at(spot, spot.values()),
        "gradient": pulled,
        "recorded gradient": pulled,
        "tangent": push(spot, t),
    }


@pytest.mark.gpu
@by_row("at", spots(), ident)
def test_a_gpu_gives_what_the_cpu_gives(at: tuple[str, int], cuda: Any) -> None:
    spot = draw(OPS[at[0]], at[1])
    v, t = cotangents(spot), directions(spot)
    there = cuda.np.asarray
    found = passes(spot.as_kind(there, cuda), [*map(there, v)], [*map(there, t)])
    for name, arrays in expected(spot, v, t).items():
        assert len(found[name]) == len(arrays)
        for ours, numpys in zip(found[name], arrays, strict=True):
            assert type(ours) is cuda.np.ndarray, name
            np.testing.assert_allclose(ours.get(), numpys, rtol=1e-9, atol=1e-11)


@pytest.mark.gpu
@by_row("at", UNDIFFERENTIATED, ident)
def test_a_gpu_has_the_values_that_the_cpu_has(at: tuple[str, int], cuda: Any) -> None:
    spot = draw(OPS[at[0]], at[1])
    _, here = spot.run()
    _, found = spot.as_kind(cuda.np.asarray, cuda).run()
    for ours, numpys in zip(tensors_in(found), tensors_in(here), strict=True):
        if isinstance(ours.raw, tuple | np.bool_):  # How an array lies the host knows.
            assert ours.raw == numpys.raw
            continue
        assert type(ours.raw) is cuda.np.ndarray
        assert ours.dtype == numpys.dtype
        np.testing.assert_allclose(ours.raw.get(), numpys.raw, rtol=1e-9, atol=1e-11)
