"""Public calls in place of rows whose parameters differ from those of the function.

Programs written for people call functions by their public names: a convolution is
``F.conv2d(x, w, b)``, whatever arguments its row has. A function in `CALLS` takes a
row's arguments and returns the public function's name and arguments, without defaults.

Invariant: the call returns what the row returns; writers of programs compare the two.

    CALLS["max_pool2d.indices"](x, (2, 2), (2, 2), (0, 0), (1, 1))
    # ("max_pool2d", (x, 2), {"return_indices": True})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .op import FUNCTIONS, OPS, defaults, parameters
from .resampling import RESAMPLED
from .types import Array, Shape

Said = tuple[str, tuple[object, ...], dict[str, object]]
"""A public function's name, and its arguments by position and by name."""

Further = Callable[..., dict[str, object]]
"""Arguments of a public function that follow from the arguments of a row."""


def one(sizes: Sequence[int]) -> int | Shape:
    """Return a single number if all sizes are equal, else the sizes as a tuple."""
    return sizes[0] if len(set(sizes)) == 1 else tuple(sizes)


def public(
    row: str, name: str, count: int = 2, further: Further = lambda **_: {}
) -> Callable[..., Said]:
    """Return a function from a row's arguments to the public call in its place.

    Args:
        name: the public function's; ``{}`` stands for the number of spatial dimensions.
        count: how many of the row's arguments are given by position; the others are
            given by name, unless they equal the default.
        further: returns more arguments of the public function, by name.
    """

    def run(*given: Any, **params: Any) -> Said:
        names = parameters(OPS[row])
        own = dict(zip(names, given, strict=False)) | params
        values = {
            key: one(own[key]) if isinstance(own[key], tuple) else own[key]
            for key in names
            if key in own
        }
        operands = tuple([v for v in [*values.values()][:count] if v is not None])
        entry = FUNCTIONS[name.format(own[names[0]].ndim - 2)]
        usual = defaults(entry)
        usual["stride"] = usual.get("stride") or values.get("kernel_size")
        values |= further(**own)
        named = [key for key in parameters(entry)[count:] if key in values]
        how = {key: values[key] for key in named if values[key] != usual[key]}
        return entry.name, operands, how

    return run


def room(
    x: Array, weight: Array, bias: Array | None, size: Shape, stride: Shape,
    padding: Shape, dilation: Shape, groups: int = 1,
) -> dict[str, object]:  # fmt: skip
    """Return the output padding of a transposed convolution, which follows from the
    sizes."""
    kernel = weight.shape[2:]
    steps = zip(size[2:], x.shape[2:], kernel, stride, padding, dilation, strict=True)
    usual = [
        (whole, (n - 1) * s - 2 * p + d * (k - 1) + 1) for whole, n, k, s, p, d in steps
    ]
    return {"output_padding": one([whole - n for whole, n in usual])}


def mean(rank: int) -> Callable[..., Said | None]:
    said = public(f"avg_pool{rank}d.default", f"avg_pool{rank}d")

    def unless_wide(
        x: Array, kernel_size: Shape, *how: Any, **params: Any
    ) -> Said | None:
        # There is no call for windows that reach over both ends of the input.
        wide = any(n < k for n, k in zip(x.shape[-rank:], kernel_size, strict=True))
        return None if wide else said(x, kernel_size, *how, **params)

    return unless_wide


def border(mode: str) -> Callable[..., Said]:
    return lambda x, padding: ("pad", (x, tuple(padding)), {"mode": mode})


def growth(row: str) -> Callable[..., Said]:
    how = {"mode": RESAMPLED[row], "antialias": "_aa" in row}

    def further(
        output_size: Any, align_corners: bool = False, scale_factors: Any = None,
        **_: object,
    ) -> dict[str, object]:  # fmt: skip
        size = {"size": tuple(output_size)} if output_size is not None else {
            "scale_factor": tuple(scale_factors)}  # fmt: skip
        return {**size, **how, "align_corners": align_corners or None}

    return public(row, "interpolate", 1, further)


CALLS: Final[Mapping[str, Callable[..., Said | None]]] = {
    "convolution.default": public("convolution.default", "conv{}d", 3),
    "convolution.transposed": public(
        "convolution.transposed", "conv_transpose{}d", 3, room),
    **{f"{name}{n}d.indices": public(
        f"{name}{n}d.indices", f"{name}{n}d",
        further=lambda **_: {"return_indices": True})
       for name in ("max_pool", "adaptive_max_pool") for n in (2, 3)},
    **{f"avg_pool{n}d.default": mean(n) for n in (2, 3)},
    **{f"adaptive_avg_pool{n}d.default": public(
        f"adaptive_avg_pool{n}d.default", f"adaptive_avg_pool{n}d") for n in (2, 3)},
    **{f"reflection_pad{n}d.default": border("reflect") for n in (1, 2, 3)},
    **{f"replication_pad{n}d.default": border("replicate") for n in (1, 2, 3)},
    **{name: growth(name) for name in RESAMPLED},
}  # fmt: skip
"""Functions, by row, from the row's arguments to the public call in its place; they
return None if no call returns what the row returns."""
