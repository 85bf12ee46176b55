"""Every command of a recorded session prints what stands there, and ends as it says.

``python -m tests.documents.record sessions`` writes what commands print now: read the
difference before it is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.blocks import SESSIONS, comparable, examples, printed, sections

SECTIONS = sections(SESSIONS)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_session_is_what_is_recorded(
    name: str, warm_command: list[str], tmp_path: Path
) -> None:
    for each in examples(SECTIONS[name]):
        text = printed(each.command, warm_command, tmp_path, status=True)
        found, meant = (comparable(each.command, t) for t in (text, each.shown))
        assert found == meant, each.command
