"""Every console example of the README prints what the README shows."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(
    r"```console\n\$ ((?:printf .+? \| )?gradcli .+?)\n(.*?)```",
    (ROOT / "README.md").read_text(),
    re.S,
)


def without_seconds(text: str) -> str:
    return re.sub(r"\d+\.\d+ s\b", "? s", text)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_readme_shows_what_is_printed(
    command: str, shown: str, warm_command: list[str]
) -> None:
    gradcli = f'gradcli() {{ {shlex.join(warm_command)} "$@"; }}'
    run = subprocess.run(
        ["bash", "-c", f"{gradcli}\n{command}"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert without_seconds(run.stdout + run.stderr) == without_seconds(shown)


def test_readme_has_examples() -> None:
    assert len(EXAMPLES) >= 10


def test_readme_s_python_prints_what_it_shows() -> None:
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=flags
    )
    assert (failed, tried >= 5) == (0, True)
