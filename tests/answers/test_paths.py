"""The chain rule path by path: products of all paths add up to the gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.answers import paths as module
from gradcli.answers.explanation import explain
from gradcli.answers.graph_view import NameCollector, graph_view
from gradcli.answers.paths import Paths, PathsView
from gradcli.engine import Tensor
from gradcli.lang.run import evaluate
from tests.reference.recorded_programs import RECORDS

from .recorded import Named, ran, ran_known

EVERY = 1_000_000


def paths_of(named: Named, **ends: Tensor) -> Paths:
    targets = ends or named.inputs
    return Paths(named.run.output, named.cotangent, targets, named.names, named.view)


def seen(program: str, *bindings: str, to: str = "x", most: int = EVERY) -> PathsView:
    return paths_of(ran(program, *bindings)).to(to, most)


@pytest.mark.parametrize("known", RECORDS, ids=lambda known: str(known["name"]))
def test_the_paths_of_every_input_add_up_to_pytorchs_gradient(known: Any) -> None:
    named = ran_known(known)
    paths = paths_of(named)
    for name, expected in known["grads"].items():
        found = paths.to(name, EVERY)
        assert len(found.paths) == found.count
        assert found.adds_up
        if expected is None:
            assert (found.count, found.gradient) == (0, None)
            assert not np.any(found.sum)
            continue
        total = sum(np.array(path.product) for path in found.paths)
        for added in (total, np.array(found.sum), np.array(found.gradient)):
            np.testing.assert_allclose(added, expected, rtol=1e-12, atol=1e-12)


FORMULAS = [
    ("b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d", ["a=2", "w1=0.5", "w2=-1.5"]),
    ("y = tanh(x)*exp(-x**2) + sigmoid(x)/x", ["x=0.7"]),
    ("h = tanh(x); y = h*h - 3*h", ["x=0.3"]),
    ("y = -(x - 2)**3 / (x*z)", ["x=3", "z=-2"]),
    ("y = relu(x)*maximum(x, z) + abs(z) - sqrt(x)", ["x=2", "z=-1"]),
    ("y = log(x)**z + 2**x + x**-1", ["x=2", "z=3"]),
    ("y = where(x > 1, x*z, x/z)*clamp(x, 0, 5)", ["x=2", "z=3"]),
    ("k = 2\ny = x\nfor i in range(4): y = y*z\ny = y*k", ["x=2", "z=3"]),
    ("y = x*z; y = sin(y*x); y = y + z", ["x=2", "z=3"]),
    ("y = x*x; z = (y + 1)*(y - 1)", ["x=[1,2,3]"]),
    ("y = gelu(x) + softplus(z) + atan2(x, z) + hypot(x, z)", ["x=2", "z=3"]),
    ("c = tensor(3.0); y = x*c + x*tensor(4.0)", ["x=2"]),
]


@pytest.mark.parametrize(("program", "bindings"), FORMULAS)
def test_a_formula_evaluates_to_the_product_beside_it(
    program: str, bindings: list[str]
) -> None:
    named = ran(program, *bindings)
    values = {**named.inputs, **named.run.variables}
    tensors = {n: v.detach() for n, v in values.items() if isinstance(v, Tensor)}
    tensors = {n: v for n, v in tensors.items() if n.isidentifier()}
    written = 0
    for name in named.inputs:
        for path in paths_of(named).to(name, EVERY).paths:
            if path.formula is None:
                continue
            written += 1
            got, _, _ = evaluate(path.formula, tensors)
            shape = np.shape(path.product)
            found = np.broadcast_to(got.raw, shape)
            np.testing.assert_allclose(found, path.product, rtol=1e-12)
    assert written


def test_a_name_that_changed_its_meaning_is_in_no_formula() -> None:
    view = seen("y = x*z; w = y*x; y = w*2; y*y", "x=2", "z=3")
    formulas = {path.formula for path in view.paths}
    assert all(formula is None or "y" not in formula for formula in formulas)


def test_the_five_neurons_paths_are_those_of_the_drawing() -> None:
    view = seen(
        "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d",
        "a=2", "w1=0.5", "w2=-1.5", "w3=3", "w4=0.25", to="a",
    )  # fmt: skip
    assert [path.variables for path in view.paths] == [
        ("L", "d", "b", "a"),
        ("L", "d", "c", "a"),
    ]
    assert [path.formula for path in view.paths] == ["-1 * w3 * w1", "-1 * w4 * w2"]
    assert [path.local_gradients for path in view.paths] == [
        (-1.0, 1.0, 3.0, 0.5),
        (-1.0, 1.0, 0.25, -1.5),
    ]
    assert [path.product for path in view.paths] == [-1.5, 0.375]
    assert [path.share for path in view.paths] == [4 / 3, -1 / 3]


@pytest.mark.parametrize("doublings", [1, 10, 200, 5000])
def test_the_count_is_exact_however_large(doublings: int) -> None:
    view = seen(f"y = x\nfor i in range({doublings}): y = y + y*x", "x=1", most=3)
    # f(n+1) = 2 f(n) + 1 paths, with f(0) = 1.
    assert view.count == 2 ** (doublings + 1) - 1
    assert len(view.paths) == 3
    assert view.adds_up


def test_paths_of_a_loop_of_ten_thousand_steps_are_counted() -> None:
    view = seen("y = x\nfor i in range(10000): y = y*x", "x=0.999", most=10)
    assert view.count == 10_001
    assert view.adds_up
    assert view.gradient == pytest.approx(10_001 * 0.999**10_000, rel=1e-9)
    assert len(view.paths) == 10
    assert all(p.product == pytest.approx(0.999**10_000) for p in view.paths)


def test_products_too_small_for_a_number_are_still_ranked() -> None:
    program = "y = x*1\nfor i in range(3): y = y*1e-200\nz = x*1\n"
    program += "for i in range(3): z = z*1e-150\ny + z"
    view = seen(program, "x=1", most=1)
    assert view.count == 2
    assert view.paths[0].variables.count("z") == 4


terms = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, -2.0, 3.0, -0.25]), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60)
@given(terms, st.integers(1, 5))
def test_the_heaviest_paths_are_those_of_all_paths(
    layers: list[list[float]], most: int
) -> None:
    """Each layer multiplies what it gets by each of its factors and adds up."""
    sums = [" + ".join(f"y*({factor})" for factor in layer) for layer in layers]
    program = "\n".join(["y = x", *(f"y = {terms}" for terms in sums)])
    every = sizes_of(seen(program, "x=1"))
    assert len(every) == math.prod(map(len, layers))
    assert every == sorted(every, reverse=True)
    few = sizes_of(seen(program, "x=1", most=most))
    assert few == pytest.approx(every[:most], rel=1e-12)


def sizes_of(view: PathsView) -> list[float]:
    return [float(np.abs(path.product)) for path in view.paths]


def test_paths_of_arrays_are_pushed_along_and_add_up() -> None:
    program = "h = relu(W@x); L = (h*h).sum() + h.sum() - (W@x).sum()"
    view = seen(program, "W=[[1,2],[3,4]]", "x=[1,1]")
    assert view.count == 4
    assert not any(path.elementwise for path in view.paths)
    assert all(path.formula is None for path in view.paths)
    assert sum(path.share or 0 for path in view.paths) == pytest.approx(1)
    sizes = [np.abs(path.product).max() for path in view.paths]
    assert sizes == sorted(sizes, reverse=True)


def test_shares_add_up_to_one() -> None:
    for to in ("x", "z"):
        view = seen("sin(x*z) + x/z - x*z**2", "x=1.5", "z=-0.7", to=to)
        assert sum(path.share or 0 for path in view.paths) == pytest.approx(1)


@pytest.mark.parametrize(
    "program",
    [
        "a, b = x.unbind(); a*b + a",
        "p = x.split(1); (p[0]*p[1]).sum() + p[1].sum()",
        "v, i = max(x, 0); v*v",
        "s = stack([x, x*2]); (s[0]*s[1]).sum()",
        "(x[0]*x[1]) + x.sum()",
    ],
)
def test_paths_go_through_nodes_with_several_outputs(program: str) -> None:
    view = seen(program, "x=[2,3]")
    assert view.count > 1 or "max" in program
    total = sum(np.array(path.product) for path in view.paths)
    assert view.gradient is not None
    np.testing.assert_allclose(total, view.gradient, rtol=1e-14)


def test_where_not_all_paths_can_be_followed_the_order_is_called_an_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WORK_LIMIT", 10)
    view = seen("y = x\nfor i in range(6): y = y + 2*y\ny.sum()", "x=[1,2]", most=4)
    assert view.ranking == "estimated"
    assert view.count == 64
    assert len(view.paths) == 4
    assert view.adds_up
    assert view.sum == [729.0, 729.0]


@pytest.mark.parametrize(
    ("program", "lost"),
    [
        ("(1e8*x + 1) - 1e8*x", math.inf),
        ("1e6*x - 999999*x", 1e6),
        ("(tensor([1.,1e9])*x - tensor([0.,999999999.])*x).sum()", 1e9),
        ("2*x - x", None),
        ("x*0", None),
    ],
)
def test_terms_much_larger_than_their_sum_are_called_cancelled(
    program: str, lost: float | None
) -> None:
    view = seen(program, "x=[1,1]" if "tensor" in program else "x=1")
    if lost is None:
        assert view.cancellation is None
    else:
        assert view.cancellation is not None
        assert view.cancellation.ratio == pytest.approx(lost, rel=1e-6)


def test_the_graph_can_be_differentiated_afterwards() -> None:
    named = ran("exp(x)*x", "x=1")
    paths_of(named).to("x", 5)
    named.run.output.backward()
    assert named.inputs["x"].grad is not None


@pytest.mark.gpu
def test_arrays_of_a_gpu_stay_there(cuda: Any) -> None:
    def leaf(values: Any) -> Tensor:
        return Tensor(cuda.np.asarray(values, float), cuda, True)

    inputs = {"W": leaf([[1, 2], [3, 4]]), "x": leaf([1, 1])}
    program = "h = relu(W@x); a, b = h.unbind(); L = (h*h).sum() + h.sum()/3 + a*b"
    output, name, variables = evaluate(program, inputs)
    start = Tensor(output.xp.ones_like(output.raw), output.xp)
    view = graph_view(
        output, source=program, name=name, variables=variables, local_gradients=False
    )
    paths = Paths(output, start, inputs, NameCollector(), view)
    for to in inputs:
        found = paths.to(to, EVERY)
        assert (found.count, found.adds_up) == (5, True)
    leaves = [s for s in explain(output, start, NameCollector(), view) if s.is_leaf]
    assert {s.name for s in leaves} == {"W", "x"}
