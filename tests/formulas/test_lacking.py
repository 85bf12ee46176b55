"""What a language lacks is written out, and every other word is one that it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradcli.formulas.programs import WantedCode
from gradcli.ops import FUNCTIONS, OPS
from gradcli.ops.op import _FIRST_ROWS, case, row
from gradcli.ops.spellings import Template, spelling

from .written import Written, same, written


@pytest.fixture
def of_ours() -> Iterator[str]:
    """A row that PyTorch has not, entered for one test."""
    row("halfplus", node="HalfplusBackward0", ours=True, cases=[case(())],
        formula="x + sqrt(x**2 + b)",
        fwd=lambda xp, x, b=4.0: x + xp.hypot(x, xp.sqrt(xp.new_full(x, (), b))),
        partials=(lambda xp, y, x, b=4.0: y / (y - x),))  # fmt: skip
    yield "halfplus"
    for table in (OPS, FUNCTIONS, _FIRST_ROWS):
        table.pop("halfplus")


def code(made: Written, language: str) -> str:
    """The gradient on arrays, without what is said of it."""
    text = "\n".join(WantedCode(made.run, language, "gradient", None).lines())
    return text.rpartition('"""')[2]


def test_a_row_that_pytorch_lacks_is_its_formula_there(of_ours: str) -> None:
    made = written(f"cos({of_ours}(x, b=9))", {"x": 4.0})
    assert f"{of_ours}(x, b=9)" in code(made, "gradcli")
    there = code(made, "torch")
    assert of_ours not in there
    assert "torch.hypot" in there


@pytest.mark.peers
def test_the_formula_is_the_row_in_pytorch(of_ours: str) -> None:
    made = written(f"sum({of_ours}(x))", {"x": [1.5, -2.0]})
    torch = pytest.importorskip("torch")
    known: dict[str, Any] = {}
    exec("\n".join(WantedCode(made.run, "torch", "gradient", None).lines()), known)
    value, gradients = known["gradient"](*map(torch.tensor, made.inputs))
    same([np.asarray(each) for each in (value, *gradients)], list(made.results))


def _named(root: Any, path: str) -> Any:
    for word in path.split("."):
        root = getattr(root, word, None)
    return root


@pytest.mark.peers
def test_every_word_for_a_row_is_one_that_pytorch_has() -> None:
    torch = pytest.importorskip("torch")
    roots = {"torch": torch, "F": torch.nn.functional, "": torch.Tensor}
    unknown = []
    for name in dict.fromkeys(op.base for op in OPS.values() if not op.ours):
        word = spelling(name).torch
        if name not in FUNCTIONS or FUNCTIONS[name].internal:
            continue
        if not isinstance(word, Template):
            root, _, path = word.removesuffix("()").partition(".")
            if not path or _named(roots[root], path) is None:
                unknown.append(f"{name}: spelled {word}, which PyTorch has not")
    assert not unknown, "spell() it in ops/spellings.py, or say ours=True in its row"
