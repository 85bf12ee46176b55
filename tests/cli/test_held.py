"""What holds the interpreter, so that no thread of it runs, ends at the limit, too."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .conftest import environment

HELD = """
import sys
from collections import deque
from itertools import repeat
from gradcli.cli import app
from gradcli.lang import compiled
compiled.compile = lambda *args, **named: deque(repeat(0), maxlen=0)
sys.argv = ["gradcli", *sys.argv[1:]]
app.main()
"""
"""Program that runs a command line in which a call of C never ends."""


@pytest.mark.skipif(sys.platform != "linux", reason="the system's own timers")
@pytest.mark.parametrize("json_wanted", [False, True])
def test_what_holds_the_interpreter_ends_at_the_limit(json_wanted: bool) -> None:
    words = ["grad", "x^2", "--sweep", "x=0..1:3", "--max-seconds", "0.2"]
    words += ["--json"] if json_wanted else []
    done = subprocess.run(
        [sys.executable, "-c", HELD, *words],
        capture_output=True, text=True, env=environment(), timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (4, "")
    if json_wanted:
        assert json.loads(done.stderr)["error"]["code"] == "E405"
    else:
        assert done.stderr.startswith("error[E405]: the work took more than 0.2 s")
