"""The switches of cuDNN, which is not used: they may be set, and change nothing."""

from __future__ import annotations

enabled = True
"""Whether it would be used where it is."""

benchmark = False
"""Whether the fastest of its algorithms would be looked for."""

deterministic = False
"""Whether only those would be taken that always add up in one order."""

allow_tf32 = True
"""Whether it might round operands to fewer digits."""


def is_available() -> bool:
    """Whether cuDNN is used: no."""
    return False


def version() -> int | None:
    """Its version; None, as it is not used."""
    return None
