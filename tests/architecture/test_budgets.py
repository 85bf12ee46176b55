"""The core, the rest of the package and the tests keep to their budgets of lines.

The budgets stand in a table of `gradcli/README.md`. A test fails three percent above
one, so that an honest change edits no budget.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_rooms import MODULES, PACKAGE, room

CORE = {"ops", "engine", "lang", "check", "formulas", "answers", "cli"}

SLACK = 1.03
"""Number of lines or files that there may be, for each one of a budget."""


def budgets() -> dict[str, int]:
    """The number of each row of the table, by the row's name."""
    table = (PACKAGE / "README.md").read_text().partition("## Budgets\n")[2]
    rows = re.findall(r"^\| ([\w ]+) \| ([\d,]+) \|$", table, re.M)
    return {name: int(budget.replace(",", "")) for name, budget in rows}


def lines_of(paths: list[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def counts() -> dict[str, int]:
    """The numbers of lines, and of files, by the name of their budget."""
    return {
        "core": lines_of([path for path in MODULES if room(path) in CORE]),
        "the rest": lines_of([path for path in MODULES if room(path) not in CORE]),
        "files": len(MODULES),
        "tests": lines_of([*(PACKAGE.parent / "tests").rglob("*.py")]),
    }


@pytest.mark.parametrize("name", counts())
def test_a_budget_is_kept(name: str) -> None:
    count, budget = counts()[name], budgets()[name]
    print(f"{name}: {count:,} of {budget:,}, {budget - count:,} left")
    assert count <= SLACK * budget
