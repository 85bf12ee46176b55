"""Attention with several heads.

Invariant: weights and their names are PyTorch's: one matrix projects query, key and
value if all three are as long as the embedding, three matrices do it otherwise.

    out, weights = MultiheadAttention(8, 2, batch_first=True)(x, x, x)
"""

from __future__ import annotations

from collections.abc import Callable

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, head
from .linear import Linear
from .module import Module
from .parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that PyTorch shows for an output projection."""


class MultiheadAttention(Module):
    """Heads that look at different parts of a sequence, side by side.

    Args:
        embed_dim: the length of an entry, which the heads divide among them.
        num_heads: how many heads.
        dropout: how much of the weights is dropped in training.
        bias: whether projections have a bias.
        add_bias_kv: one more key and value, which are trained, for every item.
        add_zero_attn: one more key and value of zeros.
        kdim, vdim: the lengths of keys and of values; None: ``embed_dim``.
        batch_first: sequences come as (N, L, E), not (L, N, E).

    Raises:
        ValueError: sizes that are not positive.
        AssertionError: ``embed_dim`` is no multiple of ``num_heads``.
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    @head("bias", "add_bias_kv")
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
        if add_bias_kv:
            one = (1, 1, embed_dim)
            add_parameters(self, device, dtype, bias_k=one, bias_v=one)
        else:
            self.bias_k = self.bias_v = None
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj", "q_proj", "k_proj", "v_proj"):
            weight = getattr(self, f"{name}_weight")
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for more in (self.bias_k, self.bias_v):
            if more is not None:
                init.xavier_normal_(more)

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
            query, key, value = _alike((query, key, value), lambda t: t.transpose(1, 0))
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn,
            self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, self.in_proj_weight is None,
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight, None, None,
            average_attn_weights, is_causal,
        )  # fmt: skip
        return (out.transpose(1, 0) if turned else out), weights


def _alike(
    sequences: tuple[Tensor, ...], turn: Callable[[Tensor], Tensor]
) -> list[Tensor]:
    """Each sequence turned; one that comes twice stays one."""
    turned = {id(each): turn(each) for each in sequences}
    return [turned[id(each)] for each in sequences]
