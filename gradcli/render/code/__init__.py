"""Programs of derivatives: steps of expression trees in gradcli's own language, for
NumPy and PyTorch, in C and as LaTeX.
"""
