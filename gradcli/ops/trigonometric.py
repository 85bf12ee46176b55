"""Circular and hyperbolic functions and their inverses."""
