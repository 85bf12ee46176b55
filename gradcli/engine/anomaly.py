"""Anomaly mode: it shows which program line made a node that fails in a backward pass.

Invariant: while the mode is on, each node that is recorded remembers the lines of the
program that led to it; a node whose run fails, or gives a NaN, is named by a warning
that shows them. While it is off, nothing is remembered and nothing checked.

    with detect_anomaly():
        (-x).sqrt().sum().backward()
    # UserWarning: Error detected in SqrtBackward0. Traceback of forward call that ...
    # RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import FrameSummary, format_list
from types import FrameType
from weakref import WeakKeyDictionary

from ..ops.types import Array
from .devices import namespace_of
from .errors import GradError
from .modes import MODE
from .node import Edge, Node, output_at
from .tensor import raw_of

PACKAGE = __name__.partition(".")[0]
DETECTED = "Error detected in {}. "
TRACE = "Traceback of forward call that caused the error:"
UNSEEN = (
    "No forward pass information available. Enable detect anomaly during forward pass "
    "for more information."
)
INDUCED = "\n\nPrevious calculation was induced by {}. "
TRACE_OF_CAUSE = "Traceback of forward call that induced the previous calculation:"


MAX_LINES_OF_A_NODE = 20
"""Most lines of the program, the innermost ones, that anomaly mode keeps for a node."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node was recorded: running lines of the program, the innermost last.

    ``cause`` is the name and the origin of the node whose backward pass recorded it, if
    one did.
    """

    lines: tuple[FrameSummary, ...]
    cause: tuple[str, Origin | None] | None = None


class Anomaly:
    """The state of anomaly mode; its only instance is `ANOMALY`."""

    def __init__(self) -> None:
        self.enabled, self.check_values = False, True
        self.origins: WeakKeyDictionary[Node, Origin] = WeakKeyDictionary()
        self._running: Node | None = None

    def set(self, enabled: bool, check_values: bool = True) -> None:
        """Turn the mode on or off."""
        self.enabled, self.check_values = enabled, check_values
        MODE.observe("on_node", self._remember, enabled)

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Note, while the block runs, that what is recorded is caused by ``node``."""
        before, self._running = self._running, node
        try:
            yield
        finally:
            self._running = before

    def check(self, node: Node, pulled: tuple[Array | None, ...]) -> None:
        """Raise an error that names the node if one of its cotangents is NaN."""
        if not self.check_values:
            return
        for nr, value in enumerate(pulled):
            if _holds_nan(value):
                raise GradError(
                    f"Function '{node.name()}' returned nan values in its {nr}th "
                    "output."
                )

    def blame(self, edge: Edge, error: Exception) -> None:
        """Warn that a node failed, and show where the program recorded it.

        If warnings are errors, the text is added to ``error`` as a note instead.
        """
        for text in self._account(output_at(edge)[0]):
            try:
                warnings.warn(text, UserWarning, stacklevel=_way_out())
            except UserWarning:
                error.add_note(text)

    def _account(self, node: Node) -> Iterator[str]:
        """Yield texts on where a node was recorded, and each node that caused it."""
        origin = self.origins.get(node)
        head = DETECTED.format(node.name())
        yield _traced(head, TRACE, origin)
        while origin is not None and origin.cause is not None:
            name, origin = origin.cause
            yield _traced(INDUCED.format(name), TRACE_OF_CAUSE, origin)

    def _remember(self, node: Node) -> None:
        running = self._running
        cause = None if running is None else (running.name(), self.origins.get(running))
        self.origins[node] = Origin(_lines(), cause=cause)


ANOMALY = Anomaly()


def _traced(head: str, heading: str, origin: Origin | None) -> str:
    if origin is None:
        return head + UNSEEN
    return f"{head}{heading}\n{''.join(format_list(origin.lines))}".rstrip("\n")


def _is_ours(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] == PACKAGE


def _lines() -> tuple[FrameSummary, ...]:
    """Return the running lines of the user's program, the innermost last."""
    lines: list[FrameSummary] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < MAX_LINES_OF_A_NODE:
        if not _is_ours(frame):
            code = frame.f_code
            where = code.co_filename, frame.f_lineno, code.co_name
            lines.append(FrameSummary(*where, lookup_line=False))
        frame = frame.f_back
    return tuple(reversed(lines))


def _way_out() -> int:
    """Return how many frames above `blame` the user's innermost line is."""
    count, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        count, frame = count + 1, frame.f_back
    return count


def _holds_nan(value: object) -> bool:
    raw = raw_of(value)
    if getattr(getattr(raw, "dtype", None), "kind", "") != "f":
        return False
    xp = namespace_of(raw)
    return bool(xp.any(xp.isnan(raw)))
