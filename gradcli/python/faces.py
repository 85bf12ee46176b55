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

HOMES: Final[dict[type[Any], str]] = {
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
    names: dict[type[Any], list[str]] = {
        kind: list(home.rpartition(".")[::2]) for kind, home in HOMES.items()
    }
    errors: list[type[Any]] = [CallError, *_below(EngineError)]
    bases = {error: _builtin(error) for error in errors if error not in names}
    before = {e: (e.__module__, e.__name__, e.__qualname__) for e in (*names, *bases)}
    for kind, (module, name) in names.items():
        _call(kind, module, name, name)
    made_by: dict[type[Any], Callable[..., Any]] = dict(bases)
    made_by[LinAlgError] = _of_linear_algebra
    for error, base in bases.items():
        _call(error, base.__module__, base.__name__, base.__qualname__)
    for error, make in made_by.items():
        copyreg.pickle(error, _pickled(make))
    try:
        yield
    finally:
        for kind, said in before.items():
            _call(kind, *said)
        for error in made_by:
            copyreg.dispatch_table.pop(error, None)


def _call(kind: type[Any], module: str, name: str, qualified: str) -> None:
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


def _pickled(made_by: Callable[..., Any]) -> Callable[[Any], tuple[Any, ...]]:
    """How an error is pickled: by what makes one like it."""
    return lambda error: (made_by, error.args)


def _of_linear_algebra(*args: object) -> LinAlgError:
    """An error that cannot be found by the name that it has in a script."""
    return LinAlgError(*args)
