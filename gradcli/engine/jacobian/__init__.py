"""Jacobians by one pass: the cotangents of all entries of an output at once.

Invariant: the same numbers as a reverse pass for each entry gives, up to the order in
which terms are added; what is zero for a known reason is neither stored nor computed.

    cotangents.py   a batch of cotangents of one value, dense or sparse
    namespace.py    the vocabulary of the rules on such batches
    blocks.py       the pass
"""

from .blocks import Block, jacobian_of

__all__ = ["Block", "jacobian_of"]
