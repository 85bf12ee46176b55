"""An assertion for tests of gradients that users write themselves.

from gradcli.testing import assert_gradient

def test_my_function():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert_gradient(MyFunction, (x,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .functions.function_proof import FunctionProof
from .functions.verify_function import verify

__all__ = ["assert_gradient"]
__dir__ = __all__.copy


def assert_gradient(
    fn: Callable[..., object], inputs: Any, at_least: str = "certified", **options: Any
) -> FunctionProof:
    """Fail unless the gradients of ``fn`` at ``inputs`` are proven right.

    The message names the entry, both values and the mistake that is suspected.

    Args:
        fn: a function, a `Function` or a module, as `gradcli.autograd.verify` takes.
        inputs: the arguments of ``fn``; gradients of those that require one are tested.
        at_least: the weakest verdict that passes.
        options: options of `gradcli.autograd.verify`.

    Returns:
        The proof that `gradcli.autograd.verify` returns.

    Raises:
        AssertionError: a gradient is refuted, or its verdict is below ``at_least``.
    """
    __tracebackhide__ = True
    return verify(fn, inputs, at_least=at_least, raise_exception=True, **options)
