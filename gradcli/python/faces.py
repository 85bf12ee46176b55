"""What a script prints as the type of a tensor or of an error, as PyTorch calls it.

Invariant: a class is the same object under both names, and found under the one that it
has at the time, so that pickles work; when the script ends, names are as before.

    with called_as_pytorch():
        print(type(x))                  # <class 'torch.Tensor'>
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..engine.device import device
from ..engine.draws import Generator
from ..engine.dtypes import dtype
from ..engine.errors import CallError, LinAlgError
from ..engine.size import Size
from ..engine.tensor import Tensor
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..ops.checks import EngineError

HOMES: Final[dict[type, str]] = {
    Tensor: "torch.Tensor",
    Parameter: "torch.nn.parameter.Parameter",
    Module: "torch.nn.modules.module.Module",
    Size: "torch.Size",
    device: "torch.device",
    dtype: "torch.dtype",
    Generator: "torch.Generator",
    LinAlgError: "torch._C._LinAlgError",
}
"""PyTorch's names of classes."""


@contextmanager
def called_as_pytorch() -> Iterator[None]:
    """Inside, types have PyTorch's names, and errors those of the builtins that they
    are."""
    names = {each: home.rpartition(".") for each, home in HOMES.items()}
    errors = [e for e in (CallError, *_below(EngineError)) if e not in names]
    named = {e: _builtin(e) for e in errors}
    before = {e: (e.__module__, e.__name__, e.__qualname__) for e in (*names, *named)}
    for each, (module, _, name) in names.items():
        _call(each, module, name, name)
    for error, base in named.items():
        _call(error, base.__module__, base.__name__, base.__qualname__)
        copyreg.pickle(error, _as_builtin(base))  # type: ignore[arg-type]
    copyreg.pickle(LinAlgError, _as_builtin(_of_linear_algebra))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for each, said in before.items():
            _call(each, *said)
        for error in (*named, LinAlgError):
            copyreg.dispatch_table.pop(error, None)


def _call(kind: type, module: str, name: str, qualified: str) -> None:
    kind.__module__, kind.__name__, kind.__qualname__ = module, name, qualified


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    """A class and its subclasses."""
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)


def _builtin(error: type[Any]) -> type[Any]:
    """The builtin that PyTorch raises in the place of an error."""
    others = (IndexError, ValueError, TypeError, NotImplementedError)
    return next((e for e in others if issubclass(error, e)), RuntimeError)


def _as_builtin(made_by: Callable[..., Any]) -> Callable[[Any], tuple[Any, ...]]:
    """How an error is pickled: by what makes one like it."""
    return lambda error: (made_by, error.args)


def _of_linear_algebra(*args: object) -> LinAlgError:
    """An error that cannot be found by the name that it has in a script."""
    return LinAlgError(*args)
