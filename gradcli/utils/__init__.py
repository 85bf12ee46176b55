"""Tools around training, as PyTorch's ``utils`` has them."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..engine.absent import absent
from . import checkpoint, data

__all__ = ["benchmark", "checkpoint", "data"]


if TYPE_CHECKING:
    from . import benchmark as benchmark

if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        if name == "benchmark":
            return import_module(f"{__name__}.{name}")
        raise absent(__name__, name, __all__)
