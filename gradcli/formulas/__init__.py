"""Expression trees: a number system whose numbers remember how they were made.

The trees of a derivative become programs in gradcli's own language, for NumPy and
PyTorch, in C and as LaTeX (`programs.py`, `dialect.py`).
"""
