"""Hooks of every module, whatever its class.

Invariant: while none was ever registered, calling a module costs nothing more.

    with register_module_forward_hook(lambda module, args, out: print(module)):
        net(x)
"""

from __future__ import annotations

from ...engine.hooks import RemovableHandle
from ..hooks import EVERY, Hook, Hooks
from ..module import Module, hooked

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]


def _every() -> Hooks:
    hooked(Module)
    return EVERY


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before every module's forward pass; it may replace
    args."""
    return _every().before_forward.put(hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every module's; it may replace the
    output."""
    return _every().forward.put(hook, with_kwargs=with_kwargs, always_call=always_call)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before each backward pass through a module."""
    return _every().before_backward.put(hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after each."""
    return _every().add_backward(hook, True, where="global Module hook")


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` with the last node's alone."""
    return _every().add_backward(hook, False, where="global Module hook")
