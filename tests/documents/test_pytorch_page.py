"""The table of what is covered is true: the one column is there, the other refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gradcli.answers.pages import page
from gradcli.python.missing import lack_of


def named(column: int) -> Iterator[str]:
    """Names of PyTorch's that a column of the table shows."""
    table = (
        page("pytorch").text.partition("## What is covered")[2].partition("\n## ")[0]
    )
    for row in table.splitlines():
        cells = row.split("|")[1:-1]
        if len(cells) == 3 and "---" not in row:
            yield from re.findall(r"`([A-Za-z]\w*(?:\.\w+)*)`", cells[column])


@pytest.mark.parametrize("name", sorted({*named(0), *named(1)}))
def test_what_is_said_to_be_here_is(name: str) -> None:
    assert lack_of(f"torch.{name}") is None


@pytest.mark.parametrize("name", sorted({*named(2)}))
def test_what_is_said_not_to_be_here_is_refused_in_one_sentence(name: str) -> None:
    said = lack_of(name if name == "functorch" else f"torch.{name}")
    assert said is not None
    assert name in said
    assert "\n" not in said
