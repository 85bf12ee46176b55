"""Modules declared by a function and its options.

Invariant: a declared module is a class as any other: it can be derived from, copied and
pickled, and its options are attributes that may be set at any time. Its constructor
takes the function's parameters after the operands, with the same defaults, unless the
declaration says otherwise; a parameter ``training`` is the module's mode.

    Softplus = module("Softplus", F.softplus)
    Softplus(beta=2.0)(x)                       # F.softplus(x, 2.0, 20.0)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any, ClassVar

from ..engine.raw import Params
from ..engine.record import function as of_row
from ..engine.signatures import constructor, listed, new_class
from ..ops import FUNCTIONS
from .heads import applying, parameters_of, saying
from .module import Module

Function = Callable[..., object]

KIND = Parameter.POSITIONAL_OR_KEYWORD
MODE = "training"


class Applied(Module):
    """A function of some operands with options, as a module.

    A family's base says what its members have in common:

    operands           how many of the function's parameters ``forward`` takes
    order              the constructor's parameters, where their order is another
    hidden             parameters of the function that the module leaves alone
    constructor_only   parameters that are settled there, and are no attributes

    Of itself a module says all options by name, and ``inplace`` where it is set, unless
    the family or the member has a text of its own.
    """

    function: ClassVar[Function]
    options: ClassVar[tuple[str, ...]] = ()
    operands: ClassVar[int] = 1
    order: ClassVar[str | None] = None
    hidden: ClassVar[str] = ""
    constructor_only: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _settle(cls, given: Params) -> None:
        """Check the given options, and change them in place to what is kept."""

    def _keep(self, given: dict[str, object]) -> None:
        """Begin as a module with these options."""
        super().__init__()
        for name, value in given.items():
            setattr(self, name, value)

    def extra_repr(self) -> str:
        names = [n for n in self.options if n not in ("inplace", MODE)]
        parts = [f"{name}={getattr(self, name)}" for name in names]
        if self.__dict__.get("inplace"):
            parts.append("inplace=True")
        return ", ".join(parts)


def module(
    name: str,
    function: Function | str,
    base: type[Applied] = Applied,
    *,
    operands: int | None = None,
    hidden: str | None = None,
    shown: str | None = None,
    keyword_only: bool = False,
    **defaults: object,
) -> type[Applied]:
    """Make a class of modules that apply a function.

    Args:
        name: the class's name.
        function: what is applied, or the name of a function of the table.
        base: the class that this one is derived from; see there for what follows.
        operands, hidden: None: as the base has it.
        shown: a format of what the module says of itself; None: as the base says.
        keyword_only: whether the constructor takes options by name alone.
        defaults: defaults that the constructor has for itself.

    Raises:
        TypeError: a default for what is no parameter.
    """
    if isinstance(function, str):
        parameters = listed(FUNCTIONS[function])
        function = of_row(function)
    else:
        parameters = parameters_of(function)
    count = base.operands if operands is None else operands
    left_alone = (base.hidden if hidden is None else hidden).split()
    kind = Parameter.KEYWORD_ONLY if keyword_only else KIND
    given = {
        each.name: each.replace(
            default=defaults.get(each.name, each.default), kind=kind
        )
        for each in parameters[count:]
        if each.name not in left_alone
    }
    if unknown := defaults.keys() - given.keys():
        raise TypeError(f"{name}: its function has no {', '.join(sorted(unknown))}")
    taken = (
        [n for n in given if n != MODE] if base.order is None else base.order.split()
    )
    options = tuple([each for each in given if each not in base.constructor_only])
    members: Params = {
        "__doc__": (function.__doc__ or "").partition("\n\nParameters\n")[0],
        "forward": applying(
            function, count, options, parameters=parameters, owner=name
        ),
        "function": staticmethod(function),
        "options": options,
    }
    if taken:
        parameters = [given[each] for each in taken]
        members["__init__"] = constructor(name, parameters, _begin)
    if shown is not None:
        members["extra_repr"] = saying(shown)
    return new_class(name, (base,), members)


def _begin(self: Any, given: Params) -> None:
    self._settle(given)
    self._keep(given)


OVER = ("sequences (N, C, L)", "pictures (N, C, H, W)", "volumes (N, C, D, H, W)")


def ranks(name: str, base: type[Module], **facts: Any) -> tuple[type, ...]:
    """Make the classes ``name1d``, ``name2d`` and ``name3d`` of one base.

    Args:
        facts: class attributes, with a value for each of the three.
    """
    classes = []
    for i, over in enumerate(OVER):
        members = {
            fact: staticmethod(values[i]) if callable(values[i]) else values[i]
            for fact, values in facts.items()
        }
        members |= {"rank": i + 1, "__doc__": f"Over {over}. {base.__doc__}"}
        classes.append(new_class(f"{name}{i + 1}d", (base,), members))
    return tuple(classes)
