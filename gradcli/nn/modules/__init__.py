"""The layers under the paths that PyTorch gives them.

Invariant: nothing is defined here; a path shows what files of ``nn`` hold.

    from gradcli.nn.modules.batchnorm import _BatchNorm
"""

from __future__ import annotations

from importlib import import_module

from ...torch.absent import Path
from ..module import Module as Module

PATHS = {
    "activation": "table weighted transformer",
    "batchnorm": "table weighted",
    "container": "containers",
    "conv": "table weighted",
    "distance": "table",
    "dropout": "table declare",
    "flatten": "table shaping",
    "instancenorm": "table weighted",
    "linear": "weighted transformer",
    "module": "module",
    "loss": "table declare",
    "normalization": "weighted",
    "padding": "table shaping",
    "upsampling": "shaping",
    "fold": "table",
    "pooling": "table declare",
    "rnn": "table recurrent",
    "sparse": "weighted",
    "transformer": "transformer",
}
"""PyTorch's files of layers, and the files here that hold the same."""

for _path, _names in PATHS.items():
    _files = [import_module(f"gradcli.nn.{name}") for name in _names.split()]
    globals()[_path] = Path.at(f"{__name__}.{_path}", *_files)
