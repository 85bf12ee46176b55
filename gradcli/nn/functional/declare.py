"""How a function of ``nn.functional`` is made of a row of the table.

Invariant: value, graph, parameters, their order and their defaults are the row's; a
declaration adds only what PyTorch adds to it there: names of the operands, ``inplace``,
``dtype``, the two flags that came before ``reduction``, and checks of sizes.

    softplus = of_row("softplus")               # softplus(input, beta=1.0, ...)
    relu, relu_ = changing("relu")              # relu(input, inplace=False)
    mse_loss = loss("mse_loss", check=same_size)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, cast

from ...engine.changes import change
from ...engine.record import call, function
from ...engine.tensor import Tensor
from ...ops import FUNCTIONS
from ...torch.signatures import Parameters, documented, listed

Function = Callable[..., Any]
run = cast("Callable[..., Tensor]", call)
"""A function of the table, known to give one tensor."""
Check = Callable[[Tensor, Tensor, str], None]
"""A function that refuses two operands and a reduction that do not fit, or warns."""
Flag = bool | None
FLAGS = ("size_average", "reduce")


def published(
    run: Function, name: str, parameters: Sequence[Parameter], of: str | None = None
) -> Function:
    """Give a made function its name, its signature and the row's documentation.

    Args:
        of: the row's name, where that is another.
    """
    run.__name__ = run.__qualname__ = name
    run.__module__ = sys._getframe(2).f_globals["__name__"]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__doc__ = documented(FUNCTIONS[of or name.removesuffix("_")], parameters)
    return run


def _parameters(
    name: str, operands: str = "", hidden: str = "", **defaults: object
) -> tuple[list[Parameter], dict[str, str]]:
    """List a row's parameters under PyTorch's names, and map those to the row's.

    Args:
        operands: PyTorch's names of the first operands, where the row has others.
        hidden: parameters of the row that PyTorch's function has not.
        defaults: defaults that PyTorch's function has for itself.
    """
    own = listed(FUNCTIONS[name])
    named = [
        each.replace(name=given)
        for each, given in zip(own, operands.split(), strict=False)
    ]
    shown = [*named, *own[len(named) :]]
    known = {new.name: old.name for new, old in zip(shown, own, strict=True)}
    shown = [
        each.replace(default=defaults.get(each.name, each.default))
        for each in shown
        if each.name not in hidden.split()
    ]
    return shown, {new: old for new, old in known.items() if new != old}


def of_row(
    name: str,
    operands: str = "",
    hidden: str = "",
    called: str | None = None,
) -> Function:
    """Make a function of the table as it is; see `_parameters`.

    Args:
        called: PyTorch's name of it, where the table has another.
    """
    apply = function(name)
    shown = called or name
    parameters, known = _parameters(name, operands, hidden)

    def run(*args: object, **kwargs: object) -> object:
        if known and kwargs:
            kwargs = {known.get(key, key): value for key, value in kwargs.items()}
        return apply(*args, **kwargs)

    return published(run, shown, parameters, name)


def changing(name: str, hidden: str = "") -> tuple[Function, Function]:
    """Make a function of the table with the parameter ``inplace`` after its own, and
    ``name_``, which always changes its input."""
    apply = function(name)
    parameters, _ = _parameters(name, hidden=hidden)
    kind = Parameter.POSITIONAL_OR_KEYWORD
    both = [*parameters, Parameter("inplace", kind, default=False)]
    bind, count = Parameters(name, both).bind, len(both)

    def run(*args: object, **kwargs: Any) -> Any:
        operands: Any = args
        if len(args) == count and not kwargs:
            *operands, inplace = args
        elif len(args) < count and "inplace" not in kwargs:
            inplace = False
        else:
            *operands, inplace = bind(args, kwargs).values()
            kwargs = {}
        if inplace:
            return run_(*operands, **kwargs)
        return apply(*operands, **kwargs)

    def run_(input: Tensor, *args: object, **kwargs: object) -> Tensor:
        return change(input, lambda old: apply(old, *args, **kwargs))

    return published(run, name, both), published(run_, f"{name}_", parameters)


def along(name: str) -> Function:
    """Make a function of the table along a dimension, which may be left out with a
    warning, and with the type ``dtype`` to compute in."""
    apply = function(name)

    def run(
        input: Tensor,
        dim: int | None = None,
        _stacklevel: int = 3,
        dtype: object = None,
    ) -> Tensor:
        if dim is None:
            warnings.warn(
                f"Implicit dimension choice for {name} has been deprecated. "
                "Change the call to include dim=X as an argument.",
                stacklevel=_stacklevel - 1,
            )
            dim = 0 if input.ndim in (0, 1, 3) else 1
        if dtype is not None:
            input = input.to(dtype)
        out: Tensor = apply(input, dim)
        return out

    return published(run, name, list(signature(run).parameters.values()))


def loss(
    name: str,
    operands: str = "input target",
    *,
    check: Check | None = None,
    flags: str = "reduction",
    **defaults: Any,
) -> Function:
    """Make a loss of the table, with the two flags that came before ``reduction``.

    Args:
        check: is given the first two operands and the reduction.
        flags: the parameter that ``size_average`` comes before (``reduce`` comes
            before ``reduction``); empty: the function never had them.
    """
    parameters, _ = _parameters(name, operands, **defaults)
    if flags:
        for flag, before in (("size_average", flags), ("reduce", "reduction")):
            at = [each.name for each in parameters].index(before)
            parameters.insert(at, parameters[at].replace(name=flag, default=None))
    bind = Parameters(name, parameters).bind
    apply = function(name)
    count = sum(each.default is Parameter.empty for each in parameters)
    options = {p.name: p.default for p in parameters[count:] if p.name not in FLAGS}

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) == count and kwargs.keys() <= options.keys():  # as most calls are
            if check is not None:
                check(args[0], args[1], kwargs.get("reduction", "mean"))
            if kwargs:
                args += tuple(
                    [kwargs.get(n, default) for n, default in options.items()]
                )
            return apply(*args)
        given = bind(args, kwargs)
        if flags:
            older = given.pop("size_average"), given.pop("reduce")
            given["reduction"] = reduction_of(*older, given["reduction"])
        values = [*given.values()]
        if check is not None:
            check(values[0], values[1], given["reduction"])
        return apply(*values)

    return published(run, name, parameters)


def reduction_of(
    size_average: Flag, reduce: Flag, reduction: str, stacklevel: int = 3
) -> str:
    """Give the reduction that the two older flags mean, where one is given."""
    if size_average is None and reduce is None:
        return reduction
    summed = "sum" if size_average is False else "mean"
    meant = "none" if reduce is False else summed
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{meant}' instead.",
        stacklevel=stacklevel,
    )
    return meant


def same_size(input: Tensor, target: Tensor, reduction: str) -> None:
    """Warn of a target that is broadcast."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input "
            f"size ({input.size()}). This will likely lead to incorrect results due "
            "to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def one_target_each(input: Tensor, target: Tensor, reduction: str) -> None:
    """Demand a target of the input's size."""
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size "
            f"({input.size()})"
        )


def class_numbers(input: Tensor, target: Tensor, reduction: str) -> None:
    """Demand classes that are integers, one for each item of the batch."""
    if input.ndim > 1 and target.ndim and input.raw.shape[0] != target.raw.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if target.dtype.code not in ("i8", "u1"):
        raise RuntimeError(f"classes are Long or Byte, not {target.dtype.legacy}")


def classes_or_probabilities(input: Tensor, target: Tensor, reduction: str) -> None:
    if target.shape != input.shape:
        class_numbers(input, target, reduction)
    elif not target.is_floating_point():
        raise RuntimeError(f"probabilities are floats, not {target.dtype.legacy}")
