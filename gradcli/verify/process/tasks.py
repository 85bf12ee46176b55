"""What the checking process can be asked to do, told apart by what a task says of
itself.

Invariant: a task is read, bounded, worked on and answered line by line, the last
answer with ``done`` set.

    perform(job.to_json(), print, lambda seconds: None)
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ..verify import verify

# Before there is a task: what these import takes longer than most tasks.
from .job import Job
from .runner import program_of

Report = Callable[[str], None]
Limit = Callable[[float], None]


def perform(text: str, report: Report, limit: Limit) -> None:
    """Do one task; ``limit`` is told its seconds before the work begins."""
    kind = json.loads(text).get("task", "verify")
    _KINDS[kind](text, report, limit)


def _verify(text: str, report: Report, limit: Limit) -> None:
    job = Job.from_json(text)
    limit(job.seconds)
    last = verify(job, program_of(job), lambda step: report(step.to_json()))
    report(last.to_json())


def _judge(text: str, report: Report, limit: Limit) -> None:
    from ..claims.judge import judge
    from ..claims.task import ClaimsTask

    task = ClaimsTask.from_json(text)
    limit(task.seconds)
    report(judge(task, lambda step: report(step.to_json())).to_json())


_KINDS: dict[str, Callable[[str, Report, Limit], None]] = {
    "verify": _verify,
    "claims": _judge,
}
