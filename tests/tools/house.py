"""Prints how large the house is, and how far one command goes through it.

    python -m tests.tools.house

The first four rows are those of the section "Budgets" of `gradcli/README.md`; the rows
after them have no budget. What is counted of a command leaves out imports and the
checking process.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "gradcli"

CORE = {"ops", "engine", "lang", "check", "formulas", "answers", "cli"}
"""Rooms that have one budget of lines together."""

COMMAND = ("grad", "y = x**3 + b", "x=2", "b=1")
"""Command line whose way through the files is counted."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """Return the folder of the package that a file lies in; "" for the package's own
    file."""
    return "" if path.parent == PACKAGE else path.relative_to(PACKAGE).parts[0]


def lines_of(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def budgeted() -> dict[str, int]:
    """Return the numbers of lines and of files, by the name of their budget."""
    core = [path for path in modules() if room(path) in CORE]
    rest = [path for path in modules() if room(path) not in CORE]
    return {
        "core": lines_of(core),
        "the rest": lines_of(rest),
        "files": len(core) + len(rest),
        "tests": lines_of((TOP / "tests").rglob("*.py")),
    }


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


def repeated(names: Iterable[str]) -> int:
    """Return how many of the names stand somewhere else, too."""
    return sum(count for count in Counter(names).values() if count > 1)


def imports_inside(path: Path) -> int:
    """Return the number of imports inside the functions of a file."""
    inside = {
        (node.lineno, node.col_offset)
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(inside)


def package_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the package, from a frame to its callers."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(f"{PACKAGE}/"):
            yield frame
        frame = frame.f_back


def crossings(words: Iterable[str]) -> tuple[int, int]:
    """Return the number of calls from one file to another while a command runs, and
    that of the files whose functions are called."""
    from gradcli.cli import app

    calls, files = 0, set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        if event != "call" or next(package_frames(frame), None) is not frame:
            return
        below = [each.f_code for each in package_frames(frame)]
        if any(code.co_name == "<module>" for code in below):
            return
        files.add(below[0].co_filename)
        caller = below[1].co_filename if len(below) > 1 else ""
        calls += caller != below[0].co_filename

    sys.setprofile(watch)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            status = app.run([*words])
    finally:
        sys.setprofile(None)
    assert status == 0
    return calls, len(files)


def measured() -> dict[str, int]:
    """Return every number of the table, by the name of its row."""
    classes = (
        node.name
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    )
    named = (path.name for path in modules() if path.name != "__init__.py")
    inner = sum(imports_inside(path) for path in modules() if room(path) == "cli")
    calls, files = crossings(COMMAND)
    return {
        **budgeted(),
        "files that share a name": repeated(named),
        "classes that share a name": repeated(classes),
        "imports inside functions of `cli`": inner,
        "calls that cross a file": calls,
        "files entered": files,
    }


def main() -> None:
    print("| | measured |\n|---|---|")
    for name, number in measured().items():
        print(f"| {name} | {number:,} |")


if __name__ == "__main__":
    main()
