"""Options that say what is asked: orders, shapes, values on the way, quiet answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradcli.cli import app, checking


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command line in this process: status, output, errors."""

    def ran(*args: str) -> tuple[int, str, str]:
        status = app.run(list(args))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return ran


def test_a_third_derivative_is_certified(run: Any) -> None:
    status, out, _ = run("grad", "y = x^4 + e^z", "x=2", "z=0", "--order", "3")
    assert status == 0
    assert "d3y/dx3 = 48.0\n" in out
    assert "d3y/dz3 = 1.0\n" in out
    assert "certified: 2 of 2 derivatives" in out


def test_a_derivative_of_an_order_as_json(run: Any) -> None:
    _, out, _ = run("grad", "sin(x)", "x=0", "--order", "5", "--json")
    (given,) = json.loads(out)["inputs"]
    assert (given["derivative"], given["verdict"]) == (1.0, "certified")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("x.sum()", "x=[1, 2]"), "x has shape [2]"),
        (("[x, x]", "x=1"), "grad can be implicitly created only for scalar"),
        (("x^2", "x=1", "--symbolic"), "without --symbolic"),
        (("x^2", "x=1", "--digits", "9"), "without --digits"),
    ],
)
def test_an_order_is_of_numbers_and_alone(
    run: Any, args: tuple[str, ...], told: str
) -> None:
    status, out, err = run("grad", *args, "--order", "2")
    assert status in (2, 3)
    assert out == ""
    assert told in err


def test_a_derivative_that_is_not_there_is_zero(run: Any) -> None:
    assert run("grad", "x^2 + z", "x=1", "z=1", "--order", "3", "-q")[1] == "0.0\n0.0\n"


@pytest.mark.parametrize("command", ["grad", "value", "graph", "paths", "explain"])
def test_an_input_without_a_value_has_the_shape_asked_for(
    run: Any, command: str
) -> None:
    words = ("sum(A@x)", "--shape", "A=2x3", "--shape", "x=(3,)", "--no-verify")
    status, _, err = run(command, *words)
    assert status == 0
    assert "A, x: sampled" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--shape", "y=3"), "no input is called 'y'"),
        (("--shape", "x=3"), "'x' has a value, and so a shape"),
        (("--shape", "x=a"), "this is not a shape"),
    ],
)
def test_a_shape_that_does_not_fit_is_refused(
    run: Any, words: tuple[str, ...], told: str
) -> None:
    status, _, err = run("grad", "x^2", "x=1", *words, "--no-verify")
    assert status == 2
    assert told in err


MIDWAY = ("h = x*w; k = h + 1; y = h*k", "x=2", "w=3", "--no-verify")


def test_a_value_on_the_way_can_be_differentiated_by(run: Any) -> None:
    status, out, err = run("grad", *MIDWAY, "--wrt", "h", "-q")
    assert (status, out) == (0, "13.0\n")
    assert "h stands for its value: what made it, h = x*w, is left out" in err


@pytest.mark.parametrize(
    ("program", "wrt", "told"),
    [
        ("h = x; y = h*x", "h,x", "ask for it by itself: --wrt h"),
        ("h = x; h = h*x; y = h", "h", "several times"),
        ("if x > 0: h = x\ny = h", "h", "in a block"),
        ("y = x^2", "y", "or last"),
        ("h = x; y = x^2", "h", "nothing depends on 'h'"),
    ],
)
def test_a_value_on_the_way_has_one_place(
    run: Any, program: str, wrt: str, told: str
) -> None:
    status, _, err = run("grad", program, "x=2", "--wrt", wrt, "--no-verify")
    assert status == 2
    assert told in err


def test_the_version_has_a_short_option(run: Any) -> None:
    assert run("-V") == run("--version")


def no_check() -> None:
    raise AssertionError("a checking process was started")


@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_nothing_is_checked_that_is_not_shown(
    run: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_start", no_check)
    status, out, _ = run(command, "x^3", "x=2", "-q")
    assert status == 0
    assert float(out.strip("[]\n")) == 12.0


@pytest.mark.parametrize("more", [("--require", "certified"), ("--json",)])
def test_what_is_asked_of_the_check_is_waited_for(
    run: Any, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_start", no_check)
    with pytest.raises(AssertionError, match="checking process"):
        raise_of(run, "grad", "x^3", "x=2", "-q", *more, "--debug")


def raise_of(run: Any, *args: str) -> None:
    status, _, err = run(*args)
    assert status == 70
    raise AssertionError(err.splitlines()[-2])


def test_quiet_formulas_are_the_formulas_alone(run: Any) -> None:
    patient = ("-q", "--symbolic", "--verify-seconds", "600")
    assert run("grad", "sin(x²)", "x=2", *patient)[1] == "2*x*cos(x**2)\n"
    named = run("grad", "x²*y", "x=2", "y=1", *patient)[1]
    assert named == "d/dx = 2*x*y\nd/dy = x**2\n"


def test_a_false_claim_is_answered_with_the_derivative(run: Any) -> None:
    claims = ("--claim", "dy/dx = 3x^5 - sin(x)", "--claim", "d³y/dx³ = e^x")
    status, out, _ = run("check", "y = e^x", *claims, "--verify-seconds", "600")
    assert status == 1
    assert "no simple cause was found\n  the derivative is exp(x)\n" in out
    assert "d³y/dx³ = e^x  proved" in out


def test_a_value_is_not_differentiated_by_anything(run: Any) -> None:
    status, _, err = run("value", "x^2", "x=1", "--wrt", "x")
    assert status == 2
    assert "--wrt does nothing: gradcli value has no derivatives" in err


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("x*1", "x=2 sin 1"), "write x=2 sin(1)"),
        (("x*1", "x=e x"), "write x=e*x"),
    ],
)
def test_a_value_is_put_right_as_an_argument(
    run: Any, args: tuple[str, ...], line: str
) -> None:
    assert line in run("grad", *args)[2]


def test_a_claim_is_put_right_as_a_whole(run: Any) -> None:
    status, _, err = run("check", "y = x*e", "--claim", "dy/dx = 2 sin x")
    assert status == 3
    assert "to call it, write dy/dx = 2 sin(x)" in err


def test_a_claim_tells_how_it_was_read(run: Any) -> None:
    claim = ("--claim", "dy/dx = 1/2x", "--verify-seconds", "600")
    status, out, err = run("check", "y = x²/4", *claim)
    assert status == 0
    assert "proved" in out
    assert "note: 1/2x is read as (1/2)*x" in err
