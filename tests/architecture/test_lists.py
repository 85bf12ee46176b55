"""What is known of an operation stands in its row: no list of names outside `ops`, and
formulas call what the basis or the table has, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_rooms import MODULES, folder, parts, room, where

from gradcli.engine.arrays import ArrayNamespace
from gradcli.ops import ALIASES, FUNCTIONS, OPS
from gradcli.ops.basis import SPECIAL, UFUNCS
from gradcli.ops.types import Namespace
from tests.grouped import by_row

NAMES = {*OPS, *FUNCTIONS, *ALIASES, *(op.base for op in OPS.values())}

ALLOWED = {
    "answers/claim_mistakes.py": "kinds of mistakes, some called as functions",
    "answers/slip_table.py": "rules of differentiation, and the slips in them",
    "formulas/algebra.py": "identities of products and sums",
    "formulas/matrix_algebra.py": "identities of matrices",
    "formulas/linear_maps.py": "matrices of products and sums",
    "engine/operators.py": "Python's operators and attributes of tensors",
    "lang/forms.py": "functions of programs that read lists of their own",
    "lang/grammars.py": "operators of programs",
    "lang/plain.py": "Python's own functions of plain numbers",
    "nn/init.py": "PyTorch's table of gains by the nonlinearity's name",
    "check/balls.py": "linear steps, known apart from the rules that they check",
    "formulas/latex.py": "Greek letters, some of which call functions",
    "check/decided.py": "a number system defines the functions of the basis",
}
"""Files and rooms in which such a list stands, and what it is."""


def strings(node: ast.AST) -> Iterator[str]:
    """The strings of a literal, words of one that is split among them."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def literals(path: Path) -> Iterator[tuple[int, set[str]]]:
    """The line of each literal collection, and the names of operations in it."""
    for node in parts(path):
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple):
            yield node.lineno, NAMES & {*strings(node)}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "split":
            words = {word for text in strings(node.func) for word in text.split()}
            yield node.lineno, NAMES & words


def listing(path: Path) -> list[str]:
    return [
        f"line {line}: {', '.join(sorted(found))}"
        for line, found in literals(path)
        if len(found) >= 3
    ]


def excused(path: Path) -> bool:
    return any(where(path).startswith(prefix) for prefix in ALLOWED)


OUTSIDE = [path for path in MODULES if room(path) != "ops" and not excused(path)]


@by_row("path", OUTSIDE, where, folder)
def test_no_literal_outside_the_table_lists_operations(path: Path) -> None:
    assert listing(path) == []


@pytest.mark.parametrize("prefix", ALLOWED)
def test_every_exception_is_needed(prefix: str) -> None:
    paths = [path for path in MODULES if where(path).startswith(prefix)]
    assert any(listing(path) for path in paths)


FAMILIES = [path for path in MODULES if room(path) == "ops"]

DECLARED = {name for name in dir(Namespace) if not name.startswith("_")} | {
    *Namespace.__annotations__
}
KNOWN = {*dir(ArrayNamespace), *UFUNCS, *SPECIAL, *FUNCTIONS}


@pytest.mark.parametrize("path", FAMILIES, ids=lambda p: p.stem)
def test_formulas_call_what_there_is(path: Path) -> None:
    used = {
        node.attr
        for node in parts(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "xp"
    }
    assert used <= KNOWN


def test_what_namespaces_declare_is_of_the_basis_or_of_the_table() -> None:
    assert KNOWN >= DECLARED
