"""Every call that a page shows prints an object of its schema when asked for one.

What else stands on a page runs as it is, for the files that it makes.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from gradcli.answers.pages import parts
from tests.cli.schemas import NO_JSON, answered
from tests.processes.here import run_here

from .blocks import PAGES, README, ROOT, examples, plain_words, shell

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


@pytest.mark.parametrize("path", [*PAGES, README], ids=lambda path: path.stem)
def test_what_a_page_asks_for_fits_its_schema_as_json(
    path: Path, warm_command: list[str], tmp_path: Path
) -> None:
    without = " ".join(sorted(NO_JSON))
    function = _ASKING.format(without=without, gradcli=shlex.join(warm_command))
    for number, part in enumerate(parts(path.read_text())):
        folder, asked = tmp_path / str(number), tmp_path / f"{number}-asked"
        folder.mkdir()
        asked.mkdir()
        (folder / "samples").symlink_to(ROOT / "samples")
        for line in examples(part):
            words = plain_words(line.command)
            if words and words[0] not in NO_JSON:
                around = {**os.environ, "GRADCLI_VERIFY": "false"}
                found = answered(*run_here([*words, "--json"], folder, around)[1:])
            else:
                for name in ("out", "err"):
                    (asked / name).write_text("")
                script = f"{function}\n{line.command}"
                wishes = {"ASKED": str(asked), "GRADCLI_VERIFY": "false"}
                shell(script, folder, subprocess.DEVNULL, **wishes)
                found = answered(*((asked / n).read_text() for n in ("out", "err")))
            codes = [each["error"]["code"] for each in found if "error" in each]
            refused = "error" in line.shown
            assert refused or {*codes} <= {EXCLUDED}, line.command
