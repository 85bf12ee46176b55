"""Lookup tables as modules.

Invariant: ``padding_idx`` is counted from the front; its row begins as zeros and is not
trained.

    Embedding(10, 3)(torch.tensor([1, 2]))      # (2, 3)
"""

from __future__ import annotations

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .heads import add_parameters, applying, head, saying
from .module import Module
from .parameter import Parameter


class Embedding(Module):
    """A table of trained rows, looked up by integers.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.
        padding_idx: a row that begins as zeros and is not trained.
        max_norm: rows that are looked up and longer are shortened, in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide a row's gradient by how often it is looked up.
        sparse: has to be False: there are no sparse gradients.
    """

    weight: Parameter

    @head("_weight", "_freeze")
    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
        _weight: Tensor | None = None, _freeze: bool = False, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            self.padding_idx = padding_idx % num_embeddings
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            add_parameters(self, device, dtype, weight=shape)
            self.weight.requires_grad_(not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != shape:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(_weight, not _freeze)

    def reset_parameters(self) -> None:
        """Draw all rows from the standard normal distribution, but for the padding."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """A table of given rows, not to be trained unless ``freeze`` is False."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        count, length = embeddings.shape
        return cls(
            count, length, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, _weight=embeddings, _freeze=freeze,
        )  # fmt: skip

    forward = applying(F.embedding)
    extra_repr = saying(
        "{num_embeddings}, {embedding_dim}", padding_idx=None, max_norm=None,
        norm_type=2, scale_grad_by_freq=False, sparse=False,
    )  # fmt: skip
