"""Number types, devices and shapes as PyTorch shows them; the type of new floats.

Invariant: there is one object per type, so types compare by identity; an array's own
type is found by its kind and width, in every number system.

    float32.is_floating_point       # True
    of(array)                       # torch.float64
    device("cuda", 0)               # device(type='cuda', index=0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from operator import index as as_index
from typing import Any, SupportsIndex

from ..ops.checks import check_size
from .errors import EngineError
from .raw import Raw


class dtype:
    """The type of a tensor's entries.

    ``name`` is NumPy's name of it too; ``code`` is its kind and its width in bytes;
    ``legacy`` is the name of PyTorch's old class of tensors of this type.
    """

    __slots__ = ("code", "itemsize", "legacy", "name")

    def __init__(self, name: str, code: str, legacy: str) -> None:
        self.name = name
        self.code = code
        # Entries that are Python objects, such as symbols, have no width.
        self.itemsize = int(code[1:] or 0)
        self.legacy = legacy

    @property
    def is_floating_point(self) -> bool:
        return self.code[0] == "f"

    @property
    def is_complex(self) -> bool:
        return self.code[0] == "c"

    @property
    def is_signed(self) -> bool:
        return self.code[0] in "fic"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name if self.name != "bool" else "bool_"


float16 = dtype("float16", "f2", "Half")
float32 = dtype("float32", "f4", "Float")
float64 = dtype("float64", "f8", "Double")
int8 = dtype("int8", "i1", "Char")
int16 = dtype("int16", "i2", "Short")
int32 = dtype("int32", "i4", "Int")
int64 = dtype("int64", "i8", "Long")
uint8 = dtype("uint8", "u1", "Byte")
bool_ = dtype("bool", "b1", "Bool")

ALL = (float16, float32, float64, int8, int16, int32, int64, uint8, bool_)

_BY_CODE = {each.code: each for each in ALL}
_BY_NAME = {each.name: each for each in ALL}
_FLOATS = (float16, float32, float64)


class _Default:
    """The default type of floats, and NumPy's name of it."""

    __slots__ = ("dtype", "name")

    def __init__(self, chosen: dtype) -> None:
        self.set(chosen)

    def set(self, chosen: dtype) -> None:
        self.dtype = chosen
        self.name = chosen.name


DEFAULT = _Default(float32)


def get_default_dtype() -> dtype:
    """Return the type that new tensors of floats get."""
    return DEFAULT.dtype


def set_default_dtype(d: dtype) -> None:
    """Choose the type that new tensors of floats get.

    Raises:
        TypeError: the type is none of floats.
    """
    if d not in _FLOATS:
        raise TypeError(
            f"only floating-point types are supported as the default type, not {d}"
        )
    DEFAULT.set(d)


@contextmanager
def default_dtype(name: str) -> Iterator[None]:
    """Run a block in which the default type of floats is the one of this name."""
    before = DEFAULT.dtype
    DEFAULT.set(_BY_NAME[name])
    try:
        yield
    finally:
        DEFAULT.set(before)


@contextmanager
def formulas_of(name: str) -> Iterator[None]:
    """Run a block in which tensors of formulas or balls report the type of this name,
    so that a function that asks for the type does what it does on numbers."""
    before = _BY_CODE.pop("O", None)
    _BY_CODE["O"] = _BY_NAME[name]
    try:
        yield
    finally:
        del _BY_CODE["O"]
        if before is not None:
            _BY_CODE["O"] = before


def of(raw: Raw) -> dtype:
    """Return the type of an array's entries."""
    code = raw.dtype.str[1:]
    found = _BY_CODE.get(code)
    if found is None:
        found = _BY_CODE[code] = dtype(raw.dtype.name, code, raw.dtype.name)
    return found


def named(name: str) -> dtype:
    """Return the type of a name, which is NumPy's too."""
    return _BY_NAME[name]


_BY_CLASS = {float: float64, int: int64, bool: bool_}
"""Types by the Python classes that name them; Python's float is a double."""


def no_type(given: object, message: str) -> Exception:
    """Return the error for what is no type: a placeholder's own, which says why gradcli
    lacks the type that it stands for, or else a `TypeError`."""
    refused = getattr(type(given), "refused", None)
    return TypeError(message) if refused is None else refused(given)


def to_dtype(given: object, name: str = "") -> dtype:
    """Return the type that an argument of the function ``name`` gives.

    Raises:
        TypeError: the argument is neither a type nor a Python class of numbers.
    """
    if isinstance(given, dtype):
        return given
    found = _BY_CLASS.get(given) if isinstance(given, type) else None
    if found is None:
        what = f"{name}(): argument 'dtype'" if name else "dtype"
        raise no_type(given, f"{what} must be torch.dtype, not {type(given).__name__}")
    return found


KINDS = ("cpu", "cuda")
NO_META = ": there are no tensors without values here, leave the device out"


class device:
    """A device: its kind, and its number among those of the kind.

    Args:
        type: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or a device.
        index: the number, where ``type`` does not hold it.

    Raises:
        RuntimeError: the kind is unknown, or the text is malformed.
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
        """Return a device of any kind, also of one that users cannot name."""
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


class layout:
    """A layout of entries in memory; ``strided`` is the only one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = layout("strided")
"""Layout of entries at fixed steps along each dimension."""

DeviceLike = device | str | int | None
"""Name of a device; None: the default one."""


class Size(tuple[int, ...]):
    """The sizes of a tensor's dimensions."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[object] = ()) -> Size:
        made = tuple.__new__(cls, sizes)
        for index, n in enumerate(made):
            if not hasattr(n, "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {index} is "
                    f"'{type(n).__name__}')"
                )
        return made

    def numel(self) -> int:
        """Return how many entries a tensor of this shape has."""
        return prod(self)

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if isinstance(at, slice):
            return tuple.__new__(Size, tuple.__getitem__(self, at))
        return tuple.__getitem__(self, at)

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    __str__ = __repr__


def sizes_of(size: Sequence[Any], name: str) -> tuple[int, ...]:
    """Return the shape that the arguments of the function ``name`` give.

    Raises:
        TypeError: a size is no integer.
        EngineError: a size is negative.
        LimitError: a tensor of this shape would be too large.
    """
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = size[0]
    sizes = []
    for nr, n in enumerate(size):
        try:
            sizes.append(as_index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'size' (position {nr + 1}) must be tuple of "
                f"ints, not {type(n).__name__}"
            ) from None
    if any(n < 0 for n in sizes):
        raise EngineError(f"{name}: Dimension size must be non-negative.")
    check_size(sizes)
    return tuple(sizes)
