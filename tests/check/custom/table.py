"""Write the table of the Functions: gradcheck's verdicts beside gradcli's.

Run as ``python -m tests.check.custom.table``, with PyTorch installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gradcli
from gradcli.autograd import verify

from .cases import HERE, Case, load

TABLE = HERE / "table.md"
HEAD = """\
# Custom Functions
The verdicts of PyTorch's `gradcheck` and `gradgradcheck`, and of gradcli.

| function | mistake | gradcheck | gradgradcheck | gradcli | diagnosis |
|---|---|---|---|---|---|
"""


def theirs(check: Callable[..., bool], case: Case, torch: Any) -> str:
    """What a check of PyTorch's says: ``passed``, ``failed``, or what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(case.function, case.inputs(torch))
        except Exception as error:
            kind = type(error).__name__
            return "failed" if kind == "GradcheckError" else f"raises {kind}"
    return "passed"


def row(ours: Case, theirs_: Case) -> str:
    import torch

    checks = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    said = [theirs(check, theirs_, torch) for check in checks]
    proof = verify(ours.value, ours.inputs(gradcli), prove=False)
    cause = proof.mistake.cause if proof.mistake else ""
    parts = [ours.name, ours.mistake, *said, proof.verdict, cause]
    return f"| {' | '.join(parts)} |\n"


def main() -> None:
    rows = [
        row(a, b)
        for name in ("right", "wrong")
        for a, b in zip(load(name), load(name, gradcli=False), strict=True)
    ]
    TABLE.write_text(HEAD + "".join(rows))


if __name__ == "__main__":
    main()
