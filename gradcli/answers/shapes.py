"""Shapes that inputs without a value are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..lang.suggest import did_you_mean

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Shapes by the name of the input."""


def refuse_shapes(
    shapes: Shapes, names: Collection[str], sampled: Collection[str]
) -> None:
    """See that every shape is that of an input without a value.

    Raises:
        ProgramError: one is not.
    """
    for name in shapes:
        if name not in names:
            listed = f"the inputs are {enumerated(tuple(names))}" if names else None
            hint = did_you_mean(name, tuple(names)) or listed
            message = f"--shape: no input is called '{name}'"
            raise ProgramError("E595", message, hint=hint)
        if name not in sampled:
            message = f"--shape: '{name}' has a value, and so a shape"
            raise ProgramError("E595", message, hint="leave --shape out for it")
