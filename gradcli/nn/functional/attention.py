"""Attention as a function.

Invariant: a mask of booleans says where a query may look; a mask of numbers is added to
the scores before the softmax.

    scaled_dot_product_attention(q, k, v, is_causal=True)
"""

from __future__ import annotations

import math

from ...engine.tensor import Tensor
from .dropout import dropout
from .shared import run, with_mask


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """``softmax(query @ key.T*scale + mask) @ value`` (Vaswani et al. 2017).

    Args:
        query: (..., L, E).
        key: (..., S, E).
        value: (..., S, Ev).
        attn_mask: broadcastable to (..., L, S).
        dropout_p: how much of the weights is dropped.
        is_causal: a query looks at keys up to its own position only.
        scale: what products are multiplied by; None: ``1/sqrt(E)``.
        enable_gqa: let several heads of the query share one of key and value.

    Returns:
        (..., L, Ev).

    Raises:
        RuntimeError: a mask together with ``is_causal``.
    """
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if enable_gqa:
        shared = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(shared, -3)
        value = value.repeat_interleave(shared, -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    # Half of the factor on either side keeps products of large entries in range.
    root = math.sqrt(abs(factor))
    left, right = query * math.copysign(root, factor), key.transpose(-2, -1) * root
    scores = left @ right
    if is_causal:
        shape = (query.shape[-2], key.shape[-2])
        attn_mask = run("new_ones", query, shape).tril() > 0
    if attn_mask is not None:
        scores = with_mask(scores, attn_mask)
    weights = run("softmax", scores, -1)
    return dropout(weights, dropout_p) @ value if dropout_p else weights @ value
