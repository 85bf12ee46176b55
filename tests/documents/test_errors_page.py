"""Each code of an error has an example that gives it and one that mends it."""

from __future__ import annotations

import re

import pytest

from gradcli.answers.pages import section
from gradcli.lang.errors import CODES

from .blocks import ROOT, examples

WITHOUT_EXAMPLE = {
    "E398": "no operation is left that cannot be written",
    "E401": "it takes seconds",
    "E599": "it would be a mistake in gradcli",
}


def test_every_code_in_the_source_is_listed() -> None:
    raised = {
        code
        for path in (ROOT / "gradcli").rglob("*.py")
        for code in re.findall(r'"(E\d{3})"', path.read_text())
    }
    assert raised == {*CODES}


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_explained(code: str) -> None:
    text = section(code)
    assert text is not None
    assert text.splitlines()[0] == f"## {code}: {CODES[code]}"
    shown = [each.shown for each in examples(text) if each.shown]
    if code in WITHOUT_EXAMPLE:
        assert shown == []
        assert "no example" in text.replace("\n", " ")
        return
    wrong, mended = shown
    assert f"error[{code}]" in wrong
    assert mended
    assert "error[" not in mended
