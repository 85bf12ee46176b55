"""Names of functions and classes are words of the field, and a class's stands once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache

from test_rooms import MODULES, parts, where

DIALECT = frozenset(
    [
        "alone",
        "apart",
        "bare",
        "beside",
        "found",
        "given",
        "heard",
        "held",
        "kept",
        "lone",
        "made",
        "muffled",
        "ours",
        "own",
        "said",
        "tame",
        "taught",
        "tell",
        "tells",
        "told",
    ]
)
"""Words that say too little of what a function does or a class is."""


def words(name: str) -> set[str]:
    """The words of a name, in small letters."""
    return {*re.findall("[a-z]+", re.sub("([A-Z])", r"_\1", name).lower())}


@cache
def defined() -> list[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """The functions and classes of the package, each with its file."""
    kinds = ast.ClassDef, ast.FunctionDef
    return [(where(p), n) for p in MODULES for n in parts(p) if isinstance(n, kinds)]


def test_no_function_or_class_has_a_private_word_for_its_name() -> None:
    assert [f"{at}: {n.name}" for at, n in defined() if words(n.name) & DIALECT] == []


def test_a_class_name_stands_once() -> None:
    names = Counter(n.name for _, n in defined() if isinstance(n, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_words_are_told_apart() -> None:
    assert words("_isMadeOf_two") == {"is", "made", "of", "two"}
