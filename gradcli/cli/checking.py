"""The check of a command's results, in a process of its own: the process is started
first, and gets its job once the results are computed.

Invariant: whatever happens, the checking process is stopped before this one ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..lang.process import is_out_of_memory
from .ending import before_exit
from .exits import Exit
from .output import Printer, form, note
from .preset import anything_set

if TYPE_CHECKING:
    from ..answers.question import Question
    from ..render.line import Layout, Line
    from ..verify.claims.text import ClaimsTask, Judgement
    from ..verify.process.job import InputVerdict, Job, Verification

CHECKED = frozenset({"check", "grad", "jacobian", "hessian"})
"""Commands whose results can be checked."""

PAGE = ".html"
"""Suffix of the pictures that show verdicts."""

_UNCHECKED = frozenset({"--no-verify", "--help", "-h", "--table", "--sweep",
                        "--order"})  # fmt: skip
_QUIET = frozenset({"-q", "--quiet"})
_SHOWN = ("--require", "--json", "--symbolic", "--latex")
"""Beginnings of options that need verdicts even with ``--quiet``."""

NO_THREAD = "there is no memory left to hand it to the checking process"

_waiting: list[Any] = []


def head_start(argv: list[str]) -> None:
    """Start the checking process before the command line is read, if its words suggest
    that it is needed: the import of SymPy is what verdicts wait for."""
    command = argv[0] if argv else ""
    page = command == "graph" and any(word.endswith(PAGE) for word in argv)
    if not (command in CHECKED or page) or not _UNCHECKED.isdisjoint(argv):
        return
    shown = any(word.startswith(_SHOWN) for word in argv)
    if not (command == "check" or shown or _QUIET.isdisjoint(argv)):
        return
    if "--verify" not in argv and anything_set():
        from .defaults import unverified

        if unverified():
            return
    _waiting.append(_start())


def _start() -> object:
    from ..verify.process.client import Checker

    try:
        checker = Checker.start()
    except OSError as error:
        note(f"note: nothing is checked: no process could be started ({error})")
        return None
    # The function `stop` is not used: it waits for a lock that an interrupted `stop`
    # may hold.
    before_exit.append(checker.process.kill)
    return checker


class Check:
    """A checking process, or none if no check was asked for."""

    def __init__(self, checker: Any) -> None:
        self._checker = checker
        self._job: Job | None = None
        self._refusal = NO_THREAD
        self._handed = False
        self._reworded: Callable[[Verification], Verification] = lambda found: found

    @classmethod
    def start(cls, question: Question, needed: bool = False) -> Check:
        """Return a check with the process that had a head start, or a new one; without
        a process if no verdict is shown and none is ``needed``."""
        if (form.bare or not question.verified) and not needed:
            return cls(None)
        return cls(_waiting.pop() if _waiting else _start())

    def submit(
        self,
        job: Job,
        reason: str | None = None,
        reworded: Callable[[Verification], Verification] = lambda found: found,
    ) -> None:
        """Hand over the job, so that it is checked while its numbers are printed.

        Args:
            job: the program, the point and the numbers.
            reason: why the job is not checked; None: it is.
            reworded: a function that makes verdicts on the job ones on the answer.
        """
        self._job, self._reworded = job, reworded
        if reason is None:
            self._handed = self._submitted(job)
        else:
            self._refusal = reason
            self._checker.stop()

    def finish(self) -> Verification | None:
        """Return the verdicts reached within the job's time; None without a job."""
        job = self._job
        if job is None:
            return None
        if not self._handed:
            return self._reworded(job.unanswered().ended(self._refusal))
        updates = list(self._checker.results(job.seconds))
        self._checker.stop()
        return self._reworded(updates[-1]) if updates else None

    def judge(self, task: ClaimsTask) -> Judgement:
        """Return the rulings that were reached within the claims' time."""
        if self._checker is None:
            return task.unanswered().ended("no checking process could be started")
        if not self._submitted(task):
            return task.unanswered().ended(NO_THREAD)
        updates: list[Judgement] = list(self._checker.results())
        self._checker.stop()
        return updates[-1]

    def _submitted(self, task: Job | ClaimsTask) -> bool:
        """Send the task to the checking process; return False if memory is lacking."""
        try:
            self._checker.submit(task)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            return False
        return True

    @property
    def wanted(self) -> bool:
        return self._checker is not None


@dataclass(frozen=True, slots=True)
class Shown:
    """Derivatives as they are printed: the numbers first, and behind them the verdicts.

    numbers   the lines of the numbers in parts; each is printed before the next is made
    judged    returns the answer with its verdicts, to be printed as a JSON object
    labels    the label of the derivative by each input; empty: no verdicts are printed
    what      a noun for what was checked, such as "gradients", for the summary
    more      returns the lines that follow the verdicts
    """

    numbers: Iterable[Iterable[Line]]
    judged: Callable[[Verification | None], object]
    labels: Mapping[str, str]
    what: str
    more: Callable[[Verification | None], Iterable[Line]] = lambda _: ()

    def checked_by(
        self, check: Callable[[], Verification | None], require: str | None
    ) -> int:
        """Print the numbers, then their verdicts; return the exit status.

        Args:
            check: returns the verdicts; None: nothing was checked.
            require: the weakest verdict that is not a failure.
        """
        printer = Printer()
        for lines in self.numbers:
            if not form.json:
                printer.lines(lines)
        verification = check()
        if form.json:
            from ..render.jsons import as_json

            printer.lines(as_json(self.judged(verification)))
        else:
            if verification is not None and self.labels and not form.quiet:
                from ..render.verdicts import verdict_lines

                printer.lines(verdict_lines(verification, self.labels, self.what))
            printer.lines(self.more(verification))
        return exit_status(verification, require)


def show_checked(
    question: Question,
    compute: Callable[[Question, Layout, Check], Shown],
    require: str | None,
    needed: bool = False,
) -> int:
    """Print numbers, then their verdicts; return the exit status.

    Args:
        question: the program and its point.
        compute: a function that returns the numbers, written for the width that the
            layout has, and submits them to the check if a check is wanted.
        require: the weakest verdict that is not a failure.
        needed: whether the check is needed even if no verdict is shown.
    """
    check = Check.start(question, needed or require is not None)
    shown = compute(question, Printer().layout, check)
    return shown.checked_by(check.finish, require)


def exit_status(verification: Verification | None, require: str | None) -> int:
    """Return 1, and tell the reasons on stderr, if a verdict is refuted or too weak."""
    if verification is None:
        return Exit.DONE
    from ..verify.process.job import REFUTED, is_weaker

    refuted = [v for v in verification.inputs if v.verdict == REFUTED]
    for verdict in refuted:
        note(f"refuted: {_reason(verdict)}")
    if require is not None and not refuted:
        weak = [v for v in verification.inputs if is_weaker(v.verdict, require)]
        for verdict in weak:
            note(f"{verdict.verdict}, not {require}: {_reason(verdict)}")
        return Exit.REFUTED if weak else Exit.DONE
    return Exit.REFUTED if refuted else Exit.DONE


def _reason(verdict: InputVerdict) -> str:
    """Return the reason of a verdict, in which its input is named once."""
    reason = verdict.note or "see --json"
    entry = reason.partition(":")[0].rpartition(" ")[2]
    named = entry.partition("[")[0] == verdict.name
    return reason if named else f"{verdict.name}: {reason}"
