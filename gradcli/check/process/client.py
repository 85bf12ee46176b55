"""The checking process, as its parent sees it and as it runs.

The process is started early, so that it imports SymPy while the parent computes;
this module imports nothing heavy.

Invariant: once `Checker.stop` has returned, the process and its pipes and threads are
gone, whatever it was doing. The process also ends by itself: it limits its own memory
and processor time, and it ends with the process that started it.

    with Checker.start() as checker:
        ...                                  # compute, print the values
        checker.submit(job)
        for verification in checker.results():
            ...                              # the last one has done=True
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import ceil
from time import process_time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from threading import Thread, Timer

    from ..claims import ClaimsTask
    from .job import Job

STARTING_SECONDS: Final = 120.0
"""Seconds, beyond those that a job may take, until a process that does not answer is
killed. It ends by itself long before, unless it is stopped or its machine is stuck."""

LAST_BREATH: Final = 0.2
"""Seconds that a process has to exit after its last answer."""

LONGEST: Final = 1 << 28
"""Largest answer in bytes; a longer one is cut and cannot be read."""

UNREADABLE: Final = "the checking process gave an answer that cannot be read"

# With these flags a module of the working directory does not shadow a library.
_FLAGS: Final = ("-P", "-X", "utf8")
_START: Final = (
    "import sys; root = sys.argv[1]; root in sys.path or sys.path.insert(0, root); "
    "from gradcli.check.process.client import main; main(int(sys.argv[2]))"
)


class Checker:
    """A checking process and the one job it is given."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self._job: Job | ClaimsTask | None = None
        self._threads: list[Thread] = []
        self._alarm: Timer | None = None
        """Thread that kills the process at its limit."""

    @classmethod
    def start(cls) -> Checker:
        """Return a checker whose process is being started; raise `OSError` if none
        starts."""
        from os import environ, getpid
        from os.path import dirname, realpath
        from subprocess import DEVNULL, PIPE, Popen

        from ... import __file__ as package

        root = dirname(dirname(realpath(package)))
        # Linear algebra gets one thread, because more would only reserve memory.
        environment = {**environ, "OPENBLAS_NUM_THREADS": "1"}
        process = Popen(
            [sys.executable, *_FLAGS, "-c", _START, root, str(getpid())],
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment,
        )  # fmt: skip
        return cls(process)

    def submit(self, job: Job | ClaimsTask) -> None:
        """Send the one job without waiting for the process to read it."""
        from threading import Thread

        if self._job is not None:
            raise RuntimeError("a checking process takes one job")
        self._job = job
        self._begin(Thread(target=self._write, args=(job.to_json(),), daemon=True))

    def _begin(self, thread: Thread) -> None:
        self._threads.append(thread)
        thread.start()

    def results(self, timeout: float | None = None) -> Iterator[object]:
        """Yield ever stronger answers until all is done or the time is over: each is a
        `Verification` for a job and a `Judgement` for a task on claims.

        The last one has ``done`` set, even if the process was stopped at its limit or
        broke down; its notes then say so for all that was not shown.
        """
        from threading import Timer
        from time import monotonic

        from .budget import PATIENCE
        from .job import timed_out

        job = self._job
        if job is None:
            raise RuntimeError("no job was submitted")
        limit = timeout
        if limit is None:
            # The process counts its own seconds of work, and may have to wait for them.
            limit = PATIENCE * job.seconds + STARTING_SECONDS
        start = monotonic()
        last: Any = job.unanswered()
        self._alarm = Timer(limit, self.process.kill)
        self._begin(self._alarm)
        try:
            while True:
                line = self.process.stdout.readline(LONGEST)
                try:
                    last = last.from_json(line.decode(errors="replace"))
                except (ValueError, KeyError, TypeError, AttributeError):
                    spent = monotonic() - start
                    if spent >= limit:
                        reason = timed_out(limit)
                    else:
                        reason = UNREADABLE if line else self._silence(job.seconds)
                    last = last.ended(reason, spent)
                yield last
                if last.done:
                    return
        finally:
            self.stop()

    def stop(self) -> None:
        """End the process and close its pipes; a process that has ended is no error."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self._alarm is not None:
            self._alarm.cancel()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except OSError:
                # The pipe holds text that nobody will read now.
                continue

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def _write(self, text: str) -> None:
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.close()
        except OSError:
            # The process is gone; the reading thread notices this and reports it.
            return

    def _silence(self, seconds: float) -> str:
        from signal import SIGXCPU
        from subprocess import TimeoutExpired

        from .job import timed_out

        try:
            status = self.process.wait(LAST_BREATH)
        except TimeoutExpired:
            return "the checking process fell silent"
        if status == -SIGXCPU:
            return timed_out(seconds)
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"the checking process ended: {how}"


MAX_MEMORY_BYTES: Final = 450_000_000
"""Address space, in bytes, that a job may take beyond that of the imports."""

SPARE_SECONDS: Final = 2
"""Seconds of processor time beyond a job's own after which the system ends the process:
a call during which Python sees no signal may take all of them."""

WAITING_SECONDS: Final = 0.1
"""Seconds to wait for a job before SymPy is imported: numbers are certified without
SymPy, so a job that comes early is certified first."""


def main(parent: int | None = None) -> None:
    """Read a job from standard input and write its verifications to standard output;
    end with the process ``parent``, or with the one that started this one."""
    import select

    from ...lang.process import end_with
    from .budget import load_sympy

    end_with(os.getppid() if parent is None else parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Imports make no garbage, and looking for it takes a seventh of their time.
    gc.disable()
    # This import takes longer than most tasks, so it comes before there is a task.
    from .. import verify  # noqa: F401

    # Where pipes cannot be polled, SymPy is imported when it is needed.
    with suppress(OSError, ValueError):
        if not select.select([sys.stdin], [], [], WAITING_SECONDS)[0]:
            # Proofs need this import; it is made now, while there is nothing to do.
            load_sympy()
            from .. import whole  # noqa: F401
    spare_the_collector()
    gc.enable()
    line = sys.stdin.readline()
    if not line:
        return

    def report(answer: str) -> None:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()

    try:
        perform(line, report, _limit)
    except BrokenPipeError:
        # The reader is gone; Python's own flush at exit must find no broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def spare_the_collector() -> None:
    """Make Python look for garbage rarely, and only among objects made from now on:
    terms are made by the hundred thousand, and no cycles of references arise."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _limit(seconds: float) -> None:
    from ...lang.process import bytes_taken, lowered

    lowered("CPU", ceil(process_time() + seconds) + SPARE_SECONDS)
    lowered("AS", bytes_taken("address_space") + MAX_MEMORY_BYTES)


def perform(
    text: str, report: Callable[[str], None], limit: Callable[[float], None]
) -> None:
    """Do one `Job` or `ClaimsTask`, given as JSON, and report its answers, one text
    each, the last with ``done`` set; ``limit`` is told the seconds before work
    begins."""
    import json

    if "claims" in json.loads(text):
        from ..claim_judge import judge
        from ..claims import ClaimsTask

        task = ClaimsTask.from_json(text)
        limit(task.seconds)
        last = judge(task, lambda step: report(step.to_json()))
        report(last.to_json())
        return
    from ..subject import program_of
    from ..verify import verify
    from .job import Job

    job = Job.from_json(text)
    limit(job.seconds)
    checked = verify(job, program_of(job), lambda step: report(step.to_json()))
    report(checked.to_json())


if __name__ == "__main__":
    main()
