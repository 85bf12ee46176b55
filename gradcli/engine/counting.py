"""How often and where numbers occur among others, or divide them; no gradient passes.

isin(x, tensor([1, 2]))             # which entries of x are 1 or 2
searchsorted(borders, x)            # how many borders lie below each entry
histogram(x, 4)                     # how many entries lie in each of four parts
"""

from __future__ import annotations

from .bits import of_whole_numbers
from .dtypes import DEFAULT
from .errors import EngineError
from .into import with_out
from .promote import result_of
from .raw import Library, Raw
from .returns import HISTOGRAM, Named
from .tensor import Tensor, constant, raw_of
from .underived import without_derivative

Operand = Tensor | float

SIDES = ("left", "right")


@with_out
def isin(
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Tell which of ``elements`` occur among ``test_elements``; NaN equals nothing.

    Args:
        assume_unique: accepted; the answer does not depend on it.
        invert: answer which do not occur instead.

    Raises:
        TypeError: neither is a tensor.
    """
    tensors = [x for x in (elements, test_elements) if isinstance(x, Tensor)]
    if not tensors:
        raise TypeError("isin(): elements or test_elements has to be a tensor")
    xp = tensors[0].xp
    raw = [raw_of(elements), raw_of(test_elements)]
    common = result_of(raw)
    asked, known = (xp.np.asarray(x).astype(common) for x in raw)
    return Tensor(xp.np.asarray(xp.np.isin(asked, known, invert=invert)), xp)


@with_out
def searchsorted(
    sorted_sequence: Tensor,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the index at which each entry keeps a sorted sequence in order.

    Args:
        sorted_sequence: one sequence for all entries of ``input``, or one in the last
            dimension for each line of ``input``.
        out_int32: int32 results instead of int64.
        right: behind entries that are equal, instead of before them.
        side: "left" or "right", another way to say it.
        sorter: the positions that bring ``sorted_sequence`` into order.

    Raises:
        EngineError: the shapes do not fit, or ``side`` contradicts ``right``.
    """
    if side is not None and side not in SIDES:
        raise EngineError(
            "torch.searchsorted(): side can only be 'left' or 'right' but got " + side
        )
    if side == "left" and right:
        raise EngineError(
            "torch.searchsorted(): side and right can't be set to opposites, got side "
            "of left while right was True"
        )
    xp = sorted_sequence.xp
    np, borders = xp.np, xp.np.asarray(sorted_sequence.raw)
    values = np.asarray(constant(input).raw)
    _check_lines(borders, values)
    if sorter is not None:
        borders = np.take_along_axis(borders, np.asarray(sorter.raw), -1)
    where = "right" if right or side == "right" else "left"
    found = np.empty(values.shape, "int32" if out_int32 else "int64")
    if borders.ndim == 1:
        found[...] = _places(np, borders, values, where)
    else:
        for line in np.ndindex(*borders.shape[:-1]):
            found[line] = _places(np, borders[line], values[line], where)
    return Tensor(found, xp)


def _places(np: Library, borders: Raw, values: Raw, side: str) -> Raw:
    """Return the insertion indices; NaN goes behind everything, other NaNs too."""
    at = np.searchsorted(borders, values, side)
    if values.dtype.kind != "f":
        return at
    return np.where(np.isnan(values), len(borders), at)


def _check_lines(borders: Raw, values: Raw) -> None:
    if not borders.ndim:
        raise EngineError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, "
            "but got 0 dimension"
        )
    if borders.ndim == 1:
        return
    if not values.ndim:
        raise EngineError(
            "torch.searchsorted(): input value can be a scalar only when boundaries "
            f"tensor dimension is 1, but we got boundaries tensor dim({borders.ndim}) "
            "and input value's dim(0) numel(1)"
        )
    if borders.shape[:-1] != values.shape[:-1]:
        raise EngineError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the "
            "first N-1 dimensions of boundaries tensor and input value tensor must "
            f"match, but we got boundaries tensor {list(borders.shape)} and input "
            f"value tensor {list(values.shape)}"
        )


@with_out
def bucketize(
    input: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the number of the interval between boundaries for each entry."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@with_out
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisor of integers, which is never negative."""
    return of_whole_numbers("gcd", "gcd", input, other)


@with_out
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiple of integers, which is never negative."""
    return of_whole_numbers("lcm", "lcm", input, other)


@with_out
@without_derivative("NotImplemented", "histogram")
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Named:
    """Count the entries between edges, each by its weight.

    Args:
        bins: how many equal parts there are, or their edges in rising order.
        range: what is divided into equal parts; None: from the least entry to the
            largest one.
        weight: what each entry counts, of the input's shape.
        density: divide by the total and by the parts' lengths.

    Returns:
        The named tuple ``(hist, bin_edges)``.

    Raises:
        EngineError: the edges, the range or the weights do not fit.
    """
    np, x = input.xp.np, input.raw
    edges = bins.raw if isinstance(bins, Tensor) else bins
    shares = None if weight is None else weight.raw
    try:
        found = np.histogram(x, edges, range, weights=shares, density=density)
    except (TypeError, ValueError) as error:
        raise EngineError(f"histogram: {error}") from None
    type_ = x.dtype if x.dtype.kind == "f" else DEFAULT.dtype.name
    counts, borders = (np.asarray(part).astype(type_) for part in found)
    return HISTOGRAM((Tensor(counts, input.xp), Tensor(borders, input.xp)))
