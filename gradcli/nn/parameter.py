"""Parameters, the tensors that a module trains, and buffers, which it keeps.

Invariant: both share their memory with the tensor they were made from, and what is
computed from them is a plain tensor; a parameter is a leaf.

    w = Parameter(torch.zeros(3))       # requires_grad is True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from ..engine import dtypes
from ..engine.creation import empty
from ..engine.modes import no_grad
from ..engine.size import Size
from ..engine.tensor import Tensor
from ..ops.types import Shape

_new = object.__new__


class Parameter(Tensor):
    """A tensor that becomes part of `Module.parameters` when assigned to a module.

    Args:
        data: what it holds; the memory is shared. None: an empty vector.
        requires_grad: whether gradients are accumulated for it.
    """

    __slots__ = ()

    def __new__(cls, data: object = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"a Parameter holds a tensor, not {type(data).__name__}: make it one "
                "with tensor(...)"
            )
        made: Parameter = _new(cls)
        made.raw, made.xp, made.edge = data._shareable(), data.xp, None
        if requires_grad:
            made.requires_grad_(True)
        return made

    def __init__(self, data: object = None, requires_grad: bool = True) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known: Parameter | None = memo.get(id(self))
        if known is None:
            with no_grad():
                known = type(self)(self.detach().clone(), self.requires_grad)
            memo[id(self)] = known
        return known

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that becomes part of `Module.buffers` when assigned to a module.

    Args:
        data: what it holds; the memory is shared. None: an empty vector.
        persistent: whether it is part of a module's state.
    """

    __slots__ = ("persistent",)

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            data = empty(0)
        made: Buffer = _new(cls)
        made.raw, made.xp, made.edge = data._shareable(), data.xp, data.edge
        made.persistent = persistent
        return made

    def __init__(self, data: object = None, *, persistent: bool = True) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        known: Buffer | None = memo.get(id(self))
        if known is None:
            copied = self.detach().clone()
            known = memo[id(self)] = type(self)(copied, persistent=self.persistent)
        return known


UNUSABLE = (
    "Attempted to use an uninitialized parameter in an operation. This error happens "
    "when you are using a `LazyModule` or explicitly manipulating "
    "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call "
    "`forward` with a dummy batch to initialize the parameters before calling torch "
    "functions"
)

SHAPELESS = (
    "Can't access the shape of an uninitialized parameter or buffer. This error "
    "usually happens in `load_state_dict` when trying to load an uninitialized "
    "parameter into an initialized one. Call `forward` to initialize the parameters "
    "before accessing their attributes."
)


class UninitializedTensorMixin(Tensor):
    """A tensor that has a dtype and a device and as yet no shape.

    What it holds stands behind ``raw``, which nothing may read: so every operation
    refuses it.
    """

    __slots__ = ()

    cls_to_become: ClassVar[type[Tensor]] = Tensor

    def __init__(self, *options: object, **others: object) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    @property
    def raw(self) -> Any:
        raise ValueError(UNUSABLE)

    @property
    def shape(self) -> Size:
        raise RuntimeError(SHAPELESS)

    @property
    def dtype(self) -> dtypes.dtype:
        return self._placeholder().dtype

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        raise ValueError(UNUSABLE)

    def _placeholder(self) -> Tensor:
        """A tensor without entries, of its dtype and on its device."""
        return Tensor(Tensor.__dict__["raw"].__get__(self), self.xp)

    def _hold(self, fresh: Tensor) -> None:
        kind = type(self)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # back below
        self.data = fresh
        self.__class__ = kind

    def follow(self, move: Callable[[Tensor], Tensor]) -> None:
        """Take the dtype and the device that ``move`` gives."""
        self._hold(move(self._placeholder()))

    def materialize(
        self, shape: Shape, device: object = None, dtype: object = None
    ) -> None:
        """Become a tensor of a shape, whose values are to be set.

        Args:
            shape: a size, or several.
            device, dtype: None: its own.
        """
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        fresh = empty(sizes, device=device or self.device, dtype=dtype or self.dtype)
        self._hold(fresh)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # for good

    def __reduce_ex__(self, protocol: object) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        if id(self) not in memo:
            kind, options = self.__reduce_ex__(None)
            memo[id(self)] = kind(*options)
        return memo[id(self)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet; see `LazyModuleMixin`."""

    __slots__ = ()

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: object = None, dtype: object = None
    ) -> UninitializedParameter:
        made = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        made.__class__ = cls
        return cast("UninitializedParameter", made)


class UninitializedBuffer(UninitializedTensorMixin):
    """A buffer whose shape is not known yet; see `LazyModuleMixin`."""

    __slots__ = ()

    def __new__(
        cls, requires_grad: bool = False, device: object = None, dtype: object = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:  # fmt: skip
        made = empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        made.__class__ = cls
        return cast("UninitializedBuffer", made)


def is_lazy(param: object) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
