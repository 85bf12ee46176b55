"""The rooms know each other downward only, and heavy libraries stay in their room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.grouped import by_row

PACKAGE = Path(__file__).parents[2] / "gradcli"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A room may import itself and the rooms to its right.
MAY_KNOW = {
    "ops": set(),
    "engine": {"ops"},
    "autograd": {"engine", "ops"},
    "nn": {"autograd", "engine", "ops"},
    "distributions": {"engine", "ops"},
    "optim": {"nn", "autograd", "engine", "ops"},
    "utils": {"autograd", "engine", "ops"},
    "stubs": {
        "distributions", "utils", "optim", "nn", "autograd", "engine", "ops",
    },
    "traces": {"engine", "ops"},
    "lang": {"traces", "autograd", "engine", "ops"},
    "numbers": {"lang", "autograd", "engine", "ops"},
    "verify": {"numbers", "lang", "autograd", "engine", "ops"},
    "views": {"verify", "numbers", "lang", "autograd", "engine", "ops"},
    "diagnosis": {"views", "verify", "numbers", "lang", "autograd", "engine", "ops"},
    "python": {
        "diagnosis", "views", "verify", "numbers", "lang", "nn", "autograd", "engine",
        "ops",
    },
    "answers": {
        "python", "diagnosis", "views", "verify", "numbers", "lang", "optim",
        "autograd", "engine", "ops",
    },
    "render": {
        "answers", "python", "diagnosis", "views", "verify", "numbers", "lang",
        "autograd", "engine", "ops",
    },
    "cli": {
        "python", "render", "answers", "diagnosis", "views", "verify", "numbers",
        "lang", "traces", "optim", "autograd", "engine", "ops",
    },
}  # fmt: skip
# Each heavy library, and where it may be imported.
HOME = {
    "numpy": {
        "engine", "autograd", "nn", "optim", "utils", "traces", "lang", "numbers",
        "verify", "views", "diagnosis", "answers", "render", "python", "cli",
    },
    "scipy": {"engine"},
    "cupy": {"engine/devices.py"},
    "cupyx": {"engine/devices.py"},
    "sympy": {"numbers", "verify"},
    "flint": {"numbers", "verify"},
    "mpmath": set(),
    "rich": {"render"},
    "typer": {"cli"},
    "igraph": {"render/graphs/layers.py"},
    "cairosvg": {"render/graphs/pixels.py"},
    "contourpy": {"render/graphs/plot.py"},
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


@cache
def imported(path: Path) -> set[str]:
    """Absolute dotted names that a module imports, also inside functions."""
    names: set[str] = set()
    here = ("gradcli", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in parts(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            names.add(str(node.args[0].value))
    return names


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
    for node in parts(path):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            bare = isinstance(node.func, ast.Name)
            assert called not in banned or (called == "compile" and not bare), called
    assert "pickle" not in {n.split(".")[0] for n in imported(path)}


def test_ops_import_the_standard_library_alone() -> None:
    import sys

    for path in (PACKAGE / "ops").glob("*.py"):
        for name in imported(path):
            top = name.split(".")[0]
            assert top == "gradcli" or top in sys.stdlib_module_names, name


def test_no_room_hides_a_function() -> None:
    """A package that is imported becomes an attribute of its parent."""
    from gradcli.ops import ALIASES, FUNCTIONS

    assert not {path.stem for path in PACKAGE.iterdir()} & {*FUNCTIONS, *ALIASES}
