"""A step as a call that writes into memory that is there.

Invariant: what is written is what the step gives, to the last bit.

    into(step)(x, y, out=memory)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.choosing import chosen
from gradcli.lang.kernels.traced import Cast, Function, Step


def into(step: Step) -> Function:
    """The step's function, which takes memory for its result as ``out``."""
    function, options = step.function, dict(step.options)
    if isinstance(function, np.ufunc):
        return partial(function, **options) if options else function
    if isinstance(function, Cast):
        return copied
    if function is np.where and len(step.operands) == 3:
        return _choose

    def run(*operands: Any, out: Any) -> None:
        out[...] = function(*operands, **options)

    return run


def copied(x: Any, *, out: Any) -> None:
    """Write entries as they are, or in another type."""
    np.copyto(out, x, casting="unsafe")


def _choose(mask: Any, a: Any, b: Any, *, out: Any) -> None:
    """Write `a` where the mask is true and `b` elsewhere."""
    if chosen(np, mask, a, b, out) is None:
        np.copyto(out, b)
        np.copyto(out, a, where=mask)
