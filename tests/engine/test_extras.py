"""A missing package is named with the command that suits the environment."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from gradcli.engine import extras
from gradcli.engine.extras import how_to_install


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with nothing in it."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_pipx_injects(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    way = how_to_install("dask[distributed]", "pyarrow")
    assert way == "pipx inject gradcli 'dask[distributed]' pyarrow"


@pytest.mark.parametrize(
    ("receipt", "source"),
    [
        ('[tool]\nrequirements = [{ name = "gradcli" }]', "gradcli"),
        (
            '[tool]\nrequirements = [{ name = "gradcli", directory = "/a b" }]',
            "'/a b'",
        ),
        ("no receipt", "gradcli"),
        ("tool = 3", "gradcli"),
    ],
)
def test_uv_installs_again_from_where_gradcli_came(
    prefix: Path, receipt: str, source: str
) -> None:
    (prefix / "uv-receipt.toml").write_text(receipt)
    assert how_to_install("pyarrow") == f"uv tool install {source} --with pyarrow"


def test_any_other_python_uses_pip(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: True)
    monkeypatch.setattr(extras, "which", lambda name: sys.executable)
    way = "python -m pip install 'cupy-cuda12x[ctk]'"
    assert how_to_install("cupy-cuda12x[ctk]") == way
    monkeypatch.setattr(extras, "which", lambda name: "/elsewhere/python")
    python = shlex.quote(sys.executable)
    assert how_to_install("pyarrow") == f"{python} -m pip install pyarrow"


def test_a_python_without_pip_uses_uv(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setattr(extras, "which", lambda name: sys.executable)
    assert how_to_install("pyarrow") == "uv pip install --python python pyarrow"


def test_no_message_names_a_command_of_its_own() -> None:
    package = Path(extras.__file__).parents[1]
    named = [
        path.name
        for path in package.rglob("*.py")
        if "pip install" in path.read_text() and path.name != "extras.py"
    ]
    assert named == []
