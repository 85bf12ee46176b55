"""Array in, same kind of array out, in both passes; nothing moves between devices.

They run on a GPU that CuPy reaches; where there is none, on the stand-in for CuPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, call, grad
from gradcli.engine.errors import CallError, EngineError
from gradcli.engine.forward import jvp
from gradcli.engine.record import function
from gradcli.ops import FUNCTIONS, OPS, Composite, Op, overloads, parameters
from tests.grouped import by_row

from .draw import Spot, draw, generator, handed, ident, is_shape, spots
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


VECTORS = ("linalg_eigh", "linalg_svd", "linalg.eigh", "linalg.svd", "svd")
"""Functions whose vectors may be turned: a library's sign is as right as another's."""


def turns(spot: Spot, there: Spot) -> list[Any]:
    """For each output 1 or, where a GPU has the opposite vector, -1."""
    expected = value_at(spot, spot.values())
    if spot.op.base not in VECTORS:
        return [1] * len(expected)
    found = [o.raw.get() for o in outputs_of(there.run()[1])]
    signs = []
    for ours, numpys in zip(found, expected, strict=True):
        ways = [np.sign(np.sum(ours * numpys, d, keepdims=True))
                for d in (-2, -1) if ours.ndim > 1]  # fmt: skip
        signs.append(next((s for s in ways if np.allclose(s * ours, numpys)), 1))
    return signs


@pytest.mark.gpu
@by_row("at", spots(), ident)
def test_a_gpu_gives_what_the_cpu_gives(at: tuple[str, int], cuda: Any) -> None:
    spot = draw(OPS[at[0]], at[1])
    v, t = cotangents(spot), directions(spot)
    there = cuda.np.asarray
    signs = turns(spot, spot.as_kind(there, cuda))
    turned = [there(a * sign) for a, sign in zip(v, signs, strict=True)]
    found = passes(spot.as_kind(there, cuda), turned, [*map(there, t)])
    for name, arrays in expected(spot, v, t).items():
        assert len(found[name]) == len(arrays)
        of_outputs = name in ("value", "tangent")
        own = signs if of_outputs else [1] * len(arrays)
        for ours, numpys, sign in zip(found[name], arrays, own, strict=True):
            assert type(ours) is cuda.np.ndarray, name
            np.testing.assert_allclose(sign * ours.get(), numpys, 1e-9, 1e-11)


@pytest.mark.gpu
@by_row("at", UNDIFFERENTIATED, ident)
def test_a_gpu_has_the_values_that_the_cpu_has(at: tuple[str, int], cuda: Any) -> None:
    spot = draw(OPS[at[0]], at[1])
    _, here = spot.run()
    _, found = spot.as_kind(cuda.np.asarray, cuda).run()
    assert_alike(tensors_in(found), tensors_in(here), cuda)


def assert_alike(found: list[Tensor], expected: list[Tensor], cuda: Any) -> None:
    """Tensors on a GPU are what the CPU has."""
    for ours, numpys in zip(found, expected, strict=True):
        if isinstance(ours.raw, tuple | np.bool_):  # How an array lies the host knows.
            assert ours.raw == numpys.raw
            continue
        assert type(ours.raw) is cuda.np.ndarray
        assert ours.dtype == numpys.dtype
        np.testing.assert_allclose(ours.raw.get(), numpys.raw, rtol=1e-9, atol=1e-11)


def composites() -> Iterator[tuple[str, str, int]]:
    """Yield each function made of others, with the entry whose cases it is run on: its
    own or, where it has none, those of the rows that it chooses from."""
    for name, entry in FUNCTIONS.items():
        if isinstance(entry, Composite):
            for of in [entry] if entry.cases else overloads(name):
                for number, case in enumerate(of.cases):
                    if arguments(entry, of, case.inputs, case.params):
                        yield name, of.name, number


def arguments(
    entry: Composite, of: Composite | Op, inputs: Sequence[Any], params: Any
) -> inspect.BoundArguments | None:
    """Return how a function is called on what a row or the function itself is given, by
    the row's names if these are its own; None: it names it otherwise."""
    named = dict(zip(parameters(of), inputs, strict=False))
    tries = [((), {**named, **params})] if len(named) == len(inputs) else []
    for args, kwargs in [*tries, (handed(entry, inputs), params)]:
        with suppress(TypeError):
            return inspect.signature(entry.build).bind(None, *args, **kwargs)
    return None


def whole(at: tuple[str, str, int], xp: Any) -> list[Tensor] | type[Exception]:
    """Return what a function gives and its gradients, or how it refuses.

    A number by which it may be differentiated is handed over as a tensor, too.
    """
    name, of, number = at
    entry: Any = FUNCTIONS[name]
    drawn = draw(entry if of == name else OPS[of], number)
    inputs = [
        Tensor(xp.array(a), xp, is_shape(shape)) if hasattr(a, "dtype") else a
        for a, shape in zip(drawn.arrays, drawn.case.inputs, strict=True)
    ]
    params = {
        key: Tensor(xp.array(np.asarray(value)), xp) if key in entry.either else value
        for key, value in drawn.case.params.items()
    }
    bound = arguments(entry, drawn.op, inputs, params)
    assert bound is not None
    try:
        y = function(name)(*bound.args[1:], **bound.kwargs)
        return [*tensors_in(y), *gradients(name, tensors_in(y), inputs)]
    except (EngineError, CallError, IndexError) as error:
        return type(error)


def gradients(name: str, outputs: list[Tensor], inputs: list[Any]) -> list[Tensor]:
    ends = [y for y in outputs if y.edge is not None]
    leaves = [x for x in inputs if isinstance(x, Tensor) and x.edge is not None]
    if not ends or not leaves:
        return []
    rng = generator(name)
    weights = [Tensor(y.xp.array(rng.uniform(-1, 1, y.shape)), y.xp) for y in ends]
    return [g for g in grad(ends, leaves, weights) if g is not None]


@pytest.mark.gpu
@by_row("at", composites(), lambda at: f"{at[0]}-{at[1]}:{at[2]}")
def test_a_function_made_of_others_does_on_a_gpu_what_it_does_on_the_cpu(
    at: tuple[str, str, int], cuda: Any
) -> None:
    here, there = whole(at, NUMPY), whole(at, cuda)
    if isinstance(here, type):
        assert there is here
        return
    assert isinstance(there, list)
    if at[0] in VECTORS:  # of the values alone, as gradients follow the signs
        count = 2 if at[0] == "linalg.eigh" else 3
        there, here = ([call("abs", y) for y in x[:count]] for x in (there, here))
    assert_alike(there, here, cuda)
