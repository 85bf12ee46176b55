"""Support of `copy` and `pickle`: memory, shape, gradient and own attributes.

Invariant: tensors that share memory share it again after one pickle or one deep copy.
The result is a leaf; the graph is not copied.

    pickle.loads(pickle.dumps((x, x[0])))       # the second is a view of the first
    copy.deepcopy(x).grad                       # a copy of x.grad
"""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np

from ..engine import devices
from ..engine.dtypes import device as Device
from ..engine.errors import EngineError
from ..engine.modes import MODE
from ..engine.raw import Params, Raw
from ..engine.tensor import Tensor
from ..engine.versions import owner

Location = tuple[Any, ...]
"""The array that owns the memory, then the place of the entries in it."""

NOT_A_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
    "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
    "because of a torch.nn.utils.weight_norm usage"
)


def reduced(t: Tensor, protocol: object) -> tuple[object, ...]:
    """Return what `pickle` and `copy.copy` need to rebuild the tensor.

    Raises:
        TypeError: it holds symbols, not numbers.
    """
    if t.xp.symbolic:
        raise TypeError("a tensor of symbols is not pickled")
    location = _location(t._shareable())
    return rebuilt, (
        type(t),
        location,
        str(t.device),
        t.requires_grad,
        _user_attributes(t),
    )


def rebuilt(
    kind: type[Tensor],
    location: Location,
    device: str,
    requires_grad: bool,
    own: Params,
) -> Tensor:
    """Rebuild a tensor of a class at a location in memory, with its attributes."""
    out = object.__new__(kind)
    out.raw, out.xp, out.edge = _at(location), devices.namespace_on(device), None
    out.view_of = out.views = None
    out.requires_grad = requires_grad
    for name, value in own.items():
        setattr(out, name, value)
    return out


def deeply(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """Return a copy of a leaf and of its gradient, for `copy.deepcopy`.

    Raises:
        EngineError: the tensor is no leaf.
    """
    if not t.is_leaf:
        raise EngineError(NOT_A_LEAF)
    known: Tensor | None = memo.get(id(t))
    if known is not None:
        return known
    if t.xp.symbolic:
        return Tensor(t.xp.clone(t.raw), t.xp, t.requires_grad)
    memory, *rest = _location(t._shareable())
    copied = (copy.deepcopy(memory, memo), *rest)
    made = rebuilt(type(t), copied, str(t.device), t.requires_grad, {})
    if MODE.made is not None:
        MODE.made.note(made.raw)
    memo[id(t)] = made
    for name, value in _user_attributes(t).items():
        setattr(made, name, copy.deepcopy(value, memo))
    if t.grad is not None:
        made.grad = deeply(t.grad.detach(), memo)
    return made


def _user_attributes(t: Tensor) -> Params:
    """Return the attributes that the user or a subclass gave a tensor, by name; those
    of the engine begin with an underscore."""
    kept = {name: v for name, v in t.__dict__.items() if not name.startswith("_")}
    for kind in type(t).__mro__[:-1]:
        if issubclass(kind, Tensor) and kind is not Tensor:
            names = kind.__dict__.get("__slots__", ())
            kept |= {name: getattr(t, name) for name in names if hasattr(t, name)}
    return kept


def _location(raw: Raw) -> Location:
    """Return the array that owns the memory, and where the entries lie in it; alone an
    array of another module, or one in memory with gaps."""
    if not isinstance(raw, np.ndarray):
        return (raw,)
    memory = owner(raw)
    if not (memory.flags.c_contiguous or memory.flags.f_contiguous):
        return (raw,)
    start = raw.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return memory, start, raw.shape, raw.strides, raw.dtype.str


def _at(location: Location) -> Raw:
    """Return the array at a location in memory."""
    memory: Any
    memory, *where = location
    if not where:
        return cast("Raw", memory)
    start, shape, strides, dtype = where
    if not memory.size:
        return np.empty(shape, dtype)
    flat = memory.reshape(-1, order="A")
    return np.ndarray(shape, dtype, flat, start, strides)


class UntypedStorage:
    """The memory that a tensor and its views lie in, as bytes."""

    __slots__ = ("_raw", "_xp")

    def __init__(self, tensor: Tensor) -> None:
        self._raw, self._xp = owner(tensor._shareable()), tensor.xp

    def nbytes(self) -> int:
        """Return the size of the memory, in bytes."""
        return int(self._raw.size * self._raw.dtype.itemsize)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Return the address of the first byte; 0 if there is none."""
        return int(self._xp.address(self._raw)) if self.nbytes() else 0

    @property
    def device(self) -> Device:
        return devices.device_of(self._xp)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self._raw is other._raw

    def __hash__(self) -> int:
        return hash(id(self._raw))


def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the memory that the tensor lies in."""
    return UntypedStorage(self)
