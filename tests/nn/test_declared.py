"""What is declared by one line is as good as what is written out."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from operator import attrgetter, itemgetter

import pytest

import gradcli as torch
from gradcli import nn, optim
from gradcli.nn import functional as F
from gradcli.nn import table as modules
from gradcli.nn.functional import table as functions
from gradcli.ops import ALIASES, FUNCTIONS
from gradcli.torch import public
from tests.grouped import by_row

MODULES = [c for c in vars(modules).values() if isinstance(c, type)]
MODULES = [c for c in MODULES if c.__module__ == modules.__name__]
MADE = [
    name
    for name, made in vars(functions).items()
    if getattr(made, "__module__", "") == functions.__name__ and name[0] != "_"
]
ROWS = sorted(n for n in public.names() if n in FUNCTIONS or n in ALIASES)


def default(cls: type) -> nn.Module:
    """A module of a class, with 2 for each option that has to be given."""
    options = inspect.signature(cls).parameters.values()
    needed = [p for p in options if p.default is p.empty and p.name not in ANY]
    return cls(*[2 for _ in needed])


ANY = ("args", "kwargs")


@by_row("cls", MODULES, attrgetter("__name__"), itemgetter(0))
def test_a_declared_module_survives_copying_and_pickling(cls: type) -> None:
    module = default(cls)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert type(twin) is cls
        assert repr(twin) == repr(module)
        assert twin.__dict__.keys() == module.__dict__.keys()


@by_row("cls", MODULES, attrgetter("__name__"), itemgetter(0))
def test_a_declared_module_keeps_its_options_as_attributes(cls: type) -> None:
    module = default(cls)
    for name in getattr(cls, "options", ()):
        assert hasattr(module, name)
    if "options" in vars(cls) and "__init__" in vars(cls):
        taken = inspect.signature(cls).parameters.keys() - {*cls.constructor_only}
        assert taken <= {*cls.options}


@by_row("cls", MODULES, attrgetter("__name__"), itemgetter(0))
def test_a_class_derived_from_a_declared_one_has_its_own_signature(cls: type) -> None:
    class Derived(cls):
        def __init__(self, size: int) -> None:
            self.__dict__.update(default(cls).__dict__)
            self.size = size

    assert list(inspect.signature(Derived).parameters) == ["size"]
    assert Derived(3).size == 3


@by_row("name", MADE, str, itemgetter(0))
def test_a_function_made_from_a_row_has_its_parameters_and_defaults(name: str) -> None:
    made = getattr(functions, name)
    assert made.__name__ == made.__qualname__ == name
    first = next(iter(inspect.signature(made).parameters.values()))
    assert first.default is first.empty
    assert "Parameters\n----------" in made.__doc__


@by_row("name", ROWS, str, itemgetter(0))
def test_help_shows_the_signature_and_the_result(name: str) -> None:
    shown = pydoc.render_doc(getattr(torch, name), renderer=pydoc.plaintext)
    assert "(*args, **kwargs)" not in shown
    if name not in torch._HOME:
        assert "Returns\n    -------\n    " in shown


def test_a_declaration_refuses_a_default_for_what_is_no_parameter() -> None:
    from gradcli.nn.declare import module

    with pytest.raises(TypeError, match="its function has no bta"):
        module("Softer", F.softplus, bta=2.0)
    assert repr(module("Softer", F.softplus, beta=2.0)()) == (
        "Softer(beta=2.0, threshold=20.0)"
    )


def test_a_declared_module_stands_before_another_base() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

    class Both(nn.Softplus, Counting):
        pass

    class Layer(nn.Linear, Counting):
        pass

    assert Both(2.0).calls == Layer(1, 2).calls == 0


def test_layers_and_optimizers_lie_under_pytorchs_paths() -> None:
    from gradcli.nn.modules.activation import MultiheadAttention, ReLU
    from gradcli.nn.modules.loss import _Loss
    from gradcli.nn.modules.pooling import _MaxPoolNd
    from gradcli.optim.adamw import AdamW
    from gradcli.optim.sgd import SGD

    assert (ReLU, MultiheadAttention) == (nn.ReLU, nn.MultiheadAttention)
    assert issubclass(nn.MSELoss, _Loss)
    assert issubclass(nn.MaxPool2d, _MaxPoolNd)
    assert (AdamW, SGD) == (optim.AdamW, optim.SGD)
    assert not hasattr(nn.modules.activation, "Lineer")
