"""Whether there is a GPU of Apple's to compute on."""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors may lie on such a GPU: no."""
    return False


def is_built() -> bool:
    """Whether there is code for such a GPU: no."""
    return False
