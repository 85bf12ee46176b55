"""The table of operations; a family of rows is imported when it is asked for."""

from importlib import import_module

from .families import FAMILIES
from .op import (
    ALIASES,
    FUNCTIONS,
    KEPT,
    KEYWORDS,
    LINEAR,
    MULTILINEAR,
    OPS,
    OWN,
    PACKED,
    SHARED,
    VIEW,
    Case,
    Composite,
    Fixed,
    Formula,
    Op,
    defaults,
    offered,
    overloads,
    parameters,
    plain_types,
    plain_values,
)

__all__ = [
    "ALIASES",
    "FAMILIES",
    "FUNCTIONS",
    "KEPT",
    "KEYWORDS",
    "LINEAR",
    "MULTILINEAR",
    "OPS",
    "OWN",
    "PACKED",
    "SHARED",
    "VIEW",
    "Case",
    "Composite",
    "Fixed",
    "Formula",
    "Op",
    "defaults",
    "offered",
    "overloads",
    "parameters",
    "plain_types",
    "plain_values",
]


def __getattr__(name: str) -> object:
    """Import `gradcli.ops.aten` when it is asked for."""
    if name != "aten":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.aten")
