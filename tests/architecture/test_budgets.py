"""The core, the rest of the package and the tests keep to their budgets of lines.

The budgets stand in a table of `gradcli/README.md`. A test fails three percent above
one, so that an honest change edits no budget.
"""

from __future__ import annotations

import re

import pytest

from tests.tools.house import PACKAGE, budgeted

SLACK = 1.03
"""Number of lines or files that there may be, for each one of a budget."""


def budgets() -> dict[str, int]:
    """The number of each row of the table, by the row's name."""
    table = (PACKAGE / "README.md").read_text().partition("## Budgets\n")[2]
    rows = re.findall(r"^\| ([\w ]+) \| ([\d,]+) \|$", table, re.M)
    return {name: int(budget.replace(",", "")) for name, budget in rows}


@pytest.mark.parametrize("name", budgeted())
def test_a_budget_is_kept(name: str) -> None:
    count, budget = budgeted()[name], budgets()[name]
    print(f"{name}: {count:,} of {budget:,}, {budget - count:,} left")
    assert count <= SLACK * budget
