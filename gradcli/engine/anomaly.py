"""Anomaly mode: a node that fails in a reverse pass, or gives a NaN, is traced."""

import warnings
from traceback import StackSummary, walk_stack
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from .errors import GradError
from .modes import MODE
from .tensor import raw_of

ANOMALY = SimpleNamespace(enabled=False, check_values=True, lines=WeakKeyDictionary())


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once or for a ``with`` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = ANOMALY.enabled, ANOMALY.check_values
        _turn(mode, check_nan)

    def __enter__(self) -> None:
        """Keep the mode as it was turned."""

    def __exit__(self, *problem: object) -> None:
        _turn(*self._before)


def detect_anomaly(check_nan: bool = True) -> set_detect_anomaly:
    """Return a ``with`` block of anomaly mode."""
    warnings.warn("Anomaly Detection has been enabled. It is slow.", stacklevel=2)
    return set_detect_anomaly(True, check_nan)


def _turn(mode: bool, check_nan: bool) -> None:
    ANOMALY.enabled, ANOMALY.check_values = mode, check_nan
    MODE.observe("on_node", _remember, mode)


def _remember(node: Any) -> None:
    frames = StackSummary.extract(walk_stack(None), limit=50, lookup_lines=False)[::-1]
    ours = __file__.rpartition("engine")[0]
    ANOMALY.lines[node] = StackSummary([f for f in frames if ours not in f.filename])


def check(node: Any, pulled: tuple[Any, ...]) -> None:
    """Raise an error that names the node if one of its cotangents holds a NaN."""
    for nr, raw in enumerate(map(raw_of, pulled)):
        if "float" in str(getattr(raw, "dtype", "")) and (raw != raw).any():
            last = [*ANOMALY.lines.get(node, ())][-1:]
            at = "".join(f" It was recorded in {f.filename}:{f.lineno}." for f in last)
            name = f"Function '{node.name()}'"
            raise GradError(f"{name} returned nan values in its {nr}th output.{at}")


def blame(node: Any, error: Exception) -> None:
    """Add to an error, as a note, the lines that recorded the node that failed."""
    lines = "".join(ANOMALY.lines.get(node, StackSummary()).format())
    error.add_note(f"Error detected in {node.name()}, which was recorded at:\n{lines}")
