"""The verdict on a backward pass of a script, from what was recorded before it.

Invariant: what cannot be computed again is unknown, with the reason.
"""

from __future__ import annotations

from dataclasses import replace

from ..numbers.system import NoMeaning
from ..verify.process.budget import Budget, OutOfTime
from ..verify.process.job import UNKNOWN
from .call import Call
from .checker import Checked, Plan, slow
from .mistakes import diagnosed
from .places import words_of
from .proof import FunctionProof, InputProof
from .replay import Recording
from .watch import Pass


def judged(tape: Recording, made: Pass, seconds: float) -> FunctionProof:
    """Hold the gradients that a pass is going to give against balls."""
    title = f"{made.place}: {made.name}"
    try:
        replay, copies, leaves = tape.function(made.root)
    except NoMeaning as error:
        return FunctionProof(
            title, UNKNOWN, (InputProof(made.name, UNKNOWN, str(error)),)
        )
    known = {id(t): name for name, t in made.variables.items()}
    names = [known.get(id(t), f"leaf {k}") for k, t in enumerate(leaves)]
    call = Call(replay, copies, title, names)
    # What the check runs is no part of the script.
    tape.depth += 1
    try:
        with Budget(seconds).slice(seconds):
            checked = Checked(call, Plan(seconds=seconds, second=False))
        proof = checked.proof()
        return replace(proof, mistake=diagnosed(checked, proof))
    except (Exception, OutOfTime) as error:
        late = isinstance(error, OutOfTime)
        reason = slow(seconds) if late else words_of(error)
        return FunctionProof(title, UNKNOWN, (InputProof(made.name, UNKNOWN, reason),))
    finally:
        tape.depth -= 1
