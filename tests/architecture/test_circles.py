"""Files import one another in one direction, also inside functions and for types."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from test_rooms import MODULES, PACKAGE, imported, room


def dotted(path: Path) -> str:
    parts = ("gradcli", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {dotted(path): path for path in MODULES}


def edges(path: Path) -> set[str]:
    """The files that a file imports; a name that is no file belongs to its package."""
    found = {n if n in FILES else n.rpartition(".")[0] for n in imported(path)}
    return (found & FILES.keys()) - {dotted(path)}


ROOMS = sorted({room(path) for path in MODULES})


@pytest.mark.parametrize("name", ROOMS)
def test_the_files_of_a_room_form_no_circle(name: str) -> None:
    own = {n: edges(path) for n, path in FILES.items() if room(path) == name}
    graph = {n: targets & own.keys() for n, targets in own.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of files: {' -> '.join(error.args[1])}")
