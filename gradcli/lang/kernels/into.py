"""A step as a call that writes into memory that is there.

Invariant: what is written is what the step gives, to the last bit.

    into(step)(x, y, out=memory)
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gradcli.engine.choosing import chosen
from gradcli.engine.raw import Host, Raw
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

    def run(*operands: Raw, out: Host) -> Host:
        out[...] = function(*operands, **options)
        return out

    return run


def copied(x: Raw, *, out: Host) -> Host:
    """Write entries as they are, or in another type."""
    np.copyto(out, x, casting="unsafe")
    return out


def _choose(mask: Raw, a: Raw, b: Raw, *, out: Host) -> Host:
    """Write `a` where the mask is true and `b` elsewhere."""
    if not np.ndim(mask) or chosen(np, mask, a, b, out) is None:
        np.copyto(out, b)
        np.copyto(out, a, where=mask)
    return out
