"""Laws of the adjoint program: it is the gradient, as a program, and not long."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.formulas.namespace import TreeNamespace
from gradcli.formulas.program import adjoint
from gradcli.formulas.programs import program, reachable
from gradcli.formulas.tree import LEAVES, FreshNames, Unwritable
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, evaluate, prepare

from .programs import BY_NAME, differs, run_of, summed_gradient, text_of, zeros_for

RECORDED = list(BY_NAME)

LOSING = {
    "pow-tensor": "at 0 the power and the logarithm need a case each",
    "max-all": "ties are shared, which has to be counted",
    "max-all-tie": "ties are shared, which has to be counted",
    "maximum": "ties are shared, which has to be counted",
    "cumprod": "products that leave one factor out, exact where one is 0",
    "prod-with-zero": "products that leave one factor out, exact where one is 0",
    "sum-dim-keepdim": "products that leave one factor out, exact where one is 0",
    "mean-dim": "products that leave one factor out, exact where one is 0",
    "std": "at 0 the root needs a case",
    "det": "one word, whose derivative takes four",
    "div": "one operator, whose derivatives take four",
}
"""Records whose adjoint program has four times as many operations, or more."""


def called(run: Run, *given: Any, library: str = "numpy") -> Any:
    """The value and the gradients that a library's function gives."""
    scope: dict[str, Any] = {}
    exec(text_of(run, library), scope)
    return scope["gradient"](*given)


def as_run(name: str) -> Run:
    record = BY_NAME[name]
    return run_of(record["program"], record["inputs"])


@pytest.mark.parametrize("name", RECORDED)
def test_adjoint_program_gives_the_recorded_gradients(name: str) -> None:
    record = BY_NAME[name]
    text = program(as_run(name)).text
    for given, true in record["grads"].items():
        if true is not None:
            found = run_of(text, record["inputs"], f"{given}_grad").output.raw
            assert not differs(found, true), f"{given} of\n{text}"


@pytest.mark.parametrize("name", RECORDED)
def test_gradient_of_the_adjoint_program_is_the_second_derivative(name: str) -> None:
    record = BY_NAME[name]
    run = as_run(name)
    inputs = [given.tensor for given in run.inputs]
    first = grad([run.output], inputs, create_graph=True)
    text = program(run).text
    for given, g in zip(run.inputs, first, strict=True):
        again = summed_gradient(run_of(text, record["inputs"], f"{given.name}_grad"))
        true = second(g, inputs)
        for other, w in zip(run.inputs, true, strict=True):
            found = again.get(other.name, np.zeros(other.tensor.shape))
            assert not differs(found, w, 1e-10), f"{given.name}, {other.name}\n{text}"


def second(g: Tensor | None, inputs: list[Tensor]) -> list[Any]:
    """The gradient of a gradient's sum."""
    if g is None or g.edge is None:
        return [np.zeros(t.shape) for t in inputs]
    found = grad([g], inputs, [Tensor(np.ones(g.shape), g.xp)], retain_graph=True)
    return [zeros_for(f, t) for f, t in zip(found, inputs, strict=True)]


@pytest.mark.parametrize("name", RECORDED)
def test_adjoint_program_is_less_than_four_times_the_program(name: str) -> None:
    found = adjoint(as_run(name), None, lambda: TreeNamespace(words=True), FreshNames)
    forward = operations([found.output[1]])
    ratio = operations([tree for _, tree in found.gradients]) / max(forward, 1)
    assert (ratio >= 4) == (name in LOSING), f"{ratio:.1f} times"


def operations(trees: list[Any]) -> int:
    return sum(tree.head not in LEAVES for tree in reachable(trees))


def test_shared_parts_are_named_once() -> None:
    text = program(run_of("exp(x*y) * sin(exp(x*y))", {"x": 0.5, "y": 2.0})).text
    assert text.count("exp(") == 1


def test_a_names_number_tells_its_values_apart() -> None:
    text = program(run_of("y = x*x; y = y*y; y = y*y", {"x": 1.5})).text
    assert text.splitlines()[0] == "y = x * x"
    assert "y_2 = y * y" in text


def test_a_branch_is_told_as_it_was_taken() -> None:
    source = "if x > 1: y = x*x\nelse: y = x\ny"
    assert "# where x > 1" in program(run_of(source, {"x": 2.0})).text
    assert "# where not (x > 1)" in program(run_of(source, {"x": 0.5})).text
    assert "Holds where x > 1." in text_of(run_of(source, {"x": 2.0}), "numpy")


def test_a_guard_that_the_program_writes_itself_stays() -> None:
    run = run_of("sum(where(x == 0, 1, sin(x)/x))", {"x": [0.5, 2.0]})
    assert "#" not in program(run).text
    assert "where(x == 0" in program(run).text


@pytest.mark.parametrize("source", ["norm(x)", "std(x)", "logdet(diag(x))"])
def test_away_from_a_single_point_its_guard_is_left_out_and_said(source: str) -> None:
    made = program(run_of(source, {"x": [1.0, 2.0]}))
    assert made.lines[0].startswith("# where ")
    assert "where(" not in made.text


def test_what_is_held_constant_stays_so_when_read_again() -> None:
    source = "c = x.detach() * x; with no_grad(): d = x * 3\nc * d"
    inputs = {"x": 2.0}
    again = run_of(program(run_of(source, inputs)).text, inputs, "x_grad")
    # x_grad is detach(x) * detach(3 * x): no path leads to x.
    assert summed_gradient(again) == {"x": 0.0}


def test_draws_are_drawn_again_in_their_order() -> None:
    source = "a = randn(3); b = rand(3); (b * x).sum() + (a * x * x).sum()"
    inputs = {"x": [1.0, 2.0, 3.0]}
    run = run_of(source, inputs)
    again = run_of(program(run).text, inputs, "x_grad")
    assert not differs(again.output.raw, summed_gradient(run)["x"])
    assert "randn(" not in text_of(run, "numpy").rpartition('"""')[2]


def test_a_cotangent_contracts_a_vector_output() -> None:
    inputs = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    run = run_of("x * y", inputs)
    text = program(run, Tensor(np.array([1.0, -2.0]), run.output.xp)).text
    assert run_of(text, inputs, "x_grad").output.tolist() == [3.0, -8.0]


@pytest.mark.parametrize(
    "name", ["np", "torch", "gradient", "lambda_", "t1", "x_grad", "F", "put_add"]
)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_inputs_name_cannot_break_the_code(name: str, library: str) -> None:
    pytest.importorskip(library)
    source = f"y = exp({name} * x)[1] + {name}; y * exp({name} * x)[0]"
    run = run_of(source, {name: 0.5, "x": [1.0, 2.0]})
    array: Any = np.array if library == "numpy" else import_module("torch").tensor
    given = {name: array(0.5), "x": array([1.0, 2.0])}
    value, found = called(run, *[given[i.name] for i in run.inputs], library=library)
    assert not differs(value, run.output.raw, 1e-6)
    for g, true in zip(found, summed_gradient(run).values(), strict=True):
        assert not differs(g, true, 1e-6)


def test_a_number_that_is_read_stays_a_step() -> None:
    text = program(run_of("c = x.max().item(); (x*c).sum()", {"x": [1.0, 3.0]})).text
    again = run_of(text, {"x": [5.0, 2.0]}, "x_grad")
    assert again.output.tolist() == [5.0, 5.0]
    assert "#" not in text


def test_a_number_that_python_needs_stands_under_a_condition() -> None:
    inputs = {"x": [1.0, 3.0], "n": 2.0}
    source = "y = x\nfor i in range(int(n)): y = y*x\ny.sum()"
    assert program(run_of(source, inputs)).lines[0] == "# where trunc(n) == 2"
    assert "Holds where trunc(n) == 2." in text_of(run_of(source, inputs), "numpy")


def test_a_position_is_computed_again() -> None:
    text = program(run_of("x[argmax(y)]**2", {"x": [1.0, 3.0], "y": [0.0, 1.0]})).text
    again = run_of(text, {"x": [5.0, 2.0], "y": [1.0, 0.0]}, "x_grad")
    assert again.output.tolist() == [10.0, 0.0]


def test_how_many_entries_a_mask_names_is_a_condition() -> None:
    made = program(run_of("x[x > 0].mean()", {"x": [1.0, -1.0, 2.0]}))
    assert made.lines[0] == "# where sum(x > 0) == 2"


@pytest.mark.parametrize("source", ["x.norm(dim=1).sum()*norm(x)", "x*x.mean()"])
def test_a_broadcast_of_fewer_dimensions_than_it_came_from(source: str) -> None:
    run = run_of(f"({source}).sum()", {"x": [[1.0, 2.0], [3.0, 5.0]]})
    _, (g,) = called(run, np.array([[1.0, 2.0], [3.0, 5.0]]))
    assert not differs(g, summed_gradient(run)["x"])


def test_arrays_without_entries_keep_their_shapes() -> None:
    words = ["x=zeros(2, 0)", "y=zeros(0, 3)"]
    run = Session(prepare("(x@y).sum()", read_bindings(words))).run()
    given = {each.name: each.tensor for each in run.inputs}
    made = program(run)
    for name, tensor in given.items():
        found, _, _ = evaluate(made.text, given, of=made.gradients[name])
        assert found.shape == tensor.shape


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "source",
    [
        "(x*(x > 0)).sum()",
        "x.sum()/(x > 0).sum()",
        "(x*arange(3)).sum() + linspace(0, 1, 3)@x",
        "(eye(3)@x).sum()",
        "x.sum()*(x > 0).sum().item()",
        "where(x > 0, x, 2).sum()",
        "x[0]",
        "(x.sort(descending=True)[0]*arange(3)).sum()",
    ],
)
@pytest.mark.peers
def test_torch_gradients_have_the_inputs_dtype(source: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    values = [0.3, -1.2, 2.4]
    run = run_of(source, {"x": values})
    given = torch.tensor(values, dtype=getattr(torch, dtype))
    _, (g,) = called(run, given, library="torch")
    assert g.dtype == getattr(torch, dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    assert not differs(g, summed_gradient(run)["x"], tolerance)


@pytest.mark.parametrize(
    "source",
    [
        "(x**-2).sum() + x[0]",
        "x.sum()",
        "(x*(x > 2)).sum()",
        "where(x > 2, x, 1).sum()",
    ],
)
def test_numpy_function_takes_lists_of_whole_numbers(source: str) -> None:
    run = run_of(source, {"x": [1, 2, 3]})
    value, (g,) = called(run, [1, 2, 3])
    assert g.dtype == np.float64
    assert not differs(value, run.output.raw)
    assert not differs(g, summed_gradient(run)["x"])


@pytest.mark.parametrize("at", ["[1, 1]", "[1, 0]", "[0, 0]"])
@pytest.mark.parametrize("word", ["scatter(x, 0, {at}, y)", "index_copy(x, 0, {at}, y)",
                                  "index_put(x, ({at},), y)"])  # fmt: skip
def test_of_entries_written_to_one_place_the_last_counts(word: str, at: str) -> None:
    inputs = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    run = run_of(f"({word.format(at=at)} * tensor([1, 10])).sum()", inputs)
    value, _ = called(run, *map(np.array, inputs.values()))
    assert not differs(value, run.output.raw)


CHANGING = [
    "y = 0\nfor i in range(3): y += x[i]**2\ny",
    "y = x*1; y += x; (y*y).sum()",
    "y = x*1; y *= y; y /= 2; (y*x).sum()",
    "y = exp(x); z = y*y; y += 1; (z*y).sum()",
    "y = x*1; z = y; z += 1; (y*x).sum()",
    "y = zeros(3); y += x; y -= x[0]; (y*y).sum()",
    "y = tanh(x)\nfor i in range(4): y += sin(y)*x\n(y*y).mean()",
    # A change that reaches other names is written entry by entry.
    "y = x*1; z = y[:1]; z *= 3; (y*y).sum() + z.sum()",
    "y = x*1; z = detach(y); y *= 3; (y*y).sum() + z.sum()",
    "y = x*1; z = y.reshape(3, 1); y *= 2; (y*y).sum() + z.sum()",
    "y = x*1; z = y.T; y += 1; (y*y).sum() + z.sum()",
]


@pytest.mark.parametrize("source", CHANGING)
def test_a_program_that_changes_its_values_is_written(source: str) -> None:
    inputs = {"x": [3.0, 4.0, 1.0]}
    run = run_of(source, inputs)
    true = summed_gradient(run)["x"]
    value, (found,) = called(run, np.array(inputs["x"]))
    assert not differs(value, run.output.raw)
    assert not differs(found, true)
    assert not differs(run_of(program(run).text, inputs, "x_grad").output.raw, true)


def test_a_change_that_no_graph_knows_of_is_refused() -> None:
    source = "y = x*1; with no_grad(): y *= 2\n(y*y).sum()"
    with pytest.raises(Unwritable, match="has no meaning to symbols"):
        program(run_of(source, {"x": [3.0, 4.0]}))


def test_an_input_may_be_called_as_a_gradient() -> None:
    inputs = {"x": 2.0, "x_grad": 3.0}
    run = run_of("x*x*x_grad", inputs)
    made = program(run)
    assert "# x_grad_2 is the gradient by x" in made.lines
    assert made.gradients == {"x": "x_grad_2", "x_grad": "x_grad_grad"}
    right = {name: Tensor(g, run.output.xp) for name, g in summed_gradient(run).items()}
    assert made.repeats(run, right)


MATRIX = {"A": [[1.0, 2.0], [3.0, 5.0]], "B": [[2.0, 0.0], [1.0, 1.0]], "x": [1.0, 3.0]}


@pytest.mark.parametrize(
    ("source", "gradients"),
    [
        ("(A @ B.T).sum()*1", ["A_grad = ones(2, 2) @ B", "B_grad = ones(2, 2) @ A"]),
        ("x @ A @ x", ["x_grad = x @ A + A @ x", "A_grad = unsqueeze(x, 1) * x"]),
        ("(A @ x).sum()", ["A_grad = expand(x, [2, 2])", "x_grad = sum(A, dim=0)"]),
        ("x.var()", ["x_grad = 2 * (x - mean(x))"]),
        ("-(3*x - 1).sum()", ["x_grad = full([2], -3)"]),
        ("(x - (1 - x)**2).sum()", ["x_grad = 1 + 2 * (1 - x)"]),
    ],
)
def test_gradients_read_as_they_are_derived_by_hand(
    source: str, gradients: list[str]
) -> None:
    made = program(run_of(source, MATRIX))
    assert [line for line in made.lines if "_grad =" in line] == gradients


@pytest.mark.parametrize("number", ["1e200", "1e-200", "1e300", "0"])
def test_no_product_of_constants_overflows_where_there_was_none(number: str) -> None:
    inputs = {"x": [1.5, -2.0]}
    run = run_of(f"(({number}*x)*{number}*1e-300*1e-100).sum()", inputs)
    again = run_of(program(run).text, inputs, "x_grad")
    assert not differs(again.output.raw, summed_gradient(run)["x"], 1e-15)


def test_a_zero_in_place_of_a_zero_is_not_written() -> None:
    assert "where" not in text_of(run_of("maximum(x, y)", {"x": 1, "y": 2}), "gradcli")
