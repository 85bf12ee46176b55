"""Gradients held against differences: `gradcheck` and `gradgradcheck`.

Invariant: a check that passes compared every entry of every Jacobian block, and found
no kink at the point; what fails is reported with the block, the entry and both values.

    gradcheck(f, (x,))                   # True, or GradcheckError
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..engine.backward import grad
from ..engine.devices import NUMPY
from ..engine.errors import GradError, naming
from ..engine.modes import enable_grad
from ..engine.numeric import SlopeJump, by_scales, evaluate, host, kinks_among, slopes
from ..engine.raw import Host, Run
from ..engine.tensor import Tensor, ones_for, zeros_for
from ..large.blocks import blocks_of, filled, pull

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(GradError):
    """A gradient that differs from the difference quotient, or a point without one."""


UNDEFINED = (
    "Expected backward function to handle undefined output grads. With a cotangent "
    "only for output {} {}."
)


@naming
def gradcheck(
    func: Callable[..., object],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func`` with central differences.

    Unlike PyTorch's, the check also fails at a kink, where the difference to both
    sides may agree with a gradient by chance: ``abs`` at 0.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: its arguments; those that require a gradient are varied.
        eps: the step of the differences.
        atol, rtol: an entry may differ by ``atol + rtol * abs(difference quotient)``.
        raise_exception: raise on failure; otherwise return False.
        nondet_tol: how far two runs of the same backward pass may differ.
        check_undefined_grad: also pass a cotangent for only one of several outputs.
        check_forward_ad: also compare forward mode.
        check_backward_ad: compare reverse mode.
        check_grad_dtypes: accepted; a gradient is always of its input's dtype here.
        check_batched_grad, check_batched_forward_grad, fast_mode, masked: accepted;
            batches are run entry by entry here, and every entry is compared anyway.

    Raises:
        GradcheckError: with the first block that fails.
        ValueError: no input requires a gradient.
        AssertionError: neither mode is to be compared.
    """
    assert check_forward_ad or check_backward_ad, "no mode is to be compared"
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)

    def allowed(quotient: Host) -> Host:
        return atol + rtol * numpy.abs(quotient)

    check = _Check(func, arguments, eps, allowed)
    try:
        with enable_grad():
            check.differences()
            if check_backward_ad and check_undefined_grad:
                check.undefined_cotangents()
            if check_backward_ad:
                check.reverse(nondet_tol)
            if check_forward_ad:
                check.compare(check.blocks(forward=True), " in forward mode")
            check.demand_no_kinks()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Run,
    inputs: Any,
    grad_outputs: object = None,
    *,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """Compare the gradients of the gradients of ``func`` with central differences.

    Args:
        grad_outputs: the cotangents at which to differentiate; drawn, the same ones
            each time, if left out.
        check_fwd_over_rev, check_rev_over_rev: which mode differentiates the gradients.
        options: those of `gradcheck`, whose other arguments these are.
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    varied = _varied(arguments)
    outputs = differentiable(func(*arguments))
    if not any(y.requires_grad for y in outputs):
        raise ValueError("no output requires gradient: there is no gradient to check")
    cotangents = _cotangents(outputs, grad_outputs)
    count = len(arguments)

    def gradients(*given: Tensor) -> tuple[Tensor, ...]:
        outputs = differentiable(func(*given[:count]))
        targets = [given[arg] for arg in varied]
        found = pull(outputs, targets, given[count:], create_graph=True)
        return tuple(filled(found, targets))

    options |= {"check_forward_ad": check_fwd_over_rev}
    options |= {"check_backward_ad": check_rev_over_rev}
    return gradcheck(gradients, (*arguments, *cotangents), **options)


Blocks = dict[tuple[int, int], Host]
"""Blocks of a Jacobian by the numbers of output and argument; as PyTorch prints them,
they have a row per entry of the argument."""


class _Check:
    """A function at a point: its difference quotients, and what is compared to them.

    ``allowed`` gives how much a number may differ from a difference quotient.
    """

    def __init__(
        self, func: Run, arguments: Sequence[Any], eps: float,
        allowed: Callable[[Host], Host],
    ) -> None:  # fmt: skip
        self.func, self.varied = func, _varied(arguments)
        self.eps, self.allowed = eps, allowed
        self.arguments = [
            Tensor(x.raw, x.xp, x.requires_grad) if isinstance(x, Tensor) else x
            for x in arguments
        ]
        self.inputs = [self.arguments[arg] for arg in self.varied]
        self.outputs = differentiable(func(*self.arguments))
        self.quotients: Blocks = {}
        self.suspects: list[tuple[int, int]] = []

    def differences(self) -> None:
        """Compute the quotients; note entries whose slopes to both sides differ."""
        here = evaluate(self.outputs)
        for arg, x in zip(self.varied, self.inputs, strict=True):
            f = self._of_one(arg)
            columns: list[list[Any]] = [[] for _ in self.outputs]
            for entry in range(x.numel()):
                for nr, s in enumerate(slopes(f, here, x, entry, self.eps)):
                    columns[nr].append(s.central.reshape(-1))
                    if numpy.any(s.jump > self.allowed(s.steepest) + s.noise):
                        self.suspects.append((arg, entry))
            for nr, (y, rows) in enumerate(zip(self.outputs, columns, strict=True)):
                block = numpy.array(rows).reshape(x.numel(), y.numel())
                self.quotients[nr, arg] = block

    def blocks(self, forward: bool = False) -> Blocks:
        """Compute the Jacobian by one of the modes."""
        rows = blocks_of(self.outputs, self.inputs, forward=forward)
        return {
            (nr, arg): host(block).reshape(y.numel(), x.numel()).T
            for nr, (y, row) in enumerate(zip(self.outputs, rows, strict=True))
            for arg, x, block in zip(self.varied, self.inputs, row, strict=True)
        }

    def reverse(self, nondet_tol: float) -> None:
        """Compare reverse mode with the quotients, and a second pass with the first."""
        first = self.blocks()
        self.compare(first)
        again = self.blocks()
        for at, block in first.items():
            gap = numpy.abs(block - again[at])
            if gap.size and not numpy.max(gap) <= nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant: a second pass gives other numbers, by "
                    f"more than {nondet_tol}"
                )

    def compare(self, found: Blocks, mode: str = "") -> None:
        """Raise an error for the worst entry of the first block that differs from the
        quotients by more than is allowed."""
        for (nr, arg), analytical in found.items():
            numerical = self.quotients[nr, arg]
            with numpy.errstate(invalid="ignore"):
                excess = numpy.abs(analytical - numerical) - self.allowed(numerical)
            excess = numpy.where(numpy.isnan(excess), numpy.inf, excess)
            if not numpy.any(excess > 0):
                continue
            row, column = numpy.unravel_index(numpy.argmax(excess), excess.shape)
            slope, quotient = analytical[row, column], numerical[row, column]
            message = (
                f"Jacobian mismatch{mode} for output {nr} with respect to input {arg},"
                f"\nnumerical:{_shown(numerical)}\nanalytical:{_shown(analytical)}\n"
                "The largest difference is that of output entry "
                f"{_entry_of(column, self.outputs[nr])} by input entry "
                f"{_entry_of(row, self.arguments[arg])}: numerical {quotient:.9g}, "
                f"analytical {slope:.9g}, differing by {abs(slope - quotient):.3g} "
                f"where {self.allowed(quotient):.3g} is allowed."
            )
            for kink in self._kinks(arg, int(row)):
                if kink.output == nr:
                    raise GradcheckError(f"{message}\nThe cause: {kink}.\n")
            raise GradcheckError(f"{message}\n")

    def demand_no_kinks(self) -> None:
        """Raise an error if slopes jump at the point, even if the quotients agree."""
        for arg, entry in self.suspects:
            for kink in self._kinks(arg, entry):
                x = self.arguments[arg]
                raise GradcheckError(
                    f"No derivative for output {kink.output} with respect to input "
                    f"{arg},\noutput entry {list(kink.output_entry)} by input entry "
                    f"{_entry_of(entry, x)}, where the input is "
                    f"{float(x.raw.reshape(-1)[entry]):.6g}: {kink}.\n"
                )

    def _kinks(self, arg: int, entry: int) -> list[SlopeJump]:
        f, x = self._of_one(arg), self.arguments[arg]
        found = by_scales(f, evaluate(self.outputs), x, entry, self.eps)
        return kinks_among(found, self.allowed)

    def _of_one(self, arg: int) -> Callable[[Tensor], list[Any]]:
        """Return the outputs' values as a function of one argument."""
        before, after = self.arguments[:arg], self.arguments[arg + 1 :]
        return lambda x: evaluate(differentiable(self.func(*before, x, *after)))

    def undefined_cotangents(self) -> None:
        """Check that only one cotangent means zeros for the other outputs."""
        live = [y for y in self.outputs if y.edge is not None]
        if len(live) < 2:
            return
        for nr, y in enumerate(live):
            ones = ones_for(y)
            full = [ones if i == nr else zeros_for(z) for i, z in enumerate(live)]
            try:
                alone = grad([y], self.inputs, [ones], True)
            except Exception as error:
                why = f"it raises {type(error).__name__}: {error}"
                raise GradcheckError(UNDEFINED.format(nr, why)) from error
            together = grad(live, self.inputs, full, True)
            for a, b in zip(alone, together, strict=True):
                if not numpy.array_equal(_or_zero(a), _or_zero(b), equal_nan=True):
                    why = "it gives other gradients than with zeros for the others"
                    raise GradcheckError(UNDEFINED.format(nr, why))


def _entry_of(flat_index: Any, x: Tensor) -> list[int]:
    """Return the indices of an entry of a tensor, given its number."""
    return [int(i) for i in numpy.unravel_index(flat_index, tuple(x.shape))]


def _shown(values: object) -> str:
    return repr(Tensor(numpy.ascontiguousarray(values), NUMPY))


def differentiable(outputs: Any) -> list[Tensor]:
    """Return the outputs that hold floats.

    Raises:
        TypeError: an output is no tensor.
    """
    found = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
    for y in found:
        if not isinstance(y, Tensor):
            raise TypeError(
                "gradcheck needs a function that returns tensors, this one returned "
                f"{type(y).__name__}"
            )
    return [y for y in found if y.raw.dtype.kind == "f"]


def _varied(arguments: Sequence[Any]) -> list[int]:
    """Return the numbers of the inputs that require a gradient."""
    tensors = {n: x for n, x in enumerate(arguments) if isinstance(x, Tensor)}
    found = [n for n, x in tensors.items() if x.requires_grad]
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none "
            "of them have requires_grad=True."
        )
    for n in found:
        if tensors[n].raw.dtype != numpy.float64:
            warnings.warn(
                f"Input #{n} requires gradient and is not a double precision floating "
                "point: this check will likely fail", UserWarning, stacklevel=4,
            )  # fmt: skip
    return found


def _cotangents(outputs: Sequence[Tensor], given: Any) -> list[Tensor]:
    """Return the given cotangents, or sampled ones, as leaves of their own."""
    if given is not None:
        return [given] if isinstance(given, Tensor) else list(given)
    draws = numpy.random.default_rng(0)
    drawn = []
    for y in outputs:
        values = draws.standard_normal(tuple(y.shape)).astype(y.raw.dtype)
        drawn.append(Tensor(y.xp.array(values), y.xp, True))
    return drawn


def _or_zero(g: Tensor | None) -> Host:
    return numpy.zeros(()) if g is None or not host(g).any() else host(g)
