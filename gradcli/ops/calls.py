"""The public call that a row is, where the row has other parameters than its function.

Code that is written for people calls functions by their public names: a convolution is
``F.conv2d(x, w, b)``, whatever its row is given. A formula takes what the row takes,
and gives the function's name and its arguments; what is as usual is left out.

Invariant: the call gives what the row gives; whoever writes it compares the values.

    CALLS["max_pool2d.indices"](x, (2, 2), (2, 2), (0, 0), (1, 1))
    # ("max_pool2d", (x, 2), {"return_indices": True})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .between import room
from .saved_names import RESAMPLED
from .types import Array, Shape

Said = tuple[str, tuple[object, ...], dict[str, object]]
"""A public function's name, and its arguments by position and by name."""


def one(sizes: Sequence[int]) -> int | Shape:
    """Return a single number for several that are equal."""
    return sizes[0] if len(set(sizes)) == 1 else tuple(sizes)


def unusual(usual: Mapping[str, object], **given: object) -> dict[str, object]:
    """Return the arguments that are not as usual."""
    return {name: value for name, value in given.items() if value != usual[name]}


def convolution(
    x: Array, weight: Array, bias: Array | None, stride: Shape, padding: Shape,
    dilation: Shape, groups: int = 1,
) -> Said:  # fmt: skip
    how = unusual(
        {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}, stride=one(stride),
        padding=one(padding), dilation=one(dilation), groups=groups,
    )  # fmt: skip
    given = (x, weight) if bias is None else (x, weight, bias)
    return f"conv{x.ndim - 2}d", given, how


def transposed(
    x: Array, weight: Array, bias: Array | None, size: Shape, stride: Shape,
    padding: Shape, dilation: Shape, groups: int = 1,
) -> Said:  # fmt: skip
    extra = room(None, None, x, weight, bias, size, stride, padding, dilation)
    how = unusual(
        {"stride": 1, "padding": 0, "output_padding": 0, "groups": 1, "dilation": 1},
        stride=one(stride), padding=one(padding), output_padding=one(extra),
        groups=groups, dilation=one(dilation),
    )  # fmt: skip
    given = (x, weight) if bias is None else (x, weight, bias)
    return f"conv_transpose{x.ndim - 2}d", given, how


def largest(rank: int) -> Callable[..., Said]:
    def said(
        x: Array, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape,
        ceil_mode: bool = False,
    ) -> Said:  # fmt: skip
        how = unusual(
            {"stride": one(kernel_size), "padding": 0, "dilation": 1,
             "ceil_mode": False},
            stride=one(stride), padding=one(padding), dilation=one(dilation),
            ceil_mode=ceil_mode,
        )  # fmt: skip
        given = (x, one(kernel_size))
        return f"max_pool{rank}d", given, how | {"return_indices": True}

    return said


def mean(rank: int) -> Callable[..., Said | None]:
    def said(
        x: Array, kernel_size: Shape, stride: Shape, padding: Shape,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Said | None:  # fmt: skip
        if any(n < k for n, k in zip(x.shape[-rank:], kernel_size, strict=True)):
            # PyTorch has no windows that reach over both ends.
            return None
        how = unusual(
            {"stride": one(kernel_size), "padding": 0, "ceil_mode": False,
             "count_include_pad": True, "divisor_override": None},
            stride=one(stride), padding=one(padding), ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor_override,
        )  # fmt: skip
        return f"avg_pool{rank}d", (x, one(kernel_size)), how

    return said


def adaptive(name: str, **how: object) -> Callable[..., Said]:
    return lambda x, output_size: (name, (x, one(output_size)), how)


def border(mode: str) -> Callable[..., Said]:
    return lambda x, padding: ("pad", (x, tuple(padding)), {"mode": mode})


MODES_OF_GROWTH = {
    "upsample_nearest": "nearest", "_upsample_nearest_exact": "nearest-exact",
    "upsample_linear": "linear", "upsample_bilinear": "bilinear",
    "upsample_trilinear": "trilinear", "upsample_bicubic": "bicubic",
    "_upsample_bilinear2d_aa": "bilinear", "_upsample_bicubic2d_aa": "bicubic",
}  # fmt: skip


def growth(row: str) -> Callable[..., Said]:
    base = row.partition(".")[0]
    mode = MODES_OF_GROWTH.get(base) or MODES_OF_GROWTH[base[:-2]]

    def said(
        x: Array, output_size: Any, align_corners: bool = False,
        scale_factors: Any = None,
    ) -> Said:  # fmt: skip
        sizes: dict[str, object] = (
            {"scale_factor": tuple(scale_factors)}
            if output_size is None
            else {"size": tuple(output_size)}
        )
        how = unusual(
            {"mode": "nearest", "align_corners": False, "antialias": False},
            mode=mode, align_corners=align_corners, antialias=base.endswith("_aa"),
        )  # fmt: skip
        return "interpolate", (x,), sizes | how

    return said


def unpooled(x: Array, indices: Array, output_size: Shape) -> Said:
    """Return the call with the longest windows that fit; it refuses where none do."""
    rank = len(output_size)
    sizes = zip(output_size, x.shape[-rank:], strict=True)
    kernel = one([max(1, n // max(count, 1)) for n, count in sizes])
    how: dict[str, object] = {"output_size": tuple(output_size)}
    return f"max_unpool{rank}d", (x, indices, kernel), how


CALLS: Final[Mapping[str, Callable[..., Said | None]]] = {
    "convolution.default": convolution,
    "convolution.transposed": transposed,
    **{f"max_pool{n}d.indices": largest(n) for n in (2, 3)},
    **{f"avg_pool{n}d.default": mean(n) for n in (2, 3)},
    **{f"max_unpool{n}d.default": unpooled for n in (2, 3)},
    **{
        f"adaptive_avg_pool{n}d.default": adaptive(f"adaptive_avg_pool{n}d")
        for n in (2, 3)
    },
    **{
        f"adaptive_max_pool{n}d.indices": adaptive(
            f"adaptive_max_pool{n}d", return_indices=True
        )
        for n in (2, 3)
    },
    **{f"reflection_pad{n}d.default": border("reflect") for n in (1, 2, 3)},
    **{f"replication_pad{n}d.default": border("replicate") for n in (1, 2, 3)},
    **{name: growth(name) for name in RESAMPLED},
}
"""Calls of public functions in place of rows, by row; the arguments are the row's, in
its order. None: no call gives what the row gives."""
