"""The pages of the table: what they show can be read by the language."""

from __future__ import annotations

import pytest

from gradcli.lang.parser import parse
from gradcli.views.catalog import catalog

DERIVATIVES = [
    (row.name, name, text)
    for function in catalog()
    for row in function.rows
    for name, text in row.derivatives.items()
    if text is not None
]


@pytest.mark.parametrize(
    ("row", "name", "text"), DERIVATIVES, ids=[f"{r}-{n}" for r, n, _ in DERIVATIVES]
)
def test_a_derivative_on_a_page_is_text_of_the_language(
    row: str, name: str, text: str
) -> None:
    parse(text)


def test_most_elementwise_rows_show_their_derivatives() -> None:
    shown = {row for row, _, _ in DERIVATIVES}
    assert {"sin", "mul", "div.Tensor", "atan2", "erfinv"} <= shown
