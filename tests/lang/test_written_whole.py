"""A file is written whole or not at all, however the process ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import HANGS, ROOT

HELD = """
from gradcli.tables.filesystem import replacing
from gradcli.lang.process import Fuse
fuse = Fuse("it took too long", 4)
with replacing("before") as file:
    pass
with replacing("{name}") as file:
    file.write(b"half")
    file.flush()
    fuse.set(0.05)
    10 ** 10**9  # a call of C that lets nothing through
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs timers of Linux")
@pytest.mark.parametrize("name", ["o.csv", "\u00e9" * 60], ids=["short", "long"])
def test_a_process_that_is_held_leaves_nothing_half_written(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("what was there before")
    ended = subprocess.run(
        [sys.executable, "-c", HELD.format(name=name)],
        capture_output=True, cwd=tmp_path, timeout=HANGS, check=False,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (4, b"it took too long")
    assert {path.name for path in tmp_path.iterdir()} == {"before", name}
    assert (tmp_path / name).read_text() == "what was there before"
