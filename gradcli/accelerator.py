"""Functions about the accelerator, which is the GPU, under PyTorch's names.

device = torch.accelerator.current_accelerator() or "cpu"
"""

from __future__ import annotations

from .cuda import current_device as current_device_index
from .cuda import device_count, is_available, synchronize
from .engine.dtypes import device


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the device ``cuda`` if there is a GPU, else None."""
    return device("cuda") if is_available() else None


__all__ = [
    "current_accelerator", "current_device_index", "device_count", "is_available",
    "synchronize",
]  # fmt: skip
__dir__ = __all__.copy
