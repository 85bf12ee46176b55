"""What is written runs, and gives the engine's numbers: in C, on NumPy, on PyTorch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.lang.run import evaluate
from tests.reference.recorded_programs import RECORDS

from .written import Library, Written, run_python, same, written

PYTHON = ["numpy", pytest.param("torch", marks=pytest.mark.peers)]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

MATRIX = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-0.5, 1.0, 1.25]]

LARGER = [[0.1, 2, 3, 1], [4, 1, -1, 0], [2, 2, 1, 5], [0, 1, 7, -3]]

BLOCKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "jacobian-linear": ("jacobian", "A @ x", {"A": MATRIX, "x": [1, 2, 3]}),
    "jacobian-softmax": ("jacobian", "softmax(x, 0)", {"x": [0.5, 2, 1.0]}),
    "jacobian-scalars": ("jacobian", "stack([a*b, sin(a)])", {"a": 2, "b": 3}),
    "jacobian-inverse": ("jacobian", "inverse(A)", {"A": MATRIX}),
    "jacobian-large-inverse": ("jacobian", "inverse(A)", {"A": LARGER}),
    "jacobian-of-a-scalar": ("jacobian", "x**2", {"x": 3}),
    "hessian-rosenbrock": ("hessian", "(1 - x)**2 + 100*(y - x**2)**2",
                           {"x": -1.2, "y": 1}),
    "hessian-quadratic": ("hessian", "x @ A @ x", {"A": MATRIX, "x": [1, 2, 3]}),
    "hessian-logsumexp": ("hessian", "logsumexp(x, 0) * w", {"x": [1, 2, 3], "w": 2}),
    "hessian-extrema": ("hessian", "sum(maximum(x, y)**3 + fmin(x, y)*y)",
                        {"x": [1, 2, 1.5], "y": 1.5}),
    "hessian-kinks": ("hessian", "sum(relu(x)**2*w + clamp(x, -1, 1)**3 + abs(x)*x)",
                      {"x": [1, -2, 0, 0.5], "w": 2}),
    "hessian-largest": ("hessian", "max(x)**2 + min(x*w)", {"x": [1, 3, 2], "w": 2}),
    "hessian-sigmoid": ("hessian", "sum(log(sigmoid(X @ w)))",
                        {"X": MATRIX, "w": [0.1, 0.2, 0.3]}),
}  # fmt: skip


@pytest.fixture(scope="module")
def programs() -> dict[str, Written]:
    found = {
        r["name"]: written(r["program"], r["inputs"], wrt=list(r["grads"]))
        for r in RECORDS
    }
    for name, (kind, source, values) in BLOCKS.items():
        found[name] = written(source, values, kind)
    return found


@pytest.fixture(scope="module")
def library(programs: dict[str, Written], tmp_path_factory: Any) -> Library:
    texts = [each.text("c") for each in programs.values()]
    return Library(texts, tmp_path_factory.mktemp("c"))


ALL = [*[r["name"] for r in RECORDS], *BLOCKS]


@needs_compiler
@pytest.mark.parametrize("name", ALL)
def test_c_gives_the_engines_numbers(
    programs: dict[str, Written], library: Library, name: str
) -> None:
    each = programs[name]
    found = library.run(ALL.index(name), each.kind, each.shapes, each.inputs)
    same(found, each.results)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("language", PYTHON)
def test_python_gives_the_engines_numbers(
    programs: dict[str, Written], language: str, name: str
) -> None:
    pytest.importorskip(language)
    each = programs[name]
    same(run_python(each.text(language), each.kind, each.inputs), each.results)


@pytest.mark.parametrize("name", ALL)
def test_gradcli_reads_the_program_and_gives_the_engines_numbers(
    programs: dict[str, Written], name: str
) -> None:
    each = programs[name]
    called = [given.name for given in each.run.inputs]
    given = {n: Tensor(a, NUMPY) for n, a in zip(called, each.inputs, strict=True)}
    text = each.text("gradcli")
    found = [np.asarray(evaluate(text, dict(given), of=result)[0].raw)
             for result in each.result_names("gradcli")]  # fmt: skip
    same(found, each.results[1:])


ELSEWHERE = [
    ("relu(x)*w", {"x": 2, "w": 3}, {"x": -2, "w": 3}),
    ("abs(x) + sign(x)*y", {"x": 2, "y": 3}, {"x": -2, "y": 3}),
    ("sum(maximum(x, y))", {"x": [1, 2, 3], "y": [3, 2, 1]},
     {"x": [5, 1, 3], "y": [3, 2, 3]}),
    ("max(x)**2", {"x": [1, 2, 3]}, {"x": [4, 4, 1]}),
    ("sum(where(x > y, x**3, y*x))", {"x": [1, 2], "y": [2, 1]},
     {"x": [3, 1], "y": [0, 4]}),
    ("sum(clamp(x, -1, 1)*y)", {"x": [0.5, 3], "y": [2, 4]},
     {"x": [1, -0.5], "y": [2, 4]}),
    ("sum(leaky_relu(x, 0.1))", {"x": [1, -1]}, {"x": [-2, 0]}),
    ("sum(softplus(x))", {"x": [1, -1]}, {"x": [25, -40]}),
    ("sum(elu(x))", {"x": [1, -1]}, {"x": [-2, 0]}),
    ("sum(huber_loss(x, y))", {"x": [1, 2], "y": [1.5, 0]}, {"x": [9, 0], "y": [1, 0]}),
    ("floor(x)*y + x % y + fmod(x, y) + x // y", {"x": 7.5, "y": 2},
     {"x": -7.5, "y": 3}),
    ("prod(x)", {"x": [1, 2, 3]}, {"x": [0, 2, 0]}),
    ("nan_to_num(x/y)*x", {"x": 2, "y": 3}, {"x": 2, "y": 0}),
    ("sum((x > 1).float()*x)", {"x": [0, 2]}, {"x": [3, 1]}),
    ("logaddexp(x, y)", {"x": 1, "y": 2}, {"x": 3, "y": 3}),
    ("sum(softmax(x, 0)*x)", {"x": [1, 2, 3]}, {"x": [800, -5, 799]}),
]  # fmt: skip


@needs_compiler
def test_c_holds_on_the_other_side_of_every_comparison_that_stays_in_arrays(
    tmp_path: Path,
) -> None:
    here = [written(source, values) for source, values, _ in ELSEWHERE]
    there = [written(source, values) for source, _, values in ELSEWHERE]
    library = Library([each.text("c") for each in here], tmp_path)
    for number, (one, other) in enumerate(zip(here, there, strict=True)):
        assert not one.holds
        same(library.run(number, one.kind, one.shapes, other.inputs), other.results)


@pytest.mark.parametrize("language", ["numpy", "torch"])
@pytest.mark.parametrize(("source", "here", "there"), ELSEWHERE)
def test_python_holds_on_the_other_side_of_every_comparison_that_stays_in_arrays(
    language: str, source: str, here: Any, there: Any
) -> None:
    pytest.importorskip(language)
    one, other = written(source, here), written(source, there)
    same(run_python(one.text(language), "gradient", other.inputs), other.results)


@pytest.mark.parametrize(
    ("source", "values", "condition"),
    [
        ("y = x*2\nif y > 1:\n  y = y**2\ny", {"x": 3}, "2 * x > 1"),
        ("y = x*2\nif y > 1:\n  y = y**2\ny", {"x": 0}, "not (2 * x > 1)"),
        ("sum(sort(x)[0][:2])", {"x": [3, 1, 2]}, "x[1] <= x[2]"),
        ("x[i]*2", {"x": [1, 2], "i": 1}, "i == 1"),
        ("sum(x[x > 1])", {"x": [0, 2]}, "not (x[0] > 1)"),
    ],
)
def test_what_was_decided_by_value_is_said(
    source: str, values: Any, condition: str
) -> None:
    text = written(source, values, wrt=["x"]).text("c")
    assert f" * Holds where {condition}.\n" in text


GUARDED = [
    ("norm(x)", {"x": [1, 2]}, {"x": [0, 0]}, "sqrt(x[0]**2 + x[1]**2) != 0"),
    ("xlogy(x, y)", {"x": 1, "y": 2}, {"x": 0, "y": 3}, "x != 0"),
    ("x**y", {"x": 2, "y": 3}, {"x": 2, "y": 0}, "y != 0"),
    ("slogdet(A)[1]", {"A": [[1, 2], [3, 5]]}, {"A": [[1, 2], [2, 4]]},
     "not isinf(log(abs(A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])))"),
    ("std(x)", {"x": [1, 2]}, {"x": [1, 1]}, None),
]  # fmt: skip
"""Functions whose formulas keep clear of a point: away from it, at it, and what is said
of it."""


@pytest.mark.parametrize("kind", ["gradient", "hessian"])
@pytest.mark.parametrize("language", ["gradcli", "numpy", "c"])
@pytest.mark.parametrize(("source", "away", "at", "condition"), GUARDED)
def test_away_from_a_single_point_its_guard_is_left_out_and_said(
    source: str, away: Any, at: Any, condition: str | None, language: str, kind: str
) -> None:
    here, there = written(source, away, kind), written(source, at, kind)
    assert condition in here.holds or (condition is None and here.holds)
    assert condition not in there.holds
    assert not re.search(r"where\(|\?", here.text(language).partition("import")[2])


def test_a_guard_that_the_program_writes_itself_stays() -> None:
    source = "sum(where(x == 0, 1, sin(x)/x))"
    here = written(source, {"x": [0.5, 2.0]})
    assert not here.holds
    value, _ = run_python(here.text("numpy"), "gradient", [np.zeros(2)])
    assert value == 2


@pytest.mark.parametrize("size", [3, 4])
def test_pivots_chosen_by_value_are_said(size: int) -> None:
    matrix = np.eye(size) + np.arange(size**2).reshape(size, size) / 20
    text = written("det(A)", {"A": matrix}).text("c")
    assert ("pivots" in text) == (size > 3)


def test_an_entry_that_nothing_depends_on_has_the_derivative_zero() -> None:
    each = written("x[0]*2", {"x": [[1, 2], [3, 4]]})
    value, gradient = run_python(each.text("numpy"), "gradient", each.inputs)
    assert value.tolist() == [2, 4]
    assert gradient.tolist() == [[2, 2], [0, 0]]
    assert np.asarray(gradient).dtype == np.float64
