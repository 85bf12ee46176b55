"""Every rule of every row, on every case: shapes and types, adjoints, second order, the
slope in many digits, where differences of floats see seven; and that nobody who looks
on, and nothing that is not read, changes a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli.autograd import set_detect_anomaly
from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.engine.modes import MODE
from gradcli.engine.node import Node, Shaped, used_parts
from gradcli.ops import OPS
from tests.grouped import by_row, row_of

from .digits import digits
from .draw import NO_FORMULA, Spot, draw, ident, spots
from .measure import LAWS, cotangents, directions, outputs_of, pull, tensors

TRIED = ("shape", "adjoint", "second_difference", "cotangent_gradient")
"""Laws beside the differences of first order, in whose place `digits` stands."""

CASTS = ("long", "int", "short", "char", "byte", "bool")


def vjp_is_the_slope_in_many_digits(spot: Spot) -> None:
    if spot.op.name not in NO_FORMULA:
        assert spot.free, "the case draws no input that carries a gradient"
        assert digits(spot) <= 1


def recorded_pass_gives_the_same_gradient(spot: Spot) -> None:
    v = cotangents(spot)
    leaves, y = spot.run()
    recorded = grad(outputs_of(y), leaves, tensors(v), create_graph=True)
    for g, plain in zip(recorded, pull(spot, v), strict=True):
        assert g is not None
        assert np.array_equal(np.asarray(g.raw), plain)


def float32_stays_float32(spot: Spot) -> None:
    spot = spot.as_kind(lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a)
    leaves, y = spot.run()
    outputs = outputs_of(y)
    assert {o.raw.dtype for o in outputs} == {np.dtype(np.float32)}
    v = [Tensor(c.astype(np.float32), NUMPY) for c in cotangents(spot)]
    for create_graph in (True, False):
        for g in grad(outputs, leaves, v, True, create_graph):
            assert g is not None
            assert g.raw.dtype == np.float32
    t = [Tensor(d.astype(np.float32), NUMPY) for d in directions(spot)]
    for pushed in jvp(outputs, leaves, t):
        assert pushed.raw.dtype == np.float32


def only_floats_require_a_gradient(spot: Spot) -> None:
    leaves, y = spot.run()
    parts = y if isinstance(y, tuple | list) else [y]
    found = [*parts, *[getattr(t, cast)() for t in leaves for cast in CASTS]]
    found = [each for each in found if isinstance(each, Tensor)]
    assert not [t for t in found if t.requires_grad and not t.is_floating_point()]


def anomaly_mode_changes_no_gradient(spot: Spot) -> None:
    v = cotangents(spot)
    expected = pull(spot, v)
    with set_detect_anomaly(True):
        found = pull(spot, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def forget_the_rest(node: Node) -> None:
    """Keep only the shapes of what does not count as saved."""
    parts = used_parts(node)
    raw, y = node.restored()
    kept = tuple(r if i in parts.inputs else shape_of(r) for i, r in enumerate(raw))
    node.saved = kept
    outputs = y if isinstance(y, tuple) else (y,)
    left = [r if parts.reads(nr) else shape_of(r) for nr, r in enumerate(outputs)]
    node.y = tuple(left) if isinstance(y, tuple) else left[0]


def shape_of(value: Any) -> Any:
    return Shaped(value.shape) if hasattr(value, "dtype") else value


def values_that_do_not_count_as_saved_are_not_read(spot: Spot) -> None:
    v = cotangents(spot)
    leaves, y = spot.run()
    outputs = outputs_of(y)
    node = outputs[0].grad_fn
    assert node is not None
    forget_the_rest(node)
    found = grad(outputs, leaves, tensors(v))
    for g, expected in zip(found, pull(spot, v), strict=True):
        assert g is not None
        np.testing.assert_array_equal(np.asarray(g.raw), expected)


def facts(node: Any) -> tuple[Any, ...]:
    """What a node is and holds, shapes in place of arrays' own addresses."""
    saved, y = node.restored()
    held = [getattr(value, "shape", value) for value in (*saved, y)]
    return type(node), node.params, node.shapes, held, [e is None for e in node.edges]


def the_fast_recorder_gives_what_the_general_one_gives(spot: Spot) -> None:
    """Value, graph, saved values and gradients, to the last bit."""
    if spot.op.returns != 1:
        return
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


def a_gradient_by_one_input_is_its_part_of_all(spot: Spot) -> None:
    def by(wanted: Any, create_graph: bool) -> Any:
        leaves, y = spot.run()
        chosen, v = [leaves[nr] for nr in wanted], tensors(cotangents(spot))
        return grad(outputs_of(y), chosen, v, create_graph=create_graph)

    numbers = range(len(spot.free))
    for create_graph in (False, True) if len(numbers) > 1 else ():
        together = by(numbers, create_graph)
        for nr in numbers:
            (alone,) = by([nr], create_graph)
            assert (alone is None) == (together[nr] is None)
            if alone is not None:
                assert np.array_equal(alone.raw, together[nr].raw, equal_nan=True)


OBEYED: dict[str, Callable[[Spot], Any]] = {
    law.__name__: law
    for law in (
        vjp_is_the_slope_in_many_digits,
        recorded_pass_gives_the_same_gradient,
        float32_stays_float32,
        only_floats_require_a_gradient,
        anomaly_mode_changes_no_gradient,
        values_that_do_not_count_as_saved_are_not_read,
        the_fast_recorder_gives_what_the_general_one_gives,
        a_gradient_by_one_input_is_its_part_of_all,
    )
}
CASES = [(*at, law) for at in spots() for law in (*TRIED, *OBEYED)]


def called(case: tuple[str, int, str]) -> str:
    return f"{case[2]} {case[0]}-{case[1]}"


@by_row("name, number, law", CASES, called, lambda case: row_of(case.split()[1]))
def test_every_case_obeys(name: str, number: int, law: str) -> None:
    spot = draw(OPS[name], number)
    if law in LAWS:
        assert LAWS[law](spot) <= 1
    else:
        OBEYED[law](spot)


@by_row("at", spots(differentiable=False), ident)
def test_a_pass_does_not_change_the_inputs(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    before = [np.array(a) if hasattr(a, "dtype") else a for a in spot.arrays]
    leaves, y = spot.run()
    outputs = outputs_of(y)
    if outputs:
        grad(outputs, leaves, tensors(cotangents(spot)))
    for held, now in zip(before, spot.arrays, strict=True):
        assert np.array_equal(held, now) if hasattr(held, "dtype") else held is now


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wanted", [0, 1])
def test_the_rule_of_an_input_that_is_not_asked_for_is_not_run(
    monkeypatch: pytest.MonkeyPatch, wanted: int, create_graph: bool
) -> None:
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    y = torch.mm(a, b)
    run: list[int] = []

    def counted(nr: int, rule: Any) -> Any:
        def count(*args: Any, **kwargs: Any) -> Any:
            run.append(nr)
            return rule(*args, **kwargs)

        return count

    rules = tuple(counted(nr, rule) for nr, rule in enumerate(type(y.grad_fn).rules))
    monkeypatch.setattr(type(y.grad_fn), "rules", rules)
    torch.autograd.grad(y.sum(), [(a, b)[wanted]], create_graph=create_graph)
    assert run == [wanted]
