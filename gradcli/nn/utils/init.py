"""Modules made without drawing their values."""

from __future__ import annotations

import inspect

from ..module import Module


def skip_init(module_cls: object, *args: object, **kwargs: object) -> Module:
    """A module whose values are to be set anew.

    Args:
        module_cls: its class, which has to take a ``device``.
        args, kwargs: what the class takes.

    Raises:
        RuntimeError: it is no class of modules, or takes no ``device``.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs).to_empty(device=device)
