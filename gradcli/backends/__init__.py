"""Switches of what PyTorch computes with, under its names.

Invariant: nothing that is set here changes a number: sums are added up in the same
order in every run.

    torch.backends.cudnn.deterministic = True
    torch.backends.mps.is_available()       # False
"""

from __future__ import annotations

from . import cuda, cudnn, mps

__all__ = ["cuda", "cudnn", "mps"]
