"""Special functions, under PyTorch's names: `gradcli.special.expit(x)`."""

from __future__ import annotations

import sys

from .torch.public import Members, special

known = special()
sys.modules[__name__].__class__ = Members
