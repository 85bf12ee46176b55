"""The console blocks of a page or session: commands behind `$`, and what they print.

The blocks of a section run one after the other in a folder of their own.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from gradcli.answers.pages import parts
from tests.processes import HANGS
from tests.processes.here import fits_here, run_here

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "gradcli" / "documents").glob("*.md"))
SESSIONS = sorted((ROOT / "tests" / "cli" / "sessions").glob("*.md"))

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Example:
    """A command and what is shown of it; ``start`` and ``end`` bound what is shown."""

    command: str
    shown: str
    start: int
    end: int


def sections(paths: Iterable[Path]) -> dict[str, str]:
    """Return the parts of pages that have commands, by the page and their heading."""
    return {
        f"{path.stem}: {part.splitlines()[0].strip('# ')}": part
        for path in paths
        for part in parts(path.read_text())
        if "```console" in part
    }


def examples(text: str) -> Iterator[Example]:
    """The commands of a page's console blocks, in order."""
    for block in BLOCK.finditer(text):
        lines = block[1].splitlines(keepends=True)
        at = block.start(1)
        while lines:
            command = _command(lines)
            start = at + len(command)
            shown = "".join(takewhile(lambda line: not line.startswith("$ "), lines))
            del lines[: shown.count("\n")]
            at = start + len(shown)
            yield Example(command.removeprefix("$ ").rstrip("\n"), shown, start, at)


def _command(lines: list[str]) -> str:
    """Take the first command from the lines: a quote, a file or a `\\` goes on."""
    assert lines[0].startswith("$ "), lines[0]
    command = lines.pop(0)
    while not _complete(command):
        command += lines.pop(0)
    return command


def _complete(command: str) -> bool:
    if "<<'END'" in command:
        return command.endswith("\nEND\n")
    try:
        shlex.split(command.removesuffix("\n"))
    except ValueError:
        return False
    return not command.endswith("\\\n")


CHECKING = ("grad", "jacobian", "hessian", "check", "kinks")
PATIENCE = ("--verify-seconds", "600")
"""So that no verdict depends on how busy the machine is."""

_PATIENT = """\
gradcli() {{
  case "$* " in
    *" --table "* | *" --sweep "*) ;;
    "grad "* | "jacobian "* | "hessian "* | "check "* | "kinks "*)
      set -- "$1" --verify-seconds 600 "${{@:2}}" ;;
  esac
  {} "$@"
}}
"""
"""The command, whose verdicts do not depend on how busy the machine is."""


def printed(
    command: str,
    gradcli: Sequence[str],
    folder: Path,
    status: bool = False,
    **wishes: str,
) -> str:
    """What a shell prints of a command, results first, then what goes to stderr.

    Args:
        status: whether a line at the end says how it ended, if that was no success.

    The folder is its home, too, where settings are. Nothing is to be read from standard
    input. A command that needs neither a shell nor a process of its own runs here.
    """
    words = plain_words(command)
    if words and not wishes and not (folder / ".config").exists():
        patience = PATIENCE if words[0] in CHECKING else ()
        line = [words[0], *patience, *words[1:]]
        code, out, err = run_here(line, folder, os.environ)
        return out + err + (f"status {code}\n" if status and code else "")
    function = _PATIENT.format(shlex.join(gradcli))
    run = shell(f"{function}\n{command}", folder, **wishes)
    ended = f"status {run.returncode}\n" if status and run.returncode else ""
    return run.stdout + run.stderr + ended


_PLAIN = re.compile(r"""gradcli(?: +(?:[\w=.,:/@%+^-]|'[^']*'|"[^"$`\\]*")+)+""")
"""A command line that a shell only cuts into words."""


def plain_words(command: str) -> list[str]:
    """Return the words of a command that can run in this process, or none."""
    if not _PLAIN.fullmatch(command):
        return []
    words = shlex.split(command)[1:]
    return words if fits_here(words) else []


def shell(
    script: str, folder: Path, stdout: int = subprocess.PIPE, **wishes: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, which is its home, with the Python of the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=HANGS,
        cwd=folder,
        env={
            **os.environ,
            "PATH": path,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": "",
            **wishes,
        },
    )


NUMBER = re.compile(r"-?\d+\.\d+(e[+-]\d+)?")

ROUNDING = re.compile(r"max_error \d\.?\d*e-1[67]( \([\d.]+ ulp\))?")
"""The error of a number whose last digit or two are rounded."""

SHORT = re.compile(r"-?0*+\.?0*+(\d\.?){,12}(e.*)?")
LONG = re.compile(r"-?0*+\.?0*+(\d\.?){18,}(e.*)?")
"""Numbers with at most twelve digits, and with more than a float has."""


def _without_last_digits(line: str) -> str:
    """The line with its long numbers rounded to twelve digits; if there is one, without
    the blanks that align it."""

    def rounded(number: re.Match[str]) -> str:
        if SHORT.fullmatch(number[0]) or LONG.fullmatch(number[0]):
            return number[0]
        return repr(float(f"{float(number[0]):.12g}"))

    found = NUMBER.sub(rounded, ROUNDING.sub("max_error of rounding", line))
    return line if found == line else re.sub(r"(?<=\[) +| +(?= )", "", found)


def without_seconds(text: str) -> str:
    """The text without what differs from run to run."""
    text = re.sub(r'("seconds": )\d+\.\d+', r"\1?", text)
    return re.sub(r"\d+\.\d+ s\b", "? s", text)


def comparable(command: str, text: str) -> str:
    """The text without what differs from run to run or between processors: seconds, the
    last digits of numbers with thirteen digits to seventeen, and their errors. Where
    numbers go downhill: digits beyond the eighth, what is left of a 0, and the widths
    of columns."""
    text = without_seconds(text)
    if "gradcli descend" not in command:
        return "".join(map(_without_last_digits, text.splitlines(keepends=True)))
    text = NUMBER.sub(lambda n: f"{round(float(n[0]), 15):.8g}", text)
    return re.sub(r"(?<=\[) +| +(?= )", "", text)
