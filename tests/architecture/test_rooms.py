"""The rooms know each other downward only, their files in one direction, and heavy
libraries stay in their room."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.grouped import by_row

PACKAGE = Path(__file__).parents[2] / "gradcli"
MODULES = sorted(PACKAGE.rglob("*.py"))

CALCULATOR = (
    "ops", "engine", "large", "tables", "lang",
    "check", "formulas", "answers", "pictures", "cli",
)  # fmt: skip
"""Rooms of the calculator; each may import those before it."""

_SHARED = {"ops", "engine", "large", "torch"}
FACE = {
    "torch": {"ops", "engine"},
    "autograd": _SHARED,
    "nn": {"autograd", *_SHARED},
    "optim": _SHARED,
    "utils": _SHARED,
    "functions": {"autograd", "nn", "lang", "check", "answers", *_SHARED},
}
"""Rooms of PyTorch's face, and of people's Python; each may import those named."""

MAY_KNOW = {name: {*CALCULATOR[:nr]} for nr, name in enumerate(CALCULATOR)} | FACE
MAY_KNOW["cli"] |= {"functions", "optim"}
MAY_KNOW["tables"].add("lang")
DOORS = {
    "functions": {
        "cli/commands/verify.py",
        "cli/commands/run.py",
        "cli/file_graphs.py",
    },
    "optim": {"cli/commands/descend.py"},
}
"""Rooms of the face that the command line imports, and the files that do."""

# Each heavy library, and where it may be imported.
HOME = {
    "numpy": {*MAY_KNOW} - {"ops"},
    "scipy": {"engine"},
    "cupy": {"engine/devices.py"},
    "cupyx": {"engine/devices.py"},
    "sympy": {"check"},
    "flint": {"check"},
    "mpmath": set(),
    "rich": {"answers", "pictures"},
    "typer": {"cli"},
    "resvg_py": {"pictures/pixels.py"},
    "contourpy": {"pictures/plot.py"},
    "click": set(),
    "torch": set(),
    "safetensors": {"utils"},
}  # fmt: skip


def room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def where(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def folder(where: str) -> str:
    return where.rpartition("/")[0] or "gradcli"


def parts(path: Path) -> Iterator[ast.AST]:
    """The nodes of a module's syntax tree."""
    return ast.walk(ast.parse(path.read_text()))


class Contents(NamedTuple):
    """What a module has, also inside functions: the absolute dotted names that it
    imports; the names of the functions that it calls, and whether without a dot; the
    names of the functions and of the classes that it defines."""

    imported: set[str]
    called: set[tuple[str, bool]]
    functions: list[str]
    classes: list[str]


@cache
def contents(path: Path) -> Contents:
    """Return what a module has; each is read once for all rules."""
    found = Contents(set(), set(), [], [])
    here = ("gradcli", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in parts(path):
        match node:
            case ast.Import(names):
                found.imported.update(alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                base = here[: len(here) - level] if level else ()
                home = ".".join([*base, *([module] if module else [])])
                found.imported.update(f"{home}.{alias.name}" for alias in names)
            case ast.Call(function, args):
                bare = isinstance(function, ast.Name)
                name = getattr(function, "id", getattr(function, "attr", ""))
                found.called.add((name, bare))
                if bare and name in ("import_module", "__import__"):
                    given = [a.value for a in args[:1] if isinstance(a, ast.Constant)]
                    found.imported.update(map(str, given))
            case ast.FunctionDef(name):
                found.functions.append(name)
            case ast.ClassDef(name):
                found.classes.append(name)
    return found


def imported(path: Path) -> set[str]:
    return contents(path).imported


@by_row("path", MODULES, where, folder)
def test_rooms_import_downward_only(path: Path) -> None:
    own = room(path)
    if not own:
        return
    for name in imported(path):
        top, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if top == "gradcli" and other in MAY_KNOW:
            assert other == own or other in MAY_KNOW[own], name
            assert own != "cli" or where(path) in DOORS.get(other, {where(path)}), name


def dotted(path: Path) -> str:
    parts = ("gradcli", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {dotted(path): path for path in MODULES}


def edges(path: Path) -> set[str]:
    """The files that a file imports; a name that is no file belongs to its package."""
    found = {n if n in FILES else n.rpartition(".")[0] for n in imported(path)}
    return (found & FILES.keys()) - {dotted(path)}


@pytest.mark.parametrize("name", sorted({room(path) for path in MODULES}))
def test_the_files_of_a_room_form_no_circle(name: str) -> None:
    """Also inside functions and for types."""
    own = {n: edges(path) for n, path in FILES.items() if room(path) == name}
    graph = {n: targets & own.keys() for n, targets in own.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of files: {' -> '.join(error.args[1])}")


@by_row("path", MODULES, where, folder)
def test_heavy_libraries_stay_in_their_room(path: Path) -> None:
    for name in imported(path):
        homes = HOME.get(name.split(".")[0])
        if homes is not None:
            assert room(path) in homes or where(path) in homes, f"imports {name}"


@by_row("path", MODULES, where, folder)
def test_a_module_of_more_than_700_lines_has_a_seam_to_be_split_at(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 700


@by_row("path", MODULES, where, folder)
def test_text_never_reaches_an_evaluator(path: Path) -> None:
    banned = {
        "eval", "exec", "compile", "sympify", "parse_expr", "lambdify",
        "literal_eval", "loads_pickle",
    }  # fmt: skip
    for called, bare in contents(path).called:
        assert called not in banned or (called == "compile" and not bare), called
    assert "pickle" not in {n.split(".")[0] for n in imported(path)}


def test_ops_import_the_standard_library_alone() -> None:
    allowed = {"gradcli", *sys.stdlib_module_names}
    for path in (PACKAGE / "ops").glob("*.py"):
        assert {name.split(".")[0] for name in imported(path)} <= allowed, path


def test_no_room_hides_a_function() -> None:
    """A package that is imported becomes an attribute of its parent."""
    from gradcli.ops import ALIASES, FUNCTIONS

    assert not {path.stem for path in PACKAGE.iterdir()} & {*FUNCTIONS, *ALIASES}


def test_importing_the_package_imports_nothing() -> None:
    """So that a process with hardly any memory can still say so."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    imports = [
        node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [ast.unparse(node) for node in imports] == [
        "from __future__ import annotations"
    ]
