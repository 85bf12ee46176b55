"""How entries lie in memory: at steps, as every tensor's do here.

torch.zeros(2, layout=torch.strided).layout     # torch.strided
"""

from __future__ import annotations


class layout:
    """A way to lie in memory; ``strided`` is the one there is."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = layout("strided")
"""Entries at fixed steps along each dimension."""
