"""Attention with several heads.

Invariant: weights and their names are PyTorch's: one matrix projects query, key and
value if all three are as long as the embedding, three matrices do it otherwise.

    out, weights = MultiheadAttention(8, 2, batch_first=True)(x, x, x)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..engine.dtypes import bool_
from ..engine.record import call
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .heads import add_parameters, head
from .linear import Linear
from .module import Module


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that PyTorch shows for an output projection."""


class MultiheadAttention(Module):
    """Heads that look at different parts of a sequence, side by side.

    Args:
        embed_dim: the length of an entry, which the heads divide among them.
        num_heads: how many heads.
        dropout: how much of the weights is dropped in training.
        bias: whether projections have a bias.
        add_bias_kv, add_zero_attn: have to be False.
        kdim, vdim: the lengths of keys and of values; None: ``embed_dim``.
        batch_first: sequences come as (N, L, E), not (L, N, E).

    Raises:
        ValueError: sizes that are not positive.
        AssertionError: ``embed_dim`` is no multiple of ``num_heads``.
    """

    bias_k: None = None
    bias_v: None = None

    @head("bias", "add_bias_kv", "add_zero_attn")
    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False,
        kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError(
                "add_bias_kv and add_zero_attn are not offered: append the entries to "
                "key and value before the call"
            )
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        alike = self.kdim == self.vdim == embed_dim
        square, three = (embed_dim, embed_dim), 3 * embed_dim
        add_parameters(
            self, device, dtype,
            in_proj_weight=(three, embed_dim) if alike else None,
            q_proj_weight=None if alike else square,
            k_proj_weight=None if alike else (embed_dim, self.kdim),
            v_proj_weight=None if alike else (embed_dim, self.vdim),
            in_proj_bias=(three,) if bias else None,
        )  # fmt: skip
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias, device, dtype
        )
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj", "q_proj", "k_proj", "v_proj"):
            weight = getattr(self, f"{name}_weight")
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Let each entry of ``query`` look at the entries of ``key``.

        Args:
            query: (L, N, E), or (L, E) without a batch.
            key, value: (S, N, kdim), (S, N, vdim).
            key_padding_mask: (N, S), True or -inf at keys to leave out.
            need_weights: give the weights back as well.
            attn_mask: (L, S) or (N*num_heads, L, S), True or -inf where not to look.
            average_attn_weights: one weight for all heads, not one each.
            is_causal: a promise that ``attn_mask`` is causal.

        Returns:
            The output, shaped as ``query``, and the weights (N, L, S), or None.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the "
                "Transformer module method `generate_square_subsequent_mask` to create "
                "this mask."
            )
        batched = query.ndim == 3
        if not batched:
            query, key, value = _alike((query, key, value), lambda t: t.unsqueeze(1))
            if key_padding_mask is not None:
                key_padding_mask = key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = _alike((query, key, value), lambda t: t.transpose(1, 0))
        length, items, size = query.shape
        if size != self.embed_dim:
            raise AssertionError(
                f"was expecting embedding dimension of {self.embed_dim}, but got {size}"
            )
        q, k, v = (self._split(t) for t in self._projected(query, key, value))
        mask = self._mask(query, key, attn_mask, key_padding_mask)
        out, weights = self._attend(q, k, v, mask)
        out = out.transpose(0, 1).reshape(length * items, size)
        out = self.out_proj(out).reshape(length, items, size)
        shown = None
        if need_weights:
            shown = weights.reshape(items, self.num_heads, length, weights.shape[-1])
            shown = shown.mean(1) if average_attn_weights else shown
        if not batched:
            return out.squeeze(1), None if shown is None else shown.squeeze(0)
        return (out.transpose(1, 0) if self.batch_first else out), shown

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """Query, key and value as the heads see them: in one product what is the same
        sequence."""
        weight, bias = self.in_proj_weight, self.in_proj_bias
        size = self.embed_dim
        if weight is not None and key is value:
            if query is key:
                return _in_parts(query, weight, bias, 3)
            halves = [size, 2 * size]
            of_query, of_both = weight.split(halves)
            biases = (None, None) if bias is None else bias.split(halves)
            keys = _in_parts(key, of_both, biases[1], 2)
            return [F.linear(query, of_query, biases[0]), *keys]
        if weight is not None:
            weights = weight.chunk(3)
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        inputs = (query, key, value)
        return [F.linear(*each) for each in zip(inputs, weights, biases, strict=True)]

    def _split(self, x: Tensor) -> Tensor:
        """Split (L, N, E) by head: (N*heads, L, E/heads)."""
        length, items = x.shape[:2]
        x = x.reshape(length, items * self.num_heads, self.head_dim)
        return x.transpose(0, 1)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        query = query * math.sqrt(1 / self.head_dim)
        key = key.transpose(-2, -1)
        scores: Tensor = (
            call("bmm", query, key)
            if mask is None
            else call("baddbmm", mask, query, key)
        )
        weights: Tensor = call("softmax", scores, -1)
        if self.dropout and self.training:
            weights = F.dropout(weights, self.dropout)
        out: Tensor = call("bmm", weights, value)
        return out, weights

    def _mask(
        self, query: Tensor, key: Tensor, looks: Tensor | None, padding: Tensor | None
    ) -> Tensor | None:
        """Add both masks up to one of numbers, (N*heads or 1, L or 1, S)."""
        (length, items), count = query.shape[:2], key.shape[0]
        masks = []
        if looks is not None:
            shapes = [(length, count), (items * self.num_heads, length, count)]
            if tuple(looks.shape) not in shapes:
                raise RuntimeError(
                    f"The shape of the {looks.ndim}D attn_mask is "
                    f"{looks.size()}, but should be {shapes[looks.ndim - 2]}."
                )
            looks = _numbers(looks, query)
            masks.append(looks.unsqueeze(0) if looks.ndim == 2 else looks)
        if padding is not None:
            if tuple(padding.shape) != (items, count):
                at = next(i for i in (0, 1) if padding.shape[i] != (items, count)[i])
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{at}] to be {(items, count)[at]}, "
                    f"but got {padding.shape[at]}"
                )
            each = _numbers(padding, query).view(items, 1, 1, count)
            each = each.expand(-1, self.num_heads, -1, -1)
            masks.append(each.reshape(items * self.num_heads, 1, count))
        return masks[0] + masks[1] if len(masks) == 2 else next(iter(masks), None)


def _alike(
    sequences: tuple[Tensor, ...], turn: Callable[[Tensor], Tensor]
) -> list[Tensor]:
    """Each sequence turned; one that comes twice stays one."""
    turned = {id(each): turn(each) for each in sequences}
    return [turned[id(each)] for each in sequences]


def _in_parts(
    x: Tensor, weight: Tensor, bias: Tensor | None, count: int
) -> list[Tensor]:
    """The projections of a sequence by so many matrices, which stand in one."""
    y = F.linear(x, weight, bias).unflatten(-1, (count, -1))
    y = y.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [y[nr] for nr in range(count)]


def _numbers(mask: Tensor, like: Tensor) -> Tensor:
    """Turn a mask that is True where not to look into numbers to add to scores; numbers
    take the scores' type."""
    if mask.dtype != bool_:
        return mask if mask.dtype == like.dtype else mask.to(like.dtype)
    zeros: Tensor = call("new_zeros", like, mask.shape)
    return zeros.masked_fill(mask, -math.inf)
