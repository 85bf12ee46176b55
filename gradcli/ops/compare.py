"""Choosing between values: extrema, clamps, where, comparisons, rounding."""
