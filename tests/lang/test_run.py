"""From text and bindings to a recorded run: inputs, outputs, options, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.check.namespace import ObjectNamespace
from gradcli.check.system import Balls
from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import Run, Session, evaluate, prepare


def ran(source: str, *arguments: str, of: str | None = None, **options) -> Run:
    return Session(prepare(source, read_bindings(arguments), **options), of=of).run()


def gradients(run: Run) -> dict[str, object]:
    inputs = [i for i in run.inputs if i.requires_grad]
    found = grad([run.output], [i.tensor for i in inputs])
    pairs = zip(inputs, found, strict=True)
    return {i.name: None if g is None else g.tolist() for i, g in pairs}


def error(source: str, *arguments: str, **options) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        ran(source, *arguments, **options)
    return caught.value


def test_inputs_are_the_free_names_in_order_of_first_use() -> None:
    run = ran("b = w1*a; c = w2*a; L = 10 - b - c", "a=2", "w1=3", "w2=4")
    assert [i.name for i in run.inputs] == ["w1", "a", "w2"]
    assert (run.output_name, run.output.item()) == ("L", -4.0)
    assert gradients(run) == {"w1": -2.0, "a": -7.0, "w2": -2.0}


def test_every_value_becomes_the_dtype_of_the_run() -> None:
    for dtype in ("float64", "float32"):
        run = ran("y = x*tensor([1, 2]) + randn(2) + sin(2) + eye(2)[0]", "x=[0, 1]",
                  dtype=dtype)  # fmt: skip
        assert run.output.dtype.name == run.dtype == dtype
        assert run.inputs[0].tensor.dtype.name == dtype


def test_whole_numbers_are_differentiated_and_still_index() -> None:
    run = ran("y = (A[i]*w).sum()", "A=[[1, 2], [3, 4]]", "i=[1, 0]", "w=2", wrt=["A"])
    assert gradients(run) == {"A": [[2.0, 2.0], [2.0, 2.0]]}


def test_wrt_leaves_the_other_inputs_out_of_the_graph() -> None:
    run = ran("y = a*b", "a=2", "b=3", wrt=["b"])
    assert [i.requires_grad for i in run.inputs] == [False, True]
    assert run.output.grad_fn.next_functions[0] == (None, 0)


@given(st.sets(st.sampled_from("abcdfgh"), min_size=1), st.integers(0, 2**40))
def test_a_draw_depends_on_seed_and_name_alone(names: set[str], seed: int) -> None:
    alone = {n: ran(f"{n}*1", seed=seed).inputs[0].tensor.item() for n in names}
    together = ran(" + ".join(sorted(names)), seed=seed)
    assert {i.name: i.tensor.item() for i in together.inputs} == alone
    assert all(i.sampled for i in together.inputs)


def test_the_output_is_the_last_value_or_the_one_named() -> None:
    assert ran("y = x*2; x*3", "x=1").output_name == "output"
    chosen = ran("y = x*2; z = y*3", "x=1", of="y")
    assert (chosen.output_name, chosen.output.item()) == ("y", 2.0)
    assert ran("y = x*2", "x=5", of="x").output.item() == 5.0


@pytest.mark.parametrize(
    ("source", "bound", "inputs", "value"),
    [
        ("y = (x - mean)/std*pi", "x=5 mean=1 std=2 pi=3", "x mean std pi", 6),
        ("y = t**2", "t=3", "t", 9),
        ("y = e*math.e", "e=2", "e", 2 * math.e),
        ("y = x*2; n = 3; y", "x=1", "x", 2),
    ],
)
def test_a_name_means_what_is_bound_to_it_first(
    source: str, bound: str, inputs: str, value: float
) -> None:
    run = ran(source, *bound.split())
    assert [i.name for i in run.inputs] == inputs.split()
    assert run.output.item() == value
    assert set(run.variables) == ({"y", "n"} if "n" in source.split() else {"y"})


def test_every_node_remembers_the_text_it_came_from() -> None:
    source = "h = tanh(x@w)\nL = (h/2).sum()"
    run = ran(source, "x=[[1, 2]]", "w=eye(2)")
    texts = []
    waiting = [run.output.grad_fn]
    while waiting:
        node = waiting.pop()
        texts.append((node.name(), source[node.span.start : node.span.end]))
        waiting += [e for e, _ in node.next_functions if hasattr(e, "span")]
    assert texts == [
        ("SumBackward0", "(h/2).sum()"),
        ("DivBackward0", "(h/2)"[1:-1]),
        ("TanhBackward0", "tanh(x@w)"),
        ("MmBackward0", "x@w"),
    ]


def test_nodes_inside_a_composite_share_its_text() -> None:
    source = "y = (x @ W)*1.0"
    run = ran(source, "x=[1, 2]", "W=eye(2)")
    names = []
    node = run.output.grad_fn
    while hasattr(node, "span"):
        names.append((node.name(), source[node.span.start : node.span.end]))
        node = node.next_functions[0][0]
    assert [name for name, text in names if text == "x @ W"] == [
        "SqueezeBackward4", "MmBackward0", "UnsqueezeBackward0"]  # fmt: skip


def test_a_wrong_call_leaves_recording_on() -> None:
    error("with no_grad():\n    c = x @ x", "x=3")
    assert ran("y = x*x", "x=3").output.edge is not None


LARGE = [
    "(ones(10**5, 1)*ones(1, 10**5)).sum()",
    "ones(10**5, 1) @ ones(1, 10**5)",
    "maximum(ones(10**5, 1), ones(1, 10**5))",
    "where(ones(10**5, 1) > 0, ones(1, 10**5), 0)",
    "outer(ones(10**5), ones(10**5))",
    "ones(10**5).repeat(10**5)",
    "ones(1).expand(10**5, 10**5)",
    "eye(10**6)",
    "zeros(10**6, 10**6)",
    "randn(10**6, 10**6)",
    "randint(5, (10**6, 10**6))",
    "full((10**6, 10**6), 1)",
    "linspace(0, 1, 10**12)",
    "arange(10**12)",
    "einsum('i,j->ij', ones(10**5), ones(10**5))",
    "einsum('i,j', ones(10**5), ones(10**5))",
    "kron(ones(10**5), ones(10**5))",
    "diag(ones(10**5))",
    "ones(10**5).unsqueeze(1) - ones(10**5)",
    "ones(10**5).tile((10**5,))",
    "pad(ones(3), (10**10, 0))",
    "tensordot(ones(10**5), ones(10**5), 0)",
    "bmm(ones(1, 10**5, 1), ones(1, 1, 10**5))",
    "adaptive_avg_pool1d(ones(1, 2), 10**9)",
    "adaptive_max_pool2d(ones(1, 2, 2), (1, 10**9))",
    "conv1d(ones(1, 1, 2), ones(1, 1, 1), padding=10**9)",
    "conv_transpose1d(ones(1, 1, 2), ones(1, 1, 2), dilation=10**9)",
    "index_select(ones(3), 0, range(10**9))",
    "ones(3)[range(10**9)]",
    "gather(ones(3), 0, range(10**9))",
    "ones(1, 10**5).expand(3, 10**5)[zeros(10**5)]",
    "index_select(ones(3, 10**5), 0, zeros(10**5))",
    "embedding(zeros(10**5), ones(3, 10**5))",
    "repeat_interleave(ones(3), 10**9)",
    "repeat_interleave(ones(2), [10**9, 1])",
    "one_hot([10**9])",
    "one_hot(range(10**5))",
    "cat([ones(1).expand(5*10**8), ones(1).expand(5*10**8)])",
    "stack([ones(1).expand(5*10**8), ones(1).expand(5*10**8)])",
    "meshgrid(ones(10**5), ones(10**5))[0]",
    "ones(1).expand(10**5).unfold(0, 10**4, 1)",
    "chunk(ones(3)[:0], 10**9)[0]",
    "ones(1).expand(10**8).unbind()[0]",
    "ones(1).expand(10**8).split(1)[0]",
]


@pytest.mark.parametrize("source", LARGE)
def test_a_result_beyond_the_limit_is_refused_before_it_is_allocated(source) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    caught = error("y = " + source)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (caught.code, caught.exit_status) == ("E403", 4), caught.render()
    assert grown < 200_000


def test_an_option_s_value_is_a_tensor_of_the_run() -> None:
    prepared = prepare("y = x*x", read_bindings(["x=[1, 2]"]), dtype="float32")
    given = prepared.option_value("ones(2)", "--grad-output")
    assert given.tolist() == [1.0, 1.0]
    assert given.dtype.name == "float32"
    with pytest.raises(ProgramError) as caught:
        prepared.option_value("[1, [2]]", "--grad-output")
    assert caught.value.source == "[1, [2]]"


SYMBOLIC = [
    "y = x[0]*sin(x[1])*tensor(2.0)",
    "y = x[0]*tensor([1.0, 0.1])[1] + randn(2)[0]",
    "y = where(x > 1, x, [0.1, 0.2])[0]*x[1]",
    "y = (eye(2)[0]*x)[0]*tanh(0.5)",
    "s = 0\nfor r in x: s = s + r**2\ny = s",
    "y = maximum(x, tensor(1.0))[0]",
    "y = x[arange(2)[1]]",
]


@pytest.mark.parametrize("source", SYMBOLIC)
def test_a_program_means_the_same_in_every_number_system(source: str) -> None:
    values = [0.5, 2.0]
    xp = ObjectNamespace(Balls())
    exact = Tensor(xp.array(values), xp, requires_grad=True)
    plain = Tensor(np.array(values), NUMPY, requires_grad=True)
    results = []
    for x in (exact, plain):
        output, name, variables = evaluate(source, {"x": x})
        assert name == "y"
        assert variables["y"] is output
        (g,) = grad([output], [x])
        results.append((output.tolist(), g.tolist()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-14)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-14)


def test_a_chain_of_a_hundred_thousand_steps_runs_and_differentiates() -> None:
    run = ran("y = x\nfor i in range(100000): y = y*w", "x=2", "w=1")
    assert gradients(run) == {"x": 1.0, "w": 200000.0}


def test_a_session_runs_on_other_values_and_its_runs_give_derivatives() -> None:
    session = Session(prepare("y = x**2 * b", read_bindings(["x=[1,2]", "b=3"])))
    first = session.run()
    blocks = [block.dense().tolist() for block in first.jacobian().blocks]
    assert blocks == [[[6, 0], [0, 12]], [1, 4]]
    session.rebind({"b": first.prepared.factory.leaf(5.0)})
    again = session.run()
    assert (first.output.tolist(), again.output.tolist()) == ([3, 12], [5, 20])
    found = again.gradients(again.cotangent("[1, 1]"))
    assert [g is not None and g.tolist() for g in found] == [[10, 20], 5]


def test_a_run_words_what_the_engine_refuses() -> None:
    run = Session(prepare("x*2", read_bindings(["x=[1,2]"]))).run()
    for ask in (run.gradients, run.hessian, run.require_scalar):
        with pytest.raises(ProgramError, match=r"add \.sum"):
            ask()


def test_whole_numbers_are_drawn_between_two_bounds() -> None:
    many = ran("randint(-1, 3, (400,))").output
    assert {*many.tolist()} == {-1.0, 0.0, 1.0, 2.0}
    same = {
        text: ran(text).output.tolist()
        for text in ("randint(9, (2, 3))", "randint(0, 9, (2, 3))",
                     "torch.randint(9, size=(2, 3))", "randint(high=9, size=(2, 3))",
                     "np.random.randint(0, 9, size=(2, 3))")
    }  # fmt: skip
    assert len({*map(str, same.values())}) == 1
    assert ran("x[randint(3, (2,))].sum()", "x=[5, 5, 5]").output.item() == 10.0


@pytest.mark.parametrize(
    "source", ["randint(3)", "randint(3, 3, (2,))", "randint(1.5, 3)", "randint()"]
)
def test_bounds_without_a_whole_number_are_refused(source: str) -> None:
    assert error(source).code in ("E302", "E307")
