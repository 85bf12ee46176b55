"""Devices and the namespaces of arrays on them. Only this file imports CuPy.

Invariant: the class of an array says which namespace it belongs to; nothing is moved
between devices unless a device was asked for by name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
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
from .raw import PLAIN, Raw, is_list, kinds_of

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
    "ignore", category=RuntimeWarning, module=r"gradcli\.(ops|engine|torch|nn|optim)\b"
)

NUMPY = ArrayNamespace(
    numpy,
    lambda: scipy("special"),
    lambda: scipy("linalg"),
    "cpu",
)

# glibc gives the memory of a training step back to the system after each step, which
# takes a third of the step, until a block of 32 MB has been freed once: mallopt(3),
# M_MMAP_THRESHOLD. No page of this block is ever touched.
numpy.empty((32 << 20) - (8 << 10), "u1")

_DEVICES = {"cpu": Device("cpu"), "cuda": Device("cuda", 0)}
_DLPACK_CUDA = 2

_cupy: list[ArrayNamespace] = []

BEFORE_FIRST_USE: list[Callable[[], int]] = []
"""Functions that are called before CuPy is imported: each lifts what would hinder it,
such as a limit on the memory of the process, and returns the most bytes that the device
may take instead."""


def cuda() -> ArrayNamespace:
    """Return CuPy's namespace.

    Raises:
        DeviceError: CuPy is missing or finds no GPU; the message says which.
    """
    if _cupy:
        return _cupy[0]
    reason = why_no_cuda()
    if reason and find_spec("cupy") is None:
        from .extras import how_to_install

        way = how_to_install("cupy-cuda12x[ctk]")
        reason += f" ({way}; cupy-cuda13x for CUDA 13)"
    if reason:
        raise DeviceError(f"no CUDA device: {reason}")
    from .gpu import GpuNamespace

    cupy: Any = import_module("cupy")
    most = [lift() for lift in BEFORE_FIRST_USE]
    if most:
        cupy.get_default_memory_pool().set_limit(size=min(most))
    library: Any = Adapted(cupy, {n: make(cupy) for n, make in _INSTEAD.items()})
    _cupy.append(GpuNamespace(library, _special, _solvers, _pending))
    return _cupy[0]


def _special() -> Any:
    return import_module("cupyx.scipy.special")


def _solvers() -> Any:
    return import_module("cupyx.scipy.linalg")


def _pending(xp: Any) -> Any:
    """Return the namespace of pending arrays over that of CuPy's."""
    from .kernels import Kernels
    from .pending import PendingNamespace

    names = "cupy", "cupyx.scipy.special"
    return PendingNamespace(xp, Kernels(*map(import_module, names)))


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


def _by_rows(x: Any) -> Any:
    """Return an array of the GPU that lies by rows, as NumPy's results do."""
    return x if x.flags.c_contiguous else import_module("cupy").ascontiguousarray(x)


def _refusing(linalg: Any) -> Adapted:
    """Return linear algebra that fails where NumPy's does; CuPy's own would return the
    unfinished content of its memory there. What it refuses, such as a matrix with NaN,
    is given to NumPy, which has a result for it or the words of a refusal."""

    def checked(name: str) -> Any:
        function = getattr(linalg, name)
        if isinstance(function, type):
            return function

        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                with import_module("cupyx").errstate(linalg="raise"):
                    result = function(*args, **kwargs)
            except numpy.linalg.LinAlgError:
                here = getattr(numpy.linalg, name)
                result = _back(here(*map(host, args), **kwargs))
            if not name.startswith(("eig", "svd")):
                return result  # a caller puts matrices in order
            several = isinstance(result, tuple)
            return tuple(map(_by_rows, result)) if several else _by_rows(result)

        return run

    return Adapted(object(), {}, checked)


_INSTEAD: Mapping[str, Callable[[Any], Any]] = {
    "maximum": lambda cupy: _Reducing(cupy.maximum, cupy.max),
    "minimum": lambda cupy: _Reducing(cupy.minimum, cupy.min),
    "linalg": lambda cupy: _refusing(cupy.linalg),
}
"""Makers of CuPy's substitutes, by NumPy's names."""


def _back(found: Any) -> Any:
    """Return arrays on the GPU from one or several of NumPy's."""
    there = cuda().np.asarray
    return tuple(map(there, found)) if isinstance(found, tuple) else there(found)


def why_no_cuda() -> str:
    """Return why no GPU can be used; an empty text if one can."""
    if find_spec("cupy") is None:
        return "CuPy is not installed"
    for lift in BEFORE_FIRST_USE:
        lift()
    try:
        cupy = import_module("cupy")
    except Exception as error:
        return f"CuPy does not import ({error})"
    if not cupy.is_available():
        return "CuPy is installed but finds no GPU or driver"
    return ""


MIN_ENTRIES_OF_A_GPU: Final = 1_000_000
"""Fewest entries of an array that a GPU gains from: to start it takes a second, and a
product of matrices of 1,000 by 1,000 is as much work as pays for that."""


def resolve(device: str, entries: int = 0) -> ArrayNamespace:
    """Return the namespace for ``auto``, ``cpu`` or ``cuda``.

    Args:
        entries: the number of entries of the largest input, by which ``auto`` chooses;
            CuPy is not imported if they are few.

    Raises:
        DeviceError: ``cuda`` was asked for and is not there, or an unknown name.
    """
    if device == "cpu":
        return NUMPY
    if device == "cuda":
        return cuda()
    if device == "auto":
        if entries < MIN_ENTRIES_OF_A_GPU or find_spec("cupy") is None:
            return NUMPY
        return NUMPY if why_no_cuda() else cuda()
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


def _on_the_host(value: Any) -> Any:
    """Return nested lists with tensors on the host in place of those on a GPU."""
    if is_list(value, 0):
        return [_on_the_host(each) for each in value]
    return value.cpu() if hasattr(value, "cpu") else value


def as_raw(value: Any) -> tuple[Raw, NumberSystem]:
    """Return an array and its namespace from a number, a nested list or an array."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return value, namespace_of(value)
    if isinstance(value, range):
        return NUMPY.as_index(value), NUMPY
    kinds = kinds_of(value)  # NumPy does not end where a list holds itself
    try:
        array = numpy.asarray(value if kinds <= PLAIN else _on_the_host(value))
    except ValueError as error:
        raise TypeError(f"a ragged list is not a tensor ({error})") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected a tensor or numbers, not {type(value).__name__}")
    if array.dtype.kind == "f":
        array = array.astype(DEFAULT.name, copy=False)
    return array, NUMPY
