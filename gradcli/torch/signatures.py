"""Signatures of public functions, as `help` and `inspect.signature` show them.

Invariant: names, order and defaults are read from the row; users see PyTorch's names of
the operands, ``input`` and ``other``, where a formula has letters. `Parameters` binds a
call of a function or a constructor that is declared instead of written out; its errors
are in Python's own words.

    listed(FUNCTIONS["softplus"])       # [input, beta=1.0, threshold=20.0]
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter, Signature
from typing import Any

from ..engine.errors import instead
from ..engine.raw import Params, Run
from ..ops import Composite, Op
from ..ops.saved_names import CALLED

OPERANDS = ("input", "other")
NO_OPERANDS = "nkpy"
"""Letters of parameters that keep their names, since PyTorch has them too."""

MEANING = {
    "dim": "A dimension, or several; negative ones count from the last.",
    "keepdim": "Keep what is reduced as a dimension of size 1.",
    "dtype": "The type that the operand is converted to first.",
    "reduction": '``"mean"``, ``"sum"`` or ``"none"``.',
}


def listed(entry: Op | Composite) -> list[Parameter]:
    """Return the parameters of a function of the table, in order, with users' names."""
    formula = entry.build if isinstance(entry, Composite) else entry.fwd
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    count = len(entry.cases[0].inputs) if entry.cases else len(OPERANDS)
    called = _called(entry)
    shown = []
    for i, each in enumerate([*inspect.signature(formula).parameters.values()][1:]):
        name, default = each.name, each.default
        letter = len(name) == 1 and name not in NO_OPERANDS
        own = called[i] if i < len(called) else ()
        if own and name not in own:
            name = own[0]
        elif letter and i < min(count, len(OPERANDS)):
            name = OPERANDS[i]
        if each.kind is Parameter.VAR_POSITIONAL or each.name == entry.star:
            shown.append(Parameter(name, Parameter.VAR_POSITIONAL))
            kind = Parameter.KEYWORD_ONLY
            continue
        if each.kind is Parameter.KEYWORD_ONLY:
            kind = each.kind
        shown.append(Parameter(name, kind, default=default))
    return shown


def _called(entry: Op | Composite) -> tuple[tuple[str, ...], ...]:
    """Return PyTorch's names of the operands of a function of the table."""
    return CALLED.get(entry.name if isinstance(entry, Composite) else entry.base, ())


def keyword(name: str, default: object = None) -> Parameter:
    """Return a parameter that can only be given by name."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default)


def documented(entry: Op | Composite, parameters: Iterable[Parameter]) -> str:
    """Return the docstring of a public function, in NumPy's sections."""
    lines = [entry.doc or entry.formula]
    if entry.doc and entry.formula:
        lines += ["", f"``{entry.formula}``"]
    for said in filter(None, (entry.kink, entry.slope)):
        lines += ["", f"{said[0].upper()}{said[1:]}."]
    lines += ["", "Parameters", "----------"]
    operands = {*OPERANDS, *(name for own in _called(entry) for name in own)}
    for each in parameters:
        optional = each.default is not Parameter.empty
        kind = f", default {each.default!r}" if optional else ""
        kind = " : Tensor" if each.name in operands else kind.replace(",", " :", 1)
        lines.append(f"{each.name}{kind}")
        if each.name in MEANING:
            lines.append(f"    {MEANING[each.name]}")
    lines += ["", "Returns", "-------", *_returned(entry)]
    return "\n".join(lines)


def _returned(entry: Op | Composite) -> list[str]:
    if isinstance(entry, Composite):
        return ["Tensor"]
    if entry.returns != 1:
        return ["tuple of Tensor"]
    if entry.partials is not None and len(entry.partials) > 1:
        return ["Tensor", "    Of the shape that the operands broadcast to."]
    if entry.elementwise:
        return ["Tensor", "    Of the input's shape."]
    if "keepdim" in inspect.signature(entry.fwd).parameters:
        return ["Tensor", "    Of the input's shape without what is reduced."]
    return ["Tensor"]


class Parameters:
    """The parameters of a declared function, named ``called`` in errors.

    ``own`` is 1 for a method, whose ``self`` Python counts among the arguments.
    """

    __slots__ = ("called", "defaults", "free", "most", "own", "required")

    def __init__(
        self, called: str, parameters: Iterable[Parameter], own: int = 0
    ) -> None:
        shown = list(parameters)
        names = [each.name for each in shown]
        self.called = called
        self.own = own
        self.defaults = {each.name: each.default for each in shown}
        self.required = [p.name for p in shown if p.default is Parameter.empty]
        self.most = sum(p.kind is not Parameter.KEYWORD_ONLY for p in shown)
        self.free = [frozenset(names[given:]) for given in range(self.most + 1)]

    def bind(self, args: tuple[object, ...], kwargs: Params) -> Params:
        """Return the value of every parameter, in their order.

        Raises:
            TypeError: the call does not fit, in Python's own words.
        """
        given = len(args)
        if given > self.most or not kwargs.keys() <= self.free[given]:
            raise TypeError(self._misfit(given, kwargs))
        values = self.defaults | dict(zip(self.defaults, args, strict=False)) | kwargs
        missing = [n for n in self.required if values[n] is Parameter.empty]
        if missing:
            count, plural = len(missing), "s" * (len(missing) > 1)
            names = [*map(repr, missing)]
            joined = " and ".join([", ".join(names[:-1]), names[-1]][count == 1 :])
            raise TypeError(
                f"{self.called}() missing {count} required positional argument{plural}:"
                f" {joined}"
            )
        return values

    def _misfit(self, given: int, kwargs: Params) -> str:
        """Return the message on a call with superfluous arguments."""
        for name in kwargs:
            if name not in self.defaults:
                said = f"{self.called}() got an unexpected keyword argument {name!r}"
                return f"{said}: {instead(name, [*self.defaults])}"
        if given <= self.most:
            twice = next(name for name in kwargs if name not in self.free[given])
            return f"{self.called}() got multiple values for argument {twice!r}"
        most, least = self.most + self.own, len(self.required) + self.own
        takes = f"from {least} to {most}" if least < most else f"{most}"
        plural = "s" * (most != 1)
        return (
            f"{self.called}() takes {takes} positional argument{plural} but "
            f"{given + self.own} {'was' if given + self.own == 1 else 'were'} given"
        )


SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)


def described(
    method: Run, owner: str, name: str, parameters: Iterable[Parameter]
) -> Run:
    """Return the method with its name and its signature set on it."""
    method.__name__ = name
    method.__qualname__ = f"{owner}.{name}"
    vars(method)["__signature__"] = Signature([SELF, *parameters])
    return method


def constructor(
    owner: str,
    parameters: Sequence[Parameter],
    begin: Callable[[Any, Params], None],
) -> Run:
    """Return the ``__init__`` of a class ``owner`` that takes parameters.

    Args:
        begin: a function of the new object and the dictionary of its parameters.
    """
    bind = Parameters(f"{owner}.__init__", parameters, own=1).bind

    def __init__(self: object, *args: object, **kwargs: object) -> None:
        begin(self, bind(args, kwargs))

    return described(__init__, owner, "__init__", parameters)


def new_class(name: str, bases: tuple[type, ...], members: Params) -> type:
    """Return a class whose module is that of the caller's caller, which declares it."""
    file = sys._getframe(2).f_globals["__name__"]
    return type(name, bases, {"__module__": file, **members})
