"""Trees of the language in PyTorch's words.

Invariant: constants are made from an input, so that the code runs in its dtype and on
its device; the language's function names are PyTorch's.

    TorchWords("x").text(tree, texts)       # torch.sum(x * x, dim=0)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any, Final

import numpy as np

from ..views.spelling import Text
from .dialect import PLAIN, Dialect, Spelling, listed
from .tree import NUMBER, Tree, below

FUNCTIONAL: Final = frozenset({
    "adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool2d", "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d", "conv2d", "conv3d", "cross_entropy", "gaussian_nll_loss", "gelu",
    "glu", "hardsigmoid", "hardswish", "hardtanh", "huber_loss", "l1_loss",
    "leaky_relu", "linear", "logsigmoid", "max_pool2d", "mish", "mse_loss", "nll_loss",
    "normalize", "one_hot", "pad", "relu6", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softmin", "softplus", "softshrink", "softsign", "tanhshrink",
})  # fmt: skip
"""Functions that PyTorch has in ``torch.nn.functional`` alone."""

ROOMS: Final = {
    "xlog1py": "torch.special", "ndtr": "torch.special", "ndtri": "torch.special",
    "entr": "torch.special", "solve": "torch.linalg", "cholesky": "torch.linalg",
}  # fmt: skip
"""Modules of functions that are neither in ``torch`` nor in ``F``."""

METHODS: Final = frozenset({"expand", "unfold", "repeat", "view"})

WORDS: Final[dict[str, Spelling]] = {
    "T": lambda x: f"{x.primary}.T",
    "mT": lambda x: f"{x.primary}.mT",
    "detach": lambda x: f"{x.primary}.detach()",
    "as_index": lambda x: f"{x.primary}.long()",
    "part": lambda x, i: f"{x.primary}[{i}]",
    "flip": lambda x, dims: f"torch.flip({x}, [{dims.strip('[]')}])",
    "index_put": lambda x, at, g, accumulate="False": (
        f"torch.ops.aten.index_put({x}, {at}, {g}, {accumulate})"
    ),
    "elu": lambda x, alpha="1", scale="1", input_scale="1": (
        f"torch.where({x} > 0, {scale} * {x.primary}, {scale} * {alpha} * "
        f"torch.expm1({input_scale} * {x.primary}))"
    ),
}


class TorchWords(Dialect):
    """PyTorch's functions, as ``torch`` and ``F``.

    Args:
        like: the name of an input, whose dtype and device constants have.
    """

    def __init__(self, like: str) -> None:
        super().__init__(
            WORDS | {"as_numbers": lambda x: f"{x.primary}.to({like}.dtype)"}
        )
        self.like = like

    def call(self, name: str, args: list[Any], params: dict[str, str]) -> str:
        if name in METHODS:
            return f"{args[0].primary}.{name}({listed(args[1:], params)})"
        if name in FUNCTIONAL:
            return f"F.{name}({listed(args, params)})"
        room = ROOMS.get(name, "torch")
        return f"{room}.{name}({listed(args, params)})"

    def kind_of(self, tree: Tree) -> dict[str, str]:
        made = not below(tree) and tree.dtype.kind == "f"
        return {"dtype": f"{self.like}.dtype"} if made else {}

    def returned(self, value: Any) -> str:
        return f"{self.like}.new_tensor({super().returned(value)})"

    def number(self, value: float) -> str:
        return "torch.nan" if isnan(value) else "torch.inf"

    def filled(self, value: Any, shape: tuple[int, ...]) -> str:
        if not isinstance(value, float):
            return f"torch.full({shape}, {value!r})"
        plain = PLAIN.get(value)
        if plain:
            return f"{self.like}.new_{plain}({shape})"
        return f"{self.like}.new_full({shape}, {self.plain(value).written})"

    def literal(self, array: Any) -> Text:
        made = (
            "torch.tensor" if array.dtype.kind in "biu" else f"{self.like}.new_tensor"
        )
        return Text(f"{made}({self.nested(array)})")

    def argument(self, value: Any, texts: Mapping[int, Text]) -> str:
        written = super().argument(value, texts)
        if isinstance(value, tuple | list) and any(isinstance(v, list) for v in value):
            items = [self._positions(v, texts) for v in value]
            return f"[{', '.join(items)}]"
        if isinstance(value, Tree) and value.head == NUMBER:
            whole = isinstance(value.args[0], int)
            return (
                f"{'torch.tensor' if whole else f'{self.like}.new_tensor'}({written})"
            )
        return written

    def _positions(self, value: Any, texts: Mapping[int, Text]) -> str:
        """A list of positions as a tensor."""
        if isinstance(value, list):
            return f"torch.tensor({self.nested(np.asarray(value))})"
        return self.argument(value, texts)
