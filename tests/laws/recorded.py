"""What was recorded of PyTorch, by the case it was recorded for, and what is said where
the cases of the table and the record, or two arrays, do not agree.

Invariant: whoever finds that something is not recorded is told what records it.

    RECORDED = Records("record_sharing", lines)
    RECORDED["abs-0-C"]             # or: run `python -m tests.laws.record_sharing`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

Value = TypeVar("Value")

MOST_NAMED = 6
"""Cases that a message names."""

MOST_ENTRIES = 24
"""Entries of an array that a message shows."""


class Records(dict[str, Value]):
    """The lines of a record, by their cases.

    Args:
        command: the module of `tests.laws` that writes the record.
        lines: its lines.
    """

    def __init__(self, command: str, lines: Mapping[str, Value]) -> None:
        super().__init__(lines)
        self.command = command

    @property
    def way_out(self) -> str:
        return (
            f"with PyTorch installed, run `python -m tests.laws.{self.command}` and "
            "look at what it changes"
        )

    def __missing__(self, case: str) -> NoReturn:
        raise AssertionError(f"nothing is recorded of {case}: {self.way_out}")

    def demand(self, cases: Iterable[str]) -> None:
        """Raise where other cases are recorded than these, or in another order."""
        demanded = list(cases)
        if demanded == list(self):
            return
        missing = [case for case in demanded if case not in self]
        gone = sorted({*self} - {*demanded})
        said = [
            f"{words} {named(found)}"
            for words, found in (("nothing is recorded of", missing),
                                 ("there is no case any more of", gone))
            if found
        ]  # fmt: skip
        order = "the cases come in another order than the record"
        raise AssertionError(f"{'; '.join(said) or order}: {self.way_out}")


def named(cases: list[str]) -> str:
    """The first cases, and how many more there are."""
    more = len(cases) - MOST_NAMED
    shown = ", ".join(cases[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def apart(found: Any, true: Any, by: str, at: Mapping[str, Any]) -> str:
    """What is said of values that should agree.

    Args:
        by: what gave the ones that are held to be true.
        at: the inputs and the parameters.
    """
    point = ", ".join(f"{name}={shown(value)}" for name, value in at.items())
    return f"{shown(found)}, but {shown(true)} by {by}, at {point}"


def shown(value: Any) -> str:
    """A value on one line; of many entries the first."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(shown, value))})"
    if not hasattr(value, "dtype"):
        return repr(value)
    array = np.asarray(getattr(value, "raw", value))
    flat = array.ravel()[:MOST_ENTRIES].tolist()
    cut = f"... ({array.size} entries)" if array.size > MOST_ENTRIES else ""
    if not array.ndim:
        return f"{flat[0]!r}"
    beside = f" of shape {list(array.shape)}" if array.ndim > 1 else ""
    return f"[{', '.join(map(repr, flat))}{cut}]{beside}"
