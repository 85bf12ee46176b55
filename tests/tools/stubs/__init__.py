"""Writes the type stubs of functions, methods and classes that are made at run time.

Invariant: names, parameters and results are read from the operation table and from the
signatures of the made functions; a stub is never edited by hand.

    python -m tests.tools.stubs             # write all stubs anew
    python -m tests.tools.stubs --check     # exit 1 if a stub is out of date
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from math import isfinite
from typing import Any

HEAD = '"""Written by ``python -m tests.tools.stubs``."""\n\n'


class _Text(str):
    """A string that a signature prints without quotes."""

    def __repr__(self) -> str:
        return str(self)


def default_of(each: Parameter) -> Any:
    """Return a parameter's default as a stub writes it: ``...`` if it is not plain."""
    if each.default is Parameter.empty:
        return Parameter.empty
    value = each.default
    plain = value is None or isinstance(value, bool | int | str)
    plain = plain or (isinstance(value, float) and isfinite(value))
    return _Text(repr(value) if plain else "...")


def parameters(shown: Iterable[Parameter], type_of: Callable[[Parameter], str]) -> str:
    """Return parameters with their types in parentheses; ``self`` has no type."""
    return str(Signature([
        each.replace(
            annotation=(
                Parameter.empty if each.name == "self" else _Text(type_of(each))
            ),
            default=default_of(each),
        )
        for each in shown
    ]))  # fmt: skip


def stub(imports: str, lines: Iterable[str]) -> str:
    """Return the text of a stub from its imports and its lines."""
    return HEAD + imports + "\n".join(lines) + "\n"
