"""Every forward formula is what PyTorch records, and what mpmath gives in many digits.

The checker runs the same forward formulas as the engine, so that a wrong one would be
proved to be right: only a comparison with somebody else's finds it.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.engine.record import apply
from gradcli.ops import OPS
from tests.grouped import by_row

from .forward import AT, arrays, differs, ours, recorded, settled
from .in_mpmath import BY_NAME, DIGITS, value

RECORDED = recorded()

OWN_ROWS = 20
"""Rows that PyTorch has no function for; `in_torch.OWN` says what each of them is."""

ULPS = 4
"""What a function of one number may be off by, in units in the last place, for each
unit that its argument's rounding moves it."""

GRID = np.concatenate([
    10.0 ** np.arange(-280, 281, 40),
    np.geomspace(1e-6, 600.0, 61),
    np.arange(1, 17) / 16,
])  # fmt: skip


@by_row("at", RECORDED, str)
def test_forward_is_what_pytorch_recorded(at: str) -> None:
    assert not differs(settled(at, ours(*AT[at])), settled(at, RECORDED[at]))


def test_every_case_of_a_row_that_pytorch_has_is_recorded() -> None:
    missing = {AT[at][0].name for at in set(AT) - set(RECORDED)}
    assert len(missing) <= OWN_ROWS, (
        f"run python -m tests.laws.record_forward for {sorted(missing)}"
    )
    assert not set(RECORDED) - set(AT)


@pytest.mark.peers
def test_the_rows_without_a_record_are_those_that_pytorch_lacks() -> None:
    pytest.importorskip("torch")
    from .in_torch import OWN

    assert {AT[at][0].name for at in set(AT) - set(RECORDED)} == set(OWN)


def errors(name: str, found: Any) -> list[tuple[float, float]]:
    """The error at each point, with the point.

    The unit is one in the last place of the true value, plus what one in the last place
    of the argument makes of it: ``1 + |x f'(x) / f(x)|`` (Higham, Accuracy and
    Stability of Numerical Algorithms, 1.6).
    """
    with mpmath.workdps(DIGITS):
        pairs = zip(np.concatenate([GRID, -GRID]), found, strict=True)
        return [
            (float(abs(mpmath.mpf(float(y)) - true) / unit(name, float(x), true)), x)
            for x, y in pairs
            if (true := value(name, float(x))) is not None and is_normal(true)
        ]


def unit(name: str, x: float, true: Any) -> Any:
    moved = value(name, float(np.nextafter(x, 0)))
    return np.spacing(abs(float(true))) + (0 if moved is None else abs(moved - true))


def is_normal(number: Any) -> bool:
    return number == 0 or np.finfo(float).tiny <= abs(number) <= np.finfo(float).max


@pytest.mark.parametrize("name", list(BY_NAME))
def test_function_of_one_number_is_right_to_the_last_places(name: str) -> None:
    points = np.concatenate([GRID, -GRID])
    with np.errstate(all="ignore"):
        y = apply(OPS[name], (Tensor(points, NUMPY),), {}).raw
    found = errors(name, y)
    assert len(found) >= len(GRID) // 6
    said = OPS[name].roundings or 0
    assert max(found) <= (max(ULPS, said / 2), np.inf)


def spoilt(array: Any) -> Any:
    """An array of numbers off by a part in 10**9; a truth or a position, by one."""
    if array.dtype.kind == "f":
        return array * (1 + 1e-9) + 7e-10
    return ~array if array.dtype.kind == "b" else array + 1


@by_row("at", RECORDED, str)
def test_a_forward_formula_that_is_off_by_1e_9_is_found(at: str) -> None:
    wrong = [spoilt(array) for array in ours(*AT[at])]
    assert differs(wrong, RECORDED[at]) or not any(a.size for a in wrong)


def test_draws_are_those_of_the_record() -> None:
    (x,) = arrays(*AT["neg-0"])
    np.testing.assert_array_equal(-x, RECORDED["neg-0"][0])
