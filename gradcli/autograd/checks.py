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
from ..engine.forward import jvp
from ..engine.modes import enable_grad
from ..engine.tensor import Tensor
from .numeric import kinks, slopes
from .report import GradcheckError, Report, Tolerance
from .rows import rows_of, units

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

NOTHING_TO_CHECK = (
    "gradcheck expects at least one input tensor to require gradient, but none of them "
    "have requires_grad=True."
)
NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point or "
    "complex. This check will likely fail if all the inputs are not of double "
    "precision floating point or complex. "
)
NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output "
    "multiple times gives different values, although analytical gradient matches "
    "numerical gradient.The tolerance for nondeterminism was {}."
)
UNDEFINED = (
    "Expected backward function to handle undefined output grads. With a cotangent for "
    "output {} alone {}."
)


def gradcheck(
    func: Callable[..., Any],
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
        check_undefined_grad: also pass a cotangent for one of several outputs alone.
        check_grad_dtypes: also demand gradients of their input's dtype.
        check_forward_ad: also compare forward mode.
        check_backward_ad: compare reverse mode.
        check_batched_grad, check_batched_forward_grad, fast_mode, masked: accepted;
            batches are run entry by entry here, and every entry is compared anyway.

    Raises:
        GradcheckError: with the first block that fails.
        ValueError: no input requires a gradient.
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    varied = _varied(arguments)
    check = _Check(func, arguments, varied, eps, Tolerance(atol, rtol))
    try:
        with enable_grad():
            check.differences()
            if check_backward_ad:
                check.reverse(nondet_tol, check_grad_dtypes)
            if check_forward_ad:
                check.forward()
            check.kinks()
            if check_undefined_grad and check_backward_ad:
                check.undefined_cotangents()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the gradients of the gradients of ``func`` with central differences.

    Args:
        grad_outputs: the cotangents at which to differentiate; drawn, the same ones
            each time, if left out.
        gen_non_contig_grad_outputs: draw cotangents that are not contiguous.
        check_fwd_over_rev, check_rev_over_rev: which mode differentiates the gradients.

    The others are those of `gradcheck`.
    """
    arguments = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    varied = _varied(arguments)
    cotangents = _cotangents(
        func, arguments, grad_outputs, gen_non_contig_grad_outputs
    )
    count = len(arguments)

    def gradients(*given: Any) -> tuple[Tensor, ...]:
        outputs = differentiable(func(*given[:count]))
        targets = [given[place] for place in varied]
        found = grad(outputs, targets, given[count:], True, True)
        return tuple(
            x.xp_zeros() if g is None else g  # type: ignore[attr-defined]
            for g, x in zip(found, targets, strict=True)
        )

    return gradcheck(
        gradients,
        (*arguments, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
    )
