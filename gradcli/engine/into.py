"""The parameter ``out``: results are written into existing tensors.

Invariant: every public function gets ``out`` from `taking_out`; its own code has no
such parameter. No gradient passes through a result that is written; a call in which
one would have to pass raises an error.

    torch.add(x, 1, out=y)                      # y
    torch.max(x, 0, out=(values, indices))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Any, Final, TypeVar

import numpy as np

from .call import Named, written_class
from .changes import demand_castable, write
from .copies import reshaped_memory
from .custom import refuse_tangents, tensors_in
from .errors import EngineError
from .modes import MODE
from .record import made
from .tensor import Tensor

RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does "
    "not match the required output shape {}. This behavior is deprecated, and in a "
    "future PyTorch release outputs will not be resized unless they have zero "
    "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to "
    "zero elements with t.resize_(0)."
)

Run = Callable[..., Any]
Result = TypeVar("Result")
_BY_NAME: Final = Parameter.KEYWORD_ONLY


def taking_out(name: str, run: Run) -> Run:
    """Return the function ``run`` with a parameter ``out``."""

    @wraps(run)
    def outer(*args: object, **kwargs: object) -> object:
        if "out" not in kwargs:
            return run(*args, **kwargs)
        out = kwargs.pop("out")
        if out is None:
            return run(*args, **kwargs)
        refuse_gradients(name, (out, args, tuple(kwargs.values())))
        return written(name, out, run(*args, **kwargs))

    return outer


def with_out(run: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function with a further keyword parameter ``out``; a decorator."""
    taking: Any = taking_out(run.__name__, run)
    own = signature(run)
    every = [*own.parameters.values(), Parameter("out", _BY_NAME, default=None)]
    taking.__signature__ = own.replace(parameters=every)
    found: Callable[..., Result] = taking
    return found


@cache
def writing(name: str) -> Run:
    """Return the public function ``name`` with the parameter ``out``."""
    return made(name, taking_out)


def written(name: str, out: Any, result: Tensor) -> Any:
    """Write the results of the function ``name`` to ``out``, and return ``out``.

    Raises:
        TypeError: ``out`` is not one tensor for each result.
        EngineError: a result does not fit the type of its output.
    """
    if isinstance(result, Tensor):
        if not isinstance(out, Tensor):
            raise TypeError(
                f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}"
            )
        put(out, result)
        return out
    if not isinstance(out, tuple | list) or len(out) != len(result):
        raise TypeError(
            f"{name}(): argument 'out' must be a tuple of {len(result)} Tensors, not "
            f"{type(out).__name__}"
        )
    for each, part in zip(out, result, strict=True):
        put(each, part)
    named = written_class(type(result)) if isinstance(result, Named) else tuple
    return named(out)


def put(out: Tensor, result: Tensor) -> None:
    """Write a result into the tensor ``out``, which is resized to its shape.

    Raises:
        EngineError: the type of ``out`` cannot hold the result.
    """
    demand_castable(result, out)
    if MODE.made is not None:
        MODE.made.demand_own(out.raw)
    have, want = out.raw.shape, result.raw.shape
    if have != want:
        if out.numel():
            import warnings

            message = RESIZED.format(list(have), list(want))
            warnings.warn(message, UserWarning, stacklevel=4)
        resize(out, want)
    write(out, (), result.raw)


def resize(t: Tensor, shape: tuple[int, ...]) -> None:
    """Give a tensor another shape, filled in order with its entries.

    Its memory is kept if it is large enough, with all numbers in it.
    """
    raw = t._shareable()
    found = reshaped_memory(raw, shape)
    if found is None:
        found = t.xp.array(np.zeros(shape, raw.dtype.name))
        found.reshape(-1)[: raw.size] = raw.reshape(-1)
    t.raw = found


def refuse_gradients(name: str, values: Sequence[object]) -> None:
    """Raise an error if a gradient would have to pass through operands or an output.

    Raises:
        EngineError: in PyTorch's words.
    """
    refuse_tangents(f"{name}_out", values, "it is an out= function")
    if MODE.recording and any(t.edge is not None for t in tensors_in(values)):
        raise EngineError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
