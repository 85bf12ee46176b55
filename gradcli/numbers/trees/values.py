"""What is asked of trees' values.

Invariant: nothing here makes a tree.

    uniform(np.ones((2, 3)))        # True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import NUMPY
from .calls import Call
from .tree import valued


def uniform(value: Any) -> bool:
    """Whether an array holds one number at every place, or has none."""
    return isinstance(value, np.ndarray) and bool((value == first(value)).all())


def first(value: Any) -> Any:
    """An array's first entry; without entries, nothing of its kind."""
    return value.flat[0] if value.size else value.dtype.type()


def publicly(name: str, call: Call) -> Any:
    """What the public function gives for a call; None if it does not take it."""
    try:
        with np.errstate(all="ignore"):
            return NUMPY.call(name, *valued(call[0]), **valued(call[1]))
    except Exception:
        # What a row takes its public function may refuse, in any way.
        return None


def agree(value: Any, spelled: Any) -> bool:
    """Whether a function's results are those of the formula."""
    if isinstance(spelled, tuple) or isinstance(value, tuple):
        several = isinstance(spelled, tuple) and isinstance(value, tuple)
        return several and all(map(agree, value, spelled))
    ours, theirs = np.asarray(value), np.asarray(valued(spelled))
    return ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=1e-9, atol=1e-12, equal_nan=True
    )
