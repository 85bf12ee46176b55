"""Where a tensor lives, as PyTorch names it.

device("cuda", 0)           # device(type='cuda', index=0)
str(device("cpu"))          # 'cpu'
"""

from __future__ import annotations

KINDS = ("cpu", "cuda")
NO_META = ": there are no tensors without values here, leave the device out"


class device:
    """A kind of device, and which one of its kind.

    Args:
        type: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or a device.
        index: which one, where ``type`` does not say it.

    Raises:
        RuntimeError: no such kind, or a malformed text.
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        kind, colon, number = type.partition(":")
        if kind not in KINDS:
            raise RuntimeError(
                f"Expected one of {', '.join(KINDS)} device type at start of device "
                f"string: {kind}{NO_META if kind == 'meta' else ''}"
            )
        if colon and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = kind
        self.index = int(number) if colon else index

    @classmethod
    def named(cls, kind: str, index: int | None = None) -> device:
        """Return the device of a namespace, whatever that calls it."""
        found = object.__new__(cls)
        found.type = kind
        found.index = index
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


DeviceLike = device | str | int | None
"""Name of a device; None: the default one."""
