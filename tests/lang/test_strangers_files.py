"""Whatever happened to a file, a command ends with an error of that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.lang.errors import ProgramError
from gradcli.lang.npy import layout_of
from gradcli.lang.points import point_blocks
from gradcli.lang.text_tables import Wanted, places_in
from tests.lang.stranger import faults, good


@pytest.mark.parametrize("kind", good())
def test_a_damaged_file_is_an_error_of_that_file(kind: str) -> None:
    assert [*faults(kind, 20, 0)] == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", good())
def test_many_damaged_files_are_errors_of_those_files(kind: str) -> None:
    assert [*faults(kind, 400, 1)] == []


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
        [*point_blocks(str(path), Wanted(("x",)))]
