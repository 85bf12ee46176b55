"""Attention with several heads as a function.

Invariant: what is the same sequence is projected in one product, as PyTorch does it,
and masks are made numbers that are added to the scores.

    out, weights = multi_head_attention_forward(q, k, v, 8, 2, w, b, None, None, False,
                                                0.0, out_w, out_b)
"""

from __future__ import annotations

import math
import warnings
from typing import NoReturn

from ...engine.dtypes import bool_, dtype
from ...engine.tensor import Tensor
from .dropout import dropout
from .shared import run
from .table import linear, pad

CAUSAL = (
    "Need attn_mask if specifying the is_causal hint. You may use the Transformer "
    "module method `generate_square_subsequent_mask` to create this mask."
)


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
    """Let each entry of ``query`` look at the entries of ``key``, head by head.

    Args:
        query: (L, N, E), or (L, E) without a batch.
        key, value: (S, N, E), or as long as their own projections say.
        embed_dim_to_check: E.
        num_heads: how many heads; E is divided among them.
        in_proj_weight: (3*E, E), the projections of query, key and value.
        in_proj_bias: (3*E,).
        bias_k, bias_v: (1, 1, E), one more key and value for every item.
        add_zero_attn: let queries look at one more key and value of zeros.
        dropout_p: how much of the weights is dropped in training.
        out_proj_weight, out_proj_bias: (E, E) and (E,), of the output.
        training: whether weights are dropped.
        key_padding_mask: (N, S), True or -inf at keys to leave out.
        need_weights: give the weights back as well.
        attn_mask: (L, S) or (N*num_heads, L, S), True or -inf where not to look.
        use_separate_proj_weight: project by the three weights that follow.
        q_proj_weight, k_proj_weight, v_proj_weight: (E, E), (E, kdim), (E, vdim).
        static_k, static_v: (N*num_heads, S, E/num_heads), in place of projections.
        average_attn_weights: one weight for all heads, not one each.
        is_causal: a promise that ``attn_mask`` is causal.

    Returns:
        The output, shaped as ``query``, and the weights (N, L, S), or None.
    """
    batched = _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, items, size = query.shape
    if is_causal and attn_mask is None:
        raise RuntimeError(CAUSAL)
    other = None if attn_mask is None else attn_mask.dtype
    padding = _numbers("key_padding_mask", key_padding_mask, query, other)
    looks = _numbers("attn_mask", attn_mask, query)
    if size != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}"
        )
    if size % num_heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    if use_separate_proj_weight:
        q, k, v = _apart((query, key, value), weights, in_proj_bias)
    else:
        q, k, v = _together(query, key, value, in_proj_weight, in_proj_bias)
    looks = _of_shape(looks, (length, key.shape[0]), items * num_heads)
    if bias_k is not None and bias_v is not None:
        _refuse_static(static_k, static_v)
        k, v = (
            run("cat", [t, more.repeat(1, items, 1)])
            for t, more in ((k, bias_k), (v, bias_v))
        )
        looks, padding = _wider(looks), _wider(padding)
    elif bias_k is not None or bias_v is not None:
        there, absent = ("k", "v") if bias_k is not None else ("v", "k")
        raise AssertionError(f"bias_{there} is set but bias_{absent} is None")
    heads = (items * num_heads, size // num_heads)
    q = _split(q, heads)
    k = _split(k, heads) if static_k is None else _static("static_k", static_k, heads)
    v = _split(v, heads) if static_v is None else _static("static_v", static_v, heads)
    if add_zero_attn:
        zeros = run("new_zeros", k, (heads[0], 1, heads[1]))
        k, v = (run("cat", [t, zeros], 1) for t in (k, v))
        looks, padding = _wider(looks), _wider(padding)
    mask = _merged(looks, padding, items, num_heads, k.shape[1])
    out, shares = _attend(q, k, v, mask, dropout_p if training else 0.0)
    out = out.transpose(0, 1).reshape(length * items, size)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = out.reshape(length, items, out.shape[1])
    shown = None
    if need_weights:
        shown = shares.reshape(items, num_heads, length, shares.shape[-1])
        shown = shown.mean(1) if average_attn_weights else shown
    if batched:
        return out, shown
    return out.squeeze(1), None if shown is None else shown.squeeze(0)


def _check_dims(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None,
    looks: Tensor | None, heads: int,
) -> bool:  # fmt: skip
    """Whether the sequences come in a batch.

    Raises:
        AssertionError: their dimensions, or those of the masks, do not fit.
    """
    if query.ndim not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.ndim}-D query tensor"
        )
    dims, batched = query.ndim, query.ndim == 3
    kind = f"For {'batched' if batched else 'unbatched'} ({dims}-D) `query`"
    if key.ndim != dims or value.ndim != dims:
        raise AssertionError(
            f"{kind}, expected `key` and `value` to be {dims}-D but found {key.ndim}-D "
            f"and {value.ndim}-D tensors respectively"
        )
    for name, mask, allowed, words in (
        ("key_padding_mask", padding, (dims - 1,), f"or {dims - 1}-D"),
        ("attn_mask", looks, (2, 3), ", 2-D or 3-D"),
    ):
        if mask is not None and mask.ndim not in allowed:
            raise AssertionError(
                f"{kind}, expected `{name}` to be `None`{' ' * (words[0] == 'o')}"
                f"{words} but found {mask.ndim}-D tensor instead"
            )
    if not batched and looks is not None and looks.ndim == 3:
        wanted = (heads, query.shape[0], key.shape[0])
        if tuple(looks.shape) != wanted:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {wanted} but got {looks.size()}"
            )
    return batched


def _numbers(
    name: str, mask: Tensor | None, like: Tensor, other: dtype | None = None
) -> Tensor | None:
    """Turn a mask that is True where not to look into numbers to add to scores; numbers
    take the scores' type."""
    if mask is None:
        return None
    if mask.dtype != bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype != other:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type "
            "for both instead.",
            stacklevel=3,
        )
    if mask.dtype != bool_:
        return mask if mask.dtype == like.dtype else mask.to(like.dtype)
    return run("new_zeros", like, mask.shape).masked_fill(mask, -math.inf)


def _together(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None,
    bias: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    """Query, key and value as the heads see them, by one weight for all three."""
    if key.shape != value.shape:
        raise AssertionError(
            f"key shape {key.size()} does not match value shape {value.size()}"
        )
    if weight is None:
        raise AssertionError(
            "use_separate_proj_weight is False but in_proj_weight is None"
        )
    size = query.shape[-1]
    if key is not value:
        return _apart((query, key, value), list(weight.chunk(3)), bias)
    if query is key:
        return _in_parts(query, weight, bias, 3)
    halves = [size, 2 * size]
    of_query, of_both = weight.split(halves)
    biases = (None, None) if bias is None else bias.split(halves)
    keys = _in_parts(key, of_both, biases[1], 2)
    return [linear(query, of_query, biases[0]), *keys]


def _apart(
    sequences: tuple[Tensor, ...], weights: list[Tensor | None], bias: Tensor | None
) -> list[Tensor]:
    """The same, each by a weight of its own."""
    key, value = (tuple(t.shape[:2]) for t in sequences[1:])
    if key != value:
        raise AssertionError(
            f"key's sequence and batch dims {sequences[1].size()[:2]} do not match "
            f"value's {sequences[2].size()[:2]}"
        )
    for letter, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(
                f"use_separate_proj_weight is True but {letter}_proj_weight is None"
            )
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return [
        run("linear", *each) for each in zip(sequences, weights, biases, strict=True)
    ]


def _in_parts(
    x: Tensor, weight: Tensor, bias: Tensor | None, count: int
) -> list[Tensor]:
    """The projections of a sequence by so many matrices, which stand in one."""
    y = linear(x, weight, bias).unflatten(-1, (count, -1))
    y = y.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [y[nr] for nr in range(count)]


def _of_shape(looks: Tensor | None, size: tuple[int, int], heads: int) -> Tensor | None:
    """A mask by query and key, for all heads or for each."""
    if looks is None:
        return None
    wanted = size if looks.ndim == 2 else (heads, *size)
    if tuple(looks.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {looks.ndim}D attn_mask is {looks.size()}, but should "
            f"be {wanted}."
        )
    return looks.unsqueeze(0) if looks.ndim == 2 else looks


def _wider(mask: Tensor | None) -> Tensor | None:
    """A mask with room for one more key, which may be looked at."""
    return None if mask is None else pad(mask, (0, 1))


def _refuse_static(key: Tensor | None, value: Tensor | None) -> None:
    for name, given in (("key", key), ("value", value)):
        if given is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")


def _static(name: str, given: Tensor, heads: tuple[int, int]) -> Tensor:
    """Keys or values that need no projection."""
    for dim, wanted in zip((0, 2), heads, strict=True):
        if given.shape[dim] != wanted:
            _misfit(f"{name}.size({dim}) of {wanted}", given.shape[dim])
    return given


def _misfit(wanted: str, found: int) -> NoReturn:
    raise AssertionError(f"expecting {wanted}, but got {found}")


def _split(x: Tensor, heads: tuple[int, int]) -> Tensor:
    """Split (L, N, E) by head: (N*heads, L, E/heads)."""
    return x.reshape(x.shape[0], *heads).transpose(0, 1)


def _merged(
    looks: Tensor | None, padding: Tensor | None, items: int, heads: int, count: int
) -> Tensor | None:
    """Add both masks up to one, (N*heads or 1, L or 1, S)."""
    if padding is None:
        return looks
    for dim, wanted in enumerate((items, count)):
        if padding.shape[dim] != wanted:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got "
                f"{padding.shape[dim]}"
            )
    each = padding.view(items, 1, 1, count).expand(-1, heads, -1, -1)
    each = each.reshape(items * heads, 1, count)
    return each if looks is None else looks + each


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropped: float
) -> tuple[Tensor, Tensor]:
    query = query * math.sqrt(1 / query.shape[-1])
    key = key.transpose(-2, -1)
    scores = (
        run("bmm", query, key) if mask is None else run("baddbmm", mask, query, key)
    )
    weights = run("softmax", scores, -1)
    if dropped:
        weights = dropout(weights, dropped)
    return run("bmm", weights, value), weights
