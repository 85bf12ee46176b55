"""Methods that change a tensor in place.

Invariant: ``x.name_(...)`` writes what ``name(x, ...)`` gives into the memory of ``x``
and returns ``x``; everything else about a change is in `gradcli.engine.changes`.

    x.mul_(2); x += 1; x[x > 0] = 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import bits, indexing
from .changes import change, demand_changeable, edge_of, grid, on_host, rebase, write
from .convert import to
from .errors import ShapeError
from .leaves import set_data
from .modes import MODE
from .node import Edge
from .public import public
from .record import call, function
from .tensor import Tensor, constant
from .views import demand_sturdy


def in_place(name: str) -> Callable[..., Tensor]:
    """The in-place form of a function of the table."""
    run = _changed(public(name))
    run.__name__ = run.__qualname__ = f"{name}_"
    run.__doc__ = f"`{name}`, in place."
    return run


def _changed(apply: Callable[..., Any]) -> Callable[..., Tensor]:
    def run(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return change(self, lambda old: apply(old, *args, **kwargs))

    run.__name__ = run.__qualname__ = f"{apply.__name__}_"
    run.__doc__ = f"`{apply.__name__}`, in place."
    return run


def _augmented(name: str) -> Callable[[Tensor, Any], Any]:
    apply = getattr(Tensor, f"__{name}__")

    def run(self: Tensor, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return NotImplemented
        return change(self, lambda old: apply(old, other))

    return run


__iadd__ = _augmented("add")
__isub__ = _augmented("sub")
__imul__ = _augmented("mul")
__itruediv__ = _augmented("truediv")
__ifloordiv__ = _augmented("floordiv")
__imod__ = _augmented("mod")
__ipow__ = _augmented("pow")


def _logical(name: str) -> Callable[[Tensor, Any], Any]:
    def run(self: Tensor, other: Any) -> Any:
        return change(self, lambda old: getattr(old, name)(other))

    return run


__iand__ = _logical("__and__")
__ior__ = _logical("__or__")
__ixor__ = _logical("__xor__")
__ilshift__ = _logical("__lshift__")
__irshift__ = _logical("__rshift__")
bitwise_and_ = _changed(bits.bitwise_and)
bitwise_or_ = _changed(bits.bitwise_or)
bitwise_xor_ = _changed(bits.bitwise_xor)
bitwise_left_shift_ = _changed(bits.bitwise_left_shift)
bitwise_right_shift_ = _changed(bits.bitwise_right_shift)
bitwise_not_ = _changed(bits.bitwise_not)


def _operand(self: Tensor, value: Any) -> Tensor:
    """What is written to a tensor, as a tensor on its device."""
    if isinstance(value, Tensor):
        return to(value, device=self.xp)
    return Tensor(self.xp.array(constant(value).raw), self.xp)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def zero_(self: Tensor) -> Tensor:
    """Zeros everywhere."""
    return change(self, lambda old: call("zero_.default", old, 0))


def fill_(self: Tensor, value: Any) -> Tensor:
    """One number everywhere."""
    return _filled(self, "fill_.Scalar", _number(value))


def _filled(self: Tensor, name: str, number: Any) -> Tensor:
    if isinstance(number, float) and self.raw.dtype.kind != "f":
        number = int(number)
    return change(self, lambda old: call(name, old, number))


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """The entries of another tensor, which broadcasts, is cast and is moved."""
    given = _operand(self, src)
    try:
        np.broadcast_shapes(self.raw.shape, given.raw.shape)
    except ValueError:
        raise _does_not_fit(self.raw.shape, given.raw.shape) from None
    if not self.is_floating_point() and given.dtype != self.dtype:
        # Whole numbers and truth values carry no gradient; the cast is all there is.
        given = given.detach().to(self.dtype)
    return change(self, lambda old: call("copy_.default", old, given))


def _does_not_fit(want: Any, have: Any) -> ShapeError:
    want, have = list(want), list(have)
    lead = len(want) - len(have)
    if lead < 0:
        return ShapeError(
            f"The number of sizes provided ({len(want)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(have)})"
        )
    pairs = enumerate(zip(want[lead:], have, strict=True))
    dim = next((d for d, (n, m) in pairs if m not in (1, n)), 0)
    return ShapeError(
        f"The expanded size of the tensor ({want[lead + dim]}) must match the existing "
        f"size ({have[dim]}) at non-singleton dimension {lead + dim}.  Target sizes: "
        f"{want}.  Tensor sizes: {have}"
    )


def _drawn(self: Tensor, values: Any) -> Tensor:
    """Put numbers drawn on the host everywhere; no gradient passes."""
    demand_changeable(self)
    write(self, (), self.xp.array(np.asarray(values, self.raw.dtype.name)))
    if MODE.recording and self.edge is not None:
        rebase(self, edge_of("fill_.Scalar", (self,), (self.edge,), value=0))
    for look in MODE.on_change:
        look(self, Tensor(self.raw, self.xp))
    return self


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None,
    **bounds: float,
) -> Tensor:  # fmt: skip
    """Uniform draws from ``[from, to)``."""
    from .draws import uniform

    low = bounds.pop("from", from_)
    if bounds:
        raise TypeError(f"uniform_() got an unexpected keyword {next(iter(bounds))!r}")
    if low > to:
        raise ShapeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > "
            f"to={to}"
        )
    drawn = uniform(self.raw.shape, self.raw.dtype.name, generator)
    return _drawn(self, low + drawn * (to - low))


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Draws from a normal distribution."""
    from .draws import standard_normal

    if std < 0:
        raise ShapeError(f"normal expects std >= 0.0, but found std {std}")
    drawn = standard_normal(self.raw.shape, self.raw.dtype.name, generator)
    return _drawn(self, mean + drawn * std)


def random_(
    self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None
) -> Tensor:
    """Whole numbers drawn from ``[from_, to)``; ``random_(n)`` draws below n."""
    from .draws import randint

    if to is None:
        digits = {"f2": 2**11 + 1, "f4": 2**24 + 1, "f8": 2**53 + 1, "b1": 2}
        code = self.dtype.code
        from_, to = 0, from_ or digits.get(code, 1 << (8 * int(code[1:]) - 1))
    drawn = randint(from_, to, self.raw.shape, generator=generator)
    return _drawn(self, drawn.numpy())


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Ones with probability ``p``, else zeros."""
    from .draws import uniform

    chance = p.detach().cpu().numpy() if isinstance(p, Tensor) else p
    return _drawn(self, uniform(self.raw.shape, "float64", generator) < chance)


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Draws from the exponential distribution of rate ``lambd``."""
    from .draws import uniform

    drawn = uniform(self.raw.shape, "float64", generator)
    return _drawn(self, -np.log1p(-drawn) / lambd)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """One number on the main diagonal."""
    if wrap:
        raise ValueError("fill_diagonal_ with wrap=True is not offered; use wrap=False")
    fill_(call("diagonal", self), fill_value)
    return self


def _turned(name: str) -> Callable[..., Tensor]:
    """The in-place form of a function that only sees its operand another way."""
    apply = function(name)

    def run(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        demand_changeable(self)
        seen = apply(self, *args, **kwargs)
        self.raw, self.edge = seen.raw, seen.edge
        return self

    run.__name__ = run.__qualname__ = f"{name}_"
    run.__doc__ = f"`{name}`, in place."
    return run


squeeze_, unsqueeze_ = _turned("squeeze"), _turned("unsqueeze")
t_, transpose_ = _turned("t"), _turned("transpose")
as_strided_ = _turned("as_strided")


def set_(self: Tensor, source: Tensor) -> Tensor:
    """Make this tensor the same memory as another."""
    demand_changeable(self)
    set_data(self, source)
    self.__dict__["_changes_before"] += 1
    return self


def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``.

    Raises:
        IndexError: a position outside a dimension, or more items than dimensions.
        ShapeError: the value does not broadcast to what the index names.
    """
    at, arrays = indexing.assignable(self, index)
    given = _operand(self, value)
    whole = not arrays and all(i is ... or i == slice(None) for i in at)
    if whole and not given.raw.shape and given.edge is None:
        _filled(self, "fill_.Tensor", given.item())
        return
    if whole:
        copy_(self, _without_leading_ones(given, self.raw.ndim))
        return
    demand_changeable(self, part=not arrays)
    name = "index_put.positions" if arrays else "copy_slices.positions"
    if MODE.on_change:
        numbers = grid(self)[on_host(at)]
        given = _without_leading_ones(given, numbers.ndim)
        change(self, lambda old: call(name, old, given, numbers))
        return
    recorded = _is_recorded(self, given)
    if recorded:
        demand_sturdy(self)
    numbers = grid(self)[on_host(at)] if recorded else None
    if given.raw.ndim:
        given = _without_leading_ones(given, self.raw[at].ndim)
    try:
        write(self, at, given.raw)
    except ValueError:
        want, have = list(self.raw[at].shape), list(given.raw.shape)
        if not arrays:
            raise _does_not_fit(want, have) from None
        raise ShapeError(
            f"shape mismatch: value tensor of shape {have} cannot be broadcast to "
            f"indexing result of shape {want}"
        ) from None
    if numbers is not None:
        _record_assignment(self, name, given, numbers)


def _is_recorded(x: Tensor, value: Tensor) -> bool:
    return MODE.recording and (x.edge is not None or value.edge is not None)


def _record_assignment(x: Tensor, name: str, value: Tensor, numbers: Any) -> None:
    at = x.xp.array(numbers)
    edge: Edge = edge_of(name, (x, value), (x.edge, value.edge), at=at)
    rebase(x, edge)


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    """The value with as many dimensions as it is written to, where it has more."""
    extra = value.raw.ndim - ndim
    if extra > 0 and all(n == 1 for n in value.raw.shape[:extra]):
        found: Tensor = call("reshape", value, value.raw.shape[extra:])
        return found
    return value
