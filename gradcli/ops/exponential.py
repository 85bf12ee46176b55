"""Exponentials, logarithms and roots."""
