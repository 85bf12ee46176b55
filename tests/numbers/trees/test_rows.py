"""Laws of every row and case: what is written of it gives its value and gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.lang.run import evaluate
from gradcli.render.code.dialect import LANGUAGE
from gradcli.render.code.libraries import HELPERS, NumPy, PyTorch
from tests.grouped import by_row, nightly, written_or_lacking
from tests.laws.draw import ident, spots

from .rows import Grown, differs

SHARE = 5
"""One row of so many is written for libraries in every run, the others at night."""

SEVEN_DIGITS = {"digamma", "polygamma.order"}
"""Rows whose derivative PyTorch itself has to seven digits (its trigamma)."""


@pytest.mark.parametrize("drawn", [True, *nightly([False])], ids=["weighed", "sum"])
@by_row("spot", spots(), ident)
def test_language_gives_the_rows_value_and_gradient(
    spot: tuple[str, int], drawn: bool
) -> None:
    grown = Grown(*spot, type(LANGUAGE), drawn=drawn)
    text = grown.text(LANGUAGE)
    given = {name: Tensor(np.asarray(a), NUMPY) for name, a in grown.given.items()}
    for (name, _), true in zip(grown.trees, grown.numbers, strict=True):
        found, _, _ = evaluate(text, given, of=name)
        assert not differs(found.raw, true), f"{name} of\n{text}"


@by_row("spot", spots(), ident, share=SHARE)
def test_numpy_gives_the_rows_value_and_gradient(spot: tuple[str, int]) -> None:
    from scipy import special

    grown = Grown(*spot, NumPy)
    text = written_or_lacking(lambda: grown.text(NumPy()), "numpy")
    if text is None:
        return
    scope: dict[str, Any] = {"np": np, "special": special, **grown.given}
    with np.errstate(all="ignore"):
        exec("\n".join([*HELPERS.values(), text]), scope)
    for (name, _), true in zip(grown.trees, grown.numbers, strict=True):
        assert not differs(scope[name], true), f"{name} of\n{text}"


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@by_row("spot", spots(), ident, share=SHARE)
def test_torch_gives_the_rows_value_and_gradient(
    spot: tuple[str, int], torch: Any
) -> None:
    grown = Grown(*spot, PyTorch)
    assert grown.given, "nothing is differentiated"
    dialect = PyTorch(next(iter(grown.given)))
    text = written_or_lacking(lambda: grown.text(dialect), "torch")
    if text is None:
        return
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    scope |= {name: torch.tensor(a) for name, a in grown.given.items()}
    exec(text, scope)
    for (name, _), true in zip(grown.trees, grown.numbers, strict=True):
        tolerance = 1e-7 if spot[0] in SEVEN_DIGITS else 1e-12
        assert not differs(scope[name], true, tolerance), f"{name} of\n{text}"
