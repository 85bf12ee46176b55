"""Whoever finds a law broken is told where, by what, and what to do."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from . import in_mpmath
from .recorded import Records, Trial, apart

RECORDS = Records("forward", {"abs-0-C": 1, "abs-1-C": 2})


def test_what_is_not_recorded_says_what_records_it() -> None:
    with pytest.raises(AssertionError, match=r"of tan-0: .*record forward`"):
        RECORDS["tan-0"]
    first, second = Trial("abs", 0, "C"), Trial("abs", 1, "C")
    many = [Trial("t", i) for i in range(8)]
    with pytest.raises(AssertionError, match=r"of t-0, .*, t-5 and 2 more: "):
        RECORDS.demand([first, second, *many])
    with pytest.raises(AssertionError, match="there is no case any more of abs-1-C: "):
        RECORDS.demand([first])
    with pytest.raises(AssertionError, match="in another order than the record: "):
        RECORDS.demand([second, first])
    RECORDS.demand([first, second])


def test_values_that_differ_are_shown_with_their_point() -> None:
    said = apart(np.array([1.0, 2.5]), np.float64(3), "the row", {"x": 2, "b": "no"})
    assert said == "[1.0, 2.5], but 3.0 by the row, at x=2, b='no'"
    assert "... (99 entries)] of shape [9, 11]" in apart(np.ones((9, 11)), 0, "it", {})


def test_a_reference_that_cancels_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(in_mpmath.BY_NAME, "plus", lambda x: x + mpmath.sqrt(x * x + 4))
    assert in_mpmath.cancels("plus", -1e280)
    assert not in_mpmath.cancels("plus", 1e280)
    assert not in_mpmath.cancels("sqrt", 1e-280)
