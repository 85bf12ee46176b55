"""Laws of every row and case: what is written of it gives its value and gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.record import apply
from gradcli.formulas.dialect import LANGUAGE, Dialect
from gradcli.formulas.libraries import HELPERS, NumPy, PyTorch
from gradcli.formulas.namespace import TreeNamespace
from gradcli.formulas.program import rows_as_calls
from gradcli.formulas.programs import Step, arranged
from gradcli.formulas.tree import FreshNames, Tree
from gradcli.lang.run import evaluate
from gradcli.ops import OPS
from tests.grouped import by_row, nightly, written_or_lacking
from tests.laws.draw import Spot, draw, ident, spots
from tests.laws.measure import cotangents, outputs_of, pull

from .programs import differs

SHARE = 5
"""One row of so many is written for libraries in every run, the others at night."""

SEVEN_DIGITS = {"digamma", "polygamma.order"}
"""Rows whose derivative PyTorch itself has to seven digits (its trigamma)."""


class Grown:
    """A row's case as trees: outputs and gradients by name, and what they must be.

    ``given`` holds the inputs by name; those that carry no gradient are written out.
    The gradients are those of the outputs' sum, or of a sum with drawn weights.
    """

    def __init__(
        self, name: str, number: int, dialect: type[Dialect], drawn: bool = True
    ) -> None:
        spot = draw(OPS[name], number)
        v = cotangents(spot, "adjoint program")
        if not drawn:
            v = [np.ones_like(c) for c in v]
        pulled = pull(spot, v)
        lacks = dialect.lacks()
        self.xp = TreeNamespace(dialect.words, draws=False, lacks=lacks)
        self.given: dict[str, Any] = {}
        leaves: dict[str, Tensor] = {}
        inputs = [self._input(spot, i, leaves) for i in range(len(spot.arrays))]
        with rows_as_calls(), np.errstate(all="ignore"):
            y = outputs_of(apply(spot.op, tuple(inputs), dict(spot.case.params)))
            found = grad(y, list(leaves.values()), [self._constant(c) for c in v])
        self.trees: list[tuple[str, Tree]] = []
        self.numbers: list[Any] = []
        for (key, leaf), g, true in zip(leaves.items(), found, pulled, strict=True):
            self._ask(f"{key}_grad", self._zeros(leaf) if g is None else g.raw, true)
        for nr, part in enumerate(outputs_of(spot.run()[1])):
            self._ask(f"y{nr}", y[nr].raw, np.asarray(part.raw))

    def _ask(self, name: str, tree: Tree, number: Any) -> None:
        self.trees.append((name, tree))
        self.numbers.append(number)

    def _input(self, spot: Spot, at: int, leaves: dict[str, Tensor]) -> Any:
        array = spot.arrays[at]
        if at in spot.free:
            name = f"x{at}"
            self.given[name] = array
            leaves[name] = Tensor(self.xp.named(name, array), self.xp, True)
            return leaves[name]
        return self._constant(array) if hasattr(array, "dtype") else array

    def _constant(self, array: Any) -> Tensor:
        return Tensor(self.xp.array(array), self.xp)

    def _zeros(self, leaf: Tensor) -> Tree:
        return self.xp.zeros_like(leaf.raw)  # type: ignore[no-any-return]

    def steps(self, dialect: Any) -> tuple[Step, ...]:
        return arranged(self.trees, {}, dialect, FreshNames(self.given))

    def text(self, dialect: Any) -> str:
        return "\n".join(f"{name} = {text}" for name, text in self.steps(dialect))


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
