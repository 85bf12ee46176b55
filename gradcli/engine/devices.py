"""Devices and the namespaces of arrays on them. Only this file imports CuPy.

Invariant: the class of an array says which namespace it belongs to; nothing is moved
between devices unless a device was asked for by name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final, cast

import numpy

from .arrays import ArrayNamespace
from .dtypes import DEFAULT, DeviceLike
from .dtypes import device as Device
from .errors import DeviceError
from .namespace import NumberSystem
from .raw import Raw, kinds_of

UNUSED: Final = ("ctypeslib", "f2py", "ma", "polynomial", "testing")
"""NumPy's modules that SciPy imports, but that no function called here needs."""


def scipy(name: str) -> ModuleType:
    """Return the module ``scipy.name``."""
    if "scipy" not in sys.modules:
        for unused in UNUSED:
            _put_off(f"numpy.{unused}", unused)
    return import_module(f"scipy.{name}")


def _put_off(module: str, name: str) -> None:
    """Import a module of NumPy such that its code runs only when it is first used."""
    spec = None if module in sys.modules else find_spec(module)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    made = sys.modules[module] = module_from_spec(spec)
    setattr(numpy, name, made)
    spec.loader.exec_module(made)


# Division by zero and the like have values, and the reports speak of them; a warning
# from inside a formula would name a line that the user never wrote.
warnings.filterwarnings(
    "ignore", category=RuntimeWarning, module=r"gradcli\.(ops|engine|nn|optim)\b"
)

KEPT_BYTES = 2**25 - 2**16
"""Size in bytes of a block that, allocated and freed once, makes the C library keep up
to 64 MiB, the most that it allows, of freed memory for later arrays."""

# Memory of an array of up to half of this size, once let go of, stays with the process:
# the C library of Linux gives back to the system what is larger than the largest block
# that was ever freed. A training step would ask for the same pages anew each time.
with suppress(MemoryError):
    numpy.empty(KEPT_BYTES, "u1")

NUMPY = ArrayNamespace(
    numpy,
    lambda: scipy("special"),
    lambda: scipy("linalg"),
    "cpu",
)

_DEVICES = {"cpu": Device("cpu"), "cuda": Device("cuda", 0)}
_DLPACK_CUDA = 2

_cupy: list[ArrayNamespace] = []


def cuda() -> ArrayNamespace:
    """Return CuPy's namespace.

    Raises:
        DeviceError: CuPy is missing or finds no GPU; the message says which.
    """
    if _cupy:
        return _cupy[0]
    reason = why_no_cuda()
    if reason:
        raise DeviceError(f"no CUDA device: {reason}")
    cupy = import_module("cupy")
    _cupy.append(
        ArrayNamespace(
            Adapted(cupy, {name: make(cupy) for name, make in _INSTEAD.items()}),
            lambda: Adapted(import_module("cupyx.scipy.special"), {}, _on_the_host),
            lambda: import_module("cupyx.scipy.linalg"),
            "cuda",
        )
    )
    return _cupy[0]


class Adapted:
    """A module of CuPy with substitutes for the names in which it differs from NumPy's.

    Args:
        instead: functions from the module to a substitute, by the name it replaces
        lacking: a function from a name that the module lacks to a substitute
    """

    def __init__(
        self,
        module: Any,
        instead: Mapping[str, Any],
        lacking: Callable[[str], Any] | None = None,
    ) -> None:
        self._module, self._lacking = module, lacking
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name, None)
        if found is None and self._lacking is not None:
            found = self._lacking(name)
        if found is None:
            raise AttributeError(f"{self._module.__name__} has no {name!r}")
        setattr(self, name, found)
        return found


class _Reducing:
    """A function of two arrays; its `reduce` is a reduction of another name in CuPy."""

    def __init__(self, of_two: Callable[..., Raw], reduce: Callable[..., Raw]) -> None:
        self._of_two, self.reduce = of_two, reduce

    def __call__(self, a: Raw, b: Raw, out: Raw | None = None) -> Raw:
        return self._of_two(a, b, out=out)


def _refusing(linalg: Any) -> Adapted:
    """Return linear algebra that fails where NumPy's does; CuPy's own would return the
    unfinished content of its memory there."""

    def checked(name: str) -> Any:
        function = getattr(linalg, name)
        if isinstance(function, type):
            return function

        def run(*args: Any, **kwargs: Any) -> Any:
            with import_module("cupyx").errstate(linalg="raise"):
                return function(*args, **kwargs)

        return run

    return Adapted(object(), {}, checked)


_INSTEAD: Mapping[str, Callable[[Any], Any]] = {
    "maximum": lambda cupy: _Reducing(cupy.maximum, cupy.max),
    "minimum": lambda cupy: _Reducing(cupy.minimum, cupy.min),
    "linalg": lambda cupy: _refusing(cupy.linalg),
}
"""Makers of CuPy's substitutes, by NumPy's names."""


def _on_the_host(name: str) -> Callable[..., Any]:
    """Return a function that runs SciPy's special function on copies in host memory."""
    function = getattr(scipy("special"), name)

    def run(*arrays: Raw) -> Any:
        found = function(*map(host, arrays))
        there = cuda().np.asarray
        return tuple(map(there, found)) if isinstance(found, tuple) else there(found)

    return run


def why_no_cuda() -> str:
    """Return why no GPU can be used; an empty text if one can."""
    if find_spec("cupy") is None:
        way = "pip install '.[cuda12]', or '.[cuda13]', in a clone of gradcli"
        return f"CuPy is not installed ({way})"
    try:
        cupy = import_module("cupy")
    except Exception as error:
        return f"CuPy does not import ({error})"
    if not cupy.is_available():
        return "CuPy is installed but finds no GPU or driver"
    return ""


def resolve(device: str) -> ArrayNamespace:
    """Return the namespace for ``auto``, ``cpu`` or ``cuda``.

    Raises:
        DeviceError: ``cuda`` was asked for and is not there, or an unknown name.
    """
    if device == "cpu":
        return NUMPY
    if device == "cuda":
        return cuda()
    if device == "auto":
        return cuda() if not why_no_cuda() else NUMPY
    raise DeviceError(f"unknown device {device!r}: use auto, cpu or cuda")


_default = [NUMPY]
"""A list of one entry: the namespace of new tensors where no device is named."""


def set_default_device(device: DeviceLike) -> None:
    """Choose the device that new tensors are on; None: the CPU.

    Raises:
        RuntimeError: no such device.
    """
    _default[0] = namespace_on("cpu" if device is None else device)


def get_default_device() -> Device:
    """Return the device that new tensors are on where none is named."""
    return device_of(_default[0])


def namespace_on(device: DeviceLike) -> ArrayNamespace:
    """Return the namespace of a device, given as PyTorch gives it; None: the default.

    Raises:
        RuntimeError: no such device.
    """
    if device is None:
        return _default[0]
    asked = Device("cuda", device) if isinstance(device, int) else Device(device)
    if asked.index:
        raise DeviceError(
            f"{asked} was asked for, and one device of a kind is used: {asked.type}:0"
        )
    return resolve(asked.type)


def device_of(xp: NumberSystem) -> Device:
    """Return the device of a namespace's arrays, as PyTorch names it."""
    return _DEVICES.get(xp.device) or Device.named(xp.device)


def exchanging(other: Any) -> ArrayNamespace:
    """Return the namespace that can take over an array by DLPack."""
    kind, _ = other.__dlpack_device__()
    return cuda() if int(kind) == _DLPACK_CUDA else NUMPY


def host(array: object) -> Any:
    """Return an array, dense or sparse, in the host's memory. One on a GPU is copied,
    after the checks that were put off there are made."""
    if not hasattr(array, "get"):
        return array
    for xp in _cupy:
        xp.settle()
    return array.get()


def synchronised(xp: ArrayNamespace) -> None:
    """Wait until the GPU has finished, and make the checks that were put off there."""
    xp.settle()
    stream: Any = xp.np.cuda.get_current_stream()
    stream.synchronize()


def namespace_of(array: object) -> NumberSystem:
    """Return the namespace that an array belongs to."""
    if isinstance(array, numpy.ndarray | numpy.generic):
        return NUMPY
    own = getattr(array, "__gradcli_namespace__", None)
    if own is not None:
        return cast(NumberSystem, own)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, cupy.ndarray):
        return cuda()
    raise TypeError(f"not an array: {type(array).__name__}")


def as_raw(value: Any) -> tuple[Raw, NumberSystem]:
    """Return an array and its namespace from a number, a nested list or an array."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return value, namespace_of(value)
    if isinstance(value, range):
        return NUMPY.as_index(value), NUMPY
    kinds_of(value)  # NumPy does not end where a list holds itself
    try:
        array = numpy.asarray(value)
    except ValueError as error:
        raise TypeError(f"a ragged list is not a tensor ({error})") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected a tensor or numbers, not {type(value).__name__}")
    if array.dtype.kind == "f":
        array = array.astype(DEFAULT.name, copy=False)
    return array, NUMPY
