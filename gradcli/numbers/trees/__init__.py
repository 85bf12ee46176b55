"""Expression trees: a number system whose numbers remember how they were made.

Invariant: nothing here writes text for anybody but the formulas of local gradients;
`gradcli.render.code` turns trees into programs.
"""
