"""`gradcli ops` lists and explains the operations."""

from __future__ import annotations

from .conftest import Run


def test_ops_lists_every_function_and_shows_its_page(gradcli: Run) -> None:
    from gradcli.ops import offered

    listed = {line.split("  ")[0].strip() for line in gradcli("ops").out.splitlines()}
    assert set(offered()) <= listed
    page = gradcli("ops", "mul").out
    assert page.startswith("mul(a, b)\n")
    assert "MulBackward0" in page
    assert "  derivative by a: b\n" in page
    assert "  C: a * b\n" in page
