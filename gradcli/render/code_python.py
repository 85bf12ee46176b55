"""NumPy and PyTorch as languages of steps.

Invariant: NumPy's numbers are float64 and PyTorch's tensors of float64 throughout, so
that a division by zero is an infinity in both, and PyTorch can differentiate further.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf, isnan
from typing import Final

from .code_spelling import CHOICE, INFIX, LOGIC, RELATION, UNARY, Language, Spelling

RESERVED: Final = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "special", "torch"}
)

_SAME: Final = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "sign", "sinc", "abs", "floor", "ceil", "trunc",
    "isnan", "isinf", "isfinite",
)  # fmt: skip
_OF_TWO: Final = (
    "hypot", "logaddexp", "maximum", "minimum", "fmax", "fmin", "fmod", "remainder",
    "floor_divide",
)  # fmt: skip
_ARCS: Final = ("asin", "acos", "atan", "asinh", "acosh", "atanh")

_INFIX: Final[Mapping[str, Spelling]] = {
    **INFIX,
    # A power binds tighter than a sign on its left.
    "pow": Spelling("{0.atom} ** {1.atom}", UNARY),
}

_SPECIAL: Final = {
    "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "lgamma": "gammaln",
    "digamma": "digamma", "sigmoid": "expit", "logsigmoid": "log_expit",
    "ndtri": "ndtri",
}  # fmt: skip

NUMPY_SPELLED: Final[Mapping[str, Spelling]] = {
    **_INFIX,
    **{name: Spelling(f"np.{name}({{0}})") for name in _SAME},
    **{name: Spelling(f"np.{name}({{0}}, {{1}})") for name in _OF_TWO},
    **{name: Spelling(f"np.arc{name[1:]}({{0}})") for name in _ARCS},
    **{name: Spelling(f"special.{own}({{0}})") for name, own in _SPECIAL.items()},
    "round": Spelling("np.rint({0})"),
    "atan2": Spelling("np.arctan2({0}, {1})"),
    "xlogy": Spelling("special.xlogy({0}, {1})"),
    "polygamma": Spelling("special.polygamma({0.whole}, {1})"),
    "select": Spelling("{1.branch} if {0.truth} else {2.branch}", CHOICE),
    "logical_and": Spelling("{0.clause} and {1.clause}", LOGIC),
    "logical_or": Spelling("{0.clause} or {1.clause}", LOGIC),
    "logical_xor": Spelling("({0.truth}) != ({1.truth})", RELATION),
    "logical_not": Spelling("not ({0.truth})", LOGIC),
}

TORCH_SPELLED: Final[Mapping[str, Spelling]] = {
    **_INFIX,
    **{name: Spelling(f"torch.{name}({{0}})") for name in (*_SAME, *_ARCS)},
    **{name: Spelling(f"torch.{name}({{0.tensor}}, {{1.tensor}})")
       for name in (*_OF_TWO, "atan2", "xlogy")},
    **{name: Spelling(f"torch.{name}({{0}})")
       for name in ("erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid", "round")},
    "logsigmoid": Spelling("torch.nn.functional.logsigmoid({0})"),
    "ndtri": Spelling("torch.special.ndtri({0})"),
    "polygamma": Spelling("torch.polygamma({0.whole}, {1})"),
    "select": Spelling("torch.where({0.truth}, {1.tensor}, {2.tensor})"),
    "logical_and": Spelling("torch.logical_and({0.truth}, {1.truth})"),
    "logical_or": Spelling("torch.logical_or({0.truth}, {1.truth})"),
    "logical_xor": Spelling("torch.logical_xor({0.truth}, {1.truth})"),
    "logical_not": Spelling("torch.logical_not({0.truth})"),
}  # fmt: skip


def _number(module: str, value: float) -> str:
    if isnan(value):
        return f"{module}.nan"
    if isinf(value):
        return f"{module}.inf" if value > 0 else f"-{module}.inf"
    return repr(value)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the steps; templates of a name or a shape.

    array, number   an input as what the steps read
    begin, end      around the entries of an array that is returned
    empty           an array without entries
    """

    module: str
    array: str
    number: str
    begin: str
    end: str
    empty: str


FRAMES: Final[Mapping[str, Frame]] = {
    "numpy": Frame(
        module="import numpy as np",
        array="np.asarray({name}, np.float64)",
        number="np.float64({name})",
        begin="np.array([",
        end="])",
        empty="np.zeros({shape})",
    ),
    "torch": Frame(
        module="import torch",
        array="torch.as_tensor({name}, dtype=torch.float64)",
        number="torch.as_tensor({name}, dtype=torch.float64)",
        begin="torch.stack([",
        end="])",
        empty="torch.zeros({shape}, dtype=torch.float64)",
    ),
}
"""By language."""

NUMPY: Final = Language(
    name="numpy",
    spelled=NUMPY_SPELLED,
    helpers={},
    number=lambda value: _number("np", value),
    tensor="np.float64({0})",
    from_truth=Spelling("np.float64({0.truth})"),
    entry="{name}[{index}]",
    assign="{name} = {text}",
    reserved=RESERVED,
    ascii=False,
)

TORCH: Final = Language(
    name="torch",
    spelled=TORCH_SPELLED,
    helpers={},
    number=lambda value: _number("torch", value),
    tensor="torch.tensor({0}, dtype=torch.float64)",
    from_truth=Spelling("({0.truth}).double()"),
    entry="{name}[{index}]",
    assign="{name} = {text}",
    reserved=RESERVED,
    ascii=False,
)
