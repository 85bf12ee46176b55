"""Each room keeps to its budget of lines, and the package to its budget of files.

The budgets stand in the table of `gradcli/README.md`; whoever needs more raises one
there, and says what a user gets for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_rooms import MODULES, PACKAGE, room

TOP = "top level"
FILES = "files"
TESTS = "tests"


def budgets() -> dict[str, int]:
    """The last number of each row of the table, by the row's name."""
    section = (PACKAGE / "README.md").read_text().partition("## Budgets\n")[2]
    rows = re.findall(
        r"^\| ([\w ]+) \| [\d,]+ \| ([\d,]+) \|$", section.partition("\n## ")[0], re.M
    )
    return {name: int(budget.replace(",", "")) for name, budget in rows}


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


BUDGETS = budgets()
ROOMS = sorted({room(path) or TOP for path in MODULES})


def test_every_room_has_a_budget() -> None:
    assert BUDGETS.keys() == {*ROOMS, TESTS, FILES}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_keeps_to_its_lines(name: str) -> None:
    own = [path for path in MODULES if (room(path) or TOP) == name]
    assert lines(own) <= BUDGETS[name]


def test_the_tests_keep_to_their_lines() -> None:
    assert lines([*(PACKAGE.parent / "tests").rglob("*.py")]) <= BUDGETS[TESTS]


def test_the_package_keeps_to_its_files() -> None:
    assert len(MODULES) <= BUDGETS[FILES]
