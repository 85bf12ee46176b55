"""Optimizers declared by their options and an update rule.

Invariant: a declared optimizer is a class as any other; its constructor takes the
parameters and the options, its groups hold the options in the order in which a saved
state has them, and whatever an option of a name means, and may be, stands in `OPTIONS`.

    SGD = optimizer("SGD", rules.sgd, lr=1e-3, momentum=0, order="lr momentum")
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from ..engine.signatures import constructor, keyword, new_class
from .descent import Descent
from .optimizer import Optimizer
from .options import OPTIONS, Check, check_flags


def optimizer(
    name: str,
    rule: Callable[..., None] | None,
    order: str,
    *,
    base: type[Optimizer] = Descent,
    by_name: str = "",
    unchecked: str = "",
    check: Check | None = None,
    fixed: dict[str, Any] | None = None,
    **options: Any,
) -> type[Optimizer]:
    """A class of optimizers.

    Args:
        name: the class's name.
        rule: what becomes of one parameter; None: the base says how to step.
        order: the options as they stand in a group and in a saved state.
        base: the class that this one is derived from.
        by_name: options that are given by name alone, after all others.
        unchecked: options that `OPTIONS` has a check for, and PyTorch has not here.
        check: checks what no other optimizer has, given all options.
        fixed: options that the constructor does not take.
        options: the constructor's other options and their defaults, in order.
    """
    last = by_name.split()
    kind = Parameter.POSITIONAL_OR_KEYWORD
    shown = [
        Parameter("params", kind),
        *(Parameter(n, kind, default=v) for n, v in options.items() if n not in last),
        *(keyword(n, options[n]) for n in last),
    ]
    checks = [
        (each.name, OPTIONS[each.name].check)
        for each in shown
        if each.name not in unchecked.split()
    ]

    def begin(self: Any, given: dict[str, Any]) -> None:
        for option, may_be in checks:
            if may_be is not None:
                may_be(given[option])
        if check is not None:
            check(given)
        given |= fixed or {}
        chosen = {option: given[option] for option in order.split()}
        check_flags(chosen)
        self._begin(given["params"], chosen)

    meanings = [f"    {each.name}: {OPTIONS[each.name].meaning}." for each in shown]
    doc = (base if rule is None else rule).__doc__
    members: dict[str, Any] = {
        "__doc__": "\n".join([f"{(doc or '').rstrip()}\n\nArgs:", *meanings]),
        "__init__": constructor(name, shown, begin),
    }
    if rule is not None:
        members["update"] = staticmethod(rule)
    return new_class(name, (base,), members)
