"""The library of tensors, which lets the machine run programs on the engine.

Functions are the table's public ones and a few constructors; methods are the same
functions with the tensor as the first operand. A call on plain numbers returns a tensor
of the run's dtype. Each recorded node keeps the span of the step that recorded it.

    library = TensorLibrary(Factory(NUMPY, "float64", seed=0))
    run(compile_program(parse("y = sin(x)")), {"x": x}, library)
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from ..engine import AccumulateGrad, Node, Port, RecordingMode, Tensor, function
from ..engine.beside import holds
from ..engine.call import NamedResult
from ..engine.errors import CallError
from ..engine.modes import MODE, renewing
from ..engine.operators import TRANSPOSES
from ..ops import ALIASES, FUNCTIONS, VIEW, Op, defaults, offered, parameters
from .derivatives import derivative, followed
from .errors import ProgramError, Span
from .factory import CONSTRUCTORS, Draws, Factory
from .fields import field_derivative
from .maxima import MAX_LIST_DEPTH

if TYPE_CHECKING:
    from .wording import Explanation

CONSTANTS: dict[str, object] = {
    "pi": math.pi,
    "Pi": math.pi,
    "inf": math.inf,
    "nan": math.nan,
    "e": math.e,
    "tau": math.tau,
    "π": math.pi,
}
"""Values of names that have neither an assignment in the program nor a binding."""

_ATTRIBUTES: dict[str, Callable[[Tensor], object]] = {
    **{name: attrgetter(name) for name in TRANSPOSES},
    "data": lambda x: function("detach")(x),
    "device": lambda x: x.xp.device,
    "dtype": lambda x: str(x.raw.dtype),
    "is_leaf": lambda x: x.is_leaf,
    "ndim": lambda x: x.ndim,
    "requires_grad": lambda x: x.requires_grad,
    "shape": lambda x: tuple(x.raw.shape),
}
_OWN_METHODS = ("dim", "item", "numel", "size")
_CASTS = ("float", "double")


class Functions(Mapping[str, Callable[..., object]]):
    """A mapping from names to functions; each is made when it is first looked up."""

    def __init__(self, factory: Factory, draws: Draws) -> None:
        self._factory = factory
        self._ready = factory.constructors(draws)
        made = self._ready["tensor"]
        self._ready["tensor"] = lambda data, **named: (
            made(data, **named) if (one := joined(data, factory)) is None else one
        )
        self._methods: dict[str, Callable[..., object]] = {}
        self.notes: dict[str, None] = {}
        """Notes on ambiguous calls of a run, in order."""

    def __getitem__(self, name: str) -> Callable[..., object]:
        found = self._ready.get(name)
        if found is None:
            found = self._ready[name] = self._written(public_name(name))
        return found

    def of_tensor(self, name: str) -> Callable[..., object]:
        """Return the function of a method, which is always the table's own one."""
        found = self._methods.get(name)
        if found is None:
            own = public_name(name)
            made = self._lifting(function(own))
            if FUNCTIONS[own].further or _goes_along(own):
                made = self[own]
            found = self._methods[name] = made
        return found

    def _written(self, name: str) -> Callable[..., object]:
        """Return a function as a program calls it: by `further` and `of_number` of the
        table, a second argument can select another function."""
        entry = FUNCTIONS[name]
        call = self._lifting(function(name), -1 if entry.literal else 0)
        if _goes_along(name):
            return partial(self._along, name, call)
        if not (entry.further or entry.of_number):
            return call
        other = self[entry.further or entry.of_number]

        def either(*args: object, **keywords: object) -> object:
            if entry.further:
                more = len(args) == 2 or "base" in keywords
                return (other if more else call)(*args, **keywords)
            if len(args) == 2 and not keywords and _is_number(args[1]):
                x, number = args
                if type(x) is Tensor and not x.ndim:
                    return other(x, number)
                if type(x) is Tensor and isinstance(number, int):
                    self.notes[
                        f"{name}(x, {number}) of an array is that along dimension "
                        f"{number}; entry by entry it is {entry.of_number}(x, {number})"
                    ] = None
            return call(*args, **keywords)

        return either

    def _along(
        self, name: str, call: Callable[..., object], *args: object, **keywords: object
    ) -> object:
        """Return a call along a dimension, which for a vector may be left out.

        Raises:
            CallError: it is left out for an array of several dimensions.
        """
        if len(args) == 1 and keywords.keys().isdisjoint(("dim", "axis")):
            x = _or_itself(args[0], vector_of, self._factory)
            if isinstance(x, Tensor) and x.ndim == 1:
                return call(x, 0, **keywords)
            if isinstance(x, Tensor) and x.ndim > 1:
                message = f"{name}() of shape {list(x.shape)} goes along a dimension"
                way = f"{name}(x, 0) goes down the columns, {name}(x, 1) along the rows"
                if x.ndim > 2:
                    way = f"write {name}(x, 0) to {name}(x, {x.ndim - 1})"
                raise CallError(message, ("x", "dim"), way_out=way)
        return call(*args, **keywords)

    def __contains__(self, name: object) -> bool:
        return name in self._ready or is_function(str(name))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._ready, *offered(), *ALIASES)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _lifting(
        self, call: Callable[..., object], at: int = 0
    ) -> Callable[..., object]:
        """Return a function of tensors that also takes numbers and lists of numbers;
        the operand ``at`` is a tensor where all of them are numbers."""
        factory = self._factory

        def lifted(*args: object, **keywords: object) -> object:
            if args and type(args[0]) is not Tensor and _is_data(args, keywords):
                where = 0 if isinstance(args[0], list | tuple) else at % len(args)
                lift = factory.constant(factory.numbers_of(args[where]))
                args = (*args[:where], lift, *args[where + 1 :])
            if list in map(type, args):
                args = tuple([of_rows(arg, factory) for arg in args])
            try:
                return call(*args, **keywords)
            except Exception as error:
                # A function that does not take lists is called with vectors.
                either = [joined(a, factory) for a in (*args, *keywords.values())]
                if all(each is None for each in either):
                    raise
                problem = error
            for of_list in (joined, vector_of):
                made = [_or_itself(arg, of_list, factory) for arg in args]
                named = {k: _or_itself(v, joined, factory) for k, v in keywords.items()}
                try:
                    return call(*made, **named)
                except Exception as error:
                    problem = error if of_list is joined else problem
            raise problem

        return lifted


def _goes_along(name: str) -> bool:
    """Return whether a function needs a dimension of its operand, and nothing else."""
    entry = FUNCTIONS[name]
    if not isinstance(entry, Op) or entry.memory is VIEW:
        return False
    optional = defaults(entry)
    return [n for n in parameters(entry) if n not in optional][1:] == ["dim"]


def of_rows(arg: object, factory: Factory) -> object:
    """Return a list of lists, in which there are tensors, as a list of tensors; return
    anything else as it is."""
    if not isinstance(arg, list):
        return arg
    if not any(isinstance(row, list) and holds(Tensor, row) for row in arg):
        return arg
    made = [vector(row, factory) if isinstance(row, list) else row for row in arg]
    return arg if any(row is None for row in made) else made


def vector_of(arg: object, factory: Factory) -> Tensor | None:
    """Return a list as one tensor; None if it cannot be one, or is no list."""
    return vector(arg, factory) if isinstance(arg, list) else None


def _or_itself(
    arg: object, of_list: Callable[[object, Factory], Tensor | None], factory: Factory
) -> object:
    made = of_list(arg, factory)
    return arg if made is None else made


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def joined(items: object, factory: Factory, depth: int = 0) -> Tensor | None:
    """Return a list with tensors in it as one tensor; None if it is anything else."""
    if not isinstance(items, list) or depth > MAX_LIST_DEPTH:
        return None
    inner = [joined(item, factory, depth + 1) for item in items]
    parts = [a if b is None else b for a, b in zip(items, inner, strict=True)]
    if not any(isinstance(part, Tensor) for part in parts):
        return None
    if not all(_is_number(part) or isinstance(part, Tensor | list) for part in parts):
        return None
    made = [p if isinstance(p, Tensor) else numbers(p, factory) for p in parts]
    if len({None if part is None else tuple(part.shape) for part in made}) > 1:
        return None
    stacked: Tensor = function("stack")(made)
    return stacked


def numbers(value: object, factory: Factory) -> Tensor | None:
    """Return a number or a list of numbers as a tensor; None if it is anything else."""
    try:
        return factory.constant(factory.numbers_of(value))
    except ProgramError:
        return None


def vector(items: list[object], factory: Factory) -> Tensor | None:
    """Return a list of numbers and tensors, or of such lists, as one tensor; None if it
    cannot be one."""
    found = joined(items, factory)
    return numbers(items, factory) if found is None and items else found


def public_name(name: str) -> str:
    """Return the table's name of a function, from any of its spellings.

    Raises:
        KeyError: no public function has this spelling.
    """
    if not is_function(name):
        raise KeyError(name)
    return ALIASES.get(name, name)


def is_function(name: str) -> bool:
    """Return whether a name is that of a public function of the table."""
    entry = FUNCTIONS.get(ALIASES.get(name, name))
    return entry is not None and not entry.internal


def _is_data(args: tuple[object, ...], keywords: dict[str, object]) -> bool:
    """Return whether the first argument is numbers that must become a tensor."""
    first = args[0]
    if isinstance(first, int | float):
        beside = (*args[1:], *keywords.values())
        return not any(type(other) is Tensor for other in beside)
    # A list that has tensors, as for `cat`, or strings, or is empty, stays a list.
    if not isinstance(first, list | tuple) or not first:
        return False
    return not (any(isinstance(item, str) for item in first) or holds(Tensor, first))


class TensorLibrary:
    """The functions, methods and values of one run, for the machine.

    functions  the functions by name; those of a module have names like `linalg.inv`
    constants  values by name; a program or a binding can still redefine these names
    sampled    the inputs that were drawn at random
    """

    def __init__(self, factory: Factory, stream: str = "") -> None:
        self.factory = factory
        self.draws = Draws(factory, stream)
        self.functions = Functions(factory, self.draws)
        self.constants: Mapping[str, object] = CONSTANTS
        self.sampled: Mapping[str, Tensor] = {}

    @property
    def doubts(self) -> Sequence[Callable[[], None]]:
        """Return the checks of values that a GPU has put off."""
        put_off: Sequence[Callable[[], None]] = self.factory.xp.doubts
        return put_off

    def settle(self) -> None:
        """Make the checks that were put off."""
        self.factory.xp.settle()

    def method(self, value: object, name: str) -> Callable[..., object] | None:
        """Return the bound method of a value, or None if it has none of that name."""
        if not isinstance(value, Tensor):
            return None
        if name in _OWN_METHODS:
            own: Callable[..., object] = getattr(value, name)
            return own
        if name in _CASTS:
            return partial(self._cast, value)
        if name not in self.functions or name in CONSTRUCTORS:
            return None
        return partial(self.functions.of_tensor(name), value)

    def vector(self, items: list[object]) -> Tensor | None:
        """Return the value of a list as an operand, or None if it cannot be one."""
        return vector(items, self.factory)

    def followed(self, value: object, moved: bool = False) -> object:
        """Return a value as a tensor that derivatives can be taken by, with an edge of
        its own if it was ``moved`` from another name; what is no number as it is."""
        tensor = self._as_tensor(value)
        return value if tensor is None else followed(tensor, moved)

    def derivative(self, value: object, given: object, name: str) -> Tensor:
        """Return the recorded derivative of a value by the followed value of a name."""
        found = derivative(self._as_tensor(value), given, name)
        return found if MODE.enabled else found.detach()

    def field_derivative(
        self, kind: str, value: object, at: Sequence[tuple[str, object]], named: bool
    ) -> Tensor:
        """Return the divergence, the curl or the Laplacian of a value by coordinates,
        by name and followed value; None for one that nothing depends on."""
        known = [(n, None if x is None else self._as_tensor(x)) for n, x in at]
        found = field_derivative(kind, self._as_tensor(value), known, named)
        return found if MODE.enabled else found.detach()

    def _as_tensor(self, value: object) -> Tensor | None:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, list):
            return self.vector(value)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        return numbers(value, self.factory) if plain else None

    def _cast(self, value: Tensor) -> Tensor:
        """Return a tensor of truth values or integers as one of the run's dtype."""
        if value.raw.dtype.kind not in "biu":
            return value
        like = self.factory.raw(0.0)
        return Tensor(self.factory.xp.as_type_of(value.raw, like), value.xp)

    def attribute(self, value: object, name: str) -> tuple[bool, object]:
        """Return whether the value has the attribute, and the attribute or None."""
        if isinstance(value, Tensor) and name in _ATTRIBUTES:
            return True, _ATTRIBUTES[name](value)
        if isinstance(value, NamedResult) and name in value.fields:
            return True, getattr(value, name)
        return False, None

    def method_names(self, value: object) -> Iterable[str]:
        if isinstance(value, Tensor):
            functions = [n for n in self.functions if n not in CONSTRUCTORS]
            return (*_ATTRIBUTES, *_OWN_METHODS, *_CASTS, *functions)
        return value.fields if isinstance(value, NamedResult) else ()

    grad_mode = staticmethod(RecordingMode)
    changing = staticmethod(renewing)

    def copied(self, value: object) -> object:
        """Return a copy that may be changed in place; or the value if none can be."""
        if not isinstance(value, Tensor) or value.requires_grad:
            return value
        return Tensor(value.raw, value.xp)

    def truth(self, value: object) -> bool:
        return bool(value)

    def on_result(self, value: object, span: Span) -> None:
        """Record the result of an operator, function or method, with its span."""
        if type(value) is Tensor:
            edge = value.edge
            if edge is not None and not isinstance(edge, AccumulateGrad):
                node = edge.node if isinstance(edge, Port) else edge
                if node.span is None:
                    _remember(node, span)
        elif isinstance(value, tuple):
            for part in value:
                self.on_result(part, span)

    def explain(
        self, error: Exception, kind: str, name: str, args: tuple[object, ...]
    ) -> "Explanation | None":
        """Return code, message and hint for an exception, or None for general wording;
        ``kind`` is an origin's, and ``args`` what the step was applied to."""
        from .wording import explain

        return explain(error, kind, name, args, self.sampled)


def _remember(node: Node, span: Span) -> None:
    """Set the span of a node and of the nodes below it that have none yet."""
    node.span = span
    waiting = [node]
    while waiting:
        for edge in waiting.pop().edges:
            if edge is None or isinstance(edge, AccumulateGrad):
                continue
            below = edge.node if isinstance(edge, Port) else edge
            if below.span is None:
                below.span = span
                waiting.append(below)
