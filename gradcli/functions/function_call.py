"""A Python function with its inputs, as the checker runs it again and again: on
tensors, and on terms and tapes.

Invariant: every run starts from fresh leaves with the given values, so that no run sees
what another changed; inputs without a gradient are copied, too. Every run starts from
the same state of the random numbers. On terms a number in which an input has a part
never leaves a tensor unnoticed: a function that takes one out, writes it elsewhere or
casts it to an integer raises `NoMeaning`. What a custom function's ``forward`` computes
is differentiated there, though the engine records nothing.

    call = Call.of(f, (x, w))
    call.outputs(call.leaves())         # the float outputs, in order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from inspect import Parameter, signature
from math import inf, isinf
from typing import Any, Final, TypeVar

import numpy as np

from ..autograd.function import DIRTY_LEAF, Function
from ..check.namespace import ObjectArray, ObjectNamespace
from ..check.subject import objects
from ..check.system import NoMeaning, has_many_digits
from ..check.tape import TapeNamespace
from ..engine.dtypes import dtype
from ..engine.modes import MODE
from ..engine.raw import Host
from ..engine.record import call as call_of
from ..engine.tensor import Tensor
from ..large.blocks import blocks_of, filled, pull
from ..nn.module import Module
from ..torch.draws import get_rng_state, set_rng_state

Found = TypeVar("Found")
Arrays = list[Any]

MORE_OPERATIONS: Final = 8
"""Factor by which a run may take more operations than the first run."""

FEW_OPERATIONS: Final = 1000
"""Number of operations that each run may take in addition."""

NOTHING: Final = (
    "verify expects at least one input tensor to require gradient, but none of them "
    "have requires_grad=True; make it with requires_grad=True"
)


def called_with(module: Module, tensors: dict[str, Tensor], given: list[Any]) -> Any:
    """Return what a module gives with tensors in place of its parameters and buffers,
    by name; a parameter that has several names is replaced under all of them."""
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    instead = {id(own[name]): tensor for name, tensor in tensors.items()}
    places: list[tuple[Any, str, Tensor | None]] = [
        (table, key, x)
        for part in module.modules()
        for table in (part._parameters, part._buffers)
        for key, x in table.items()
        if id(x) in instead
    ]
    try:
        for table, key, x in places:
            table[key] = instead[id(x)]
        return module(*given)
    finally:
        for table, key, x in places:
            table[key] = x


@dataclass(frozen=True, slots=True)
class TensorSlot:
    """A tensor given to each run: an argument, by its position, or a tensor of a
    module, by its name."""

    name: str
    key: int | str
    given: Tensor

    @property
    def varied(self) -> bool:
        return self.given.requires_grad


@dataclass(frozen=True, slots=True)
class Both:
    """A block of the Jacobian as backward gives it, and the true one; rows are the
    entries of all outputs."""

    slot: TensorSlot
    given: Any
    true: Any

    def largest_error(self) -> float:
        """Return the largest error, relative to the largest entry."""
        size = float(np.abs(self.true).max(initial=0.0))
        gap = float(np.abs(self.true - self.given).max(initial=0.0))
        return gap / size if size and np.isfinite(gap) else np.inf if gap else 0.0


class FunctionCall:
    """A function and its arguments, which can be run at other values.

    custom  the custom `Function` that is called; None: it is another function
    slots   the float tensors among the arguments and in a module
    copies  whether the function gets copies of leaves, which it may change in place
    """

    def __init__(
        self, function: Any, arguments: Sequence[object], title: str,
        names: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self.title = title
        self.function = function
        self.arguments = list(arguments)
        self.draws = get_rng_state()
        own = getattr(function, "__self__", function)
        self.custom: type[Function] | None = own if is_custom(own) else None
        self.copies = False
        self.module = function if isinstance(function, Module) else None
        self.run = function.apply if is_custom(function) else function
        self.names = names or _names(function, len(self.arguments))
        self.slots = [
            TensorSlot(self.names[key], key, x)
            for key, x in enumerate(self.arguments)
            if isinstance(x, Tensor) and x.raw.dtype.kind == "f"
        ]
        if self.module is not None:
            held = (*self.module.named_parameters(), *self.module.named_buffers())
            self.slots += [TensorSlot(name, name, x) for name, x in held]
        self.varied = [slot for slot in self.slots if slot.varied]
        if not self.varied:
            raise ValueError(NOTHING)

    @classmethod
    def of(cls, function: object, inputs: object) -> FunctionCall:
        """Return the call of a function with inputs as `gradcheck` takes them."""
        arguments = inputs if isinstance(inputs, tuple | list) else (inputs,)
        name = getattr(function, "__name__", None) or type(function).__name__
        return cls(function, arguments, name)

    def at(self, arguments: Sequence[object]) -> FunctionCall:
        """Return the call of this function at other arguments, with the same names."""
        return FunctionCall(self.function, arguments, self.title, self.names)

    def moved(self, change: Callable[[Any], Any], type_: str) -> FunctionCall:
        """Return the call with changed arguments of one dtype, module unchanged."""
        arguments = list(self.arguments)
        for slot in self.slots:
            if isinstance(slot.key, int):
                values = change(np.asarray(slot.given.raw)).astype(type_)
                arguments[slot.key] = Tensor(values, slot.given.xp, slot.varied)
        return self.at(arguments)

    def name_of(self, number: float) -> str | None:
        """Return the name of the only plain argument equal to a number, or None."""
        pairs = zip(self.names, self.arguments, strict=False)
        found = [
            name
            for name, x in pairs
            if isinstance(x, int | float) and not isinstance(x, bool) and x == number
        ]
        return found[0] if len(found) == 1 else None

    def leaves(self, wanted: Sequence[TensorSlot] | None = None) -> dict[str, Tensor]:
        """Return fresh tensors by name; ``wanted`` ones require a gradient."""
        wanted = self.varied if wanted is None else wanted
        return {
            slot.name: Tensor(_copied(slot.given), slot.given.xp, slot in wanted)
            for slot in self.slots
        }

    def outputs(self, tensors: Mapping[str, Tensor]) -> list[Tensor]:
        """Return the function's outputs that hold floats, from one run.

        Raises:
            TypeError: the function returns something other than tensors.
        """
        given = self.arguments[:]
        for key, x in enumerate(given):
            if isinstance(x, Tensor):
                given[key] = Tensor(_copied(x), x.xp)
        inner = {}
        for slot in self.slots:
            if isinstance(slot.key, int):
                given[slot.key] = tensors[slot.name]
            else:
                inner[slot.key] = tensors[slot.name]
        if self.copies:
            given = [call_of("clone", x) if isinstance(x, Tensor) else x for x in given]
        state = get_rng_state()
        set_rng_state(self.draws)
        try:
            if self.module is not None:
                found = called_with(self.module, inner, given)
            else:
                found = self.run(*given)
        except RuntimeError as error:
            if self.copies or self.custom is None or DIRTY_LEAF not in str(error):
                raise
            # It changes an argument in place, which is not allowed for leaves.
            self.copies = True
            for slot in self.slots:
                tensors[slot.name].raw[...] = slot.given.raw
            return self.outputs(tensors)
        finally:
            set_rng_state(state)
        return [y for y in _tensors(found) if y.raw.dtype.kind in "fO"]

    def narrowest(
        self, run: Callable[[], Found], known: dtype | None = None
    ) -> tuple[Found, dtype]:
        """Return the result of ``run``, and the narrowest float type among its values,
        the inputs and ``known``."""
        seen = {slot.given.dtype for slot in self.slots}
        seen |= set() if known is None else {known}

        def look(
            op: object, inputs: Any, params: object, raw: object, out: object
        ) -> None:
            parts = out if isinstance(out, tuple) else (out,)
            seen.update(y.dtype for y in (*parts, *inputs) if isinstance(y, Tensor))

        with MODE.having(on_call=(*MODE.on_call, look)):
            found = run()
        floats = [each for each in seen if each.is_floating_point]
        return found, min(floats, key=lambda each: each.itemsize)


class OperationLimit(BaseException):
    """The end of a run that takes many more operations than it took with other numbers;
    it is no `Exception`, so that no function catches it."""


class OperationBound:
    """A bound on the operations of later runs, which the first run sets: a loop that
    waits for a tolerance may never end with other numbers."""

    def __init__(self) -> None:
        self.most = inf

    @contextmanager
    def on_run(self) -> Iterator[None]:
        """Count the operations of a run.

        Raises:
            OperationLimit: there are over `MORE_OPERATIONS` times those of the first.
        """
        count = 0

        def look(*call: object) -> None:
            nonlocal count
            count += 1
            if count > self.most:
                raise OperationLimit

        with MODE.having(on_call=(*MODE.on_call, look)):
            yield
        if isinf(self.most):
            self.most = MORE_OPERATIONS * count + FEW_OPERATIONS


class FunctionRun:
    """One run of a function.

    leaves   its float tensors, by name; ``wanted`` those that vary
    outputs  those of its outputs that carry a gradient
    picked   their numbers among all outputs that hold floats
    """

    def __init__(
        self, call: FunctionCall, leaves: Mapping[str, Tensor] | None = None,
        picked: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.leaves = call.leaves() if leaves is None else leaves
        found = call.outputs(self.leaves)
        live = [k for k, y in enumerate(found) if y.edge is not None]
        self.picked = live if picked is None else picked
        self.outputs = [found[k] for k in self.picked]
        self.wanted = [self.leaves[slot.name] for slot in call.varied]

    def values(self) -> Arrays:
        return [np.array(y.detach().raw, np.float64) for y in self.outputs]

    def gradients(self, cotangents: Arrays, of: Sequence[int] | None = None) -> Arrays:
        """Return the gradients by what is wanted, from cotangents of all outputs or of
        those with numbers ``of``."""
        outputs = self.outputs if of is None else [self.outputs[k] for k in of]
        pairs = zip(outputs, cotangents, strict=True)
        seeds = [Tensor(g, y.xp) for y, g in pairs]
        found = filled(pull(outputs, self.wanted, seeds), self.wanted)
        return [np.array(g.detach().raw) for g in found]

    def matrices(self) -> Arrays:
        return matrices(self.outputs, self.wanted)


def matrices(outputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> Arrays:
    """Return the Jacobian by each leaf, with one row for each entry of all outputs."""
    rows = blocks_of(outputs, leaves)
    return [
        np.concatenate([
            np.asarray(row[nr].detach().raw, np.float64).reshape(y.numel(), x.numel())
            for row, y in zip(rows, outputs, strict=True)
        ])
        for nr, x in enumerate(leaves)
    ]  # fmt: skip


def _tensors(found: object) -> Iterator[Tensor]:
    """Yield the tensors in a function's result, which may be nested in tuples, lists
    and dicts."""
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, Mapping):
        yield from _tensors(list(found.values()))
    elif isinstance(found, tuple | list):
        for each in found:
            yield from _tensors(each)
    elif found is not None:
        raise TypeError(
            "verify needs a function that returns tensors, this one returned "
            f"{type(found).__name__}"
        )


def _copied(x: Tensor) -> object:
    return x.xp.clone(x.raw)


def is_custom(made: object) -> bool:
    """Tell whether an object is a custom `Function`."""
    return isinstance(made, type) and issubclass(made, Function)


def parameters_of(function: Any) -> dict[str, Parameter]:
    """Return the parameters of a function, or of a forward without its ``ctx``."""
    takes_ctx = is_custom(function) and (
        function.setup_context is Function.setup_context
    )
    try:
        found = signature(getattr(function, "forward", function)).parameters
    except (TypeError, ValueError):
        return {}
    return dict(list(found.items())[int(takes_ctx) :])


def _names(function: Any, count: int) -> list[str]:
    """Return the arguments' names from the function's signature."""
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    known = parameters_of(function).values()
    names = [p.name if p.kind in plain else None for p in known] + [None] * count
    return [name or f"input{nr}" for nr, name in enumerate(names[:count])]


LEFT: Final = (
    "a number leaves the tensors there (item(), tolist(), float(), numpy() or a "
    "write into an array), so what is made of it has no derivative to look at"
)
MADE_WHOLE: Final = "numbers are cast to {} there, which has no meaning on balls"


class _OfPython:
    """Methods that Python code needs of a namespace beside the table's functions.

    Its floats may have been computed, such as ``1 / n`` or ``math.sqrt(2)``.
    """

    watching: bool

    def __init__(self, system: Any) -> None:
        super().__init__(system)  # type: ignore[call-arg]
        system.inexact = True

    def floats(self, data: Host) -> Host:
        """Return the values of constants as floats; nothing else leaves the tensors."""
        if not _are_known(data):
            raise NoMeaning(LEFT)
        return super().floats(data)  # type: ignore[misc, no-any-return]

    def integer(self, x: Any) -> int:
        return int(self.floats(x.data) if isinstance(x, ObjectArray) else x)

    def stop(self, x: object) -> Any:
        """Return the same values, as constants unless a custom function's forward runs,
        which is differentiated, though it records nothing."""
        if not self.watching or not isinstance(x, ObjectArray):
            return x
        return super().stop(x)  # type: ignore[misc]

    def to_copy(
        self, x: object, dtype: Any, device: object, back: object = None
    ) -> Any:
        """Return a copy in another type; numbers become only floats or booleans."""
        copied = super().to_copy(x, dtype, device, back)  # type: ignore[misc]
        if dtype is None:
            return copied
        kind = np.dtype(dtype).kind
        if not isinstance(x, ObjectArray):
            cast = copied.astype(dtype)
            return self.array(cast) if kind == "f" else cast  # type: ignore[attr-defined]
        if kind == "b":
            return self.ne(x, 0)  # type: ignore[attr-defined]
        if kind != "f" and not all(
            getattr(each, "known", False) for each in x.data.flat
        ):
            raise NoMeaning(MADE_WHOLE.format(dtype))
        return copied if kind == "f" else self.floats(x.data).astype(dtype)


def _are_known(data: Host) -> bool:
    """Tell whether no input has a part in any of these elements."""
    return all(getattr(each, "known", False) for each in data.flat)


class FunctionTerms(_OfPython, ObjectNamespace):
    """The namespace of terms for functions written in Python."""

    def elements(self, x: object) -> Host:
        """Return the numbers of an array as terms; a float stands for itself, not for
        the decimal that it is written as."""
        exact = np.asarray(x) if isinstance(x, np.ndarray | np.generic) else None
        if exact is None or exact.dtype.kind != "f":
            return super().elements(x)
        exactly = (
            n if has_many_digits(n) or not np.isfinite(n) else Fraction(n)
            for n in exact.reshape(-1).tolist()
        )
        return objects(map(self.system.lift, exactly), exact.shape)


class FunctionTape(_OfPython, TapeNamespace):
    """The namespace of a tape for functions written in Python."""
