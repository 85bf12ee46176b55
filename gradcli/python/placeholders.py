"""Modules of PyTorch's that scripts import, mostly without need, and that are not here.

Invariant: to import a placeholder, or a name of one, succeeds and means nothing; what
is done with it beyond that is refused with one sentence. Some names are there because
they change nothing: decorators for TorchScript, and mixed precision that is turned off.

    from torch.distributed import init_process_group    # succeeds
    init_process_group("gloo")                          # NotHere: gradcli has no ...
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from types import ModuleType
from typing import Any, Final

from .left_out import refusal


class NotHere(NotImplementedError):
    """A use of what gradcli does not have."""


class Placeholder(ModuleType):
    """A module, or a name in one, that may be imported and nothing else."""

    __path__: list[str] = []  # noqa: RUF012

    def __init__(self, name: str, **there: object) -> None:
        super().__init__(name)
        vars(self).update(there)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = vars(self)[name] = Placeholder(f"{self.__name__}.{name}")
        return found


def _refuse(self: Placeholder, *args: object, **kwargs: object) -> Any:
    raise NotHere(refusal(self.__name__))


for _use in ("call", "enter", "getitem", "instancecheck", "iter", "mro_entries"):
    setattr(Placeholder, f"__{_use}__", _refuse)


def _as_it_is(function: Any = None, *args: object, **options: object) -> Any:
    """Return what is decorated, with or without options."""
    return (lambda inner: inner) if function is None else function


def _no() -> bool:
    return False


class autocast(ContextDecorator):
    """Mixed precision that is turned off.

    Raises:
        NotHere: it is turned on.
    """

    def __init__(
        self, device_type: str, dtype: object = None, enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:  # fmt: skip
        if enabled:
            raise NotHere(refusal("torch.autocast"))

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *problem: object) -> None:
        """Change nothing."""


class _AutocastOnCuda(autocast):
    def __init__(
        self, enabled: bool = True, dtype: object = None, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled)


class GradScaler:
    """Scaling of losses that is turned off.

    Raises:
        NotHere: it is turned on.
    """

    def __init__(self, *args: object, enabled: bool = True, **options: object) -> None:
        if enabled:
            raise NotHere(refusal("torch.GradScaler"))

    def scale(self, outputs: Any) -> Any:
        """Return the loss."""
        return outputs

    def unscale_(self, optimizer: object) -> None:
        """Leave the gradients as they are."""

    def step(self, optimizer: Any, *args: object, **kwargs: object) -> Any:
        """Take the optimizer's step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: object = None) -> None:
        """Leave the scale as it is."""

    def get_scale(self) -> float:
        """Return 1, by which nothing changes."""
        return 1.0

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def state_dict(self) -> dict[str, object]:
        """Return the empty state."""
        return {}

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Take no state over."""


_CASTS: Final[dict[str, Callable[..., Any]]] = {
    "GradScaler": GradScaler, "custom_fwd": _as_it_is, "custom_bwd": _as_it_is,
}  # fmt: skip

amp = Placeholder("torch.amp", autocast=autocast, **_CASTS)
cuda_amp = Placeholder("torch.cuda.amp", autocast=_AutocastOnCuda, **_CASTS)
distributed = Placeholder(
    "torch.distributed", is_available=_no, is_initialized=_no
)  # fmt: skip
fx = Placeholder("torch.fx")
jit = Placeholder(
    "torch.jit", script=_as_it_is, ignore=_as_it_is, unused=_as_it_is,
    export=_as_it_is, is_scripting=_no, is_tracing=_no,
)  # fmt: skip
multiprocessing = Placeholder("torch.multiprocessing")
onnx = Placeholder("torch.onnx")
quantization = Placeholder("torch.quantization")

PLACES: Final = {
    each.__name__: each
    for each in (
        amp, cuda_amp, distributed, fx, jit, multiprocessing, onnx, quantization,
        Placeholder("torch.nn.parallel"), Placeholder("torch.utils.data.distributed"),
        Placeholder("torch.utils.tensorboard"),
    )
}  # fmt: skip
"""The placeholders of modules, by PyTorch's names."""

SWITCHED: Final = {
    f"{home}.{name}"
    for home in ("torch", "torch.amp", "torch.cuda.amp")
    for name in ("autocast", "GradScaler")
}
"""Names of what may be called where it is turned off."""


def placeholder(name: str) -> Any:
    """Return what stands for a dotted name of PyTorch's; None: no placeholder does."""
    home = next((p for p in PLACES if f"{name}.".startswith(f"{p}.")), None)
    if home is None:
        return None
    found: Any = PLACES[home]
    for part in name[len(home) + 1 :].split(".") if name != home else ():
        found = getattr(found, part, None)
    return found
