"""Tutorials of automatic differentiation, retold: what they show has to happen here.

One file per tutorial. Random weights are drawn from a fixed seed, and what the text
says of them is asserted; where the text prints numbers, these numbers are asserted.
"""
