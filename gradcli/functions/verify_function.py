"""`gradcli.autograd.verify`: verification of a Python function's gradients, and of
those of a script's backward pass, from what was recorded before it.

Invariant: gradients that cannot be computed again are unknown, with the reason.

    verify(MyFunction, (x,)).verdict            # "proved"
    verify(model, (x,), raise_exception=True)   # as gradcheck does
"""

from __future__ import annotations

from dataclasses import replace

from ..autograd.checks import GradcheckError
from ..check.process.budget import Budget, OutOfTime
from ..check.process.job import REFUTED, STRENGTH, UNKNOWN
from ..check.system import NoMeaning
from ..engine.errors import naming
from .backward_mistakes import diagnosed
from .checker import CheckedCall, CheckExtent, slow
from .elsewhere import in_float32, on_other_branches
from .function_call import FunctionCall
from .function_proof import FunctionProof, InputProof
from .script_passes import CallRecording, ScriptPass
from .user_lines import words_of


class NotVerified(GradcheckError, AssertionError):
    """An error: gradients are refuted, or less was shown than was required.

    ``proof`` has the verdicts, counterexamples and the suspected mistake.
    """

    def __init__(self, proof: FunctionProof) -> None:
        self.proof = proof
        wanted = proof.at_least
        more = "" if wanted == UNKNOWN else f"\n  asked for: {wanted}, or stronger"
        super().__init__(f"{proof}{more}")


@naming
def verify(
    fn: object,
    inputs: object,
    *,
    at_least: str = UNKNOWN,
    raise_exception: bool = False,
    seconds: float = 30.0,
    seed: int = 0,
    double_backward: bool = True,
    order: int = 1,
    prove: bool = True,
) -> FunctionProof:
    """Compare a function's gradients with the true derivative, with proven bounds.

    ``fn`` is run on balls and on SymPy's symbols: what forward computes is
    differentiated there step by step, and the gradients of its backward, custom or not,
    are judged by that. A function that takes numbers out of tensors is compared with
    difference quotients in float64, and is `sampled` at best.

    Args:
        fn: a function from tensors to tensors: a plain one, a `Function`, or a module.
        inputs: its arguments; the gradients by those that require one, and by a
            module's parameters, are verified.
        at_least: the weakest verdict that passes: ``proved``, ``certified``,
            ``sampled``, ``rounded``, or ``unknown``.
        raise_exception: whether to raise if the proof does not pass, as `gradcheck`
            does.
        seconds: the time that the verification may take.
        seed: the seed by which cotangents and entries are drawn.
        double_backward: whether gradients of gradients are verified, too.
        order: 2 if gradients of gradients must pass as well, else 1.
        prove: whether SymPy is asked for proofs, which takes longer.

    Returns:
        The proof, which is true if it passes.

    Raises:
        NotVerified: the proof does not pass and ``raise_exception`` is set; it is an
            `AssertionError` and a `GradcheckError`.
        ValueError: no input requires a gradient, or a verdict or order does not exist.
    """
    if order not in (1, 2) or order > 1 + double_backward:
        raise ValueError(
            f"order: {order} is not examined: 1 is the gradient, 2 its own gradient "
            "as well, which needs double_backward"
        )
    if at_least not in STRENGTH:
        raise ValueError(
            f"at_least: there is no verdict {at_least!r}; they are "
            f"{', '.join(STRENGTH)}"
        )
    plan = CheckExtent(seconds, seed, double_backward, prove)
    checked = CheckedCall(FunctionCall.of(fn, inputs), plan)
    proof = checked.proof()
    for look in (on_other_branches, in_float32):
        if proof.verdict in (REFUTED, UNKNOWN):
            break
        faults, remarks = look(checked)
        proof = replace(
            proof, verdict=REFUTED if faults else proof.verdict,
            faults=(*proof.faults, *faults), remarks=(*proof.remarks, *remarks),
        )  # fmt: skip
    proof = replace(proof, mistake=diagnosed(checked, proof))
    proof = replace(proof, at_least=at_least, order=order)
    if raise_exception and not proof:
        raise NotVerified(proof)
    return proof


def judged(tape: CallRecording, made: ScriptPass, seconds: float) -> FunctionProof:
    """Return the proof of the gradients that a script's pass is going to compute."""
    title = f"{made.place}: {made.name}"
    try:
        replay, copies, leaves = tape.function(made.root)
    except NoMeaning as error:
        return FunctionProof(
            title, UNKNOWN, (InputProof(made.name, UNKNOWN, str(error)),)
        )
    known = {id(t): name for name, t in made.variables.items()}
    names = [known.get(id(t), f"leaf {k}") for k, t in enumerate(leaves)]
    call = FunctionCall(replay, copies, title, names)
    # Calls that the check itself makes are not recorded.
    tape.depth += 1
    try:
        with Budget(seconds).slice(seconds):
            checked = CheckedCall(call, CheckExtent(seconds=seconds, second=False))
        proof = checked.proof()
        return replace(proof, mistake=diagnosed(checked, proof))
    except (Exception, OutOfTime) as error:
        late = isinstance(error, OutOfTime)
        reason = slow(seconds) if late else words_of(error)
        return FunctionProof(title, UNKNOWN, (InputProof(made.name, UNKNOWN, reason),))
    finally:
        tape.depth -= 1
