"""Signals, as far as PyTorch's ``signal`` has them: their windows."""

from . import windows

__all__ = ["windows"]
