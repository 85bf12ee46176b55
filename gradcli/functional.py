"""Functions of tensors under PyTorch's path ``torch.functional``.

Invariant: this module defines no function; each name is the package's own function.

    functional.einsum is gradcli.einsum
"""

from __future__ import annotations

from typing import Any

from .torch.absent import absent
from .torch.public import is_public, names, public
from .torch.queries import broadcast_shapes, unique

__all__ = ["broadcast_shapes", "unique"]


def __getattr__(name: str) -> Any:
    if not is_public(name):
        raise absent(__name__, name, __dir__())
    return public(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *names()})
