"""A row's value and gradient on trees, beside the same on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.engine.record import apply
from gradcli.numbers.trees.namespace import TreeNamespace
from gradcli.numbers.trees.program import rows_as_calls
from gradcli.numbers.trees.tree import Names, Tree
from gradcli.ops import OPS
from gradcli.render.code.dialect import Dialect
from gradcli.render.code.programs import Step, arranged
from tests.laws.draw import Spot, draw
from tests.laws.measure import cotangents, outputs_of, pull


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
        return arranged(self.trees, {}, dialect, Names(self.given))

    def text(self, dialect: Any) -> str:
        return "\n".join(f"{name} = {text}" for name, text in self.steps(dialect))


def differs(found: Any, true: Any, tolerance: float = 1e-12) -> bool:
    """Whether numbers differ by more than rounding, or in shape."""
    found, true = np.asarray(found), np.asarray(true)
    return found.shape != true.shape or not np.allclose(
        found, true, rtol=tolerance, atol=tolerance, equal_nan=True
    )
