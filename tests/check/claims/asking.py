"""Claims on small programs, asked in a line."""

from __future__ import annotations

from math import inf
from typing import Any

from gradcli.answers.claim_mistakes import diagnose
from gradcli.answers.evidence import Diagnosis
from gradcli.check.claim_judge import judge
from gradcli.check.claims import ClaimInput, ClaimsTask, Ruling, read_claim

Inputs = dict[str, tuple[int, ...]]
X: Inputs = {"x": ()}


def task(program: str, inputs: Inputs, *claims: str, **more: Any) -> ClaimsTask:
    return ClaimsTask(
        program,
        tuple(ClaimInput(name, shape) for name, shape in inputs.items()),
        tuple(read_claim(claim) for claim in claims),
        **{"seconds": inf, **more},
    )


def ruled(program: str, inputs: Inputs, claim: str, **more: Any) -> Ruling:
    return judge(task(program, inputs, claim, **more)).rulings[0]


def mistake(program: str, inputs: Inputs, claim: str) -> Diagnosis | None:
    asked = task(program, inputs, claim)
    return diagnose(asked, asked.claims[0], inf)
