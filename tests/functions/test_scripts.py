"""PyTorch's own scripts run unchanged on gradcli, and print what they print there.

Words are the same; numbers are, but for the order in which floats are summed.
"""

from __future__ import annotations

import math
import random
import re
import warnings
from pathlib import Path

import pytest

import gradcli
from gradcli.functions.user_files import restored, run

from .record import FRESH_SEED, SCRIPTS, recorded

NEAR = 2e-4
"""Relative: what float32 loses over thousands of steps, and four digits printed."""

DEPARTURES = {"MkldnnRnnLayerBackward0": "StackBackward0"}
"""Names of nodes of ours for PyTorch's: a recurrent layer is no node of its own."""

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\d+)(?:e[-+]?\d+)?")


def alike(ours: str, theirs: str) -> bool:
    """Whether two texts have the same words, and numbers that are near each other."""
    if NUMBER.sub("#", ours).split() != NUMBER.sub("#", theirs).split():
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=NEAR, abs_tol=NEAR) for a, b in pairs
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_what_pytorch_prints(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gradcli.manual_seed(FRESH_SEED)
    random.seed(0)
    with restored(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(script, [])
    theirs = recorded(script).read_text()
    for name, ours in DEPARTURES.items():
        theirs = theirs.replace(name, ours)
    assert alike(capsys.readouterr().out, theirs)
