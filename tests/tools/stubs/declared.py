"""Stubs of layers and their functions, made from tables, and of packages' names.

Invariant: names, order and defaults are read from the signatures of the made functions;
a parameter's type is its annotation, or stands in `NAMES`, or follows from its default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from gradcli import autograd, func, nn, optim, random
from gradcli.nn import table as modules
from gradcli.nn.functional import table as functions

from . import parameters, stub

IMPORTS = """\
from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.nn.declare import Sizes
from gradcli.nn.functional.declare import Flag
"""
SIZES = "int | Sequence[int]"
NAMES = {
    SIZES: "kernel_size stride dilation output_padding pad",
    f"{SIZES} | str": "padding",
    "Any": "output_size dtype device milestones size scale_factor",
    "bool": "size_average reduce align_corners recompute_scale_factor",
    "int": "dim divisor_override num_groups upscale_factor downscale_factor groups",
    "float": "value threshold margin p norm_type momentum",
    "Tensor | float": "var",
    "Sequence[int]": "normalized_shape",
    "Callable[[Tensor, Tensor], Tensor]": "distance_function",
}
TYPES = {name: kind for kind, names in NAMES.items() for name in names.split()}
"""Types of parameters, by name; where the default is None, ``| None`` is added."""

NO_ATTRIBUTES = (
    "size_average", "reduce", "device", "dtype"
)  # fmt: skip
"""Parameters of constructors that are no attributes."""

SEVERAL = ("max_pool", "adaptive_max_pool", "MaxPool", "AdaptiveMaxPool")
"""Beginnings of the names of functions that can return indices with their result."""


def type_of(parameter: inspect.Parameter) -> str:
    if isinstance(parameter.annotation, str):
        return parameter.annotation
    default = parameter.default
    plain = isinstance(default, bool | int | float | str)
    kind = TYPES.get(parameter.name, type(default).__name__ if plain else "Tensor")
    return f"{kind} | None" if default is None and kind != "Any" else kind


def called(function: Callable[..., object]) -> str:
    """Return the parameters of a function, in parentheses, as a stub writes them."""
    return parameters(inspect.signature(function).parameters.values(), type_of)


def result(name: str) -> str:
    return "Any" if name.startswith(SEVERAL) else "Tensor"


def made(file: ModuleType, kind: type = object) -> Iterator[tuple[str, Any]]:
    for name, value in vars(file).items():
        own = getattr(value, "__module__", "") == file.__name__ and name[0] != "_"
        if own and isinstance(value, kind):
            yield name, value


def function_stubs() -> str:
    """Return the text of ``gradcli/nn/functional/table.pyi``."""
    lines = [""]
    for name, value in made(functions):
        lines.append(f"def {name}{called(value)} -> {result(name)}: ...")
    return stub(IMPORTS, lines)


def class_stubs(file: ModuleType) -> str:
    """Return the text of the stub of a file of classes."""
    classes = [value for _, value in made(file, type)]
    bases = {base for each in classes for base in each.__bases__} - {*classes}
    lines = sorted(f"from {b.__module__} import {b.__name__}" for b in bases)
    for each in classes:
        own, body = vars(each), []
        if "__init__" in own:
            options = inspect.signature(each).parameters
            body = [
                f"    {name}: {type_of(option)}"
                for name, option in options.items()
                if name not in NO_ATTRIBUTES
            ]
            body.append(f"    def __init__{called(each.__init__)} -> None: ...")
        if "forward" in own:
            out = result(each.__name__)
            body.append(f"    def forward{called(each.forward)} -> {out}: ...")
        shown = ", ".join(base.__name__ for base in each.__bases__)
        lines += ["", f"class {each.__name__}({shown}):", *(body or ["    ..."])]
    return stub(IMPORTS, lines)


def names_stub(package: ModuleType) -> str:
    """Return the ``__init__.pyi`` of a package whose names come from its files."""
    lines: list[str] = []
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.ismodule(value):
            file = getattr(value, "files", [value])[0].__name__.rpartition(".")[2]
            lines.append(f"from . import {file} as {name}")
            continue
        file = value.__module__.removeprefix(f"{package.__name__}.")
        lines.append(f"from .{file} import {name} as {name}")
    return stub("", [*sorted(lines), "", "__all__: list[str]"])


def homes_stub(package: ModuleType) -> str:
    """Return the ``__init__.pyi`` of a package with a table ``_HOMES`` of its names."""
    lines = [f"from . import {name} as {name}" for name in package._MODULES]
    for home, names in package._HOMES.items():
        lines += [f"from {home} import {name} as {name}" for name in names.split()]
    return stub("", [*sorted(lines), "", "__all__: list[str]"])


def stubs() -> dict[str, str]:
    """Return the text of every stub that this module makes, by its path in gradcli."""
    return {
        "autograd/__init__.pyi": homes_stub(autograd),
        "func.pyi": homes_stub(func),
        "random.pyi": homes_stub(random),
        "nn/functional/table.pyi": function_stubs(),
        "nn/table.pyi": class_stubs(modules),
        "nn/functional/__init__.pyi": names_stub(nn.functional),
        "nn/__init__.pyi": names_stub(nn),
        "nn/utils/__init__.pyi": names_stub(nn.utils),
        "optim/__init__.pyi": names_stub(optim),
    }
