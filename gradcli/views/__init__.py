"""Frozen views of what the engine recorded, ready for any renderer.

Invariant: a view is made once, from a graph whose saved values are still there, and
never changes; renderers read views and nothing else.
"""
