"""The custom Functions with inputs, on gradcli or on PyTorch.

`right.py` and `wrong.py` are what users write: they import torch. They are loaded here
with gradcli in its place, or with PyTorch itself.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from gradcli.functions.torch_names import as_torch

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A Function, its inputs, and what is wrong with it (empty: nothing)."""

    value: Any
    specs: list[Any]
    mistake: str = ""

    @property
    def name(self) -> str:
        return str(self.value.__name__)

    @property
    def function(self) -> Any:
        return self.value.apply if isinstance(self.value, type) else self.value

    def inputs(self, torch: Any) -> list[Any]:
        """The same numbers for every library, drawn by the name."""
        draws = np.random.default_rng(crc32(self.name.encode()))
        return [_input(spec, draws, torch) for spec in self.specs]


def _input(spec: Any, draws: np.random.Generator, torch: Any) -> Any:
    if not isinstance(spec, tuple):
        return spec
    if spec[0] == "index":
        return torch.tensor(spec[1])
    if spec[0] == "dominant":
        n = spec[1]
        values = draws.uniform(-1, 1, (n, n)) + n * np.eye(n)
    else:
        _, shape, low, high = spec
        values = draws.uniform(low, high, shape)
    made = torch.tensor(values.round(2), dtype=torch.float64)
    return made.requires_grad_()


def load(name: str, gradcli: bool = True) -> list[Case]:
    """The cases of a file, with gradcli or with PyTorch as ``torch``."""
    spec = spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = module_from_spec(spec)
    sys.modules[name] = module
    with as_torch() if gradcli else nullcontext():
        spec.loader.exec_module(module)
    return [Case(*each) for each in module.CASES]
