"""Tools around training, as PyTorch's ``utils`` has them: ``utils.data``."""

from . import data

__all__ = ["data"]
