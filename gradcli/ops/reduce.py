"""Reductions over all entries or over dimensions."""
