"""Lookup tables as modules.

Invariant: ``padding_idx`` is counted from the front; its row begins as zeros and is not
trained.

    Embedding(10, 3)(torch.tensor([1, 2]))      # (2, 3)
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, applying, head, saying
from .module import Module
from .parameter import Parameter

T = TypeVar("T", bound="_Table")


class _Table(Module):
    """A table of trained rows."""

    weight: Parameter
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    _padding: ClassVar[str] = "padding_idx"
    """The name of the row of padding in errors."""

    def _make(
        self, given: Tensor | None, trained: bool, device: object, dtype: object
    ) -> None:
        """Check the options, and make the rows, or take those that are given."""
        shape = count, _ = self.num_embeddings, self.embedding_dim
        if self.padding_idx is not None:
            if not -count <= self.padding_idx < count:
                raise AssertionError(f"{self._padding} must be within num_embeddings")
            self.padding_idx %= count
        if given is None:
            add_parameters(self, device, dtype, weight=shape)
            self.weight.requires_grad_(trained)
            self.reset_parameters()
        elif tuple(given.shape) != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
        else:
            self.weight = Parameter(given, trained)

    def reset_parameters(self) -> None:
        """Draw all rows from the standard normal distribution, but for the padding."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(
        cls: type[T], embeddings: Tensor, freeze: bool = True, *options: Any,
        **named: Any,
    ) -> T:  # fmt: skip
        """Make a table of given rows, not to be trained unless ``freeze`` is False.

        Args:
            options, named: what the constructor takes after the sizes.
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        made = cls(*embeddings.shape, *options, _weight=embeddings, **named)
        made.weight.requires_grad_(not freeze)
        return made


class Embedding(_Table):
    """A table of trained rows, looked up by integers; the row of padding is zeros.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.

    The other arguments are those of `functional.embedding`.
    """

    _padding = "Padding_idx"

    @head("_weight", "_freeze")
    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
        _weight: Tensor | None = None, _freeze: bool = False, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(_weight, not _freeze, device, dtype)

    forward = applying(F.embedding)
    extra_repr = saying(
        "{num_embeddings}, {embedding_dim}", padding_idx=None, max_norm=None,
        norm_type=2, scale_grad_by_freq=False, sparse=False,
    )  # fmt: skip


class EmbeddingBag(_Table):
    """A table of trained rows, looked up by integers and put together bag by bag.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.

    The other arguments are those of `functional.embedding_bag`.
    """

    @head("_weight")
    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(_weight, True, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Look up bags; see `functional.embedding_bag` for their two forms."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
            self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        for name, usual in (
            ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
            ("mode", ...), ("padding_idx", None),
        ):  # fmt: skip
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value!r}")
        return ", ".join(parts)
