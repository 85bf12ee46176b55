"""Every call that a page shows prints an object of its schema when asked for one.

Lines with the same commands and options are of one kind, of which the first that is
answered and the first that is refused are looked at. What else stands on a page runs as
it is, for the files that it makes.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from gradcli.answers.pages import parts
from tests.cli.schemas import NO_JSON, answered

from .blocks import PAGES, README, ROOT, Example, examples, shell

_WORD = re.compile(r"(?<=\bgradcli )[a-z]+|(?<=\s)--?[a-z][a-z-]*")

_ASKING = """\
gradcli() {{
  cat > "$ASKED/given"
  case " {without} " in
    *" $1 "*) ;;
    *) {gradcli} "$@" --json < "$ASKED/given" >> "$ASKED/out" 2>> "$ASKED/err" ;;
  esac
  if [ ! -c /dev/stdout ]; then {gradcli} "$@" < "$ASKED/given"; fi
}}
"""
"""The command, which notes its object; pipes and files get what it prints else."""

EXCLUDED = "E590"
"""The code of the error that says that an option excludes another."""


def kind(line: Example) -> tuple[str, ...]:
    """Return the commands and options in a line, and whether it is refused."""
    refused = ["refused"] if "error[" in line.shown else []
    return (*sorted({*_WORD.findall(line.command)}), *refused)


def first_shortened() -> dict[tuple[str, ...], str]:
    pages = (*PAGES, README)
    lines = [line for path in pages for line in examples(path.read_text())]
    return {kind(line): line.command for line in reversed(lines)}


CHOSEN = first_shortened()


@pytest.mark.parametrize("path", [*PAGES, README], ids=lambda path: path.stem)
def test_what_a_page_asks_for_fits_its_schema_as_json(
    path: Path, warm_command: list[str], tmp_path: Path
) -> None:
    function = _ASKING.format(
        without=" ".join(sorted(NO_JSON)), gradcli=shlex.join(warm_command)
    )
    for number, part in enumerate(parts(path.read_text())):
        folder, asked = tmp_path / str(number), tmp_path / f"{number}-asked"
        folder.mkdir()
        asked.mkdir()
        (folder / "samples").symlink_to(ROOT / "samples")
        for line in examples(part):
            named = kind(line)
            if named and CHOSEN[named] != line.command:
                continue
            for name in ("out", "err"):
                (asked / name).write_text("")
            script = f"{function}\n{line.command}"
            wishes = {"ASKED": str(asked), "GRADCLI_VERIFY": "false"}
            shell(script, folder, subprocess.DEVNULL, **wishes)
            found = answered(*((asked / n).read_text() for n in ("out", "err")))
            codes = [each["error"]["code"] for each in found if "error" in each]
            if "refused" in named:
                assert codes, line.command
            else:
                assert {*codes} <= {EXCLUDED}, line.command
