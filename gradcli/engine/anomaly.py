"""Anomaly mode: where in the program a NaN or an infinity of a gradient comes from.

Invariant: while the mode is on, each node that is recorded remembers the lines of the
program that led to it, and each node that is run has its results checked; while it is
off, nothing is remembered and nothing checked.

    with detect_anomaly():
        (x - x).sqrt().sum().backward()
    # RuntimeError: Function 'SqrtBackward0' returned infinite values in its 0th output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from .devices import namespace_of
from .errors import GradError
from .modes import MODE
from .node import Node
from .tensor import Tensor
from .walk import inputs_first

PACKAGE = __name__.partition(".")[0]
UNSEEN = (
    "Its forward operation ran before anomaly detection was enabled; enable it for the "
    "forward pass as well to see its line."
)
DEEPEST = 20
"""How many lines of the program are remembered for a node, the innermost ones."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the program that ran."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        from linecache import getline

        text = getline(self.file, self.number).strip()
        place = f'  File "{self.file}", line {self.number}, in {self.function}'
        return f"{place}\n    {text}" if text else place


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node was recorded: innermost line last.

    ``made`` says what its forward operation made of finite inputs: "nan", "infinite" or
    nothing. ``cause`` is the name and the origin of the node whose backward pass
    recorded it, if one did.
    """

    lines: tuple[Line, ...]
    made: str = ""
    cause: tuple[str, Origin | None] | None = None


class Anomaly:
    """The mode; there is one, `ANOMALY`."""

    def __init__(self) -> None:
        self.enabled = self.check_values = False
        self.origins: WeakKeyDictionary[Node, Origin] = WeakKeyDictionary()
        self._running: Node | None = None

    def set(self, enabled: bool, check_values: bool = True) -> None:
        """Turn the mode on or off."""
        self.enabled, self.check_values = enabled, check_values
        nodes = [look for look in MODE.on_node if look != self._remember]
        calls = [look for look in MODE.on_call if look != self._judge]
        if enabled:
            nodes, calls = [*nodes, self._remember], [*calls, self._judge]
        MODE.watch(nodes, calls)

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """While ``node`` is run; what is recorded meanwhile is caused by it."""
        before, self._running = self._running, node
        try:
            yield
        finally:
            self._running = before

    def check(self, node: Node, g: Any, pulled: tuple[Any, ...]) -> None:
        """Refuse cotangents that are NaN, or infinite where ``g`` was not.

        Raises:
            GradError: with the lines that recorded the node.
        """
        if not self.check_values:
            return
        given = g if isinstance(g, tuple) else (g,)
        for place, value in enumerate(pulled):
            kind = _what_is_wrong(value)
            if kind == "nan" or (kind and not any(map(_what_is_wrong, given))):
                raise GradError(self._explain(node, kind, place))

    def _remember(self, node: Node) -> None:
        running = self._running
        cause = None if running is None else (running.name(), self.origins.get(running))
        self.origins[node] = Origin(_lines(), cause=cause)

    def _judge(self, op: Any, inputs: Any, params: Any, raw: Any, out: Any) -> None:
        """Mark the node whose operation made something wrong of finite inputs."""
        outputs = out if isinstance(out, tuple) else (out,)
        node = outputs[0].grad_fn
        if node is None or node not in self.origins:
            return
        made = next(filter(None, map(_what_is_wrong, outputs)), "")
        if made and not any(map(_what_is_wrong, raw)):
            origin = self.origins[node]
            self.origins[node] = Origin(origin.lines, made, origin.cause)

    def _explain(self, node: Node, kind: str, place: int) -> str:
        text = [
            f"Function '{node.name()}' returned {kind} values in its {place}th output.",
            *_where(self.origins.get(node), "Its forward operation is recorded here:"),
        ]
        for edge in inputs_first([node]):
            origin = self.origins.get(edge) if isinstance(edge, Node) else None
            if origin is not None and origin.made and edge is not node:
                text += _where(
                    origin,
                    f"The forward pass had {origin.made} values before: "
                    f"'{edge.name()}' made them of finite ones here:",
                )
                break
        return "\n".join(text)


ANOMALY = Anomaly()


def _where(origin: Origin | None, heading: str) -> list[str]:
    """The lines of an origin, and of those that caused it."""
    if origin is None:
        return [UNSEEN]
    text = [heading, *map(str, origin.lines)]
    while origin is not None and origin.cause is not None:
        name, origin = origin.cause
        text.append(f"Recorded by the backward of '{name}', whose forward ran here:")
        text += [UNSEEN] if origin is None else map(str, origin.lines)
    return text


def _lines() -> tuple[Line, ...]:
    """The lines of the program that are running, without the package's own."""
    lines: list[Line] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(lines) < DEEPEST:
        if frame.f_globals.get("__name__", "").partition(".")[0] != PACKAGE:
            code = frame.f_code
            lines.append(Line(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(reversed(lines))


def _what_is_wrong(value: Any) -> str:
    """``nan``, ``infinite`` or nothing, of an array, a tensor or anything else."""
    raw = value.raw if isinstance(value, Tensor) else value
    if getattr(getattr(raw, "dtype", None), "kind", "") != "f":
        return ""
    xp = namespace_of(raw)
    if bool(xp.all(xp.isfinite(raw))):
        return ""
    return "nan" if bool(xp.any(xp.isnan(raw))) else "infinite"
