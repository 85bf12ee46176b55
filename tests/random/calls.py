"""Calls of every public function, as the cases of the table make them.

Invariant: nothing here names an operation. A function's calls are its own cases and
those of the rows that it chooses from, with the rows' parameters under the names of the
function's own; a row that is entered with cases is drawn from that moment on.

    calls_of("gather")[0]
    # Call("gather", (("x", Slot((3, 4), ...)), ("dim", Written(0)), ...), ())
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from inspect import CO_VARARGS
from typing import Any

from gradcli.ops import FUNCTIONS, Case, Fixed
from gradcli.ops.op import Composite, Op, overloads, parameters

INSIDE = ("at_least", "backward", "positions", "shares", "transposed", "weight")
"""Overloads that no caller writes: steps of other rules."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a tensor of a shape."""

    shape: tuple[int, ...]
    case: Case


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor that the case fixes: positions, a mask, a target."""

    value: Any


@dataclass(frozen=True, slots=True)
class Several:
    """A list of tensors, handed over as one argument."""

    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A parameter that is no tensor, as it is."""

    value: Any


Argument = Slot | Given | Several | Written


@dataclass(frozen=True, slots=True)
class Call:
    """A function with the arguments of a case, in the function's own order.

    Each positional argument stands with the name of its parameter, if it has one.
    """

    name: str
    positional: tuple[tuple[str, Argument], ...]
    named: tuple[tuple[str, Argument], ...]


@cache
def calls_of(name: str) -> tuple[Call, ...]:
    """The calls of a public function that its cases and its rows' cases make."""
    entry = FUNCTIONS[name]
    found = [_call(entry, entry, case) for case in entry.cases]
    for op in overloads(name):
        overload = op.name[len(name) + 1 :]
        if op is not entry and overload not in INSIDE:
            found += [_call(entry, op, case) for case in op.cases]
    return tuple(found)


@cache
def functions() -> tuple[str, ...]:
    """The public functions that have a call, by name."""
    named = [name for name in FUNCTIONS if not name.startswith("_")]
    return tuple(n for n in named if calls_of(n) and not is_question(FUNCTIONS[n]))


def is_question(entry: Op | Composite) -> bool:
    """Whether the answer is a plain one, and no tensor."""
    return isinstance(entry, Op) and entry.query


def _call(entry: Op | Composite, op: Op | Composite, case: Case) -> Call:
    public, mine = list(parameters(entry)), list(parameters(op))
    inputs = [_argument(value, case) for value in case.inputs]
    params = {
        name: _parameter(value)
        for name, value in case.params.items()
        if name != "input_sizes"
    }
    if takes_any_number(entry) or public[0] == "tensors":
        return _many(public[: ahead(entry)], inputs, params, entry.name)
    named = dict(zip(mine, inputs, strict=False)) | params
    return _arranged(entry, public, named)


def ahead(entry: Op | Composite) -> int:
    """How many parameters may be given by position."""
    code = (entry.fwd if isinstance(entry, Op) else entry.build).__code__
    return code.co_argcount - 1


def takes_any_number(entry: Op | Composite) -> bool:
    """Whether tensors are handed over one after the other, as many as one likes."""
    if isinstance(entry, Op):
        return entry.variadic
    return bool(entry.build.__code__.co_flags & CO_VARARGS)


def _many(
    public: list[str], inputs: list[Argument], params: dict[str, Argument], name: str
) -> Call:
    """A call of as many tensors as one likes: in a list, or one after the other."""
    positional: list[tuple[str, Argument]] = []
    while public and public[0] in params:
        positional.append(("", params.pop(public.pop(0))))
    if public and public[0] == "tensors":
        slots = tuple(i for i in inputs if isinstance(i, Slot))
        inputs = [Several(slots)]
    positional += [("", each) for each in inputs]
    return Call(name, tuple(positional), tuple(params.items()))


def _arranged(
    entry: Op | Composite, public: list[str], named: dict[str, Argument]
) -> Call:
    """The arguments in the public function's order, each under its name there."""
    own = {p: named[p] for p in public if p in named}
    rest = [a for p, a in named.items() if p not in own]
    for parameter in public:
        if parameter not in own and rest:
            own[parameter] = rest.pop(0)
    positional: list[tuple[str, Argument]] = []
    for parameter in public:
        if parameter not in own:
            break
        name = parameter if parameter != entry.star else ""
        positional.append((name, own.pop(parameter)))
    return Call(entry.name, tuple(positional), tuple(own.items()))


def _argument(value: Any, case: Case) -> Argument:
    if isinstance(value, Fixed):
        plain = value.value is None or isinstance(value.value, str)
        return Written(value.value) if plain else Given(value.value)
    return Slot(tuple(value), case)


def _parameter(value: Any) -> Argument:
    return Given(value) if isinstance(value, list) else Written(value)
