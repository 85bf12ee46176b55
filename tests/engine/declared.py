"""The stubs of what is declared: functions made from rows, modules made from functions.

Invariant: names, order and defaults are read from the signatures of what was made; the
types of parameters stand in the table below, and otherwise follow from defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from gradcli import autograd, nn, optim
from gradcli.nn import table as modules
from gradcli.nn.functional import table as functions
from gradcli.optim import table as optimizers
from gradcli.optim.lr_scheduler import table as schedules
from gradcli.utils import data

HEAD = '"""Written by tests/engine/stubs.py from the declarations."""\n\n'
IMPORTS = "from collections.abc import Callable, Sequence\nfrom typing import Any\n\n"
SIZES = "int | Sequence[int]"
TYPES = {
    "kernel_size": SIZES, "stride": SIZES, "padding": f"{SIZES} | str",
    "dilation": SIZES, "output_padding": SIZES, "output_size": "Any",
    "dim": "int", "dtype": "Any", "device": "Any",
    "size_average": "bool", "reduce": "bool",
    "normalized_shape": "Sequence[int]", "pad": "Sequence[int]",
    "divisor_override": "int", "value": "float", "threshold": "float",
    "num_groups": "int", "margin": "float", "p": "float", "var": "Tensor | float",
    "distance_function": "Callable[[Tensor, Tensor], Tensor]",
    "params": "Params", "lr": "float | Tensor", "momentum": "float",
    "weight_decay": "float", "dampening": "float", "lr_decay": "float",
    "initial_accumulator_value": "float", "foreach": "bool", "fused": "bool",
    "betas": "tuple[float, float]", "etas": "tuple[float, float]",
    "step_sizes": "tuple[float, float]", "max_eval": "int",
    "optimizer": "Optimizer", "step_size": "int", "milestones": "Any",
    "gamma": "float", "line_search_fn": "str",
}  # fmt: skip
"""What parameters of a name take, beside None where that is their default."""

SEVERAL = ("max_pool", "adaptive_max_pool", "MaxPool", "AdaptiveMaxPool")
"""Beginnings of names of what may give indices beside its result."""


def type_of(parameter: inspect.Parameter) -> str:
    if isinstance(parameter.annotation, str):
        return parameter.annotation
    default = parameter.default
    if parameter.name == "eps" and isinstance(default, tuple):
        return "tuple[float | None, float]"
    plain = isinstance(default, bool | int | float | str)
    kind = TYPES.get(parameter.name, type(default).__name__ if plain else "Tensor")
    return f"{kind} | None" if default is None and kind != "Any" else kind


def listed(function: Any) -> str:
    """The parameters of what was made, as a stub writes them."""
    shown: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if each.default is each.empty else " = ..."
        own = each.name == "self"
        shown.append("self" if own else f"{each.name}: {type_of(each)}{default}")
    return ", ".join(shown)


def result(name: str) -> str:
    return "Any" if name.startswith(SEVERAL) else "Tensor"


def made(file: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, value in vars(file).items():
        if getattr(value, "__module__", "") == file.__name__ and name[0] != "_":
            yield name, value


def function_stubs() -> str:
    """``gradcli/nn/functional/table.pyi``."""
    lines = ["from ...engine.tensor import Tensor", ""]
    for name, value in made(functions):
        lines.append(f"def {name}({listed(value)}) -> {result(name)}: ...")
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def module_stubs() -> str:
    """``gradcli/nn/table.pyi``."""
    classes = [value for _, value in made(modules)]
    bases = {b for each in classes for b in each.__bases__} - {*classes}
    lines = ["from ..engine.tensor import Tensor"]
    homes = {"convolution": ["Sizes"], "functional.declare": ["Flag"]}
    for base in bases:
        file = base.__module__.removeprefix("gradcli.nn.")
        homes.setdefault(file, []).append(base.__name__)
    for file, names in sorted(homes.items()):
        lines.append(f"from .{file} import {', '.join(sorted(names))}")
    for each in classes:
        shown = ", ".join(base.__name__ for base in each.__bases__)
        lines += ["", f"class {each.__name__}({shown}):"]
        own = vars(each)
        if "__init__" in own:
            if "options" in own:
                lines += [
                    f"    {p.name}: {type_of(p)}"
                    for p in inspect.signature(each).parameters.values()
                    if p.name not in each.constructor_only
                ]
            lines.append(f"    def __init__({listed(each.__init__)}) -> None: ...")
        if "forward" in own:
            out = result(each.__name__)
            lines.append(f"    def forward({listed(each.forward)}) -> {out}: ...")
        if not {"__init__", "forward"} & own.keys():
            lines.append("    ...")
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def optimizer_stubs() -> str:
    """``gradcli/optim/table.pyi``."""
    lines = ["from ..engine.tensor import Tensor", "from .descent import Descent"]
    lines += ["from .lbfgs import QuasiNewton", "from .optimizer import Params"]
    lines += ["from .muon import OfMatrices"]
    lines += ["from .rules import SummingFromTheStart"]
    for name, each in made(optimizers):
        lines += ["", f"class {name}({each.__base__.__name__}):"]
        lines.append(f"    def __init__({listed(each.__init__)}) -> None: ...")
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def schedule_stubs() -> str:
    """``gradcli/optim/lr_scheduler/table.pyi``."""
    lines = ["from ..optimizer import Optimizer", "from .declare import ByFactor"]
    for name, each in made(schedules):
        options = set(inspect.signature(each).parameters) - {"optimizer", "last_epoch"}
        lines += ["", f"class {name}(ByFactor):"]
        lines += [
            f"    {p.name}: {type_of(p)}"
            for p in inspect.signature(each).parameters.values()
            if p.name in options
        ]
        lines.append(f"    def __init__({listed(each.__init__)}) -> None: ...")
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def names_stub(package: ModuleType, extra: str = "") -> str:
    """The ``__init__.pyi`` of a package whose names are gathered from its files."""
    lines: list[str] = []
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.ismodule(value):
            lines.append(f"from . import {name} as {name}")
            continue
        file = value.__module__.removeprefix(f"{package.__name__}.")
        lines.append(f"from .{file} import {name} as {name}")
    return HEAD + "\n".join([*sorted(lines), extra, "__all__: list[str]"]) + "\n"


def homes_stub(package: ModuleType) -> str:
    """The ``__init__.pyi`` of a package that names the home of each of its names."""
    lines = [f"from . import {name} as {name}" for name in package._MODULES]
    for home, names in package._HOMES.items():
        lines += [f"from {home} import {name} as {name}" for name in names.split()]
    return HEAD + "\n".join([*sorted(lines), "", "__all__: list[str]"]) + "\n"


def stubs() -> dict[str, str]:
    """What every stub of a declared file has to hold, by its path in the package."""
    return {
        "autograd/__init__.pyi": homes_stub(autograd),
        "nn/functional/table.pyi": function_stubs(),
        "nn/table.pyi": module_stubs(),
        "nn/functional/__init__.pyi": names_stub(nn.functional),
        "nn/__init__.pyi": names_stub(nn),
        "nn/utils/__init__.pyi": names_stub(nn.utils),
        "utils/data/__init__.pyi": names_stub(data),
        "optim/table.pyi": optimizer_stubs(),
        "optim/__init__.pyi": names_stub(optim),
        "optim/lr_scheduler/table.pyi": schedule_stubs(),
        "optim/lr_scheduler/__init__.pyi": names_stub(optim.lr_scheduler),
    }
