"""Programs run again and again, data in batches, and inputs moved downhill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import hypot, inf, isclose, sqrt
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.lang.bindings import read_bindings
from gradcli.lang.descent import Batches, DescentStep, End, ProgramDescent
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import Prepared, Session, prepare
from gradcli.optim import LBFGS, SGD, Adam

PROGRAMS = {
    "an expression": ("(w - 3)**2 + b", ["w=1", "b=2"]),
    "a loop": ("y = w\nfor i in range(4): y = y*b + i", ["w=1.5", "b=0.5"]),
    "a branch": ("if w > 1: L = w*b\nelse: L = b", ["w=1.5", "b=2"]),
    "draws": ("((w + randn(3))**2).sum() + b*rand(2).sum()", ["w=1", "b=2"]),
    "a sampled input": ("w*b", ["w=1"]),
    "a change of a variable": ("y = w*2\ny += b\ny", ["w=1", "b=3"]),
    "a mode": ("with no_grad(): c = w*b\nw*c + b", ["w=2", "b=3"]),
}


def made(source: str, *arguments: str, wrt: list[str] | None = None) -> Prepared:
    return prepare(source, read_bindings(arguments), wrt=wrt)


def leaves(prepared: Prepared) -> list[Tensor]:
    return [given.tensor for given in prepared.inputs if given.requires_grad]


def gradients(output: Tensor, inputs: list[Tensor]) -> list[float]:
    for leaf in inputs:
        leaf.grad = None
    output.backward()
    return [float(leaf.grad.raw) for leaf in inputs]  # type: ignore[union-attr]


# running again


@pytest.mark.parametrize("case", PROGRAMS)
def test_each_run_is_what_executing_the_program_is(case: str) -> None:
    source, arguments = PROGRAMS[case]
    prepared = made(source, *arguments)
    inputs = leaves(prepared)
    expected = Session(prepared).run().output
    wanted = expected.item(), gradients(expected, inputs)
    again = Session(prepared)
    for _ in range(3):
        output = again()
        assert (output.item(), gradients(output, inputs)) == wanted


def test_each_run_reads_its_inputs_anew() -> None:
    prepared = made("w**2", "w=3")
    (w,) = leaves(prepared)
    again = Session(prepared)
    assert again().item() == 9
    w.raw = np.float64(5.0)
    assert again().item() == 25


def test_a_run_that_failed_leaves_no_trace() -> None:
    prepared = made("with no_grad(): y = zeros(2) + w\n(y + w).sum()", "w=ones(2)")
    again = Session(prepared)
    again.rebind({"w": Tensor(np.ones(3), NUMPY, requires_grad=True)})
    with pytest.raises(ProgramError):
        again()
    (w,) = leaves(prepared)
    again.rebind({"w": w})
    assert again().requires_grad


# batches


def table(rows: int) -> dict[str, Tensor]:
    x = np.arange(2.0 * rows).reshape(rows, 2)
    return {"x": Tensor(x, NUMPY), "y": Tensor(10 * x[:, 0], NUMPY)}


def rounds(batches: Batches, count: int) -> list[dict[str, Any]]:
    taken = [batches.next_rows() for _ in range(count)]
    return [{name: t.raw for name, t in batch.items()} for batch in taken]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(("rows", "size"), [(10, 3), (6, 2), (4, 4), (3, 7), (1, 1)])
def test_a_round_has_every_row_once_and_rows_stay_together(
    rows: int, size: int, shuffled: bool
) -> None:
    generator = np.random.default_rng(1) if shuffled else None
    batches = Batches(table(rows), size, generator)
    count = -(-rows // size)
    for _ in range(3):
        taken = rounds(batches, count)
        y = np.concatenate([batch["y"] for batch in taken])
        x = np.concatenate([batch["x"] for batch in taken])
        assert sorted(y) == sorted(table(rows)["y"].raw)
        assert np.array_equal(y, 10 * x[:, 0])
        assert all(len(batch["y"]) <= size for batch in taken)


def test_each_round_is_shuffled_anew_by_the_seed_alone() -> None:
    def order(seed: int) -> list[float]:
        batches = Batches(table(20), 5, np.random.default_rng(seed))
        return list(np.concatenate([b["y"] for b in rounds(batches, 8)]))

    assert order(0) == order(0) != order(1)
    assert order(0)[:20] != order(0)[20:]


# going down


class Counted(Session):
    """A program that counts how often it is differentiated."""

    runs = 0
    fails: Callable[[int], None] = staticmethod(lambda run: None)

    def differentiate(self, names: Sequence[str]) -> tuple[Any, list[Any]]:
        self.runs += 1
        self.fails(self.runs)
        return super().differentiate(names)


def went(
    source: str, *arguments: str, steps: int, optimizer: Any = SGD, **options: Any
) -> tuple[End, list[DescentStep], list[Tensor], Counted]:
    fails = options.pop("fails", None)
    tolerance = options.pop("tolerance", -inf)
    prepared = made(source, *arguments)
    inputs = leaves(prepared)
    program = Counted(prepared)
    program.fails = fails or program.fails
    told: list[DescentStep] = []
    names = [given.name for given in prepared.inputs]
    make = partial(optimizer, **options)
    descent = ProgramDescent(program, make, names, on_step=told.append)
    return descent.run(steps, tolerance), told, inputs, program


@pytest.mark.parametrize("optimizer", [SGD, Adam])
def test_a_step_runs_the_program_once(optimizer: Any) -> None:
    _, _, _, program = went("w**2 + b", "w=1", "b=1", steps=7, optimizer=optimizer)
    assert program.runs == 8


def test_a_search_along_a_line_does_not_repeat_the_run_it_begins_with() -> None:
    options = {"lr": 1.0, "max_iter": 1}
    _, told, _, program = went("w**2", "w=1", steps=1, optimizer=LBFGS, **options)
    assert program.runs == 2
    assert told[-1].loss < told[0].loss


def fail_at(run: int, error: BaseException) -> Callable[[int], None]:
    def fail(number: int) -> None:
        if number == run:
            raise error

    return fail


ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "steps": ("(w - 3)**2 + (b - 1)**2", {"steps": 5, "lr": 0.1}),
    "tolerance": ("(w - 3)**2 + b**2", {"steps": 99, "lr": 0.1, "tolerance": 1.0}),
    "interrupted": (
        "(w - 3)**2 + b**2",
        {"steps": 99, "lr": 0.1, "fails": fail_at(6, KeyboardInterrupt())},
    ),
    "diverged": ("(w - 3)**4 + b**2", {"steps": 99, "lr": 2.0}),
    "still": ("(w - 3)**2 + b**2", {"steps": 99, "lr": 0.5}),
    "failed": (
        "w**2 + b**2",
        {"steps": 99, "lr": 0.1, "fails": fail_at(6, ProgramError("E399", "no"))},
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_however_it_ends_the_inputs_hold_what_the_last_loss_was_computed_at(
    case: str,
) -> None:
    source, options = ENDS[case]
    end, told, inputs, program = went(source, "w=0.5", "b=2", **options)
    assert end.stopped == ("diverged" if case == "failed" else case)
    assert end.reached is not None
    assert end.reached[1:] == told[-1][1:]
    assert (end.reached.number == 1) == (case == "still") != (end.reached == told[-1])
    program.fails = lambda run: None
    output = program()
    assert output.item() == end.reached.loss
    assert isclose(hypot(*gradients(output, inputs)), end.reached.grad_norm)


def test_a_gradient_that_runs_off_ends_it_though_the_loss_is_finite() -> None:
    end, _, _, _ = went("sqrt(w)", "w=0", steps=5)
    assert (end.reached, end.stopped) == (None, "diverged")
    assert isinstance(end.lost, DescentStep)
    assert (end.lost.loss, end.lost.grad_norm) == (0.0, inf)


def test_the_gradient_s_length_does_not_overflow() -> None:
    end, _, _, _ = went("1e200*w + 1e200*b", "w=0", "b=0", steps=0)
    assert end.reached is not None
    assert isclose(end.reached.grad_norm, sqrt(2) * 1e200)


def test_with_batches_the_last_loss_is_that_of_all_rows() -> None:
    prepared = made("((w - x)**2).mean()", "w=0", "x=[1,2,3,10]", wrt=["w"])
    x = prepared.inputs[1].tensor
    told: list[DescentStep] = []
    make = partial(SGD, lr=0.0)
    descent = ProgramDescent(
        Session(prepared), make, ["w"], Batches({"x": x}, 2), told.append
    )
    end = descent.run(4)
    assert [step.loss for step in told] == [2.5, 54.5, 2.5, 54.5, 28.5]
    assert end.reached == told[-1]
