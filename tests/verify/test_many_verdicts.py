"""Of many verdicts none is untrue; `tests.verify.verdict_trial` counts more.

Here are a seeded few of the right gradients and of the wrong rules.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradcli.engine.dtypes import default_dtype
from gradcli.verify.process.job import REFUTED

from .verdict_trial import (
    FAILED,
    REFUSED,
    SHOWN,
    WITHOUT,
    no_proofs,
    right,
    wrong,
)

RIGHT, WRONG = 60, 60


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with default_dtype("float64"), np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize(("kind", "share"), [("tame", 0.6), ("wild", 0.4)])
def test_no_right_gradient_of_a_random_program_is_refuted(
    kind: str, share: float
) -> None:
    with no_proofs():
        found = list(right(kind, range(RIGHT)))
    assert [f for f in found if f.verdict in (REFUTED, FAILED)] == []
    judged = [f for f in found if f.verdict not in (REFUSED, WITHOUT)]
    assert len(found) == RIGHT
    assert sum(f.verdict in SHOWN for f in found) >= share * len(judged) > 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_wrong_rule_is_shown_to_be_right() -> None:
    found = list(wrong(WRONG))
    assert [f for f in found if f.verdict in SHOWN] == []
    assert sum(f.verdict == REFUTED for f in found) >= 0.9 * WRONG
