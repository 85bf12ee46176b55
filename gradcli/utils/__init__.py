"""Tools around training, as PyTorch's ``utils`` has them."""

from typing import TYPE_CHECKING

from ..engine.absent import absent
from . import benchmark, checkpoint, data

__all__ = ["benchmark", "checkpoint", "data"]
__dir__ = __all__.copy


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
