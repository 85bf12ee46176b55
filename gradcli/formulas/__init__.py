"""Expression trees: a number system whose numbers remember how they were made.

Invariant: the only text that is written here is the formulas of local gradients;
`gradcli.render.code` turns trees into programs.
"""
