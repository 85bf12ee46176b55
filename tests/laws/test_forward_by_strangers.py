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
from gradcli.ops import OPS, parameters
from tests.grouped import by_row

from .forward import AT, arrays_of, differs, ours, settled
from .in_mpmath import BY_NAME, DIGITS, cancels, value
from .own import OWN
from .recorded import Records, apart

RECORDED = Records("forward")

ULPS = 4
"""What a function of one number may be off by, in units in the last place, for each
unit that its argument's rounding moves it."""

GRID = np.concatenate([
    10.0 ** np.arange(-280, 281, 40),
    np.geomspace(1e-6, 600.0, 61),
    np.arange(1, 17) / 16,
])  # fmt: skip


@by_row("at", RECORDED.told, str)
def test_forward_is_what_pytorch_recorded(at: str) -> None:
    arrays = ours(AT[at])
    found, true = settled(at, arrays), settled(at, arrays_of(RECORDED[at]))
    assert not differs(found, true), apart(found, true, "PyTorch", point(at))
    # One that is off by 1e-9 would be seen.
    wrong = [spoilt(array) for array in arrays]
    assert differs(wrong, arrays_of(RECORDED[at])) or not any(a.size for a in wrong)


def point(at: str) -> dict[str, Any]:
    """The inputs and the parameters of a case, by name."""
    trial = AT[at]
    inputs = zip(parameters(trial.entry), trial.arrays(), strict=False)
    return {**dict(inputs), **trial.params}


def test_every_case_of_a_row_is_recorded() -> None:
    RECORDED.demand(AT.values())
    assert not OWN.keys() - {trial.name for trial in AT.values()}
    left_out = {AT[at].name for at, seen in RECORDED.items() if seen is None}
    assert left_out <= OWN.keys()


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
    most = max(ULPS, said / 2)
    worst, at = max(found)
    assert worst <= most, (
        f"{name}({at!r}) is {worst:.3g} units in the last place off what mpmath gives, "
        f"more than {most:g}: "
        + (
            f"the formula in tests/laws/in_mpmath.py cancels there, and is wrong to "
            f"{DIGITS} digits; write it so that nothing cancels"
            if cancels(name, at)
            else "the row's formula loses digits there; `roundings` in the row says "
            "how many units are meant to be lost"
        )
    )


def spoilt(array: Any) -> Any:
    """An array of numbers off by a part in 10**9; a truth or a position, by one."""
    if array.dtype.kind == "f":
        return array * (1 + 1e-9) + 7e-10
    return ~array if array.dtype.kind == "b" else array + 1


def test_draws_are_those_of_the_record() -> None:
    (x,) = AT["neg-0"].arrays()
    np.testing.assert_array_equal(-x, arrays_of(RECORDED["neg-0"])[0])
