"""A rewritten program passes only if it is the same function and its gradient right."""

from __future__ import annotations

import pytest

from gradcli.diagnosis.not_finite import tried
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, execute, prepare


def ran(source: str, *bindings: str) -> Run:
    return execute(prepare(source, read_bindings(bindings)))


def test_the_same_function_passes_with_its_value_and_gradient() -> None:
    trial = tried(ran("sqrt(x**2)", "x=0"), "abs(x)", None)
    assert trial is not None
    assert (trial.value, trial.gradients["x"]) == (0.0, 0.0)


REFUSED = {
    "it fails": ("sqrt(x**2)", "x=0", "tahn(x)"),
    "another value there": ("sqrt(x**2)", "x=0", "abs(x) + 1"),
    "another function elsewhere": ("sqrt(x**2)", "x=0", "2*abs(x)"),
    "another shape": ("sqrt(x**2)", "x=0", "stack([abs(x)])"),
    "a value that is not finite": ("x/x", "x=0", "x*x/x/x"),
    "a gradient that is not finite": ("sqrt(x**2)", "x=0", "(x**4)**0.25"),
    "a gradient that its slope contradicts": (
        "x*log(x)", "x=0", "where(x == 0, 0, x*log(where(x == 0, 1, x)))",
    ),
    "no gradient at all": ("sqrt(x**2)", "x=0", "abs(x.detach())"),
    "entries that are mixed up": (
        "exp(x)/sum(exp(x), dim=0, keepdim=True)", "x=[[1000, 0], [0, 1]]",
        "softmax(x, dim=1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_the_same_is_refused(why: str) -> None:
    old, binding, new = REFUSED[why]
    assert tried(ran(old, binding), new, None) is None


def test_slopes_are_not_looked_at_where_a_branch_is_taken() -> None:
    run = ran("where(x != 0, 1/x, 0)", "x=0")
    new = "where(x != 0, 1/where(x != 0, x, 1), 0)"
    assert tried(run, new, None) is None
    assert tried(run, new, None, across=False) is not None


def test_single_precision_is_looked_at_over_longer_steps() -> None:
    prepared = prepare("log(1 + exp(x))", read_bindings(["x=200"]), dtype="float32")
    trial = tried(execute(prepared), "softplus(x)", None)
    assert trial is not None
    assert (trial.value, trial.gradients["x"]) == (200.0, 1.0)


def test_many_entries_are_looked_at_in_some_directions() -> None:
    run = ran("sqrt(sum(x**2))", "x=zeros(50)")
    trial = tried(run, "norm(x)", None)
    assert trial is not None
    assert not trial.gradients["x"].any()
