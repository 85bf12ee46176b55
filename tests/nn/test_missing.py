"""A name that is not there is refused in words that say what is."""

from __future__ import annotations

import importlib

import pytest

MODULES = (
    "gradcli", "gradcli.nn", "gradcli.nn.functional", "gradcli.nn.utils",
    "gradcli.optim", "gradcli.optim.lr_scheduler", "gradcli.utils",
    "gradcli.utils.data",
)  # fmt: skip


@pytest.mark.parametrize("path", MODULES)
def test_a_missing_name_is_refused_with_the_way_to_those_there_are(path: str) -> None:
    module = importlib.import_module(path)
    words = f"module '{path}' has no attribute 'zzz': dir.{path}. lists the names"
    with pytest.raises(AttributeError, match=words):
        module.zzz  # noqa: B018
    assert not hasattr(module, "zzz")


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("gradcli.nn", "conv2d", "Conv2d"),
        ("gradcli.nn", "Lineer", "Linear"),
        ("gradcli.nn.functional", "crossentropy", "cross_entropy"),
        ("gradcli.optim", "AdamWW", "AdamW"),
        ("gradcli", "ones_lik", "ones_like"),
    ],
)
def test_a_mistyped_name_is_met_with_the_one_that_was_meant(
    path: str, name: str, meant: str
) -> None:
    with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
        getattr(importlib.import_module(path), name)


@pytest.mark.parametrize("path", MODULES[1:])
def test_every_name_that_is_promised_is_there(path: str) -> None:
    module = importlib.import_module(path)
    assert set(module.__all__) <= set(dir(module))
    assert len(set(module.__all__)) == len(module.__all__)
