"""What a script asks of PyTorch that gradcli does not have, found before it runs.

The script is read, not executed: imports of ``torch`` and what is asked of them by
name, and methods of what its text says to be a tensor. Of other objects only a run
knows what they are.

    for each in missing_names(path): print(each)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..lang.errors import ProgramError
from .tensors import attributes_of_tensors
from .torch_names import PYTORCH, counterpart, missing

BESIDE = ("torchvision", "torchaudio", "torchtext")
"""Packages that are built on PyTorch itself."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that gradcli lacks, and the line that asks for it first."""

    line: int
    name: str
    text: str


def missing_names(path: Path) -> list[Missing]:
    """The names of PyTorch's that a script asks for and gradcli lacks, by line.

    Raises:
        ProgramError: the file is no Python.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path.name}:{line}" if line else path.name
        said = getattr(error, "msg", str(error))
        raise ProgramError("E513", f"{where}: {said}") from error
    found: dict[str, Missing] = {}
    of_tensors = ((n, f"{PYTORCH}.Tensor.{a}") for n, a in attributes_of_tensors(tree))
    for line, name in sorted({*_asked(tree), *of_tensors}):
        if name not in found:
            text = _lacking(name)
            if text is not None:
                found[name] = Missing(line, name, text)
    names = {each.name for each in found.values()}
    return [m for m in found.values() if not _inside(m.name, names)]


def _inside(name: str, names: set[str]) -> bool:
    """Whether a module that is missing itself explains a missing name."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in names for n in range(1, len(parts)))


def _asked(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines and the dotted names of PyTorch's that a script reads."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_theirs(alias.name):
                    known[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
                    yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and _is_theirs(node.module or ""):
            home = str(node.module)
            yield node.lineno, home
            for alias in node.names:
                if alias.name != "*":
                    known[alias.asname or alias.name] = f"{home}.{alias.name}"
                    yield node.lineno, f"{home}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node)
            if dotted is not None and dotted[0] in known:
                yield node.lineno, ".".join([known[dotted[0]], *dotted[1:]])


def _is_theirs(module: str) -> bool:
    return module.partition(".")[0] in (PYTORCH, *BESIDE)


def _dotted(node: ast.Attribute) -> list[str] | None:
    """The names of ``a.b.c``; None of what is no such chain."""
    parts = [node.attr]
    below: ast.expr = node.value
    while isinstance(below, ast.Attribute):
        parts.append(below.attr)
        below = below.value
    if not isinstance(below, ast.Name):
        return None
    return [below.id, *reversed(parts)]


def _lacking(name: str) -> str | None:
    """The sentence about a name that gradcli lacks; None if it has it."""
    first, *rest = name.split(".")
    if first != PYTORCH:
        return f"{first} is built on PyTorch itself and does not run on gradcli"
    here = PYTORCH
    value = counterpart(PYTORCH)
    for part in rest:
        whole = f"{here}.{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            below = counterpart(whole) if isinstance(value, ModuleType) else None
            if below is None:
                if not isinstance(value, ModuleType | type):
                    return None
                return missing(whole, dir(value))
            value = below
        if not isinstance(value, ModuleType | type):
            return None
        here = whole
    return None
