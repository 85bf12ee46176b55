"""The table's functions under PyTorch's names, for `import gradcli as torch`.

Invariant: no operation is defined here; a name stands for the table's row or composite
of that name, and what the table marks as ``internal`` has no public name. Every public
function gets its parameter ``out`` here; no gradient passes through a result that is
written, and a call in which one would have to pass raises an error.

    public("exp")(x)
    gradcli.linalg.solve is public("linalg.solve")
    torch.max(x, 0, out=(values, indices))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from inspect import Parameter, signature
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ..ops import ALIASES, FUNCTIONS, overloads
from .call import Named, written_class
from .changes import demand_castable, write
from .copies import reshaped_memory
from .custom import refuse_tangents, tensors_in
from .dtypes import dtype as Type
from .dtypes import to_dtype
from .errors import EngineError
from .modes import MODE
from .raw import Params, Run
from .record import function, made
from .tensor import Tensor


def is_public(name: str) -> bool:
    """Return whether a name, or the function it is an alias of, is public.

    Overloads, members of submodules and building blocks of other functions are not.
    """
    entry = FUNCTIONS.get(ALIASES.get(name, name)) if "." not in name else None
    return entry is not None and not entry.internal


def has_in_place(name: str) -> bool:
    """Return whether a function has an in-place form."""
    entry = FUNCTIONS[ALIASES.get(name, name)]
    if entry.in_place is not None:
        return entry.in_place
    return any(op.elementwise for op in overloads(entry.name))


def changes_operand(name: str) -> bool:
    """Return whether a name is that of a public in-place function such as ``sin_``."""
    stem = name[:-1]
    public = name.endswith("_") and is_public(stem) and has_in_place(stem)
    return public or name in ("detach_", "fill_", "zero_")


def names() -> list[str]:
    """Return every public name of the table, with the aliases."""
    return [name for name in (*FUNCTIONS, *ALIASES) if is_public(name)]


def found(entry: str, given: Callable[[str], Any] = function) -> Run:
    """Return the table's function ``entry`` as users call it: as a method or, if
    ``given`` is `gradcli.engine.public.writing`, as a function that takes ``out``."""
    entry = ALIASES.get(entry, entry)
    apply = given(entry)
    return _casting(apply) if FUNCTIONS[entry].casts else apply


@cache
def _casting(apply: Run) -> Run:
    """Return the function with a parameter ``dtype`` to which its operand is converted,
    and its result, since sums of narrow integers widen."""

    @wraps(apply)
    def run(*args: Any, dtype: object = None, **kwargs: object) -> Any:
        if dtype is None:
            return apply(*args, **kwargs)
        if not args:
            args = (kwargs.pop("input"),)
        type_ = to_dtype(dtype)
        x = _cast(args[0], type_)
        return apply(x, *args[1:], **kwargs).to(type_)

    return run


def described(run: Run, entry: str) -> Run:
    """Return a public function with the signature and the documentation of its row."""
    if not hasattr(run, "__signature__"):
        from inspect import Signature

        from .signatures import documented, keyword, listed

        entry = ALIASES.get(entry, entry)
        shown = listed(FUNCTIONS[entry])
        shown += [keyword("dtype")] if FUNCTIONS[entry].casts else []
        shown += [keyword("out")]
        attributes: Params = vars(run)
        attributes["__signature__"] = Signature(shown)
        run.__doc__ = documented(FUNCTIONS[entry], shown)
    return run


def _cast(x: Tensor, type_: Type) -> Tensor:
    if MODE.enabled and x.edge is not None and not type_.is_floating_point:
        raise EngineError(f"Autograd not support dtype: {type_.legacy}")
    cast: Tensor = x.to(type_)
    return cast


def public(name: str) -> Run:
    """Return the function of a public name, or the method if it changes its operand.

    Raises:
        AttributeError: the name is not public.
    """
    if is_public(name):
        entry = ALIASES.get(name, name)
        return described(found(entry, writing), entry)
    if changes_operand(name):
        method: Run = getattr(Tensor, name)
        return method
    raise AttributeError(f"module 'gradcli' has no attribute {name!r}")


# The parameter ``out``: results are written into existing tensors.

RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does "
    "not match the required output shape {}. This behavior is deprecated, and in a "
    "future PyTorch release outputs will not be resized unless they have zero "
    "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to "
    "zero elements with t.resize_(0)."
)

Result = TypeVar("Result")


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
    every = [
        *own.parameters.values(),
        Parameter("out", Parameter.KEYWORD_ONLY, default=None),
    ]
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
    """Write a result into the tensor ``out``, which is resized to its shape."""
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
    """Raise an error if a gradient would have to pass through operands or an output."""
    refuse_tangents(f"{name}_out", values, "it is an out= function")
    if MODE.enabled and any(t.edge is not None for t in tensors_in(values)):
        raise EngineError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )


class Members(ModuleType):
    """A module whose members are functions of the table, found when first used.

    ``known`` maps a member's name to the name in the table.
    """

    known: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        entry = self.known.get(name)
        if entry is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        member = described(found(entry, writing), entry)
        setattr(self, name, member)
        return member

    def __dir__(self) -> list[str]:
        return sorted(self.known)


def linalg() -> dict[str, str]:
    """Return the names in the table of the functions of ``gradcli.linalg``, by name."""
    below = [n for n in (*FUNCTIONS, *ALIASES) if n.startswith("linalg.")]
    return {n.removeprefix("linalg."): n for n in below} | {"diagonal": "diagonal"}


def special() -> dict[str, str]:
    """Return the table's names of the functions of ``gradcli.special``."""
    return {
        n: entry.name for entry in FUNCTIONS.values() for n in entry.special.split()
    }
