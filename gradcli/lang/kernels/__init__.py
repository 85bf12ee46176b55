"""Pointwise programs and their reverse passes as lists of operations on tiles."""
