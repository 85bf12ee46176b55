"""Optimizers declared by their options and an update rule.

Invariant: a declared optimizer is a class as any other; its constructor takes the
parameters and the options, its groups hold the options in the order in which a saved
state has them, and whatever an option of a name means, may be and is by default stands
in `OPTIONS`.

    Adamax = optimizer("Adamax", rules.adamax, "lr betas eps weight_decay", lr=2e-3)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter

from ..engine.raw import Params
from ..engine.signatures import constructor, keyword, new_class
from .descent import Descent
from .optimizer import Optimizer
from .options import OPTIONS, Check, check_flags


def optimizer(
    name: str,
    rule: Callable[..., None] | None,
    order: str,
    *,
    takes: str = "",
    base: type[Optimizer] = Descent,
    unchecked: str = "",
    check: Check | None = None,
    fixed: Params | None = None,
    **options: object,
) -> type[Optimizer]:
    """Make a class of optimizers.

    Args:
        name: the class's name.
        rule: what becomes of one parameter; None: the base says how to step.
        order: the options as they stand in a group and in a saved state.
        takes: the constructor's options in order, those after ``*`` by name alone;
            empty: the order of a group.
        base: the class that this one is derived from.
        unchecked: options that `OPTIONS` has a check for, and PyTorch has not here.
        check: checks what no other optimizer has, given all options.
        fixed: options that the constructor does not take.
        options: defaults that are not the options' own.
    """
    by_place, _, by_name = (takes or order).partition("*")
    defaults = {name: option.default for name, option in OPTIONS.items()} | options
    kind = Parameter.POSITIONAL_OR_KEYWORD
    shown = [
        Parameter("params", kind),
        *(Parameter(n, kind, default=defaults[n]) for n in by_place.split()),
        *(keyword(n, defaults[n]) for n in by_name.split()),
    ]
    checks = [
        (each.name, OPTIONS[each.name].check)
        for each in shown
        if each.name not in unchecked.split()
    ]

    def begin(self: Optimizer, given: dict[str, object]) -> None:
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
    members: Params = {
        "__doc__": "\n".join([f"{(doc or '').rstrip()}\n\nArgs:", *meanings]),
        "__init__": constructor(name, shown, begin),
    }
    if rule is not None:
        members["update"] = staticmethod(rule)
    return new_class(name, (base,), members)
