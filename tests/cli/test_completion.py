"""What a shell is offered when a line has been begun."""

from __future__ import annotations

import pytest

from .conftest import Run

OFFERED = {
    "gradcli gr": {"grad", "graph"},
    "gradcli grad x**2 --verify": {"--verify-seconds"},
    "gradcli grad -x**2 x=3 --qui": {"--quiet"},
    "gradcli grad x --device ": {"auto", "cpu", "cuda"},
    "gradcli descend x --optimizer a": {"adam"},
    "gradcli help E10": {f"E10{digit}" for digit in range(1, 8)},
    "gradcli help verd": {"verdicts"},
    "gradcli ops tan": {"tan", "tanh", "tanhshrink"},
}


@pytest.mark.parametrize("line", OFFERED)
def test_a_word_that_was_begun_is_completed(gradcli: Run, line: str) -> None:
    wishes = {
        "_GRADCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    ended = gradcli(env=wishes)
    assert (ended.status, ended.err) == (0, "")
    assert set(ended.out.split()) == OFFERED[line]
