"""Frozen answers as text, JSON, DOT, Mermaid, LaTeX and program text.

Invariant: a renderer reads answers and yields lines; it computes no value. User text
reaches a terminal only with its control characters escaped and never through markup.
"""
