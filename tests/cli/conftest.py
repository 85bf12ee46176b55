"""Real processes: tests here run what ``python -m gradcli`` runs, as a shell would."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes import COLD, HANGS, ROOT
from tests.processes.here import fits_here, run_here

COMMAND = COLD
COLOUR_WISHES = (
    "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "GITHUB_ACTIONS", "CLICOLOR_FORCE",
)  # fmt: skip
OWN_WISHES = ("GRADCLI_", "XDG_CONFIG_HOME")
"""What our own variables begin with."""

FIVE = "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d"
AT = ["a=2", "w1=0.5", "w2=-1.5", "w3=3", "w4=0.25"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=_no_constant)


CHECKING = ("grad", "jacobian", "hessian", "check", "kinks")
PATIENCE = ("--verify-seconds", "600")
"""So that no verdict depends on how busy the machine is."""


_IMPATIENT = frozenset(
    ("--verify-seconds", "--no-verify", "--help", "-h", "--", "--table", "--sweep")
)


def _patience(args: Sequence[str]) -> Sequence[str]:
    asked = _IMPATIENT.intersection(args)
    return PATIENCE if args and args[0] in CHECKING and not asked else ()


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def environment(**wishes: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in COLOUR_WISHES}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **wishes}


def _set(variables: Mapping[str, str]) -> bool:
    """Whether the environment has settings."""
    return any(name.startswith("GRADCLI_") for name in variables)


Run = Callable[..., Ended]


@pytest.fixture
def gradcli(tmp_path: Path, warm_command: list[str]) -> Run:
    """Runs the command line in an empty folder: in this process if it wants none of its
    own, and no settings; an environment that changes how Python starts is given to a
    process that starts with it.
    """

    def run(
        *args: str,
        stdin: str | bytes = "",
        env: Mapping[str, str] | None = None,
        timeout: float = HANGS,
    ) -> Ended:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        others = {n for n in env or () if not n.startswith(OWN_WISHES)}
        line = [*args[:1], *_patience(args), *args[1:]]
        around = environment(**(env or {}))
        plain = {*(env or ())} <= {*COLOUR_WISHES} and not _set(around)
        if plain and not given and fits_here(args):
            ended = Ended(*run_here(line, tmp_path, around))
        else:
            command = COLD if others.difference(COLOUR_WISHES) else warm_command
            done = subprocess.run(
                [*command, *line], input=given, capture_output=True, timeout=timeout,
                cwd=tmp_path, env=around, check=False,
            )  # fmt: skip
            ended = Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ended.err or "--debug" in args, ended.err
        return ended

    return run
