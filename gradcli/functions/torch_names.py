"""PyTorch's names: gradcli's own modules, placeholders, and names that are left out.

A family of names that is left out on purpose is listed by how its dotted names begin,
without ``torch.``; in a part that ends in ``*``, the star stands for any ending.

Invariant: a module is the same object under gradcli's and PyTorch's name. Importing
what gradcli lacks gives a placeholder, unless the program would catch the error of the
import; any use of a placeholder raises one sentence, with the reason or the nearest
name that exists. Some names exist because they change nothing: decorators for
TorchScript, and mixed precision that is turned off.

    install_as_torch()
    import torch.nn.functional as F                     # gradcli.nn.functional
    from torch.distributed import init_process_group    # succeeds
    init_process_group("gloo")                          # NotHere: gradcli has no ...
"""

from __future__ import annotations

import builtins
import dis
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import pairwise
from types import FrameType, ModuleType
from typing import Any, Final

from ..answers.callers import PACKAGE, is_internal
from ..autograd.function import OF_NODES, FunctionCtx
from ..lang.errors import text_of
from .user_lines import place_of

_COMPLEX = "there are no complex numbers: compute with the real and imaginary parts"
_DENSE = "there are no sparse tensors: use dense ones"
_ONE_PROCESS = "everything runs in one process: use the module or function itself"
_PRECISION = (
    "numbers have one precision, which nothing lowers on the way: leave it out, or "
    "convert with .float() or .half()"
)
_QUANTISED = "there are no quantised numbers: use float32"
_SUBCLASS = "there are no subclasses of tensors with operations of their own"
_TIMES = (
    "it does not measure times: leave it out; python -m cProfile -m gradcli run "
    "SCRIPT.py does"
)
_TYPE = "there is no such type of numbers: use float32 or float16"
_UNMEASURED = "the memory of a GPU is not measured here: leave it out"

FAMILIES = {
    _COMPLEX: "fft stft istft complex* cfloat cdouble chalf polar view_as_complex "
    "view_as_real linalg.eig linalg.eigvals Tensor.cfloat Tensor.cdouble Tensor.stft "
    "Tensor.istft",
    _DENSE: "sparse sparse_* Tensor.to_sparse* Tensor.coalesce optim.SparseAdam",
    _ONE_PROCESS: "distributed multiprocessing nn.parallel "
    "nn.SyncBatchNorm utils.data.distributed",
    _PRECISION: "amp cuda.amp autocast GradScaler get_autocast* is_autocast_*_enabled",
    _TYPE: "bfloat16 float8* Tensor.bfloat16 Module.bfloat16 nn.Module.bfloat16",
    _QUANTISED: "quantization ao quantize_* qint* quint* nn.quantized "
    "backends.quantized",
    _SUBCLASS: "utils.swap_tensors utils._python_dispatch overrides "
    "Tensor._make_wrapper_subclass Tensor._make_subclass",
    _TIMES: "profiler autograd.profiler utils.bottleneck",
    _UNMEASURED: "cuda.memory cuda.memory_* cuda.max_memory_* cuda.reset_peak_* "
    "cuda.mem_get_info",
    "memory has no type of numbers: untyped_storage() is a tensor's memory":
        "Tensor.storage",
    "nothing is compiled to TorchScript: leave it out, the function runs as it is":
        "jit",
    "programs are not traced: gradcli run --graph draws the graph of each backward()":
        "fx",
    "models are not exported: torch.save(model.state_dict(), FILE) writes numbers":
        "onnx export",
    "nothing is compiled: leave it out, the function runs as it is":
        "compiler _dynamo _inductor",
    "operations in C++ cannot be loaded: write them as an autograd.Function":
        "library ops.load_library utils.cpp_extension classes",
    "nothing is loaded from the network: save the numbers with "
    "safetensors.torch.save_file where PyTorch is, and torch.load reads them":
        "hub utils.model_zoo",
    "nothing is logged for TensorBoard: print the numbers": "utils.tensorboard",
    "values of the forward pass stay until the reverse pass: call the function itself":
        "utils.checkpoint",
    "weights are not pruned by a tool: multiply them by a mask in forward()":
        "nn.utils.prune",
    "weights are not computed from others by a tool: compute them in forward()":
        "nn.utils.parametrize nn.utils.parametrizations",
    "layers are given the sizes of their inputs: leave out Lazy, and name the size":
        "nn.Lazy* nn.UninitializedParameter nn.UninitializedBuffer",
    "PyTorch has removed it: torch.linalg.solve(A, B), the matrix first, gives the "
    "solution itself": "Tensor.solution",
    "PyTorch has removed it: torch.linalg.eigh(A, UPLO='U') takes its place": "symeig",
    "PyTorch has removed it: torch.linalg.lstsq(A, B).solution takes its place":
        "lstsq",
    "PyTorch has removed it: torch.linalg.matrix_rank takes its place": "matrix_rank",
}  # fmt: skip
"""Names of each family that is left out, by the sentence that explains it."""

_SAID = [(name, said) for said, names in FAMILIES.items() for name in names.split()]


def refusal(name: str) -> str | None:
    """Return the sentence about a dotted name that is left out on purpose, if it is."""
    parts = name.removeprefix("torch.").split(".")
    for known, said in _SAID:
        depth = known.count(".") + 1
        if len(parts) >= depth and fnmatchcase(".".join(parts[:depth]), known):
            return f"gradcli has no {name}; {said}"
    return None


class NotHere(NotImplementedError):
    """An error: the program uses something that gradcli does not have."""


class Placeholder(ModuleType):
    """A module, or a name in one, that can be imported but not used."""

    __path__: list[str] = []  # noqa: RUF012

    def __init__(self, name: str, **there: object) -> None:
        super().__init__(name)
        vars(self).update(there)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = vars(self)[name] = Placeholder(f"{self.__name__}.{name}")
        return found

    def __or__(self, other: object) -> Placeholder:
        """Return the placeholder: a union of types is an annotation, and no use."""
        return self

    __ror__ = __or__

    def refused(self) -> NotHere:
        """Return the error that says why the name is not here."""
        return NotHere(missing(self.__name__))


def _refuse(self: Placeholder, *args: object, **kwargs: object) -> Any:
    raise self.refused()


_USES = (
    "call enter aenter getitem setitem instancecheck subclasscheck iter mro_entries "
    "len contains add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod "
    "rmod pow rpow matmul rmatmul neg lt gt le ge float int index array"
)

for _use in _USES.split():
    setattr(Placeholder, f"__{_use}__", _refuse)


def _as_it_is(function: Any = None, *args: object, **options: object) -> Any:
    """Return the decorated function unchanged, or such a decorator if none is given."""
    return (lambda inner: inner) if function is None else function


def _no() -> bool:
    return False


class _SwitchedOff:
    """A tool of mixed precision that is turned off.

    Raises:
        NotHere: it is turned on.
    """

    def __init__(self, *args: object, enabled: bool = True, **options: object) -> None:
        if enabled and not any(each is False for each in args):
            raise NotHere(refusal(f"torch.{type(self).__name__}"))


class autocast(_SwitchedOff, ContextDecorator):
    """Mixed precision that is turned off."""

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *problem: object) -> None:
        """Do nothing."""


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return False, because mixed precision is never turned on."""
    return False


class GradScaler(_SwitchedOff):
    """Scaling of losses that is turned off: its scale is 1."""

    def scale(self, outputs: Any) -> Any:
        return outputs

    def unscale_(self, optimizer: object) -> None:
        """Leave the gradients as they are."""

    def step(self, optimizer: Any, *args: object, **kwargs: object) -> Any:
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: object = None) -> None:
        """Leave the scale as it is."""

    def get_scale(self) -> float:
        return 1.0

    def is_enabled(self) -> bool:
        return False

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Ignore the state, because there is none."""


_CASTS: Final[dict[str, Callable[..., Any]]] = {
    "autocast": autocast, "GradScaler": GradScaler, "custom_fwd": _as_it_is,
    "custom_bwd": _as_it_is,
}  # fmt: skip

bfloat16 = Placeholder("torch.bfloat16")
"""A type that a tensor's own may be compared with, and that no tensor can have."""

amp = Placeholder("torch.amp", **_CASTS)
cuda_amp = Placeholder("torch.cuda.amp", **_CASTS)
distributed = Placeholder("torch.distributed", is_available=_no, is_initialized=_no)
fx = Placeholder("torch.fx")
jit = Placeholder(
    "torch.jit", script=_as_it_is, ignore=_as_it_is, unused=_as_it_is,
    export=_as_it_is, is_scripting=_no, is_tracing=_no, isinstance=isinstance,
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
"""Placeholder modules, by PyTorch's names."""


def dropout(input: Any, p: float, train: bool) -> Any:
    """Return ``input`` with entries dropped with probability p, as `torch.dropout`
    does: all three arguments are needed, and p is checked even outside of training."""
    from ..nn.functional import dropout

    if not 0 <= p <= 1:
        message = f"dropout probability has to be between 0 and 1, but got {p:g}"
        raise RuntimeError(message)
    return dropout(input, p, train)


def placeholder(name: str) -> Any:
    """Return the placeholder for a dotted PyTorch name; None if there is none."""
    home = next((p for p in PLACES if f"{name}.".startswith(f"{p}.")), None)
    if home is None:
        return None
    found: Any = PLACES[home]
    for part in name[len(home) + 1 :].split(".") if name != home else ():
        found = getattr(found, part, None)
    return found


PYTORCH, OURS = "torch", "gradcli"
FUNCTORCH = "functorch"
"""Name of a package that comes with PyTorch and that gradcli does not have."""

BESIDE = ("torchvision", "torchaudio", "torchtext")
"""Names of packages that are built on PyTorch itself."""

CLOSE = 0.6
"""Smallest similarity, from 0 to 1, of a missing name and one that is suggested."""


def install_as_torch() -> None:
    """Make ``import torch`` and its modules mean gradcli from now on in this process.

    A PyTorch that was imported before still exists, but cannot be imported by name.
    """
    if _FINDER not in sys.meta_path:
        for name in _named_torch():
            del sys.modules[name]
        sys.meta_path.insert(0, _FINDER)
        builtins.__import__ = _imported


@contextmanager
def as_torch() -> Iterator[None]:
    """Make ``import torch`` mean gradcli while the block runs."""
    if _FINDER in sys.meta_path:
        yield
        return
    before = {name: sys.modules[name] for name in _named_torch()}
    install_as_torch()
    try:
        yield
    finally:
        sys.meta_path.remove(_FINDER)
        builtins.__import__ = _IMPORT
        for name in _named_torch():
            module = sys.modules.pop(name)
            home = counterpart(name.rpartition(".")[0])
            last = name.rpartition(".")[2]
            if name not in PLACES and vars(home or module).get(last) is module:
                delattr(home, last)
        sys.modules.update(before)


def _named_torch() -> list[str]:
    """Return the names of modules that belong to PyTorch or stand for its names."""
    return [
        name
        for name, module in tuple(sys.modules.items())
        if is_pytorchs(name) or isinstance(module, Placeholder)
    ]


def is_pytorchs(name: str) -> bool:
    """Tell whether a module's dotted name belongs to PyTorch."""
    return name.partition(".")[0] in (PYTORCH, FUNCTORCH)


def theirs(name: str) -> str:
    """Return PyTorch's name for one of gradcli's modules."""
    return PYTORCH + name.removeprefix(OURS)


def counterpart(name: str) -> ModuleType | None:
    """Return gradcli's module for one of PyTorch's; None if there is none."""
    if name.partition(".")[0] != PYTORCH:
        return None
    found = placeholder(name)
    if isinstance(found, ModuleType):
        return found
    try:
        return import_module(OURS + name.removeprefix(PYTORCH))
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith(OURS):
            return None
        raise


def missing(name: str, offered: Sequence[str] | None = None) -> str:
    """Return the sentence about a PyTorch name that gradcli lacks: the reason, or the
    nearest name among those ``offered``, by default the module's own."""
    said = refusal(name)
    if said is not None:
        return said
    home, _, last = name.rpartition(".")
    module = counterpart(home)
    if offered is None and "." in home and isinstance(module, Placeholder | None):
        return missing(home)
    there = offered if offered is not None else dir(module or object)
    shown = sorted(known for known in there if not known.startswith("_"))
    by_small = {known.lower(): known for known in shown}
    close = get_close_matches(last, shown, 1, CLOSE) or [
        by_small[small] for small in get_close_matches(last.lower(), by_small, 1, CLOSE)
    ]
    near = f"; the nearest that there is: {home}.{close[0]}" if close else ""
    return f"gradcli has no {name}{near}"


def companion_hint(package: str) -> str:
    """Return the sentence about a package that is built on PyTorch itself."""
    return (
        f"{package} is built on PyTorch itself and does not run on gradcli; make the "
        "data with torch or NumPy, and the model with torch.nn"
    )


_CALLED = (PYTORCH, f"{PYTORCH}.nn", f"{PYTORCH}.nn.functional", f"{PYTORCH}.linalg")
"""Names of modules whose functions are called with PyTorch's keyword arguments."""

_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_KEYWORD = re.compile(
    r"\b(\w+)(?:\.\w+)?\(\) "
    r"(?:has no parameter|got an unexpected keyword argument) '(\w+)'"
)
_ASKED = re.compile(r"module '(gradcli[\w.]*)' has no attribute '(\w+)'")


def lacking(error: BaseException) -> str | None:
    """Return the sentence about the lacking name that caused an error, if one did."""
    match error:
        case NotHere():
            return text_of(error)
        case ModuleNotFoundError():
            package = (error.name or "").partition(".")[0]
            if package in BESIDE:
                return companion_hint(package)
            return text_of(error) if is_pytorchs(package) else None
        case ImportError():
            imported = _IMPORTED.match(text_of(error))
            if imported and error.name and error.name.startswith(OURS):
                return missing(f"{theirs(error.name)}.{imported[1]}")
        case AttributeError():
            return _lacking_attribute(error)
        case TypeError():
            called = _KEYWORD.search(text_of(error))
            if called and any(
                hasattr(counterpart(home), called[1]) for home in _CALLED
            ):
                told = text_of(error)[called.end() :]
                return f"gradcli's {called[1]}() has no parameter '{called[2]}'{told}"
    return None


def _lacking_attribute(error: AttributeError) -> str | None:
    owner, name = getattr(error, "obj", None), error.name
    asked = _ASKED.match(text_of(error))
    if isinstance(owner, ModuleType) and owner.__name__.startswith(OURS) and name:
        return missing(f"{theirs(owner.__name__)}.{name}", dir(owner))
    if owner is None and asked:
        return missing(f"{theirs(asked[1])}.{asked[2]}")
    # PyTorch's ctx lacks it, too, if the user's code never set the attribute.
    of_ctx = isinstance(owner, FunctionCtx) and name not in OF_NODES
    home = type(owner).__module__
    if of_ctx or not name or not (home.startswith(f"{OURS}.") or is_pytorchs(home)):
        return None
    return missing(f"{PYTORCH}.{type(owner).__name__}.{name}", dir(owner))


def lack_in(error: Exception) -> str | None:
    """Return the sentence about a lacking name that caused an error, if one did, with
    the place in the user's file."""
    said, where = lacking(error), place_of(error.__traceback__)
    return f"{said} ({where})" if said and where else said


class _Loader(Loader):
    """A loader that puts gradcli's module in place of the imported one."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._module


class _Finder(MetaPathFinder):
    """A finder of ``torch`` and its modules."""

    def find_spec(
        self, fullname: str, path: object, target: object = None
    ) -> ModuleSpec | None:
        if not is_pytorchs(fullname):
            return None
        module = counterpart(fullname)
        if module is None:
            if is_caught(sys._getframe(1)):
                raise ModuleNotFoundError(missing(fullname), name=fullname)
            module = Placeholder(fullname)
        if not hasattr(module, "__path__"):
            # A file here may be a package in PyTorch.
            module.__path__ = []
        return ModuleSpec(fullname, _Loader(module), is_package=True)


_FINDER = _Finder()
_IMPORT = builtins.__import__


def _imported(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (),
    level: int = 0,
) -> Any:  # fmt: skip
    """Import as Python does, with placeholders for what PyTorch's modules lack here:
    Python takes a name that a module does not have from among the modules."""
    module = _IMPORT(name, globals, locals, fromlist, level)
    if fromlist and not level and is_pytorchs(name):
        for each in fromlist:
            if each != "*" and not hasattr(module, each):
                asked = f"{name}.{each}"
                if is_caught(sys._getframe(1)):
                    raise ImportError(missing(asked), name=module.__name__)
                sys.modules[f"{module.__name__}.{each}"] = Placeholder(asked)
    return module


def is_caught(frame: FrameType | None) -> bool:
    """Tell whether an error of an import in a frame would be caught there, or where the
    module that the frame runs is imported itself."""
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if not is_internal(file):
            if _in_try(frame):
                return True
            if name != "<module>":
                return False
        elif file.startswith(PACKAGE) and file != __file__:
            return False
        frame = frame.f_back
    return False


def _in_try(frame: FrameType) -> bool:
    """Tell whether a frame runs a line of a ``try`` block."""
    code: Any = dis.Bytecode(frame.f_code)
    names = {step.offset: step.opname for step in code}
    after = dict(pairwise(names))
    for entry in code.exception_entries:
        if entry.start <= frame.f_lasti < entry.end:
            handles = names[entry.target] == "PUSH_EXC_INFO"
            # The block of a ``with`` passes errors on.
            if handles and names[after[entry.target]] != "WITH_EXCEPT_START":
                return True
    return False
