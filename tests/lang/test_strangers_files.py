"""Whatever happened to a file, a command ends with an error of that file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.lang.errors import ProgramError
from gradcli.tables.points import layout_of, point_blocks
from gradcli.tables.text_tables import WantedColumns, places_in
from tests.lang.stranger import good
from tests.processes import ROOT


@pytest.mark.parametrize(
    "count", [20, pytest.param(400, marks=pytest.mark.nightly)], ids=str
)
def test_a_damaged_file_is_an_error_of_that_file(count: int) -> None:
    """In a process that reads nothing else, whose memory and time are measured."""
    words = [sys.executable, "-m", "tests.lang.stranger", str(count), "0"]
    ended = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_an_array_that_shrinks_while_it_is_read_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "it.npy"
    path.write_bytes(good()["array"][2])
    with path.open("rb", buffering=0) as file:
        layout = layout_of(file, "it.npy")
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(ProgramError, match="is cut off: it has 88 of 96 bytes"):
            layout.whole(file)


def test_a_unit_behind_blanks_is_searched_for_once() -> None:
    assert places_in(["x" + " " * 1_000_000 + "(", "y [m]"], "y") == [1]


def test_a_name_of_a_column_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x," + "b" * 10_001 + "\n1,2\n")
    with pytest.raises(ProgramError, match="name is above 10,000 characters"):
        [*point_blocks(str(path), WantedColumns(("x",)))]
