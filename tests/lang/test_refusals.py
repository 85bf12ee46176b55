"""A file that cannot be read or written is told in one wording, with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.lang.filesystem import refusal

OTHERWISE = "another way"


def told(path: Path, done: str = "read", mark: str = "") -> tuple[str, str]:
    with pytest.raises(OSError) as caught:  # noqa: PT011 (any: its words are the test)
        path.open("rb" if done == "read" else "wb")
    return refusal(str(path), caught.value, OTHERWISE, done, mark)


def test_a_missing_file_is_told_with_a_similar_one(tmp_path: Path) -> None:
    (tmp_path / "points.csv").touch()
    path = tmp_path / "pionts.csv"
    assert told(path, mark="@") == (
        f"there is no file '{path}'",
        f"did you mean '@{tmp_path}/points.csv'?",
    )
    path = tmp_path / "gone.npy"
    assert told(path) == (f"there is no file '{path}'", OTHERWISE)


@pytest.mark.parametrize("done", ["read", "written"])
def test_a_missing_folder_is_told(tmp_path: Path, done: str) -> None:
    path = tmp_path / "gone" / "a.csv"
    folder = str(path.parent)
    wanted = f"{str(path)!r} cannot be {done}: there is no folder {folder!r}"
    assert told(path, done) == (wanted, OTHERWISE)


@pytest.mark.parametrize("done", ["read", "written"])
def test_a_directory_is_no_file(tmp_path: Path, done: str) -> None:
    assert told(tmp_path, done) == (f"'{tmp_path}' is a directory", OTHERWISE)


def test_every_other_reason_is_the_system_s(tmp_path: Path) -> None:
    path = tmp_path / "loop"
    path.symlink_to(path)
    reason = "too many levels of symbolic links"
    assert told(path) == (f"'{path}' cannot be read: {reason}", OTHERWISE)
    message, _ = refusal("a\0b", ValueError("embedded null byte"), OTHERWISE)
    assert message == "'a\\x00b' cannot be read: embedded null byte"
