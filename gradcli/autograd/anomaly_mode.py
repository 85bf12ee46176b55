"""The switches of anomaly mode; what it does is in `gradcli.engine.anomaly`."""

from __future__ import annotations

from ..engine.anomaly import ANOMALY

__all__ = [
    "detect_anomaly",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once or for a ``with`` block.

    While it is on, each recorded node remembers the line of the program that made it,
    and with ``check_nan`` a backward pass that meets a NaN, or makes an infinity,
    stops with an error that shows this line.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (ANOMALY.enabled, ANOMALY.check_values)
        self._mode = (mode, check_nan)
        ANOMALY.set(mode, check_nan)

    def __enter__(self) -> None:
        ANOMALY.set(*self._mode)

    def __exit__(self, *exception: object) -> None:
        ANOMALY.set(*self._before)


class detect_anomaly(set_detect_anomaly):
    """Anomaly mode for a ``with`` block."""

    def __init__(self, check_nan: bool = True) -> None:
        before = (ANOMALY.enabled, ANOMALY.check_values)
        super().__init__(True, check_nan)
        ANOMALY.set(*before)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    ANOMALY.set(mode, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return ANOMALY.enabled
