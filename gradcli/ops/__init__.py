"""The table of operations: importing this package enters every row."""

from importlib import import_module

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
)

FAMILIES = (
    "arithmetic", "exponential", "trigonometric", "special", "bessel", "polynomials",
    "activation", "compare", "scan", "reduce", "stats", "norm", "products", "einsum",
    "linalg", "spectra", "triangular", "orthogonal", "triangles", "pseudoinverse",
    "equations", "chains", "covariance", "shape", "join", "index", "gather", "fold_in",
    "order", "quantile", "differences", "split",
    "arrange", "overwrite", "create", "loss", "classes", "normalise", "lookup",
    "convolution", "columns", "pooling", "unpooling", "grouped", "memory", "copies",
    "renorm", "borders", "resampling", "shuffling", "margins", "sampling", "masked",
    "bags", "alignments",
)  # fmt: skip
"""The modules that enter rows, in the order in which they do."""

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
]

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")


def __getattr__(name: str) -> object:
    """`gradcli.ops.aten` is imported when it is asked for."""
    if name != "aten":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.aten")
