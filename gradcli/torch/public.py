"""The table's functions under PyTorch's names, for `import gradcli as torch`.

Invariant: no operation is defined here; a name stands for the table's row or composite
of that name, and what the table marks as ``internal`` has no public name.

    public("exp")(x)
    gradcli.linalg.solve is public("linalg.solve")
"""

from __future__ import annotations

from functools import cache, wraps
from types import ModuleType
from typing import Any

from ..engine.dtypes import dtype as Type
from ..engine.dtypes import to_dtype
from ..engine.errors import EngineError
from ..engine.modes import MODE
from ..engine.raw import Params, Run
from ..engine.record import function
from ..engine.tensor import Tensor
from ..ops import ALIASES, FUNCTIONS, overloads


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


def public_function(entry: str) -> Run:
    """Return the table's function ``entry`` as users call it."""
    entry = ALIASES.get(entry, entry)
    apply = function(entry)
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
        return described(public_function(entry), entry)
    if changes_operand(name):
        method: Run = getattr(Tensor, name)
        return method
    raise AttributeError(f"module 'gradcli' has no attribute {name!r}")


class Members(ModuleType):
    """A module whose members are functions of the table, found when first used.

    ``known`` maps a member's name to the name in the table.
    """

    known: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        entry = self.known.get(name)
        if entry is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        member = described(public_function(entry), entry)
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
