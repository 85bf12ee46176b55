"""The switches of matrix products on a GPU: they may be set, and change nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Final

from ..cuda import is_available

matmul: Final = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True
)
"""Whether products might round their operands to fewer digits."""


def is_built() -> bool:
    """Whether tensors may lie on a GPU."""
    return is_available()
