"""The check of a command's results, in a process of its own: the process is started
first, and gets its job once the results are computed.

Invariants: whatever happens, the checking process is stopped before this one ends.
Numbers are printed before their verdicts are waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lang.process import is_out_of_memory
from .head_start import take_checker
from .output import MORE_TIME, form, note
from .problems import Exit

if TYPE_CHECKING:
    from ..answers.question import Question
    from ..check.claims import ClaimsTask
    from ..check.process.job import Job, Verification

NO_THREAD = "there is no memory left to hand it to the checking process"

NOT_SHOWN = "nothing stronger was shown"


class CheckProcess:
    """A checking process: the one that had a head start, or a new one; none if no
    verdict is shown and none is ``needed``."""

    def __init__(self, question: Question, needed: bool = False) -> None:
        self._checker: Any = None
        self._task: Job | ClaimsTask | None = None
        self._refusal: str | None = None
        if needed or (question.verified and not form.numbers_only):
            self.require()

    @property
    def wanted(self) -> bool:
        return self._checker is not None

    def require(self) -> None:
        """Start the process if there is none."""
        if self._checker is None:
            self._checker = take_checker()

    def submit(self, task: Job | ClaimsTask, reason: str | None = None) -> None:
        """Hand over the task, so that it is checked while its numbers are printed; a
        ``reason`` says why it is not checked."""
        self._task, self._refusal = task, reason
        if self._checker is None:
            self._refusal = "no checking process could be started"
        elif reason is not None:
            self._checker.stop()
        else:
            try:
                self._checker.submit(task)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                self._refusal = NO_THREAD

    def finish(self) -> Any:
        """Return what was reached within the task's time: a `Verification` of a job, a
        `Judgement` of claims; None without a task."""
        if self._task is None:
            return None
        if self._refusal is not None:
            return self._task.unanswered().ended(self._refusal)
        updates = list(self._checker.results())
        self._checker.stop()
        return updates[-1] if updates else None


def needs_verdict(require: str | None) -> bool:
    """Return whether a requirement asks for a verdict, not only for finite numbers."""
    return require not in (None, "finite")


def exit_status(
    verification: Verification | None, require: str | None, finite: bool = True
) -> int:
    """Return 1, and tell the reasons on stderr, if a number is infinite or nan although
    something is required, or if a verdict is refuted or too weak."""
    if require is not None and not finite:
        note("not finite: the value or a derivative")
        return Exit.REFUTED
    if verification is None:
        return Exit.DONE
    from ..check.process.job import REFUTED, is_weaker, lacked_time

    failed = {v: "refuted" for v in verification.inputs if v.verdict == REFUTED}
    if require is not None and not failed:
        failed = {
            v: f"{v.verdict}, not {require}"
            for v in verification.inputs
            if is_weaker(v.verdict, require)
        }
    for verdict, said in failed.items():
        reason = verdict.note or NOT_SHOWN
        entry = reason.partition(":")[0].rpartition(" ")[2]
        # The reason may name the input already.
        named = entry.partition("[")[0] == verdict.name
        note(f"{said}: {reason}" if named else f"{said}: {verdict.name}: {reason}")
    if any(lacked_time(verdict.note) for verdict in verification.inputs):
        note(MORE_TIME)
    return Exit.REFUTED if failed else Exit.DONE
