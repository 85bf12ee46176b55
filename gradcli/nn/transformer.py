"""Attention and the encoder's layer of the Transformer of Vaswani et al. (2017).

Invariant: weights and their names are PyTorch's: one matrix projects query, key and
value if all three are as long as the embedding, three matrices do it otherwise.

    out, weights = MultiheadAttention(8, 2, batch_first=True)(x, x, x)
    layer = TransformerEncoderLayer(16, nhead=2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, head
from .module import Module
from .table import Dropout
from .weighted import LayerNorm, Linear

Activation = str | Callable[[Tensor], Tensor]
Mask = Tensor | None


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that PyTorch shows for an output projection."""


class MultiheadAttention(Module):
    """Heads that look at different parts of a sequence, side by side.

    Args:
        embed_dim: the length of an entry, which the heads divide among them.
        dropout: how much of the weights is dropped in training.
        add_bias_kv, add_zero_attn: have to be False.
        kdim, vdim: the lengths of keys and of values; None: ``embed_dim``.
        batch_first: sequences come as (N, L, E), not (L, N, E).

    Raises:
        ValueError: sizes that are not positive.
        AssertionError: ``embed_dim`` is no multiple of ``num_heads``.
    """

    @head("bias", "add_bias_kv", "add_zero_attn")
    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False,
        kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("add_bias_kv and add_zero_attn have to be False")
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, (
            "embed_dim must be divisible by num_heads"
        )
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
        turned = self.batch_first and query.ndim == 3
        if turned:
            # A sequence that comes twice stays one.
            own = {id(x): x.transpose(1, 0) for x in dict.fromkeys((query, key, value))}
            query, key, value = own[id(query)], own[id(key)], own[id(value)]
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, None, None, False, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, self.in_proj_weight is None,
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight, None, None,
            average_attn_weights, is_causal,
        )  # fmt: skip
        return (out.transpose(1, 0) if turned else out), weights


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class TransformerEncoderLayer(Module):
    """Attention to the sequence itself, and a network of one hidden layer: each is
    added to its input, and normalised.

    Args:
        d_model: the length of an entry.
        dim_feedforward: the width of the hidden layer.
        activation: "relu", "gelu" or a function.
        batch_first: sequences come as (N, L, E), not (L, N, E).
        norm_first: normalise what goes into each part, not what comes out.
        bias: whether linear layers and normalisations have a bias.
    """

    @head("d_model", "nhead", "dim_feedforward", "dropout", "activation",
          "layer_norm_eps", "batch_first", "bias")  # fmt: skip
    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048,
        dropout: float = 0.1, activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        if isinstance(activation, str):
            activation = ACTIVATIONS[activation]
        self.activation = activation

    def forward(
        self, src: Tensor, src_mask: Mask = None, src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        def look(x: Tensor) -> Any:
            how = {"attn_mask": src_mask, "is_causal": is_causal}
            out = self.self_attn(x, x, x, src_key_padding_mask, False, **how)[0]
            return self.dropout1(out)

        def think(x: Tensor) -> Any:
            inner = self.dropout(self.activation(self.linear1(x)))
            return self.dropout2(self.linear2(inner))

        out: Tensor
        if self.norm_first:
            x = src + look(self.norm1(src))
            out = x + think(self.norm2(x))
        else:
            x = self.norm1(src + look(src))
            out = self.norm2(x + think(x))
        return out
