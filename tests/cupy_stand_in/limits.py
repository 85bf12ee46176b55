"""What a device refuses for want of memory: its own, or the compiler's.

Invariant: arrays that are alive take no more than the pool's limit; where the process
has a limit on its address space, no kernel is compiled, as by CUDA's compiler.
"""

from __future__ import annotations

from typing import Any

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


class CompileException(Exception):
    """The error of a kernel that cannot be compiled."""


class OutOfMemoryError(MemoryError):
    """The error of an array for which the device has no memory."""


class MemoryPool:
    """The device's memory, in bytes; a limit of 0 is none."""

    def __init__(self) -> None:
        self._limit = self._used = 0

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        self._limit = size or 0

    def get_limit(self) -> int:
        return self._limit

    def used_bytes(self) -> int:
        return self._used

    def free_all_blocks(self, stream: Any = None) -> None:
        """Give back memory that no array has, of which there is none."""


POOL = MemoryPool()


def allocated(size: int) -> None:
    """Count the memory of a new array."""
    if POOL._limit and POOL._used + size > POOL._limit:
        raise OutOfMemoryError(
            f"Out of memory allocating {size:,} bytes (allocated so far: "
            f"{POOL._used:,} bytes, limit set to: {POOL._limit:,} bytes)."
        )
    POOL._used += size


def freed(size: int) -> None:
    """Count the memory of an array that is no more."""
    POOL._used -= size


def compiled() -> None:
    """Compile a kernel, where the address space of the process has no limit."""
    if resource is None:
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        if resource.getrlimit(kind)[0] != resource.RLIM_INFINITY:
            raise CompileException("catastrophic error: out of memory")
