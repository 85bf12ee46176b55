"""The rows of a table, together where they go the same way: each as it is alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradcli.lang.compiled import Compiled, compile
from gradcli.lang.errors import ProgramError
from gradcli.large import columns as traces
from gradcli.tables import rows as together
from tests.random.generate import random_program

COUNT = 300

PROGRAMS = {
    "a loop": "y = x\nfor i in range(60): y = sin(y)*b + x\ny",
    "a branch": "x**2*b if x > 0 else -x*b",
    "branches in a loop": "y = x\nfor i in range(3): y = y*b if y > 0.1 else y + x\ny",
    "a loop as long as the row asks": "y = abs(x) + 1\n"
    "while abs(y*y - abs(x) - 1) > 1e-9: y = (y + (abs(x) + 1)/y)/2\ny*b",
    "the larger of two": "relu(x*b) + max(x, b)",
    "a norm": "norm([x, b])",
    "a polynomial": "x**2 + x*b",
    "a choice of an entry": "stack([x, b, x*b]).max(0).values*x",
    "a matrix": "A = stack([stack([x, b]), stack([b, 2 + x*x])])\n"
    "inverse(A)[0, 1] + det(A)",
    "positions": "v = stack([x, b, x + b])\nv[argmax(v)]*b + sort(v).values[1]",
    "lists of numbers beside": "outer([x, b], [1, 2]).sum()*dist([x, b], [1, 2])",
    "random numbers": "w = randn(3)\n(w*x).sum()*b + rand(1).sum()",
    "in place": "y = x*2\ny += b*x\ny*y",
    "without a gradient": "x.detach()*b",
    "a constant": "b*0 + 3",
    "an integer": "y = x\nfor i in range(int(3*abs(x)) + 1): y = y*b\ny",
}


@pytest.fixture(autouse=True)
def _few_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MAX_ROWS_TOGETHER", 150)


def columns(program: Compiled, count: int = COUNT) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    return {name: rng.uniform(-1.5, 1.5, count) for name in program.inputs}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_row_has_the_numbers_that_it_has_alone(text: str) -> None:
    program = compile(text)
    given = columns(program)
    found = program.table(given)
    assert found.single < 0.05 * COUNT
    for row in range(0, COUNT, 3):
        alone = program.grad(**{name: column[row] for name, column in given.items()})
        np.testing.assert_allclose(found.value[row], alone.value, rtol=1e-14)
        for name, g in alone.grads.items():
            np.testing.assert_allclose(found.grads[name][row], g or 0, rtol=1e-13)


def test_the_size_of_groups_changes_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = compile(PROGRAMS["a branch"])
    given, found = columns(program), []
    for entries in (1 << 20, 400):
        monkeypatch.setattr(traces, "MAX_ENTRIES", entries)
        found.append(program.table(given))
    assert len({each.value.tobytes() for each in found}) == 1


def test_rows_of_random_programs_have_the_numbers_that_they_have_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(40):
        program = random_program(seed, wild=False, dtype="float64", scalar=True)
        given, found = {}, []
        for name, value in program.inputs.items():
            given[name] = np.stack([np.asarray(value) * (1 + n / 7) for n in range(6)])
        for least in (4, 100):
            monkeypatch.setattr(together, "MIN_ROWS_TOGETHER", least)
            done = compile(program.text).at_rows(given, {}, {})
            found.append([done.value, *done.grads.values()])
        for several, alone in zip(*found, strict=True):
            np.testing.assert_allclose(several, alone, 1e-12, err_msg=program.text)


def test_a_number_that_is_read_is_that_of_its_row() -> None:
    program = compile("x.item()*b")
    given = columns(program)
    found = program.table(given)
    assert found.value.tolist() == (given["x"] * given["b"]).tolist()
    assert found.single == COUNT


def test_a_row_that_fails_fails_alone() -> None:
    program = compile("tensor([1.0, 2.0])[int(x)]*b")
    given = columns(program)
    given["x"][:] = 1
    given["x"][[5, 250]] = 2
    failed: dict[int, ProgramError] = {}
    found = program.at_rows(given, {}, failed)
    with pytest.raises(ProgramError, match="unknown name 'tahn'"):
        compile("tahn(x)").at_rows({"x": given["x"]}, {}, {})
    assert sorted(failed) == [5, 250]
    assert np.isnan(found.value).sum() == len(failed)
    assert found.grads["b"][6] == 2
    with pytest.raises(ProgramError, match="out of bounds"):
        program.table(given)


def test_rows_behind_the_first_that_fails_are_left() -> None:
    program = compile("tensor([1.0])[int(x)]*b")
    given = columns(program)
    given["x"][:] = 0
    given["x"][200:] = 1
    failed: dict[int, ProgramError] = {}
    found = program.at_rows(given, {}, failed, first=True)
    assert sorted(failed) == [200]
    assert np.isfinite(found.value[:200]).all()


def test_what_all_rows_share_may_have_many_entries() -> None:
    program = compile("(W @ stack([x, b])).pow(2).sum()")
    given = {name: each for name, each in columns(program).items() if name != "W"}
    W = np.arange(6.0).reshape(3, 2)
    found = program.table(given, W=W)
    assert found.grads["W"].shape == (COUNT, 3, 2)
    alone = program.grad(W=W, **{name: each[9] for name, each in given.items()})
    np.testing.assert_allclose(found.grads["W"][9], alone.grads["W"], rtol=1e-14)


def test_a_row_may_be_an_array() -> None:
    rng = np.random.default_rng(1)
    given = {"v": rng.normal(size=(50, 4)), "x": rng.normal(size=50)}
    for text in ("softmax(v*x, 0)[1]", "as_strided(v, [2], [1], 0).sum()*x.item()"):
        program = compile(text)
        found = program.table(given)
        alone = program.grad(v=given["v"][3].copy(), x=given["x"][3])
        np.testing.assert_allclose(found.grads["v"][3], alone.grads["v"], rtol=1e-14)
        np.testing.assert_allclose(found.value[3], alone.value, rtol=1e-14)


def test_no_rows_give_no_numbers() -> None:
    found = compile("x*b").table({"x": np.empty(0), "b": np.empty(0)})
    assert found.value.shape == found.grads["x"].shape == (0,)


PARTS = [
    "x",
    "a",
    "x*a",
    "sqrt(x)",
    "1/x",
    "log(a)",
    "x**2",
    "abs(x)",
    "x/a",
    "exp(a)",
    "relu(x)",
    "sin(x)*a",
    "max(x,a)",
    "x**a",
    "a**0.5",
    "atan2(x,a)",
    "where(x>0,sqrt(x),a)",
    "x.detach()*a",
    "floor(x)",
    "acosh(x)",
    "xlogy(x,a)",
    "hypot(x,a)",
    "v[0]",
    "v[1]*x",
    "sqrt(v)[0]",
    "(v*v).sum()",
    "norm(v)",
    "log(v)[1]",
    "v.prod()",
    "v@v",
    "softmax(v,0)[1]",
    "cumsum(v,0)[1]",
    "det([[x,a],[v[0],2]])",
    "rsqrt(a)",
    "clamp(x,0,1)",
    "([[1,a],[x,2]]@v)[0]",
    "outer(v,v)[0,1]",
    "triu([[x,a],[a,x]]).sum()",
    "cumprod(v,0)[1]",
    "gather([x,a],0,[1,0])[0]",
    "sort([x,a])[0][1]",
    "cat([v,sqrt(v)])[3]",
    "[x,1/a]@v",
]
ODD = (0.0, 0.0, 1.0, -1.0, 2.0, 0.5, np.nan, np.inf, -np.inf, 3.0, -0.0)


def odd_program(rng: random.Random, kind: str) -> str:
    if kind in ("jacobian", "value") and rng.random() < 0.7:
        count = rng.choice([2, 3, 4])
        entries = (
            rng.choice("+*-").join(rng.choices(PARTS, k=2)) for _ in range(count)
        )
        behind = f"*[{','.join(['1'] * count)}]", ".cumsum(0)", "*x", "", ""
        return f"[{', '.join(entries)}]{rng.choice(behind)}"
    joined = rng.choice("*+-").join(f"({part})" for part in rng.choices(PARTS, k=2))
    return joined


def alone(program: Compiled, kind: str, values: dict[str, Any]) -> list[Any]:
    """What the single call gives: the value, and its derivatives or None."""
    run = program.at(values).session().run()
    if kind == "grad":
        grads = run.gradients()
        return [run.output.raw, *(None if g is None else g.raw for g in grads)]
    found = [run.output.raw]
    if kind == "jacobian":
        found += [block.dense().raw for block in run.jacobian().blocks]
    elif kind == "hessian":
        found += [block.dense().raw for row in run.hessian() for block in row]
    return found


@pytest.mark.parametrize("kind", ["value", "grad", "jacobian", "hessian"])
def test_a_row_with_nan_inf_or_zero_equals_the_single_call(kind: str) -> None:
    compared = 0
    for seed in range(24):
        rng = random.Random(f"{kind} {seed}")
        program = compile(odd_program(rng, kind), wrt=() if kind == "value" else None)
        draw = lambda rng=rng: [rng.choice(ODD) for _ in range(6)]
        given = {
            name: np.stack([draw(), draw()], 1) if name == "v" else np.array(draw())
            for name in program.inputs
        }
        failed: dict[int, ProgramError] = {}
        table = program.at_rows(given, {}, failed, kind=kind)
        for row in range(6):
            values = {name: np.array(column[row]) for name, column in given.items()}
            try:
                with np.errstate(all="ignore"):
                    single = alone(program, kind, values)
            except ProgramError:
                assert row in failed or table.absent[0][row]
                continue
            together = [table.value[row], *(g[row] for g in table.grads.values())]
            for nr, (one, other) in enumerate(zip(single, together, strict=True)):
                if nr:
                    none = nr in table.absent and table.absent[nr][row]
                    assert (one is None) == bool(none)
                wanted = np.asarray(0.0 if one is None else one)
                np.testing.assert_allclose(
                    other, wanted, 1e-9, 1e-12, err_msg=f"{program.text} {values}"
                )
                compared += 1
    assert compared > 120


@pytest.mark.parametrize("mode", ["rev", "fwd"])
@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        ("[x, sqrt(x), 1/x]", {"x": 0.0}, [1, np.inf, -np.inf]),
        ("[sqrt(x), x][1]*[1, 1]", {"x": 0.0}, [1, 1]),
        ("[sin(x), log(x)].flip([0])[1]", {"x": 0.0}, 1),
        ("cat([[x], [1/x]])*[2, 3]", {"x": 0.0}, [2, -np.inf]),
        ("[[x, 1/x], [2, 3]] @ [1, 0]", {"x": 1.0}, [1, 0]),
    ],
)
def test_what_no_path_leads_to_is_no_part_of_a_derivative(
    text: str, values: dict[str, float], wanted: Any, mode: Any
) -> None:
    run = compile(text).at(values).session().run()
    with np.errstate(all="ignore"):
        (block,) = run.jacobian(mode).blocks
    np.testing.assert_array_equal(block.dense().raw, wanted)


@pytest.mark.parametrize("mode", ["rev", "fwd"])
def test_no_tangent_is_no_product(mode: Any) -> None:
    text = "acosh(y[0]**2 + 1)*[1, 1, 1, 1] + y[1]*[0, 0, 0, 2]"
    y = np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        (block,) = compile(text).at({"y": y}).session().run().jacobian(mode).blocks
    np.testing.assert_array_equal(block.dense().raw[:, 1], [0, 0, 0, 2])
    table = compile(text).at_rows({"y": np.stack([y] * 5)}, {}, {}, kind="jacobian")
    np.testing.assert_array_equal(table.grads["y"][3][:, 1], [0, 0, 0, 2])
