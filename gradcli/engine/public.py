"""The table's functions under PyTorch's names, for `import gradcli as torch`.

Invariant: nothing is defined here; a name means the row or function of that name, and
what the table keeps to itself has no public name.

    public("exp")(x)
    gradcli.linalg.solve is public("linalg.solve")
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..ops import ALIASES, FUNCTIONS
from .record import function

INTERNAL = frozenset({"as_index", "as_type_of", "numpy_T", "matrix_H", "mT", "mH"})
"""Functions that other functions of the table are made of, and attributes."""

SPECIAL = (
    "digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln",
    "log1p", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "polygamma", "psi",
    "round", "sinc", "softmax", "xlog1py", "xlogy",
)  # fmt: skip
"""What PyTorch also has as ``special.name``."""


def names() -> list[str]:
    """Every public name of the table, other spellings among them."""
    return [n for n in (*FUNCTIONS, *ALIASES) if "." not in n and n not in INTERNAL]


def public(name: str) -> Callable[..., Any]:
    """The function of a public name.

    Raises:
        AttributeError: there is none.
    """
    if name not in INTERNAL and "." not in name:
        entry = ALIASES.get(name, name)
        if entry in FUNCTIONS:
            return function(entry)
    raise AttributeError(f"module 'gradcli' has no attribute {name!r}")


class Members(ModuleType):
    """A module whose members are functions of the table, found when first used.

    ``known`` maps a member's name to the name in the table.
    """

    known: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        entry = self.known.get(name)
        if entry is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = function(ALIASES.get(entry, entry))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.known})


def linalg() -> dict[str, str]:
    """The functions of ``gradcli.linalg``, and their names in the table."""
    prefix = "linalg."
    found = [n for n in (*FUNCTIONS, *ALIASES) if n.startswith(prefix)]
    return {n.removeprefix(prefix): n for n in found} | {"diagonal": "diagonal"}


def special() -> dict[str, str]:
    """The functions of ``gradcli.special``, and their names in the table."""
    return {n: n for n in SPECIAL if n in FUNCTIONS or n in ALIASES}
