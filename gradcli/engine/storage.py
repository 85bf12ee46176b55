"""The memory that a tensor and its views lie in, as bytes.

Invariant: a storage holds no entries of its own; two are equal exactly if they are the
same memory.

    x.untyped_storage().nbytes()         # 4 * x.numel(), for a tensor that is no view
"""

from __future__ import annotations

from collections.abc import Iterator

from . import devices
from .device import device as Device
from .raw import Raw
from .tensor import Tensor
from .versions import owner


class UntypedStorage:
    """The bytes of a tensor's memory, its views' included."""

    __slots__ = ("_raw", "_xp")

    def __init__(self, tensor: Tensor) -> None:
        self._raw, self._xp = owner(tensor._shareable()), tensor.xp

    def nbytes(self) -> int:
        """Return how many bytes it has."""
        return int(self._raw.size * self._raw.dtype.itemsize)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Return the address of its first byte; 0 if it has none."""
        return int(self._xp.address(self._raw)) if self.nbytes() else 0

    def element_size(self) -> int:
        """Return 1: its elements are bytes."""
        return 1

    def is_shared(self) -> bool:
        """Return False: no other process sees it."""
        return False

    @property
    def device(self) -> Device:
        return devices.device_of(self._xp)

    def tolist(self) -> list[int]:
        """Return its bytes as numbers."""
        found: list[int] = self._bytes().tolist()
        return found

    def __getitem__(self, index: int) -> int:
        return int(self._bytes()[index])

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def _bytes(self) -> Raw:
        return self._raw.ravel("K").view("uint8")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self._raw is other._raw

    def __hash__(self) -> int:
        return hash(id(self._raw))


def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the memory that the tensor lies in."""
    return UntypedStorage(self)
