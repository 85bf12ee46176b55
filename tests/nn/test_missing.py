"""A name that is not there is refused in words that say what is."""

from __future__ import annotations

import importlib
import re

import pytest

import gradcli
from gradcli.functions.torch_names import as_torch, lacking

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


def test_a_module_for_several_devices_calls_its_own_on_the_one_there_is() -> None:
    inner = gradcli.nn.Linear(2, 1)
    net = gradcli.nn.DataParallel(inner, device_ids=[0, 1])
    x = gradcli.ones(3, 2)
    assert gradcli.equal(net(x), inner(x))
    assert list(net.state_dict()) == ["module.weight", "module.bias"]


@pytest.mark.parametrize("path", ["gradcli.nn.init", *MODULES[1:4]])
def test_a_module_shows_what_pytorch_s_has_and_no_helpers(path: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = importlib.import_module(path.replace("gradcli", torch.__name__))
    assert {*dir(importlib.import_module(path))} <= {*dir(theirs)}


GONE = (
    "histogram", "nn.MaxUnpool2d", "nn.Buffer", "nn.CrossMapLRN2d",
    "nn.FractionalMaxPool2d",
    "nn.MaxUnpool2d", "nn.functional.grid_sample", "special.chebyshev_polynomial_w",
    "nn.functional.lp_pool2d", "nn.functional.max_pool2d_with_indices",
    "nn.functional.linear_cross_entropy",
    "nn.Transformer", "nn.TransformerDecoder", "nn.TransformerEncoder", "nn.Unflatten",
    "optim.NAdam", "optim.RAdam", "optim.lr_scheduler.OneCycleLR",
    "optim.lr_scheduler.MultiStepLR", "distributions.Uniform",
    "distributions.MultivariateNormal", "distributions.Independent",
    "func.functional_call", "func.stack_module_state", "utils.benchmark",
    "nn.utils.fuse_conv_bn_eval", "nn.utils.rnn.unpack_sequence", "nn.init.dirac_",
)  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_a_name_that_is_not_here_is_refused_in_one_sentence(name: str) -> None:
    with as_torch(), pytest.raises(AttributeError) as raised:
        exec(f"import torch\nprint(torch.{name})\n", {})
    said = lacking(raised.value)
    assert said is not None
    assert re.fullmatch(rf"gradcli has no torch\.{name}(; the nearest [^;]+)?", said)
