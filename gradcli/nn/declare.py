"""What layers are declared by: constructor, function and text.

Invariant: a declared layer is a class as any other: it can be derived from, copied and
pickled, and its options are attributes that may be set at any time. `module` makes one
of one function, whose parameters after the operands the constructor takes; ``head``
begins the constructor of one that has tensors of its own, made with `add_parameters`.

    Softplus = module("Softplus", F.softplus)
    Softplus(beta=2.0)(x)                       # F.softplus(x, 2.0, 20.0)

    class Linear(Module):
        @head("bias")
        def __init__(self, inputs, outputs, bias=True, device=None, dtype=None):
            add_parameters(self, device, dtype, weight=(outputs, inputs),
                           bias=(outputs,) if bias else None)

        forward = applying(F.linear)        # F.linear(input, self.weight, self.bias)
        extra_repr = saying("{inputs}, {outputs}", bias=True)
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from operator import attrgetter
from string import Formatter
from typing import Any, ClassVar, TypeVar

from ..engine.raw import Params
from ..engine.record import function as of_row
from ..engine.tensor import Tensor
from ..ops import FUNCTIONS
from ..torch.creation import empty
from ..torch.signatures import Parameters, constructor, described, listed, new_class
from . import parameter
from .functional.declare import FLAGS, Flag, reduction_of
from .functional.layers import check_probability
from .module import Module

Function = Callable[..., object]
F = TypeVar("F", bound=Callable[..., None])

PLACE = ("device", "dtype")
"""Parameters that say where tensors are made, and are no attributes."""

Sizes = int | Sequence[int]
"""Type of a size for all spatial dimensions, or for each."""

MODE = "training"
"""The parameter that is the module's mode."""


def each(value: Sizes, rank: int) -> tuple[int, ...]:
    """Repeat one number for every spatial dimension; several stay as they are."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


def head(*left_out: str) -> Callable[[F], F]:
    """Let a constructor set its parameters as attributes before its body runs; those
    that are ``left_out``, and the place of tensors, are none."""

    def declared(init: F) -> F:
        shown = [*inspect.signature(init).parameters.values()][1:]
        owner = init.__qualname__.partition(".")[0]
        kept = [p.name for p in shown if p.name not in (*PLACE, *left_out)]

        @wraps(init)
        def run(self: object, *args: object, **kwargs: object) -> None:
            # Users see the class that is derived from a base which is not public.
            kind = type(self).__name__ if owner.startswith("_") else owner
            given = Parameters(f"{kind}.__init__", shown, own=1).bind(args, kwargs)
            mro: Any = type(self).__mro__
            at = next(i for i, c in enumerate(mro) if vars(c).get("__init__") is run)
            super(mro[at], self).__init__()
            for name in kept:
                object.__setattr__(self, name, given[name])
            init(self, **given)

        return run  # type: ignore[return-value]  # with the constructor's signature

    return declared


def applying(
    function: Function,
    operands: int = 1,
    options: Sequence[str] | None = None,
    *,
    parameters: Sequence[Parameter] | None = None,
    owner: str | None = None,
) -> Function:
    """Make a ``forward`` that applies a function to its operands and to attributes.

    Args:
        function: what is applied.
        operands: how many of its parameters ``forward`` takes.
        options: the attributes, named as parameters; None: all other parameters.
        parameters: the function's; None: as its signature says.
        owner: the class's name; None: the class whose body this is called in.
    """
    if parameters is None:
        parameters = parameters_of(function)
    others = [each.name for each in parameters[operands:]]
    names = others if options is None else list(options)
    in_order = names == others[: len(names)] and not any(
        each.kind is each.KEYWORD_ONLY for each in parameters
    )
    taken = parameters[:operands]
    attributes = _getter(names)

    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        if named or len(inputs) != operands:
            bind = Parameters(f"{type(self).__name__}.forward", taken, own=1).bind
            inputs = tuple(bind(inputs, named).values())
        if in_order:
            return function(*inputs, *attributes(self))
        return function(*inputs, **dict(zip(names, attributes(self), strict=True)))

    if owner is None:
        owner = sys._getframe(1).f_locals["__qualname__"]
    return described(forward, owner, "forward", taken)


def parameters_of(function: Function) -> list[Parameter]:
    """List a function's parameters except ``out``, which no layer has."""
    every = inspect.signature(function).parameters.values()
    return [each for each in every if each.name != "out"]


def _getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a function that reads attributes, always as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda each: tuple([getattr(each, name) for name in names])


def saying(text: str, **usual: object) -> Callable[[Module], str]:
    """Make an ``extra_repr`` that fills in attributes.

    Args:
        text: a format, with attributes by name; ``bias`` is whether there is one.
        usual: attributes that are shown only where they are not as usual; a tuple is
            where all of its entries are.
    """
    names = [name for _, name, _, _ in Formatter().parse(text) if name]

    def extra_repr(self: Module) -> str:
        values = {name: getattr(self, name) for name in (*names, *usual)}
        if "bias" in values and not isinstance(values["bias"], bool):
            values["bias"] = values["bias"] is not None
        parts = [text.format_map(values)] if text else []
        for name, default in usual.items():
            value = values[name]
            entries = value if isinstance(value, tuple) else ()
            if value != default and {*entries} != {default}:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

    return extra_repr


def add_parameters(
    module: Module, device: object, dtype: object, **shapes: tuple[int, ...] | None
) -> None:
    """Register parameters of given shapes, to be filled; None: a name without one."""
    for name, shape in shapes.items():
        made = None
        if shape is not None:
            made = parameter.Parameter(empty(shape, device=device, dtype=dtype))
        module.register_parameter(name, made)


def begin_weights(
    module: Any, device: object, dtype: object, **shapes: tuple[int, ...] | None
) -> None:
    """Register parameters as `add_parameters` does, and fill them."""
    add_parameters(module, device, dtype, **shapes)
    module.reset_parameters()


class Applied(Module):
    """A function of some operands with options, as a module.

    A family's base says what its members have in common:

    operands           how many of the function's parameters ``forward`` takes
    order              the constructor's parameters, where their order is another
    hidden             parameters of the function that the module does not set
    constructor_only   parameters that are settled there, and are no attributes
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
        if self.__dict__.get("inplace"):
            names.append("inplace")
        return ", ".join([f"{name}={getattr(self, name)}" for name in names])


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
        keyword_only: whether the constructor takes options only by name.
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
    kind = Parameter.KEYWORD_ONLY if keyword_only else Parameter.POSITIONAL_OR_KEYWORD
    given = {
        each.name: each.replace(
            default=defaults.get(each.name, each.default), kind=kind
        )
        for each in parameters[count:]
        if each.name not in left_alone
    }
    if unknown := defaults.keys() - given.keys():
        raise TypeError(f"{name}: its function has no {', '.join(sorted(unknown))}")
    taken = [n for n in given if n != MODE]
    taken = taken if base.order is None else base.order.split()
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


# what members of a family have in common


class _Along(Applied):
    """A function along a dimension; its warnings point at the module's caller."""

    order = "dim"
    hidden = "dtype"
    extra_repr = saying("dim={dim}")
    _stacklevel = 5


class _DropoutNd(Applied):
    """A function that sets entries to 0 by chance."""

    extra_repr = saying("p={p}, inplace={inplace}")

    @classmethod
    def _settle(cls, given: Params) -> None:
        check_probability(given["p"])


WINDOWS = "kernel_size={kernel_size}, stride={stride}, padding={padding}"


class _AvgPoolNd(Applied):
    """The mean of each window; without a stride windows lie side by side."""

    extra_repr = saying(WINDOWS)

    @classmethod
    def _settle(cls, given: Params) -> None:
        if given["stride"] is None:
            given["stride"] = given["kernel_size"]


class _AvgPool1d(_AvgPoolNd):
    """The mean of each window of a sequence; sizes are kept as tuples."""

    @classmethod
    def _settle(cls, given: Params) -> None:
        super()._settle(given)
        for name in ("kernel_size", "stride", "padding"):
            given[name] = each(given[name], 1)


class _MaxPoolNd(_AvgPoolNd):
    """The largest entry of each window."""

    order = "kernel_size stride padding dilation return_indices ceil_mode"
    extra_repr = saying(f"{WINDOWS}, dilation={{dilation}}, ceil_mode={{ceil_mode}}")


class _Adaptive(Applied):
    """A function over as many windows as are asked for."""

    extra_repr = saying("output_size={output_size}")


class _Loss(Applied):
    """A loss; ``reduction`` says how the losses of the entries are put together."""

    operands = 2
    constructor_only = FLAGS
    extra_repr = saying("")
    weights = ("weight", "pos_weight")
    """Options that are tensors, and so buffers of the module."""
    reduction: str

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        self._keep({"reduction": reduction_of(size_average, reduce, reduction)})

    @classmethod
    def _settle(cls, given: Params) -> None:
        if "reduce" in given:
            flags = given.pop("size_average"), given.pop("reduce")
            given["reduction"] = reduction_of(*flags, given["reduction"], 4)

    def _keep(self, given: Params) -> None:
        tensors = {name: given.pop(name) for name in self.weights if name in given}
        super()._keep(given)
        for name, value in tensors.items():
            self.register_buffer(name, value)


class _WeightedLoss(_Loss):
    """A loss whose entries or classes count by a weight."""

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None,
        reduce: Flag = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
