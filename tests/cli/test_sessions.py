"""Every command of a recorded session prints what stands there, and ends as it says.

``python -m tests.documents.record sessions`` writes what commands print now: read the
difference before it is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.blocks import (
    SESSIONS,
    examples,
    printed,
    sections,
    without_seconds,
)

SECTIONS = sections(SESSIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_session_is_what_is_recorded(
    name: str, warm_command: list[str], tmp_path: Path
) -> None:
    for each in examples(SECTIONS[name]):
        text = printed(each.command, warm_command, tmp_path, status=True)
        assert without_seconds(text) == without_seconds(each.shown), each.command
