"""Attention as functions: of one head, and of several with their projections.

Invariant: masks become numbers that are added to the scores before the softmax, and a
sequence that is given twice is projected in one product, as PyTorch does it.

    scaled_dot_product_attention(q, k, v, is_causal=True)
"""

from __future__ import annotations

import math

from ...engine.dtypes import bool_
from ...engine.tensor import Tensor
from .declare import run
from .layers import dropout
from .table import linear


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Compute ``softmax(query @ key.T*scale + mask) @ value`` (Vaswani et al. 2017).

    Args:
        query: (..., L, E).
        key: (..., S, E).
        value: (..., S, Ev).
        attn_mask: broadcastable to (..., L, S); True where to look, or numbers to add.
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
        raise RuntimeError("attn_mask cannot be given with is_causal=True")
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
    if attn_mask is not None and attn_mask.dtype == bool_:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = run("softmax", scores, -1)
    return dropout(weights, dropout_p) @ value if dropout_p else weights @ value


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
    bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True,
    attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
    static_v: Tensor | None = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Compute what `nn.MultiheadAttention` does, whose options and weights these are.

    Args:
        embed_dim_to_check: the length of a query.
        in_proj_weight, in_proj_bias: (3*E, E) and (3*E,), for all three.
        use_separate_proj_weight: project by the three weights that follow.
        bias_k, bias_v, static_k, static_v, add_zero_attn: have to be None and False.

    Raises:
        AssertionError: shapes that do not fit each other.
    """
    if add_zero_attn or any(
        t is not None for t in (bias_k, bias_v, static_k, static_v)
    ):
        raise NotImplementedError(
            "keys and values are projected, and none are added: leave out bias_k, "
            "bias_v, static_k, static_v and add_zero_attn"
        )
    batched, dims = query.ndim == 3, query.ndim
    if dims not in (2, 3) or not key.ndim == value.ndim == dims:
        raise AssertionError(
            "query, key and value are three 2-D tensors, or three 3-D ones of batches, "
            f"not {query.ndim}-D, {key.ndim}-D and {value.ndim}-D"
        )
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, items, size = query.shape
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if size != embed_dim_to_check or size % num_heads:
        raise AssertionError(
            f"queries of the length {size} do not fit {num_heads} heads of "
            f"{embed_dim_to_check} in all"
        )
    if use_separate_proj_weight:
        own = [q_proj_weight, k_proj_weight, v_proj_weight]
        q, k, v = _project_separately((query, key, value), own, in_proj_bias)
    else:
        q, k, v = _together(query, key, value, in_proj_weight, in_proj_bias)
    heads = (items * num_heads, size // num_heads)
    padding = _numbers(key_padding_mask, query)
    looks = _looks(_numbers(attn_mask, query), (length, key.shape[0]), heads[0])
    q, k, v = (t.reshape(t.shape[0], *heads).transpose(0, 1) for t in (q, k, v))
    if padding is not None:
        each = _by_head(padding, items, num_heads, k.shape[1])
        looks = each if looks is None else looks + each
    q, k = q * math.sqrt(1 / heads[1]), k.transpose(-2, -1)
    scores = run("bmm", q, k) if looks is None else run("baddbmm", looks, q, k)
    shares = run("softmax", scores, -1)
    if training and dropout_p:
        shares = dropout(shares, dropout_p)
    out = run("bmm", shares, v).transpose(0, 1).reshape(length * items, size)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = out.reshape(length, items, out.shape[1])
    shown = None
    if need_weights:
        shown = shares.reshape(items, num_heads, length, shares.shape[-1])
        shown = shown.mean(1) if average_attn_weights else shown
    if batched:
        return out, shown
    return out.squeeze(1), None if shown is None else shown.squeeze(0)


def _numbers(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Turn a mask that is True where not to look into numbers to add to scores."""
    if mask is None:
        return None
    if mask.dtype == bool_:
        return run("new_zeros", like, mask.shape).masked_fill(mask, -math.inf)
    if not mask.is_floating_point():
        raise AssertionError("a mask holds booleans or floating-point numbers")
    return mask if mask.dtype == like.dtype else mask.to(like.dtype)


def _together(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None,
    bias: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    """Project query, key and value by one weight for all three."""
    assert weight is not None, "in_proj_weight is None: give it, or three weights"
    if key is not value:
        return _project_separately((query, key, value), list(weight.chunk(3)), bias)
    if query is key:
        return _in_parts(query, weight, bias, 3)
    halves = [query.shape[-1], 2 * query.shape[-1]]
    of_query, of_both = weight.split(halves)
    biases = (None, None) if bias is None else bias.split(halves)
    keys = _in_parts(key, of_both, biases[1], 2)
    return [linear(query, of_query, biases[0]), *keys]


def _project_separately(
    sequences: tuple[Tensor, ...], weights: list[Tensor | None], bias: Tensor | None
) -> list[Tensor]:
    """Project query, key and value, each by a weight of its own."""
    if sequences[1].shape[:2] != sequences[2].shape[:2]:
        raise AssertionError("key and value differ in their first two dimensions")
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return [
        run("linear", *each) for each in zip(sequences, weights, biases, strict=True)
    ]


def _in_parts(
    x: Tensor, weight: Tensor, bias: Tensor | None, count: int
) -> list[Tensor]:
    """Project a sequence by so many matrices, which are rows of one."""
    y = linear(x, weight, bias).unflatten(-1, (count, -1))
    y = y.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [y[nr] for nr in range(count)]


def _by_head(padding: Tensor, items: int, heads: int, count: int) -> Tensor:
    """Spread a mask (N, S) over the heads: (N*heads, 1, S)."""
    if tuple(padding.shape) != (items, count):
        raise AssertionError(
            f"key_padding_mask has the shape {padding.size()}, not {(items, count)}"
        )
    each = padding.view(items, 1, 1, count).expand(-1, heads, -1, -1)
    return each.reshape(items * heads, 1, count)


def _looks(looks: Tensor | None, size: tuple[int, int], heads: int) -> Tensor | None:
    """Give a mask by query and key a dimension for the heads."""
    if looks is None:
        return None
    wanted = size if looks.ndim == 2 else (heads, *size)
    if tuple(looks.shape) != wanted:
        raise RuntimeError(f"attn_mask has the shape {looks.size()}, not {wanted}")
    return looks.unsqueeze(0) if looks.ndim == 2 else looks
