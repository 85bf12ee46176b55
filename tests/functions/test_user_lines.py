"""A message names a line of the script, not one of a library that the script calls."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcli.functions.user_lines import place_of

TEXTS = ("numpy.linalg.inv(numpy.zeros((2, 2)))", "json.loads('[')")


@pytest.mark.parametrize("text", TEXTS)
def test_the_place_of_an_error_is_a_line_of_the_script(
    text: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"\n{text}\n")
    names = {"numpy": np, "json": json}
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        exec(compile(script.read_text(), script, "exec"), names)
    # The frames of this test come first, the script's last line counts.
    assert place_of(raised.value.__traceback__) == f"script.py:2: {text}"
