"""The backward pass as a worked solution: LaTeX, Markdown, a page of HTML.

Invariant: every number stands beside the rule that it comes from, and is the engine's.
"""
