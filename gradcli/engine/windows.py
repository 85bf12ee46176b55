"""The older windows of signals, which `gradcli.signal.windows` has under other names.

hann_window(5)                      # the beginning of a symmetric window of six
hann_window(5, periodic=False)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dtypes import DEFAULT, dtype
from .errors import EngineError
from .factories import constructor
from .raw import Host

Shape = Callable[[Host], Host]


def _window(
    name: str, type_: dtype | None, length: int, periodic: bool, shape: Shape
) -> Host:
    """The numbers of a window whose angles run from 0 to 2 pi."""
    chosen = type_ or DEFAULT.dtype
    if not chosen.is_floating_point:
        raise EngineError(f"{name} expects floating point dtypes, got: {chosen}")
    if length < 0:
        raise EngineError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if length < 2:
        return np.ones(length, chosen.name)
    turn = 2 * np.pi / (length if periodic else length - 1)
    return shape(np.arange(length) * turn).astype(chosen.name)


@constructor
def hann_window(type_: dtype | None, window_length: int, periodic: bool = True) -> Host:
    """Return ``(1 - cos(a))/2`` of angles that run once around."""
    return _window(
        "hann_window", type_, window_length, periodic, lambda a: 0.5 - 0.5 * np.cos(a)
    )


@constructor
def hamming_window(
    type_: dtype | None,
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
) -> Host:
    """Return ``alpha - beta*cos(a)`` of angles that run once around."""
    return _window(
        "hamming_window", type_, window_length, periodic,
        lambda a: alpha - beta * np.cos(a),
    )  # fmt: skip


@constructor
def bartlett_window(
    type_: dtype | None, window_length: int, periodic: bool = True
) -> Host:
    """Return a triangle that rises from 0 to 1 and falls back."""
    return _window(
        "bartlett_window", type_, window_length, periodic,
        lambda a: 1 - np.abs(a / np.pi - 1),
    )  # fmt: skip


@constructor
def blackman_window(
    type_: dtype | None, window_length: int, periodic: bool = True
) -> Host:
    """Return ``0.42 - 0.5*cos(a) + 0.08*cos(2*a)`` of angles that run once around."""
    return _window(
        "blackman_window", type_, window_length, periodic,
        lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a),
    )  # fmt: skip


@constructor
def kaiser_window(
    type_: dtype | None, window_length: int, periodic: bool = True, beta: float = 12.0
) -> Host:
    """Return ``i0(beta*sqrt(1 - x**2))/i0(beta)``, ``x`` from -1 to 1."""
    return _window(
        "kaiser_window", type_, window_length, periodic,
        lambda a: np.i0(
            beta * np.sqrt(np.maximum(1 - (a / np.pi - 1) ** 2, 0))
        ) / np.i0(beta),
    )  # fmt: skip
