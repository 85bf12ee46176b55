"""gradcli under PyTorch's names: ``torch`` with all its modules.

Invariant: a module is gradcli's own, the same object under both names; what gradcli
does not have says so when it is imported, with the nearest that there is.

    install_as_torch()
    import torch.nn.functional as F         # gradcli.nn.functional
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..autograd.context import OF_NODES, FunctionCtx
from .left_out import refusal
from .placeholders import NotHere, placeholder
from .places import place_of

PYTORCH, OURS = "torch", "gradcli"
FUNCTORCH = "functorch"
"""A package that PyTorch brings along, and that does not exist here."""

BESIDE = ("torchvision", "torchaudio", "torchtext")
"""Packages that are built on PyTorch itself."""

CLOSE = 0.6
"""How alike two names are, from 0 to 1, for the one to stand for the other."""


def install_as_torch() -> None:
    """Let ``import torch`` and its modules mean gradcli from here on, in this process.

    A PyTorch that was imported before is not touched, but no longer found by its name.
    """
    if _FINDER not in sys.meta_path:
        for name in _named_torch():
            del sys.modules[name]
        sys.meta_path.insert(0, _FINDER)


@contextmanager
def as_torch() -> Iterator[None]:
    """Inside, ``import torch`` means gradcli."""
    if _FINDER in sys.meta_path:
        yield
        return
    before = {name: sys.modules[name] for name in _named_torch()}
    install_as_torch()
    try:
        yield
    finally:
        sys.meta_path.remove(_FINDER)
        for name in _named_torch():
            del sys.modules[name]
        sys.modules.update(before)


def _named_torch() -> list[str]:
    return [name for name in sys.modules if is_pytorchs(name)]


def is_pytorchs(name: str) -> bool:
    """Tell whether a module's dotted name is one of PyTorch's."""
    return name.partition(".")[0] in (PYTORCH, FUNCTORCH)


def theirs(name: str) -> str:
    """Return PyTorch's name of a module of gradcli's."""
    return PYTORCH + name.removeprefix(OURS)


def counterpart(name: str) -> ModuleType | None:
    """Return gradcli's module for one of PyTorch's; None if it has none."""
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
    """Return the sentence about a name of PyTorch's that gradcli lacks: why it is left
    out, or the nearest that there is.

    Args:
        name: the whole dotted name.
        offered: what its module has instead; None: gradcli's modules.
    """
    said = refusal(name)
    if said is not None:
        return said
    home, _, last = name.rpartition(".")
    there = offered if offered is not None else _members(home)
    shown = sorted(known for known in there if not known.startswith("_"))
    by_small = {known.lower(): known for known in shown}
    close = get_close_matches(last, shown, 1, CLOSE) or [
        by_small[small] for small in get_close_matches(last.lower(), by_small, 1, CLOSE)
    ]
    near = f"; the nearest that there is: {home}.{close[0]}" if close else ""
    return f"gradcli has no {name}{near}"


def beside(package: str) -> str:
    """Return the sentence about a package that is built on PyTorch itself."""
    return (
        f"{package} is built on PyTorch itself and does not run on gradcli; make the "
        "data with torch or NumPy, and the model with torch.nn"
    )


_CALLED = (PYTORCH, f"{PYTORCH}.nn", f"{PYTORCH}.nn.functional", f"{PYTORCH}.linalg")
"""Modules whose functions people call with parameters by name."""

_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_KEYWORD = re.compile(
    r"(\w+)(?:\.\w+)?\(\) "
    r"(?:has no parameter|got an unexpected keyword argument) '(\w+)'"
)
_ASKED = re.compile(r"module '(gradcli[\w.]*)' has no attribute '(\w+)'")


def lacking(error: Exception) -> str | None:
    """Return the sentence about the name of gradcli's that an error is about; None if
    it is about something else."""
    if isinstance(error, NotHere):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        if package in BESIDE:
            return beside(package)
        return str(error) if is_pytorchs(package) else None
    if isinstance(error, ImportError) and (error.name or "").startswith(OURS):
        asked = _IMPORTED.match(str(error))
        home = theirs(str(error.name))
        return missing(f"{home}.{asked[1]}") if asked else None
    if isinstance(error, AttributeError):
        owner, name = getattr(error, "obj", None), error.name
        if isinstance(owner, ModuleType) and owner.__name__.startswith(OURS) and name:
            home = theirs(owner.__name__)
            return missing(f"{home}.{name}", dir(owner))
        asked = _ASKED.match(str(error))
        if owner is None and asked:
            home = theirs(asked[1])
            return missing(f"{home}.{asked[2]}")
        if isinstance(owner, FunctionCtx) and name not in OF_NODES:
            # PyTorch's has no such name either: nobody gave it this attribute.
            return None
        home = type(owner).__module__
        if name and (home.startswith(f"{OURS}.") or is_pytorchs(home)):
            kind = type(owner).__name__
            return missing(f"{PYTORCH}.{kind}.{name}", dir(owner))
    if isinstance(error, TypeError):
        called = _KEYWORD.search(str(error))
        if called and any(hasattr(counterpart(home), called[1]) for home in _CALLED):
            return f"gradcli's {called[1]}() has no parameter '{called[2]}'"
    return None


def lack_in(error: Exception) -> str | None:
    """Return the sentence about the name of gradcli's that an error is about, with its
    place in the user's file; None if it is about something else."""
    said, where = lacking(error), place_of(error.__traceback__)
    return f"{said} ({where})" if said and where else said


def _members(home: str) -> list[str]:
    module = counterpart(home) if home else None
    return [] if module is None else dir(module)


class _Loader(Loader):
    """Puts gradcli's own module in the place of the one that is being imported."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._module


class _Finder(MetaPathFinder):
    """Finds ``torch`` and what is below it."""

    def find_spec(
        self, fullname: str, path: object, target: object = None
    ) -> ModuleSpec | None:
        if not is_pytorchs(fullname):
            return None
        module = counterpart(fullname)
        if module is None:
            raise ModuleNotFoundError(missing(fullname), name=fullname)
        return ModuleSpec(fullname, _Loader(module), is_package=True)


_FINDER = _Finder()
