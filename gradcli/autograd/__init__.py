"""Automatic differentiation as PyTorch's users know it: `backward`, `grad`, `Function`.

Invariant: a name is looked up in its module when it is first used, so that the command
line, which needs one of them, pays for one.

    from gradcli.autograd import grad

    (g,) = grad(y, x)
"""

from __future__ import annotations

from typing import Any

_HOMES = {
    "..engine.modes": "enable_grad inference_mode is_grad_enabled",
    ".anomaly_mode": "detect_anomaly is_anomaly_enabled set_detect_anomaly",
    ".checks": "GradcheckError gradcheck gradgradcheck",
    ".entry": "backward grad",
    ".function": "Function",
    ".grad_mode": "no_grad set_grad_enabled set_multithreading_enabled",
    ".variable": "Variable",
    "..python.verify_function": "verify",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = (
    "anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph",
)  # fmt: skip
__all__ = sorted([*_HOME, "forward_ad", "function", "functional", "graph"])


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
