"""Special functions, under PyTorch's names: `gradcli.special.expit(x)`."""

from __future__ import annotations

import sys

from .engine.public import Members, special


class _Special(Members):
    known = special()


sys.modules[__name__].__class__ = _Special
