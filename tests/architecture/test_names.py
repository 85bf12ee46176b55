"""Names of functions and classes are words of the field, and a class's stands once."""

from __future__ import annotations

import re
from collections import Counter

from test_rooms import MODULES, contents, where

DIALECT = frozenset([
    "alone", "apart", "bare", "beside", "found", "given", "heard", "held", "kept",
    "lone", "made", "muffled", "ours", "own", "said", "tame", "taught", "tell", "tells",
    "told",
])  # fmt: skip
"""Words that say too little of what a function does or a class is."""


def words(name: str) -> set[str]:
    """The words of a name, in small letters."""
    return {*re.findall("[a-z]+", re.sub("([A-Z])", r"_\1", name).lower())}


def test_no_function_or_class_has_a_private_word_for_its_name() -> None:
    defined = [
        (where(path), name)
        for path in MODULES
        for name in contents(path).functions + contents(path).classes
    ]
    assert [f"{at}: {name}" for at, name in defined if words(name) & DIALECT] == []


def test_a_class_name_stands_once() -> None:
    names = Counter(name for path in MODULES for name in contents(path).classes)
    assert [name for name, count in names.items() if count > 1] == []
