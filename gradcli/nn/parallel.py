"""A module for several devices, of which there is one here.

net = nn.DataParallel(nn.Linear(2, 1))
net(x)                                  # net.module(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .module import Module


class DataParallel(Module):
    """Calls its module, as PyTorch's does where there is one device.

    Raises:
        ValueError: several devices are named.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[object] | None = None,
        output_device: object = None, dim: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError(
                f"device_ids={list(device_ids)}: a module runs on one device here, "
                "leave device_ids out"
            )
        self.dim = dim
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
