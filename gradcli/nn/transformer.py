"""The Transformer of Vaswani et al. (2017): attention, layers, stacks, and both stacks.

Invariant: weights and their names are PyTorch's: one matrix projects query, key and
value if all three are as long as the embedding, three matrices do it otherwise. A layer
is attention and a small network, each added to its input and normalised, after the sum
or (``norm_first``) before; a stack copies its layer.

    out, weights = MultiheadAttention(8, 2, batch_first=True)(x, x, x)
    encoder = TransformerEncoder(TransformerEncoderLayer(16, nhead=2), num_layers=3)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .containers import ModuleList
from .declare import add_parameters, head
from .linear import Linear
from .module import Module
from .norm import LayerNorm
from .table import Dropout

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


class _Layer(Module):
    """The parts that layers of both stacks have; ``attentions`` names some of them."""

    attentions: ClassVar[tuple[str, ...]]

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
        for name in self.attentions:
            heads = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **options
            )
            self.add_module(name, heads)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        numbers = range(1, len(self.attentions) + 2)
        for i in numbers:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
            self.add_module(f"norm{i}", norm)
        for i in numbers:
            self.add_module(f"dropout{i}", Dropout(dropout))
        if isinstance(activation, str):
            activation = ACTIVATIONS[activation]
        self.activation = activation

    def _network(self, x: Tensor) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _added(self, i: int, x: Tensor, part: Callable[[Tensor], Any]) -> Tensor:
        """Add a part's output to ``x`` and normalise by the i-th normalisation."""
        norm, drop = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        first: bool = self.norm_first
        out: Tensor = x + drop(part(norm(x))) if first else norm(x + drop(part(x)))
        return out


class TransformerEncoderLayer(_Layer):
    """Attention to the sequence itself, and a network of one hidden layer.

    Args:
        d_model: the length of an entry.
        dim_feedforward: the width of the hidden layer.
        activation: "relu", "gelu" or a function.
        batch_first: sequences come as (N, L, E), not (L, N, E).
        norm_first: normalise what goes into each part, not what comes out.
        bias: whether linear layers and normalisations have a bias.
    """

    attentions = ("self_attn",)

    def forward(
        self, src: Tensor, src_mask: Mask = None, src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        def look(x: Tensor) -> Any:
            how = {"attn_mask": src_mask, "is_causal": is_causal}
            return self.self_attn(x, x, x, src_key_padding_mask, False, **how)[0]

        return self._added(2, self._added(1, src, look), self._network)


class TransformerDecoderLayer(_Layer):
    """Attention to the sequence itself, then to the encoder's output, and a network.

    The arguments are those of `TransformerEncoderLayer`.
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None,
        memory_mask: Mask = None, tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        def look(x: Tensor) -> Any:
            how = {"attn_mask": tgt_mask, "is_causal": tgt_is_causal}
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, **how)[0]

        def remember(x: Tensor) -> Any:
            how = {"attn_mask": memory_mask, "is_causal": memory_is_causal}
            padding = memory_key_padding_mask
            return self.multihead_attn(x, memory, memory, padding, False, **how)[0]

        x = self._added(2, self._added(1, tgt, look), remember)
        return self._added(3, x, self._network)


class _Stack(Module):
    """Copies of a layer, one after the other, and a normalisation if one is given."""

    def __init__(
        self, layer: Module, num_layers: int, norm: Module | None = None, **_: object
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Tensor, *args: object, **kwargs: object) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args, **kwargs)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """A stack of copies of an encoder layer, and a normalisation of its output.

    ``enable_nested_tensor`` and ``mask_check`` are accepted; they change nothing.
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Tensor, mask: Mask = None, src_key_padding_mask: Mask = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        return self._through(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(_Stack):
    """A stack of copies of a decoder layer, and a normalisation of its output."""

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Mask = None,
        memory_mask: Mask = None, tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        return self._through(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
            memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal,
        )  # fmt: skip


class Transformer(Module):
    """An encoder and a decoder, as in the paper, or those that are given; the arguments
    are those of the layers, and how many of them each stack has."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, custom_encoder: Module | None = None,
        custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            batch_first, norm_first, bias, device, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(
                d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype
            )

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Mask = None, tgt_mask: Mask = None,
        memory_mask: Mask = None, src_key_padding_mask: Mask = None,
        tgt_key_padding_mask: Mask = None, memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        out: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
            memory_key_padding_mask, tgt_is_causal, memory_is_causal,
        )  # fmt: skip
        return out

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: object = None, dtype: object = None
    ) -> Tensor:
        """Make a mask of -inf above the diagonal and 0 elsewhere."""
        return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(diagonal=1)
