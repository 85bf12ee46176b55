"""Functions of linear algebra, under PyTorch's names: `gradcli.linalg.solve(a, b)`."""

from __future__ import annotations

import sys

from .torch.public import Members, linalg

known = linalg()
sys.modules[__name__].__class__ = Members
