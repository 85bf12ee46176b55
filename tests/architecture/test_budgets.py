"""Each room keeps to its budget of lines, and the package to its budget of files.

The budgets stand in the table of `gradcli/README.md`; whoever needs more raises one
there, and says what a user gets for it.
"""

from __future__ import annotations

import re

import pytest
from test_rooms import MODULES, PACKAGE, room

TOP = "top level"


def budgets() -> dict[str, int]:
    """The last number of each row of the table, by the row's name."""
    section = (PACKAGE / "README.md").read_text().partition("## Budgets\n")[2]
    table = section.partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w ]+) \| ([\d,]+) \|$", table, re.M)
    return {name: int(budget.replace(",", "")) for name, budget in rows}


OWN = {"tests": [*(PACKAGE.parent / "tests").rglob("*.py")]} | {
    name: [path for path in MODULES if (room(path) or TOP) == name]
    for name in sorted({room(path) or TOP for path in MODULES})
}


def test_every_room_has_a_budget_and_the_package_keeps_to_its_files() -> None:
    assert budgets().keys() == {*OWN, "files"}
    assert len(MODULES) <= budgets()["files"]


@pytest.mark.parametrize("name", OWN)
def test_a_room_keeps_to_its_lines(name: str) -> None:
    lines = sum(len(path.read_text().splitlines()) for path in OWN[name])
    assert lines <= budgets()[name]
