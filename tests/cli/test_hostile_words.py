"""Words that nobody means: each ends with an answer or an error that says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import HANGS, ROOT

from .conftest import Run, environment
from .hostile import DIGITS, LONG

POINT = ("x^2", "x=2", "--no-verify")
ROWS = ("grad", "x^2", "--table", "t.csv")


def test_no_hostile_word_ends_inside() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.hostile", "120", "7"],
        capture_output=True, text=True, timeout=HANGS, cwd=ROOT, env=environment(),
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "{" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("grad", "x^2", "--table", "~nosuch/x.csv"), 3, "there is no folder"),
        (("grad", "x^2", "x=@~nosuch/x.csv"), 3, "there is no folder"),
        ((*ROWS, "--out", "~nosuch/x.csv"), 3, "there is no folder"),
        (("grad", "x^2", "--table", f"{LONG}.csv"), 3, "file name too long"),
        ((*ROWS, "--out", f"{LONG}.csv"), 3, "file name too long"),
        (("grad", *POINT, "--out", f"{LONG}.npz"), 74, "file name too long"),
        (("verify", f"{LONG}.py:f"), 3, "there is no file"),
        (("run", LONG), 3, "there is no file"),
        (("grad", *POINT, "--out", ""), 2, "there is no file name"),
        (("grad", "x^2", "--table", ""), 2, "there is no file name"),
        ((*ROWS, "--cluster", "local:99999999999"), 2, "N from 1 to"),
        ((*ROWS, "--cluster", "local:²"), 2, "N from 1 to"),
        (("grad", "x^2", "x=\udcff"), 3, "unexpected character '\\udcff'"),
        (("run", "\udcff.py"), 3, "there is no file '\\udcff.py'"),
    ],
)
def test_a_word_without_meaning_has_a_reason_and_a_way_out(
    gradcli: Run, tmp_path: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    ended = gradcli(*words)
    assert ended.status == status
    assert ended.err.startswith("error[")
    assert said in ended.err
    assert "  = help: " in ended.err or "^ " in ended.err


def test_a_device_takes_an_archive(gradcli: Run, tmp_path: Path) -> None:
    for suffix in ("npz", "npy", "mtx"):
        (tmp_path / f"null.{suffix}").symlink_to("/dev/null")
        ended = gradcli("jacobian", *POINT, "--out", f"null.{suffix}")
        assert (ended.status, ended.err) == (0, "")
    assert gradcli("grad", *POINT, "--out", "null.npz").status == 0


SESSION = b"""\
x = 3\0
\0
grad \0
x = @a\0.csv
%save a\0
help \0
run \0
# \0
\xff
%save b\xff.grad
y = x^2
%save b\xff.grad
%save """ + b"n" * 300 + b"""
x = 3
y
"""  # fmt: skip


def test_a_session_outlives_bytes_that_are_no_text(
    gradcli: Run, tmp_path: Path
) -> None:
    ended = gradcli("repl", stdin=SESSION)
    assert ended.err.count("unexpected character NUL") == 8
    assert ended.out.endswith(" 9.0\n")
    assert "File name too long" in ended.err
    assert "E599" not in ended.err
    assert "y = x^2" in (tmp_path / os.fsdecode(b"b\xff.grad")).read_text("latin1")


SETTINGS = (
    "\ufeff# one\x85seed = 4 \u2028digits = 9\r\n"
    "width = 90\r\n\r\n  # two \t\r\n'seed' = 1 # why\r\ndraw = true"
).encode()


def test_other_lines_of_the_settings_stay_byte_for_byte(
    gradcli: Run, tmp_path: Path
) -> None:
    file = tmp_path / "gradcli" / "config.toml"
    file.parent.mkdir()
    file.write_bytes(SETTINGS)
    own = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert gradcli("config", "seed", "7", env=own).status == 0
    others = SETTINGS.replace(b"'seed' = 1 # why\r\n", b"")
    assert file.read_bytes() == others + b"\r\nseed = 7\r\n"
    assert gradcli("config", "--unset", "seed", env=own).status == 0
    assert file.read_bytes() == others + b"\r\n"


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 5000, DIGITS, "[0x" + "f" * 5000 + "]"]
)
def test_a_setting_of_thousands_of_digits_can_be_taken_out(
    gradcli: Run, tmp_path: Path, number: str
) -> None:
    file = tmp_path / "gradcli" / "config.toml"
    file.parent.mkdir()
    file.write_text(f"width = 3\nseed = {number}\n")
    own = {"XDG_CONFIG_HOME": str(tmp_path)}
    for words in (("config",), ("value", "x", "x=1"), ("config", "digits", "3")):
        ended = gradcli(*words, env=own)
        assert ended.status == 2
        assert "config.toml" in ended.err
    assert gradcli("config", "--unset", "seed", env=own).status == 0
    assert gradcli("config", "--unset", "width", env=own).status == 0
    assert file.read_text() == ""


@pytest.mark.parametrize("kind", ["Exception", "BaseException", "TypeError", "OSError"])
def test_an_exception_without_words_is_the_scripts(
    gradcli: Run, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "silent.py").write_text(
        f"class Silent({kind}):\n    def __str__(self): raise RuntimeError\n"
        "def f(x): raise Silent\nif __name__ == '__main__': f(1)\n"
    )
    ended = gradcli("run", "silent.py")
    assert ended.status == 3
    assert "the script raises Silent (silent.py:3: " in ended.err
    if kind != "BaseException":
        ended = gradcli("verify", "silent.py:f", "x=[1,2]")
        assert ended.status == 3
        assert "raises Silent" in ended.err


def test_half_a_character_is_kept_by_json_alone(gradcli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"x": 1, "n": "a\\ud801"}\n')
    words = ("grad", "x^2", "--table", "t.jsonl", "--keep", "n")
    assert '"n": "a\\ud801"' in gradcli(*words).out
    for suffix in ("csv", "tsv", "parquet"):
        ended = gradcli(*words, "--out", f"o.{suffix}")
        assert ended.status == 2
        assert "half a character" in ended.err
