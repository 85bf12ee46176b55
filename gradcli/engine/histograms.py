"""How many entries, or rows of entries, lie between edges; no derivative is known.

Invariant: the edges of each dimension rise; of what lies between two of them the lower
one is part, of the last the upper one too.

    histogram(x, 4, range=(0.0, 1.0))           # (hist, bin_edges)
    histogramdd(points, [2, 3])                 # bin_edges: a tensor for each dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from .errors import EngineError
from .into import with_out
from .raw import Library, Raw
from .returns import HISTOGRAM, HISTOGRAMDD, Named
from .tensor import Tensor
from .underived import without_derivative


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
        NotImplementedError: the entries are integers or half floats.
        EngineError: the edges, the range or the weights do not fit.
    """
    np, x = input.xp.np, _floats_of(input)
    if isinstance(bins, Tensor):
        edges = _edges_given(input, bins, 0)
        if bool((edges[1:] < edges[:-1]).any()):
            raise EngineError("torch.histogram(): bins must increase monotonically")
    else:
        edges = _edges(np, x, bins, range, 0)
    shown = [input.numel(), 1]
    shares = None if weight is None else _weights(input, weight, x.shape, shown)
    counts, (edges,) = _counted(np, x.reshape(-1, 1), [edges], shares, density)
    return HISTOGRAM((Tensor(counts, input.xp), Tensor(edges, input.xp)))


@without_derivative("NotImplemented", "histogramdd")
def histogramdd(
    input: Tensor,
    bins: int | Sequence[Any],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Named:
    """Count the rows of a tensor, points in several dimensions, between edges in each
    dimension.

    Args:
        input: points along the last dimension, whose size is that of the space.
        bins: how many equal parts there are, one number for all dimensions or one for
            each, or a tensor of edges for each.
        range: the two ends of what is divided, for one dimension after the other; None:
            from the least to the largest entry.
        weight: what each point counts, of the input's shape without its last dimension.
        density: divide by the total and by the parts' volumes.

    Returns:
        The named tuple ``(hist, bin_edges)``, with edges for each dimension.

    Raises:
        NotImplementedError: the entries are integers or half floats.
        EngineError: the edges, the range or the weights do not fit.
    """
    np, x = input.xp.np, _floats_of(input)
    if not x.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    space = x.shape[-1]
    each = [bins] * space if isinstance(bins, int) else list(bins)
    if len(each) != space:
        raise EngineError(
            "histogramdd: The size of bins must be equal to the innermost dimension of "
            "the input."
        )
    if range is not None and len(range) != 2 * space:
        raise EngineError(
            f"torch.histogramdd: for a {space}-dimensional histogram range should have "
            f"{2 * space} elements, but got {len(range)}"
        )
    edges = []
    for d, given in enumerate(each):
        if isinstance(given, Tensor):
            edges.append(_edges_given(input, given, d))
        else:
            ends = None if range is None else (range[2 * d], range[2 * d + 1])
            edges.append(_edges(np, x[..., d], given, ends, d))
    shown = list(x.shape)
    shares = None if weight is None else _weights(input, weight, x.shape[:-1], shown)
    counts, edges = _counted(
        np, x.reshape(prod(x.shape[:-1]), space), edges, shares, density
    )
    lines = tuple([Tensor(line, input.xp) for line in edges])
    return HISTOGRAMDD((Tensor(counts, input.xp), lines))


def _floats_of(input: Tensor) -> Raw:
    if input.raw.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(
            f"\"histogramdd\" not implemented for '{input.dtype.legacy}'"
        )
    found: Raw = input.raw
    return found


def _counted(
    np: Library, points: Raw, edges: list[Raw], shares: Raw | None, density: bool
) -> tuple[Raw, list[Raw]]:
    """The counts of points, or the sums of their shares, and the edges, of one type."""
    type_ = points.dtype
    parts = [len(line) - 1 for line in edges]
    counts = np.zeros(parts, "float64")
    inside, at = np.ones(len(points), "bool"), []
    for d, line in enumerate(edges):
        values = points[:, d]
        place = np.searchsorted(line, values, "right") - 1
        at.append(np.where(values == line[-1], parts[d] - 1, place))
        within = np.logical_and(values >= line[0], values <= line[-1])
        inside = np.logical_and(inside, within)
    each = np.ones(len(points)) if shares is None else shares.reshape(-1)
    np.add.at(counts, tuple([place[inside] for place in at]), each[inside])
    if density:
        counts = counts / counts.sum()
        for d, line in enumerate(edges):
            sizes = [1] * len(parts)
            sizes[d] = parts[d]
            counts = counts / np.diff(line).reshape(sizes)
    return np.asarray(counts.astype(type_)), [line.astype(type_) for line in edges]


def _edges_given(input: Tensor, bins: Tensor, d: int) -> Raw:
    if bins.ndim != 1:
        raise EngineError(
            "torch.histogramdd: bins tensor should have one dimension, but got "
            f"{bins.ndim} dimensions in the bins tensor for dimension {d}"
        )
    if bins.dtype != input.dtype:
        raise EngineError(
            "torch.histogramdd: input tensor and bins tensors should have the same "
            f"dtype, but got input with dtype {input.dtype} and bins for "
            f"dimension {d} with dtype {bins.dtype}"
        )
    edges: Raw = bins.raw
    if len(edges) < 2:
        raise EngineError(
            f"torch.histogram(): bins must be > 0, but got 0 for dimension {d}"
        )
    return edges


def _edges(
    np: Library, x: Raw, bins: int, given: tuple[float, float] | None, d: int
) -> Raw:
    if bins <= 0:
        raise EngineError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension {d}"
        )
    if given is not None:
        low, high = map(float, given)
    elif x.size:
        low, high = float(np.min(x)), float(np.max(x))
    else:
        low, high = 0.0, 1.0
    if not (isfinite(low) and isfinite(high)):
        raise EngineError(
            f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not "
            "finite"
        )
    if low > high:
        raise EngineError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max "
            f"{high:g} for dimension {d}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    found: Raw = np.linspace(low, high, bins + 1, dtype=x.dtype)
    return found


def _weights(
    input: Tensor, weight: Tensor, wanted: tuple[int, ...], shape: list[int]
) -> Raw:
    """The weights of points, of a shape; ``shape`` is the points' own in messages."""
    if tuple(weight.shape) != tuple(wanted):
        raise EngineError(
            "torch.histogramdd: if weight tensor is provided it should have the same "
            "shape as the input tensor excluding its innermost dimension, but got "
            f"input with shape {shape} and weight with shape {list(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        raise EngineError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight "
            f"tensor should have the same dtype, but got input({input.dtype}), and "
            f"weight({weight.dtype})"
        )
    shares: Raw = weight.raw
    return shares
