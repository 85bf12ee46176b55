"""Functions of what a mask keeps: `gradcli.masked.sum(x, 1, mask=x > 0)`."""

from __future__ import annotations

import sys

from .engine.public import Members, masked


class _Masked(Members):
    known = masked()


sys.modules[__name__].__class__ = _Masked
