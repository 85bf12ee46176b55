"""The class of tensors: an array, its namespace, and the edge of its gradient.

Invariant: only ``edge`` says what a tensor is in the graph: None (needs no gradient),
an `AccumulateGrad` (a leaf), a node or a port (made by an operation). ``raw`` is an
array or, for results of shape (), the array module's scalar; it is never converted to
another kind behind the caller's back. Functions of the table are methods too
(`gradcli.engine.operators`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from ..ops.checks import dim_of
from . import devices, dtypes
from .dtypes import Size, layout, strided
from .dtypes import device as Device
from .errors import EngineError, ValueRangeError
from .methods import Methods
from .modes import MODE
from .namespace import NumberSystem
from .node import AccumulateGrad, Edge, Node, Port, output_at
from .raw import Raw
from .versions import is_lent, note_move, owner, version

FLOATS = "fO"
"""Kinds of dtypes whose numbers can require a gradient: floats, and other numbers."""

NOT_A_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a "
    "computed variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach()."
)

MIN_VIEWS_TO_SWEEP = 64
"""Fewest views of a tensor of which dead ones are swept out, whenever their number
doubles."""

GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
    ".grad attribute won't be populated during autograd.backward(). If you indeed want "
    "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
    "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
    "access the leaf Tensor instead."
)


class Tensor(Methods):
    """An array whose operations are recorded, so that gradients can be computed.

    ``Tensor([1, 2])`` and ``Tensor(2, 3)``, a shape, make floats of the default type;
    ``Tensor(t)`` is a view of a tensor, in its type and its graph; the engine calls
    ``Tensor(raw, xp)`` with an array and its namespace.

    Args:
        data: numbers, or sizes; or an array of a namespace's kind and the namespace.
        requires_grad: make it a leaf that gradients are accumulated for.
    """

    __slots__ = (
        "__dict__", "__weakref__", "edge", "group", "raw", "view_of", "views", "xp",
    )  # fmt: skip
    raw: Any
    xp: Any
    edge: Edge
    view_of: Tensor | None
    views: list[Any] | None
    group: list[Any]
    """Weak references to all tensors that share its memory without being views."""

    def __init__(self, *data: Any, requires_grad: bool = False) -> None:
        self.view_of = self.views = None
        if len(data) > 1 and isinstance(data[1], NumberSystem):
            self.raw, self.xp = data[:2]
            requires_grad = requires_grad or (len(data) > 2 and data[2])
        elif len(data) == 1 and isinstance(data[0], Tensor):
            self._become_alias(data[0])
            return
        else:
            self.raw, self.xp = self._floats_of(data)
        if MODE.made is not None:
            MODE.made.note(self.raw)
        self.edge = AccumulateGrad(self) if requires_grad else None

    # Facts about the tensor.

    @property
    def shape(self) -> Size:
        return _known_size(Size, self.raw.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        if dim is None:
            return _known_size(Size, self.raw.shape)
        return self.raw.shape[dim_of(self.raw.shape, dim)]

    @property
    def ndim(self) -> int:
        return len(self.raw.shape)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return len(self.raw.shape)

    def numel(self) -> int:
        """Return the number of entries."""
        count = 1
        for n in self.raw.shape:
            count *= n
        return count

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of(self.raw)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Return the size of all entries, in bytes."""
        return self.numel() * self.itemsize

    is_sparse = is_quantized = is_meta = is_nested = False
    """Flags of kinds of tensors that do not exist here."""

    @property
    def layout(self) -> layout:
        return strided

    @property
    def device(self) -> Device:
        return devices.device_of(self.xp)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    # The place in the graph.

    @property
    def requires_grad(self) -> bool:
        """Return whether the tensor requires a gradient. A view does if its base does,
        even if it was made while nothing was recorded."""
        if self.edge is not None:
            return True
        base = getattr(self, "view_of", None)
        return base is not None and base.edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not self.is_leaf:
            if wanted:
                return
            raise EngineError(NOT_A_LEAF)
        if wanted == (self.edge is not None):
            return
        if wanted:
            if self.raw.dtype.kind not in FLOATS:
                raise EngineError(
                    "Only Tensors of floating point and complex dtype can require "
                    "gradients"
                )
            end = AccumulateGrad(self)
            end.grad = self.__dict__.pop("_grad", None)
            self.edge = end
        else:
            self._leave(self.grad)

    @property
    def _is_followed(self) -> bool:
        """Return whether the tensor has a place in a graph."""
        return self.edge is not None

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make the tensor a leaf that gradients are accumulated for, or no longer."""
        if requires_grad and not self.is_floating_point():
            raise EngineError(
                "only Tensors of floating point dtype can require gradients"
            )
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        return self.edge is None or isinstance(self.edge, AccumulateGrad)

    @property
    def grad_fn(self) -> Node | None:
        """Return the node that made this tensor; None for a leaf."""
        node = None if self.edge is None else output_at(self.edge)[0]
        return node if isinstance(node, Node) else None

    @property
    def output_nr(self) -> int:
        return self.edge.nr if isinstance(self.edge, Port) else 0

    @property
    def grad(self) -> Tensor | None:
        """Return the sum of the gradients of all passes; None if there is none."""
        edge = self.edge
        held: Tensor | None
        if isinstance(edge, AccumulateGrad):
            held = edge.grad
            return held
        held = self.__dict__.get("_grad")
        if edge is not None and held is None and not self.retains_grad:
            import warnings

            warnings.warn(GRAD_OF_NON_LEAF, UserWarning, stacklevel=2)
        return held

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _demand_gradient(self, value)
        if isinstance(self.edge, AccumulateGrad):
            self.edge.grad = value
        elif value is None:
            self.__dict__.pop("_grad", None)
        else:
            self.__dict__["_grad"] = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def retains_grad(self) -> bool:
        return bool(self.__dict__.get("_retains_grad"))

    def _leave(self, held: Tensor | None) -> None:
        """Take the tensor out of the graph; ``held`` is the gradient that it keeps."""
        self.edge = None
        if held is not None:
            self.__dict__["_grad"] = held

    # The same entries outside the graph.

    def detach(self) -> Tensor:
        """Return a tensor on the same memory, outside the graph."""
        return with_edge(self.xp.stop(self._shareable()), self.xp, None)

    @property
    def data(self) -> Tensor:
        """Return a tensor on the same memory outside the graph, with its own
        version."""
        out = self.detach()
        out.raw = self.xp.with_separate_version(out.raw)
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        """Give the tensor another's memory; its count of changes goes on."""
        if self.requires_grad and value.raw.dtype.kind not in FLOATS:
            raise EngineError(
                "data set to a tensor that requires gradients must be floating point "
                "or complex dtype"
            )
        changes, before = self._version, self.raw
        self.raw, self.xp = value.xp.with_separate_version(value._shareable()), value.xp
        self.__dict__["_changes_before"] = changes
        if isinstance(self.edge, AccumulateGrad):
            self.edge.raw, self.edge.xp = self.raw, self.xp
        if self.edge is not None:
            note_move(self.edge, before, self.raw)

    def detach_(self) -> Tensor:
        """Take the tensor out of the graph, in place, and return it.

        Raises:
            EngineError: the tensor is a view, whose base would stay in the graph.
        """
        if self._is_view():
            raise EngineError("Can't detach views in-place. Use detach() instead.")
        self._leave(self.edge.grad if isinstance(self.edge, AccumulateGrad) else None)
        return self

    def _shareable(self) -> Any:
        """Return the array; a scalar of the array module is first replaced by one."""
        if not self.raw.shape:
            raw, self.raw = self.raw, self.xp.array_itself(self.raw)
            if MODE.made is not None:
                MODE.made.move(raw, self.raw)
            if isinstance(self.edge, AccumulateGrad):
                self.edge.raw = self.raw
        return self.raw

    @property
    def _version(self) -> int:
        return version(self.raw) + int(self.__dict__.get("_changes_before", 0))

    @property
    def _base(self) -> Tensor | None:
        return getattr(self, "view_of", None)

    def _is_view(self) -> bool:
        return self._base is not None

    # Conversion to Python values.

    def item(self) -> float | int | bool:
        """Return the only entry as a Python number."""
        if self.numel() != 1:
            raise EngineError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        if self.xp.waits:
            self.xp.settle()
        found: float | int | bool = self.raw.item()
        return found

    def tolist(self) -> Any:
        """Return nested lists of Python numbers; a number for shape ()."""
        if self.xp.waits:
            self.xp.settle()
        return self.raw.tolist()

    def __len__(self) -> int:
        if not self.raw.shape:
            raise TypeError("len() of a 0-d tensor")
        found: int = self.raw.shape[0]
        return found

    def __bool__(self) -> bool:
        count = self.raw.size
        if count != 1:
            held = "more than one value" if count else "no values"
            raise EngineError(f"Boolean value of Tensor with {held} is ambiguous")
        return bool(self.item())

    def __float__(self) -> float:
        return float(as_number(self))

    def __int__(self) -> int:
        if self.numel() != 1:
            as_number(self)
        found: int = self.xp.integer(self.raw)
        return found

    def __index__(self) -> int:
        if self.raw.dtype.kind not in "biu" or self.numel() != 1:
            raise TypeError(
                "only integer tensors of a single element can be converted to an index"
            )
        return int(self.item())

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Tensor | int | float):
            raise EngineError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in "
                f"a {type(value)}."
            )
        return bool((self == value).any())

    def __format__(self, spec: str) -> str:
        if not self.raw.shape and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)


_known_size = tuple.__new__
"""Constructor of a `Size` that does not check the sizes."""


def clear_grad(t: Tensor, set_to_none: bool) -> None:
    """Remove the accumulated gradient, or set it to zeros in its own memory."""
    held = t.grad
    if held is not None:
        t.grad = None if set_to_none else held.detach().zero_()


def as_number(t: Tensor) -> float | int | bool:
    """Return the only entry as a Python number, for conversions by Python."""
    if t.numel() != 1:
        raise ValueRangeError(
            "only one element tensors can be converted to Python scalars"
        )
    return t.item()


def constant(value: object) -> Tensor:
    """Return a tensor without a gradient from a number, a nested list or an array.

    Raises:
        TypeError: the value holds something that is no number.
    """
    if isinstance(value, Tensor):
        return value
    home = MODE.home
    if home is not None and home.takes_numbers and isinstance(value, float):
        return Tensor(home.array(value), home)
    raw, xp = devices.as_raw(value)
    return Tensor(raw, xp)


def with_edge(raw: Raw, xp: NumberSystem, edge: Edge) -> Tensor:
    """Return a tensor of an array with a given edge of the graph."""
    out: Tensor = object.__new__(Tensor)
    out.raw = raw
    out.xp = xp
    out.edge = edge
    out.view_of = out.views = None
    return out


def rebuild(value: Raw, xp: NumberSystem, edge: Edge) -> Any:
    """Return a saved array as a tensor with its edge; return other values unchanged."""
    return with_edge(value, xp, edge) if hasattr(value, "dtype") else value


def lifted(value: object, xp: NumberSystem) -> Any:
    """Return an array as a tensor; None and tensors stay themselves."""
    return value if value is None or isinstance(value, Tensor) else Tensor(value, xp)


def raw_of(value: object) -> Any:
    """Return the array of a tensor; any other value is returned itself."""
    return value.raw if isinstance(value, Tensor) else value


def zeros_for(t: Tensor, shape: Sequence[int] | None = None) -> Tensor:
    """Return zeros of a tensor's type and device, in its shape or in another."""
    wanted = t.raw.shape if shape is None else tuple(shape)
    return Tensor(t.xp.new_full(t.raw, wanted, 0), t.xp)


def ones_for(t: Tensor) -> Tensor:
    """Return ones of a tensor's shape, type and device."""
    return Tensor(t.xp.ones_like(t.raw), t.xp)


def _rebuild(end: AccumulateGrad) -> Tensor:
    return with_edge(end.raw, end.xp, end)


AccumulateGrad.made_anew = _rebuild


def _demand_gradient(t: Tensor, grad: object) -> None:
    """Raise an error if a value cannot be the gradient of a tensor."""
    if not isinstance(grad, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(grad).__name__}"
        )
    if grad is t:
        raise EngineError("can't assign Variable as its own grad")
    for what, theirs, ours in (
        ("with dtype", grad.dtype, t.dtype),
        ("with device type", grad.device.type, t.device.type),
        ("of size", list(grad.shape), list(t.shape)),
    ):
        if theirs != ours:
            raise EngineError(
                f"attempting to assign a gradient {what} '{theirs}' to a tensor {what} "
                f"'{ours}'. Please ensure that both have the same"
            )


# Views, which an in-place change of their memory has to follow. A view refers to its
# base, the tensor at the bottom of its chain of views; a base to its views weakly.


UNRECORDED = (
    "A view was created in no_grad mode and {} with grad mode enabled. Given that this "
    "use case is ambiguous and error-prone, it is forbidden. You can clarify your code "
    "by moving both the view and the inplace either both inside the no_grad block (if "
    "you don't want the inplace to be tracked) or both outside (if you want the "
    "inplace to be tracked)."
)


class LostView(Tensor):
    """A view that was made while nothing was recorded, and whose memory was changed by
    a recorded operation since: its place in the graph is not known, and who asks for it
    is refused."""

    __slots__ = ()

    edge: Any = property(lambda self: _refuse_lost())
    requires_grad: Any = property(lambda self: True)


def _refuse_lost() -> None:
    if MODE.enabled:
        raise EngineError(
            UNRECORDED.format(
                "its base or another view of its base has been modified inplace"
            )
        )


def demand_sturdy(t: Tensor) -> None:
    """Raise an error if a change of a tensor is to be recorded, and it is a view that
    was made while nothing was.
    """
    base = base_of(t)
    if base is not t and base.edge is not None and t.edge is None:
        raise EngineError(UNRECORDED.format("is being modified inplace"))


def note_view(source: Tensor, out: Tensor) -> None:
    """Remember that an operation's output is a view of its input, if it is one.

    For values without memory, such as symbols, every output of an operation that gives
    views counts as a view.
    """
    raw, y = source.raw, out.raw
    if y is not raw:
        base = getattr(y, "base", None)
        if base is None or (base is not raw and base is not raw.base):
            seen = base is not None or is_lent(y)
            base = owner(y) if seen and owner(y) is owner(raw) else None
        if base is None and source.xp.writeable:
            return
    base = out.view_of = base_of(source)
    views = getattr(base, "views", None)
    if views is None:
        base.views = [ref(out)]
    else:
        note(views, out)


def note_sharer(source: Tensor, out: Tensor) -> None:
    """Note that a tensor shares the memory of another without being a view of it."""
    base = base_of(source)
    group = getattr(base, "group", None)
    if group is None:
        group = base.group = [ref(base)]
    note(group, out)
    out.group = group


def note(held_weakly: list[Any], t: Tensor) -> None:
    """Add a weak reference to a list; at times drop the dead ones from it."""
    count = len(held_weakly)
    if count >= MIN_VIEWS_TO_SWEEP and not count & (count - 1):
        held_weakly[:] = [held for held in held_weakly if held() is not None]
    held_weakly.append(ref(t))


def sharers(t: Tensor) -> list[Tensor]:
    """Return all tensors known to lie in the memory of a tensor, itself included."""
    base = base_of(t)
    found = [held() for held in getattr(base, "group", ())] or [base]
    bases = [each for each in found if each is not None]
    return [each for base in bases for each in (base, *live_views(base))]


def base_of(t: Tensor) -> Tensor:
    """Return the tensor that ``t`` is a view of; itself if it is none."""
    below: Tensor | None = getattr(t, "view_of", None)
    return t if below is None else below


def live_views(base: Tensor) -> list[Tensor]:
    """Return the views of a tensor that still exist."""
    found = [held() for held in getattr(base, "views", None) or ()]
    return [view for view in found if view is not None]
