"""Functions about the GPU, under PyTorch's names: whether there is one, and how many.

CuPy computes on the GPU; no more than one GPU is used.
"""

from __future__ import annotations

from .engine.devices import cuda, synchronised, why_no_cuda
from .functions.torch_names import cuda_amp as amp
from .torch.draws import manual_seed
from .torch.draws import manual_seed as manual_seed_all

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]
__dir__ = __all__.copy
__path__: list[str] = []


def is_available() -> bool:
    """Return whether CuPy is installed and reaches a GPU."""
    return not why_no_cuda()


def device_count() -> int:
    """Return the number of GPUs that gradcli can use: 1 or 0."""
    return int(is_available())


def current_device() -> int:
    """Return the index of the GPU in use, which is 0.

    Raises:
        DeviceError: no GPU can be used.
    """
    cuda()
    return 0


def synchronize() -> None:
    """Wait until the GPU has finished all work that was started on it."""
    synchronised(cuda())
