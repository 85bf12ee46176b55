"""What a script asks of PyTorch that gradcli does not have, found before it runs.

The script is read, not executed, and the files beside it that it imports: imports of
``torch`` and what is asked of them by name, and methods of what the text says to be a
tensor. Of other objects only a run knows what they are; where they are asked for what
no tensor of gradcli's has, that is said.

    for each in looked_through(path).missing: print(each)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..engine.device import NO_META
from ..lang.errors import ProgramError
from .left_out import refusal
from .placeholders import PLACES, SWITCHED, Placeholder, placeholder
from .tensors import attributes_of_tensors
from .torch_names import BESIDE, PYTORCH, beside, counterpart, is_pytorchs, missing

META = "meta"
"""PyTorch's device of tensors that have a shape and no values."""


CALLED = "()"
"""End of a name that is not only asked for but called."""

MAX_FILES = 1_000
"""Files of a script's own that are read at most."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that gradcli lacks, and the line of a file that asks for it first."""

    file: Path
    line: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """Names that a script and its own files ask for.

    files     those that were read, the script first
    missing   what gradcli lacks
    possible  what it lacks if the object that is asked for it is a tensor
    """

    files: tuple[Path, ...]
    missing: tuple[Missing, ...]
    possible: tuple[Missing, ...]


def looked_through(path: Path) -> Look:
    """Read a script and the files that it imports from its own folder.

    Raises:
        ProgramError: a file is no Python.
    """
    home = path.resolve().parent
    found: dict[Path, ast.AST] = {}
    waiting = [path]
    while waiting and len(found) < MAX_FILES:
        file = waiting.pop(0)
        if file not in found:
            found[file] = tree = _parsed(file)
            waiting += _own_files(tree, file, path, home)
    missing, possible = [], []
    for file, tree in found.items():
        missing += _missing_in(tree, file)
        possible += _possible_in(tree, file)
    return Look(tuple(found), tuple(missing), tuple(possible))


def _own_files(tree: ast.AST, file: Path, script: Path, home: Path) -> Iterator[Path]:
    """Yield the files beside a script that a file of it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _along(home, alias.name.split("."), script)
        elif isinstance(node, ast.ImportFrom):
            base = home
            if node.level:
                base = file.resolve().parents[node.level - 1]
            parts = node.module.split(".") if node.module else []
            yield from _along(base, parts, script)
            for alias in node.names:
                yield from list(_along(base, [*parts, alias.name], script))[-1:]


def _along(base: Path, parts: list[str], script: Path) -> Iterator[Path]:
    """Yield the files of a module and of the packages that it is in."""
    for count in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:count])
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file() and file != script.resolve():
                yield file
                break


def _parsed(path: Path) -> ast.AST:
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path.name}:{line}" if line else path.name
        said = getattr(error, "msg", str(error))
        raise ProgramError("E513", f"{where}: {said}") from error


def _missing_in(tree: ast.AST, path: Path) -> list[Missing]:
    """Return the names that a file asks PyTorch for and gradcli lacks, by line."""
    found: dict[str, Missing] = {}
    of_tensors = ((n, f"{PYTORCH}.Tensor.{a}") for n, a in attributes_of_tensors(tree))
    for line, name in sorted({*_asked(tree), *of_tensors}):
        if name not in found:
            text = lack_of(name)
            if text is not None:
                found[name] = Missing(path, line, name, text)
    names = {each.name for each in found.values()}
    asked = [m for m in found.values() if not _inside(m.name, names)]
    for first in sorted(_without_values(tree))[:1]:
        text = f"gradcli has no device {META!r}{NO_META}"
        asked.append(Missing(path, first, META, text))
    return sorted(asked, key=lambda each: each.line)


def _possible_in(tree: ast.AST, path: Path) -> list[Missing]:
    """Return methods that are called of possible tensors, and that no tensor has."""
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    known = set(attributes_of_tensors(tree))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found: dict[str, Missing] = {}
    for node in ast.walk(tree):
        asked = node.func if isinstance(node, ast.Call) else None
        if not isinstance(asked, ast.Attribute) or asked.attr in own:
            continue
        dotted = _dotted(asked)
        line = asked.end_lineno or asked.lineno
        if (dotted and dotted[0] in modules) or (line, asked.attr) in known:
            continue
        name = f"{PYTORCH}.Tensor.{asked.attr}"
        why = refusal(name)
        if why is not None and asked.attr not in found:
            text = f"if that is a tensor: {why}"
            found[asked.attr] = Missing(path, line, name, text)
    return sorted(found.values(), key=lambda each: each.line)


def _without_values(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that ask for tensors without values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = [k.value for k in node.keywords if k.arg == "device"]
            function = getattr(node.func, "attr", getattr(node.func, "id", None))
            first = node.args[:1] if function in ("device", "to") else []
            for value in (*named, *first):
                if isinstance(value, ast.Constant) and value.value == META:
                    yield node.lineno


def _inside(name: str, names: set[str]) -> bool:
    """Tell whether a module that is missing itself explains a missing name."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in names for n in range(1, len(parts)))


def _asked(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines and the dotted names of PyTorch's that a script reads.

    Of a placeholder an import asks nothing; what is done with its names does.
    """
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        imported = []
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_theirs(alias.name):
                    known[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
                    imported.append(alias.name)
        elif _is_theirs(node.module or ""):
            home = str(node.module)
            imported.append(home)
            for alias in node.names:
                if alias.name != "*":
                    known[alias.asname or alias.name] = f"{home}.{alias.name}"
                    imported.append(f"{home}.{alias.name}")
        for name in imported:
            if placeholder(name) is None:
                yield node.lineno, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            asked = _meant(node, known)
            if asked is not None:
                yield node.lineno, asked
        elif isinstance(node, ast.Name) and placeholder(known.get(node.id, "")):
            yield node.lineno, known[node.id]
        elif isinstance(node, ast.Call) and not _is_switched_off(node):
            asked = _meant(node.func, known)
            if asked in SWITCHED:
                yield node.lineno, f"{asked}{CALLED}"


def _is_switched_off(node: ast.Call) -> bool:
    """Tell whether a call says, by name or by a plain False, that it turns off."""
    off = any(isinstance(a, ast.Constant) and a.value is False for a in node.args)
    return off or any(keyword.arg in ("enabled", None) for keyword in node.keywords)


def _meant(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """Return the whole name of PyTorch's that ``a.b.c`` means; None: it means none."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    dotted = _dotted(node) if isinstance(node, ast.Attribute) else None
    if dotted is None or dotted[0] not in known:
        return None
    return ".".join([known[dotted[0]], *dotted[1:]])


def _is_theirs(module: str) -> bool:
    return is_pytorchs(module) or module.partition(".")[0] in BESIDE


def _dotted(node: ast.Attribute) -> list[str] | None:
    """Return the names of ``a.b.c``; None if an expression is no such chain."""
    parts = [node.attr]
    below: ast.expr = node.value
    while isinstance(below, ast.Attribute):
        parts.append(below.attr)
        below = below.value
    if not isinstance(below, ast.Name):
        return None
    return [below.id, *reversed(parts)]


def lack_of(name: str) -> str | None:
    """Return the sentence about a name that gradcli lacks; None if it has it."""
    first, *rest = name.split(".")
    if first in BESIDE:
        return beside(first)
    if name.endswith(CALLED):
        return refusal(name.removesuffix(CALLED))
    value = counterpart(first)
    if value is None:
        return missing(first)
    here = first
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
        if isinstance(value, Placeholder) and whole not in PLACES:
            return missing(whole)
        if not isinstance(value, ModuleType | type):
            return None
        here = whole
    return None
