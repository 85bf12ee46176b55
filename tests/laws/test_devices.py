"""Array in, same kind of array out, in both passes; nothing moves between devices.

Strict arrays stand for a GPU's everywhere; on a machine with a GPU that CuPy reaches,
the same laws run there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, grad, resolve
from gradcli.engine.errors import DeviceError
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import Spot, draw, ident, spots
from .measure import cotangents, directions, outputs_of, pull, push, value_at
from .strict import STRICT, StrictArray


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


@by_row("at", spots(), ident)
def test_array_in_same_kind_out(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v, t = cotangents(spot), directions(spot)
    strict = spot.as_kind(StrictArray, STRICT)
    found = passes(strict, [StrictArray(a) for a in v], [StrictArray(a) for a in t])
    for name, arrays in expected(spot, v, t).items():
        assert len(found[name]) == len(arrays)
        for ours, numpys in zip(found[name], arrays, strict=True):
            assert type(ours) is StrictArray, name
            np.testing.assert_allclose(ours.held, numpys, rtol=1e-13, atol=1e-13)


def test_strict_arrays_refuse_numpy() -> None:
    x = StrictArray(np.ones(3))
    for attempt in (
        lambda: np.exp(x),
        lambda: np.asarray(x),
        lambda: x + np.ones(3),
        lambda: np.ones(3) * x,
        lambda: STRICT.maximum(x, np.ones(3)),
    ):
        with pytest.raises(TypeError):
            attempt()


@pytest.fixture(scope="module")
def cuda() -> Any:
    try:
        return resolve("cuda")
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.gpu
@by_row("at", spots(), ident)
def test_cuda_gives_what_the_cpu_gives(at: tuple[str, int], cuda: Any) -> None:
    spot = draw(OPS[at[0]], at[1])
    v, t = cotangents(spot), directions(spot)
    there = cuda.np.asarray
    found = passes(spot.as_kind(there, cuda), [*map(there, v)], [*map(there, t)])
    for name, arrays in expected(spot, v, t).items():
        for ours, numpys in zip(found[name], arrays, strict=True):
            assert isinstance(ours, cuda.np.ndarray), name
            np.testing.assert_allclose(ours.get(), numpys, rtol=1e-9, atol=1e-11)
