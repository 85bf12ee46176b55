"""Losses, with PyTorch's reductions."""
