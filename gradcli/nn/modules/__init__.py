"""The layers under the paths that PyTorch gives them.

Invariant: nothing is defined here; a path shows what files of ``nn`` hold.

    from gradcli.nn.modules.batchnorm import _BatchNorm
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from ...engine.absent import offered
from ..module import Module as Module
from . import module as module

PATHS = {
    "activation": "table activation attention",
    "batchnorm": "batch_norm",
    "container": "containers parameters",
    "conv": "convolution",
    "distance": "table distance",
    "dropout": "table families",
    "flatten": "table shaping",
    "instancenorm": "batch_norm",
    "lazy": "lazy",
    "linear": "linear attention lazy",
    "loss": "table families",
    "normalization": "norm",
    "padding": "shaping",
    "pooling": "table families",
    "rnn": "recurrent cells",
    "sparse": "embedding",
    "transformer": "transformer",
}
"""PyTorch's files of layers, and the files here that hold the same."""


class Path(ModuleType):
    """A module whose members are looked up in others when they are asked for."""

    def _members(self) -> dict[str, Any]:
        names = PATHS[self.__name__.rpartition(".")[2]].split()
        files = [vars(import_module(f"gradcli.nn.{name}")) for name in names]
        return {n: v for file in reversed(files) for n, v in file.items()}

    def __dir__(self) -> list[str]:
        files = PATHS[self.__name__.rpartition(".")[2]].split()
        own = [offered(import_module(f"gradcli.nn.{file}")) for file in files]
        return sorted({*super().__dir__(), *(name for each in own for name in each)})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in (found := self._members()):
            return found[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


for _path in PATHS:
    _full = f"{__name__}.{_path}"
    globals()[_path] = sys.modules[_full] = Path(_full, f"`{PATHS[_path]}` of nn.")
