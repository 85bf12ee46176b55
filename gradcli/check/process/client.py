"""The checking process as its parent sees it.

The process is started early, so that it imports SymPy while the parent computes;
this module imports nothing heavy.

Invariant: once `Checker.stop` has returned, the process and its pipes and threads are
gone, whatever it was doing.

    with Checker.start() as checker:
        ...                                  # compute, print the values
        checker.submit(job)
        for verification in checker.results():
            ...                              # the last one has done=True
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from threading import Thread, Timer

    from ..claims.text import ClaimsTask
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
    "from gradcli.check.process.worker import main; main(int(sys.argv[2]))"
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
