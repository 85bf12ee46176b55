"""Every command of a recorded session prints what stands there, and ends as it says.

``python -m tests.documents.record sessions`` writes what commands print now: read the
difference before it is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.answers.pages import parts
from tests.documents.blocks import SESSIONS, examples, printed, without_seconds

SECTIONS = {
    f"{path.stem}: {part.splitlines()[0].strip('# ')}": part
    for path in SESSIONS
    for part in parts(path.read_text())
    if "```console" in part
}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_session_is_what_is_recorded(
    name: str, warm_command: list[str], tmp_path: Path
) -> None:
    for each in examples(SECTIONS[name]):
        text = printed(each.command, warm_command, tmp_path, status=True)
        assert without_seconds(text) == without_seconds(each.shown), each.command
