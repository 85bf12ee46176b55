"""A gradient that is not finite is traced to one edge, and a way out is tried one: it
passes only if it is the same function and its gradient right."""

from __future__ import annotations

import pytest

from gradcli.answers.not_finite import Rewriting, Trouble, tried, trouble
from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, all_finite, prepare


def ran(source: str, *bindings: str) -> Run:
    return Session(prepare(source, read_bindings(bindings))).run()


def found_in(source: str, *bindings: str) -> Trouble:
    return trouble(ran(source, *bindings), None)


def way_out(source: str, *bindings: str) -> Rewriting:
    way = found_in(source, *bindings).rewriting
    assert way is not None
    return way


GUARDS = {
    "where(x > 0, sqrt(x), 0)": ("x=0", "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"),
    "where(x > 0, log(x), 0)": ("x=0", "where(x > 0, log(where(x > 0, x, 1)), 0)"),
    "where(x > -1, asin(x), 0)": ("x=-1",
                                  "where(x > -1, asin(where(x > -1, x, 0)), 0)"),
    "where(x == 0, 1, sin(x)/x)": ("x=0",
                                   "where(x == 0, 1, sin(x)/where(x == 0, 1, x))"),
    "where(x > 0, x**0.5, 0)": ("x=0", "where(x > 0, where(x > 0, x, 1)**0.5, 0)"),
    "where(x > 0, x.sqrt(), 0)": ("x=0", "where(x > 0, where(x > 0, x, 1).sqrt(), 0)"),
    "s = sqrt(x); where(x > 0, s, 0)": ("x=0", "s = sqrt(where(x > 0, x, 1))"),
    "where(x != 0, 1/x, 0)": ("x=0", "where(x != 0, 1/where(x != 0, x, 1), 0)"),
    "where(x > 700, 0, exp(x))": ("x=800",
                                  "where(x > 700, 0, exp(where(x > 700, 0, x)))"),
}  # fmt: skip


STABLE = {
    "log(softmax(x, dim=0))": ("x=[0, 1000]", "log_softmax(x, dim=0)"),
    "softmax(x, dim=0).log()": ("x=[0, 1000]", "log_softmax(x, dim=0)"),
    "log(sum(exp(x)))": ("x=[1000, 1]", "logsumexp(flatten(x), dim=0)"),
    "log(sum(exp(x), dim=0))": ("x=[1000, 1]", "logsumexp(x, dim=0)"),
    "log(1 + exp(x))": ("x=1000", "softplus(x)"),
    "log(exp(x) + 1)": ("x=1000", "softplus(x)"),
    "log1p(exp(x))": ("x=1000", "softplus(x)"),
    "log(exp(x) + exp(2*x))": ("x=1000", "logaddexp(x, 2*x)"),
    "log(sigmoid(x))": ("x=-1000", "logsigmoid(x)"),
    "exp(x)/(1 + exp(x))": ("x=1000", "sigmoid(x)"),
    "exp(x)/sum(exp(x))": ("x=[1000, 1]", "softmax(x, dim=0)"),
    "sqrt(sum(x**2))": ("x=[0, 0]", "norm(x)"),
    "e = exp(x); log(1 + e)": ("x=1000", "softplus(x)"),
    "log(1 - sigmoid(2*x))": ("x=1000", "logsigmoid(-(2*x))"),
    "x.var().sqrt()": ("x=[2, 2]", "std(x)"),
    "sqrt(mean((x - 1)**2))": ("x=[1, 1]", "(norm(x - 1)/sqrt((x - 1).numel()))"),
    "(x**2)**0.5": ("x=0", "abs(x)"),
    "sqrt(x*x)": ("x=0", "abs(x)"),
    "sqrt(abs(x))**2 + x**2": ("x=0", "abs(x)"),
    "exp(log(x**2))": ("x=0", "(x**2)"),
    "exp(2*log(x))": ("x=0", "(x**2)"),
    "sin(2*x)/(2*x)": ("x=0", "sinc((2*x)/pi)"),
    "(exp(x) - exp(-x))/(exp(x) + exp(-x))": ("x=900", "tanh(x)"),
    "exp(x)/(exp(x) + exp(1 - x))": ("x=900", "sigmoid(x - (1 - x))"),
    "(exp(x)/sum(exp(x), dim=0, keepdim=True))[0].sum()": (
        "x=[[1000, 0], [0, 1]]", "softmax(x, dim=0)"),
    "(exp(x)/sum(exp(x), dim=1, keepdim=True))[0].sum()": (
        "x=[[1000, 0], [0, 1]]", "softmax(x, dim=-1)"),
}  # fmt: skip


@pytest.mark.parametrize("source", [*GUARDS, *STABLE])
def test_a_way_out_is_proposed_that_has_a_finite_value_and_gradient(
    source: str,
) -> None:
    binding, text = {**GUARDS, **STABLE}[source]
    way = way_out(source, binding)
    assert way.text == text
    if source in GUARDS:
        assert dict(way.gradients) == {"x": 0.0}
    again = ran(way.program, binding)
    assert all_finite(again.output)
    ones = Tensor(NUMPY.ones_like(again.output.raw), NUMPY)
    (gradient,) = grad([again.output], [again.inputs[0].tensor], [ones])
    assert gradient is not None
    assert all_finite(gradient)


def test_zero_times_the_logarithm_of_zero_is_kept_from_being_computed() -> None:
    way = way_out("-(t*log(p) + (1-t)*log(1-p))", "t=1", "p=1")
    assert way.text == "where((1-t) == 0, 0, (1-t)*log(where((1-t) == 0, 1, 1-p)))"
    assert way.value == 0.0
    # The derivative of -log(p) at 1.
    assert dict(way.gradients)["p"] == -1.0


INFINITE = ["sqrt(x)", "log(x)*0.5", "x**-0.5 - 1", "x*log(x)", "1/x - 1/x", "x/x**2"]


@pytest.mark.parametrize("source", INFINITE)
def test_nothing_is_proposed_where_the_derivative_is_infinite(source: str) -> None:
    assert found_in(source, "x=0").rewriting is None


def test_names_assigned_in_terms_of_each_other_end() -> None:
    assert found_in("a = b; b = a; sqrt(x) + b", "b=1", "x=0").rewriting is None


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
    trial = tried(Session(prepared).run(), "softplus(x)", None)
    assert trial is not None
    assert (trial.value, trial.gradients["x"]) == (200.0, 1.0)


def test_many_entries_are_looked_at_in_some_directions() -> None:
    run = ran("sqrt(sum(x**2))", "x=zeros(50)")
    trial = tried(run, "norm(x)", None)
    assert trial is not None
    assert not trial.gradients["x"].any()
