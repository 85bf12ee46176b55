"""gradcli under PyTorch's name: ``import torch`` and all its modules.

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

PYTORCH, OURS = "torch", "gradcli"

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
    return [n for n in sys.modules if n == PYTORCH or n.startswith(f"{PYTORCH}.")]


def ours(name: str) -> str:
    """gradcli's name of a module of PyTorch's."""
    return OURS + name.removeprefix(PYTORCH)


def counterpart(name: str) -> ModuleType | None:
    """gradcli's module for one of PyTorch's; None if it has none."""
    try:
        return import_module(ours(name))
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith(OURS):
            return None
        raise


def missing(name: str, offered: Sequence[str] | None = None) -> str:
    """The sentence about a name of PyTorch's that gradcli lacks.

    Args:
        name: the whole dotted name.
        offered: what its module has instead; None: gradcli's modules.
    """
    home, _, last = name.rpartition(".")
    there = offered if offered is not None else _members(home)
    shown = sorted(known for known in there if not known.startswith("_"))
    by_small = {known.lower(): known for known in shown}
    close = get_close_matches(last, shown, 1, CLOSE) or [
        by_small[small] for small in get_close_matches(last.lower(), by_small, 1, CLOSE)
    ]
    near = f"; the nearest that there is: {home}.{close[0]}" if close else ""
    return f"gradcli has no {name}{near}"


_IMPORTED = re.compile(r"cannot import name '(\w+)'")
_ASKED = re.compile(r"module '(gradcli[\w.]*)' has no attribute '(\w+)'")


def lacking(error: Exception) -> str | None:
    """The sentence about the name of gradcli's that an error is about; None if it is
    about something else."""
    if isinstance(error, ModuleNotFoundError):
        theirs = (error.name or "").startswith(PYTORCH)
        return str(error) if theirs else None
    if isinstance(error, ImportError) and (error.name or "").startswith(OURS):
        asked = _IMPORTED.match(str(error))
        home = PYTORCH + str(error.name).removeprefix(OURS)
        return missing(f"{home}.{asked[1]}") if asked else None
    if isinstance(error, AttributeError):
        owner, name = getattr(error, "obj", None), error.name
        if isinstance(owner, ModuleType) and owner.__name__.startswith(OURS) and name:
            home = PYTORCH + owner.__name__.removeprefix(OURS)
            return missing(f"{home}.{name}", dir(owner))
        asked = _ASKED.match(str(error))
        if owner is None and asked:
            home = PYTORCH + asked[1].removeprefix(OURS)
            return missing(f"{home}.{asked[2]}")
        if type(owner).__module__.startswith(f"{OURS}.") and name:
            kind = type(owner).__name__
            return missing(f"{PYTORCH}.{kind}.{name}", dir(owner))
    return None


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
        if fullname != PYTORCH and not fullname.startswith(f"{PYTORCH}."):
            return None
        module = counterpart(fullname)
        if module is None:
            raise ModuleNotFoundError(missing(fullname), name=fullname)
        return ModuleSpec(fullname, _Loader(module), is_package=True)


_FINDER = _Finder()
