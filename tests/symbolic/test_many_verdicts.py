"""Of many verdicts none is untrue; `tests.symbolic.verdict_trial` counts more.

Here are a seeded few of the right gradients and of the wrong rules.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradcli.engine.dtypes import default_dtype
from gradcli.symbolic.job import REFUTED

from .verdict_trial import SHOWN, right, wrong

RIGHT, WRONG = 20, 60


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with default_dtype("float64"), np.errstate(all="ignore"):
        yield


def test_no_right_gradient_of_a_random_program_is_refuted() -> None:
    found = list(right("smooth", range(RIGHT)))
    assert [f for f in found if f.verdict == REFUTED] == []
    assert sum(f.verdict in SHOWN for f in found) >= 0.9 * len(found) > 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_wrong_rule_is_shown_to_be_right() -> None:
    found = list(wrong(WRONG))
    assert [f for f in found if f.verdict in SHOWN] == []
    assert sum(f.verdict == REFUTED for f in found) >= 0.9 * WRONG
