"""Recorded pointwise programs: the engine's own numbers, bit for bit, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradcli.lang import entries, tiles
from gradcli.lang.compiled import compile
from gradcli.lang.kernels import kernel
from gradcli.lang.kernels.needed import needed
from gradcli.lang.kernels.recorded import Results, recorded
from gradcli.lang.kernels.traced import Recording, Traced, Untraceable
from gradcli.lang.pointwise import is_elementwise
from gradcli.ops import FUNCTIONS, Op, offered
from gradcli.ops.op import overloads

COUNT = 1003

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e-40, 1e300, 1.0, -1.0]
"""Beside ordinary numbers; of the last tile too."""

NOT_RECORDED = {"remainder", "lgamma", "digamma", "mvlgamma", "airy_ai"}
"""Functions that look at entries, or take one of several results."""

PROGRAMS = {
    "(tanh(a*b + c)*exp(-a*a)).sum()": True,
    "mean((k*a + m - b)**2)": True,
    "sum(where(a > b, sin(a)*b, c/(1 + a*a)))": True,
    "h = relu(a - m)\nmean(h*c + k*k*h)": True,
    "sum(logaddexp(a, b)*sigmoid(c) - k)": True,
    "mean(a + b)": True,
    "sum(k*(m + k*a))": True,
    "sum(abs(a)**0.5 + b**2.0 + c**3 + 2**a + a**-1)": True,
    "sum(a*sign(b) + k*(a > c))": True,
    "h = relu(a - m); h *= b; mean(h*c)": False,
    "sum(lgamma(a))": False,
}
"""With arrays a, b, c and numbers k, m, and whether they are recorded."""


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "TILE_ENTRIES", (1, 300))
    monkeypatch.setattr(tiles, "MIN_ENTRIES", 500)


def plans(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each program that is to be recorded from now on, whether it was."""
    told: list[bool] = []

    def spied(*args: Any) -> Any:
        found = recorded(*args)
        told.append(found is not None)
        return found

    monkeypatch.setattr(entries, "recorded", spied)
    return told


def both(
    text: str, given: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Any]:
    """The value and the gradients by tiles, and in one piece."""
    by_tiles = compile(text, dtype=dtype).grad(**given)
    with monkeypatch.context() as patch:
        patch.setattr(tiles, "MIN_ENTRIES", 1 << 40)
        return by_tiles, compile(text, dtype=dtype).grad(**given)


def bits(x: Any) -> bytes:
    """All bits, but for those that tell one NaN from another."""
    if x is None:
        return b"None"
    found = np.asarray(x)
    return np.where(np.isnan(found), np.nan, found).astype(found.dtype).tobytes()


def agree(found: Any, whole: Any) -> None:
    assert bits(found.value) == bits(whole.value)
    for name, g in whole.grads.items():
        assert bits(found.grads[name]) == bits(g), name


def arrays(names: str, dtype: str, low: float = -3.0) -> dict[str, Any]:
    rng = np.random.default_rng(len(names))
    return {n: rng.uniform(low, 3, COUNT).astype(dtype) for n in names}


def with_special(given: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    found = {}
    for name, x in given.items():
        x = x.copy()
        at = rng.permutation(COUNT)[: 4 * len(SPECIAL)]
        with np.errstate(over="ignore"):
            x[at] = np.tile(SPECIAL, 4)
        found[name] = x
    return found


def program_of(name: str) -> tuple[str, int]:
    """A sum of an elementwise function's values, and how many arrays it is of."""
    entry = FUNCTIONS[name]
    row = entry if isinstance(entry, Op) else overloads(name)[0]
    count = len(row.partials or ()) or len(row.cases[0].inputs)
    words = list("abcd"[:count])
    words += [repr(value) for value in row.cases[0].params.values()]
    if name in ("where", "masked_fill"):
        words[0] = "a > 0"
    return f"sum({name}({', '.join(words)})*a)", count


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [n for n in offered() if is_elementwise(n)])
def test_an_elementwise_function_is_recorded_bit_for_bit(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, count = program_of(name)
    given = arrays("abcd"[:count], dtype, 0.1)
    told = plans(monkeypatch)
    if name in ("prelu", "zeta"):
        pytest.skip("its second operand is no array beside the first")
    agree(*both(text, given, dtype, monkeypatch))
    agree(*both(text, with_special(given), dtype, monkeypatch))
    assert told == [name not in NOT_RECORDED] * 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_is_recorded_bit_for_bit(
    text: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = compile(text).inputs
    given = arrays("".join(n for n in names if n in "abc"), dtype)
    numbers = {n: v for n, v in {"k": 0.7, "m": 0.3}.items() if n in names}
    told = plans(monkeypatch)
    found, whole = both(text, given | numbers, dtype, monkeypatch)
    assert told == [PROGRAMS[text]]
    if all(told):
        agree(found, whole)
        agree(*both(text, with_special(given) | numbers, dtype, monkeypatch))
