"""Windows that signals are multiplied by, as PyTorch's ``signal.windows`` has them.

Invariant: a window of M numbers is symmetric; with ``sym=False`` it is the beginning of
the symmetric one of M + 1, which can be repeated.

    windows.hann(5)                 # tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    windows.kaiser(5, beta=3.0, sym=False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import pi, sqrt
from typing import Protocol, cast

from ..engine.creation import empty, linspace
from ..engine.device import DeviceLike
from ..engine.dtypes import dtype, float32, float64, get_default_dtype
from ..engine.layouts import layout, strided
from ..engine.record import call
from ..engine.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip

Made = Callable[[int, float, float], Tensor]
"""Of a count and two ends as many numbers at equal distances."""


def _numbers(
    name: str, count: int, type_: dtype | None, form: layout, device: DeviceLike,
    requires_grad: bool,
) -> Made:  # fmt: skip
    """Check what all windows are given, and give what makes their arguments."""
    chosen = get_default_dtype() if type_ is None else type_
    if count < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={count}")
    if form is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {form}")
    if chosen not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {chosen}")
    options = {"dtype": chosen, "device": device, "requires_grad": requires_grad}

    def made(steps: int, start: float, end: float) -> Tensor:
        if not steps:
            return empty((0,), **options)
        return linspace(start, end, steps, **options)

    return made


def _run(name: str, *args: object) -> Tensor:
    return cast("Tensor", call(name, *args))


class Window(Protocol):
    """A window that has no parameters of its own."""

    def __call__(
        self, M: int, *, sym: bool = True, dtype: dtype | None = None,
        layout: layout = strided, device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor: ...  # fmt: skip


def _plain(
    name: str, fill: Callable[[Made, int, bool], Tensor], doc: str, of: str = ""
) -> Window:
    """Make a window that has no parameters of its own.

    Args:
        fill: what it is, of what makes its arguments, a count and ``sym``.
        of: the window that it is a kind of, which speaks in errors.
    """

    def window(
        M: int, *, sym: bool = True, dtype: dtype | None = None,
        layout: layout = strided, device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:  # fmt: skip
        made = _numbers(of or name, M, dtype, layout, device, requires_grad)
        return fill(made, M, sym)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"""{doc}

    Args:
        M: how many numbers.
        sym: symmetric, or the beginning of a longer one.
    """
    return window


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
    dtype: dtype | None = None, layout: layout = strided, device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``exp(-abs(n - center)/tau)``.

    Args:
        M: how many numbers.
        center: where it is largest; None: in the middle.
        tau: how slowly it falls.
        sym: symmetric, or the beginning of a longer one.
    """
    made = _numbers("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return made(0, 0, 0)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k = made(M, -center / tau, (M - 1 - center) / tau)
    return _run("exp", _run("neg", _run("abs", k)))


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: dtype | None = None,
    layout: layout = strided, device: DeviceLike = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``exp(-(n/std)**2/2)``, ``n`` from the middle.

    Args:
        M: how many numbers.
        std: the standard deviation.
        sym: symmetric, or the beginning of a longer one.
    """
    made = _numbers("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return made(0, 0, 0)
    start, step = -(M if not sym and M > 1 else M - 1) / 2.0, 1 / (std * sqrt(2))
    k = made(M, start * step, (start + M - 1) * step)
    return _run("exp", _run("neg", _run("pow", k, 2)))


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: dtype | None = None,
    layout: layout = strided, device: DeviceLike = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``i0(sqrt(beta**2 - k**2))/i0(beta)``, ``k`` from -beta to beta.

    Args:
        M: how many numbers.
        beta: how steeply it falls.
        sym: symmetric, or the beginning of a longer one.
    """
    made = _numbers("kaiser", M, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return made(M, 1, 1)
    step = 2.0 * beta / (M if not sym else M - 1)
    k = made(M, -beta, min(beta, (M - 1) * step - beta))
    whole = call("full_like", k.detach(), beta)
    inside = _run("sqrt", _run("sub", whole * whole, _run("pow", k, 2)))
    return _run("div", _run("i0", inside), _run("i0", whole))


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: dtype | None = None,
    layout: layout = strided, device: DeviceLike = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A sum of waves: ``a[0] - a[1]*cos(x) + a[2]*cos(2*x) - ...``.

    Args:
        M: how many numbers.
        a: how much each wave counts.
        sym: symmetric, or the beginning of a longer one.
    """
    made = _numbers("general_cosine", M, dtype, layout, device, requires_grad)
    if M >= 2 and not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if M >= 2 and not a:
        raise ValueError("Coefficients cannot be empty")
    return _waves(made, M, sym, [*a] if M >= 2 else [])


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: dtype | None = None,
    layout: layout = strided, device: DeviceLike = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``alpha - (1 - alpha)*cos(2*pi*n/(M - 1))``.

    Args:
        M: how many numbers.
        alpha: how much the constant counts.
        sym: symmetric, or the beginning of a longer one.
    """
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad,
    )  # fmt: skip


def _waves(made: Made, count: int, sym: bool, weights: Sequence[float]) -> Tensor:
    """Sum waves with these weights."""
    if count < 2:
        return made(count, 1, 1)
    step = 2 * pi / (count if not sym else count - 1)
    k = made(count, 0, (count - 1) * step)
    signed = k.new_tensor([(-1) ** i * w for i, w in enumerate(weights)])
    orders = k.new_tensor([float(i) for i in range(len(weights))])
    waves = _run("cos", orders.unsqueeze(-1) * k)
    return (signed.unsqueeze(-1) * waves).sum(0)


def _half_wave(made: Made, count: int, sym: bool) -> Tensor:
    if count == 0:
        return made(0, 0, 0)
    step = pi / (count + 1 if not sym and count > 1 else count)
    return _run("sin", made(count, 0.5 * step, (count - 0.5) * step))


def _triangle(made: Made, count: int, sym: bool) -> Tensor:
    if count < 2:
        return made(count, 1, 1)
    k = made(count, -1, (count - 1) * (2 / (count if not sym else count - 1)) - 1)
    return 1 - _run("abs", k)


cosine = _plain("cosine", _half_wave, "``sin(pi*(n + 1/2)/M)``: half a wave.")
bartlett = _plain("bartlett", _triangle, "``1 - abs(2*n/(M - 1) - 1)``: a triangle.")
hamming = _plain(
    "hamming", partial(_waves, weights=[0.54, 1.0 - 0.54]),
    "``0.54 - 0.46*cos(2*pi*n/(M - 1))``.", "general_cosine",
)  # fmt: skip
hann = _plain(
    "hann", partial(_waves, weights=[0.5, 0.5]),
    "``(1 - cos(2*pi*n/(M - 1)))/2``.", "general_cosine",
)  # fmt: skip
blackman = _plain(
    "blackman", partial(_waves, weights=[0.42, 0.5, 0.08]),
    "``0.42 - 0.5*cos(a) + 0.08*cos(2*a)``, ``a = 2*pi*n/(M - 1)``.",
)  # fmt: skip
nuttall = _plain(
    "nuttall", partial(_waves, weights=[0.3635819, 0.4891775, 0.1365995, 0.0106411]),
    "A sum of four waves whose sidelobes are low (Nuttall 1981).", "general_cosine",
)  # fmt: skip
