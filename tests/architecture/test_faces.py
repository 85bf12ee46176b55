"""What `dir` shows of a public module is what it offers, and nothing that makes it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

PUBLIC = (
    "accelerator", "autograd.function", "autograd.functional",
    "autograd.graph", "autograd.grad_mode", "backends", "cuda", "distributions",
    "func", "linalg", "optim", "optim.adam", "optim.lr_scheduler", "special", "testing",
    "utils", "utils.data",
)  # fmt: skip


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_shows_what_it_offers_and_no_more(name: str) -> None:
    module = import_module(f"gradcli.{name}")
    shown = dir(module)
    assert "annotations" not in shown
    for each in shown:
        value = getattr(module, each)
        home = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        assert isinstance(value, ModuleType) or home.startswith(("gradcli", "torch"))
        assert each in getattr(module, "__all__", [*shown])
