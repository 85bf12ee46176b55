"""Rules that turn exceptions of the engine into a code, a message and a hint.

This module is loaded only when an exception was raised. The first rule that applies
words the error; any other exception is left to the machine's general wording.

    explain(ShapeError(...), "operator", "+", (x, y), {})
    # ("E303", "shapes [2, 3] and [4] do not broadcast: ...", None)
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..engine import Tensor
from ..engine.errors import (
    CallError,
    DeviceError,
    LimitError,
    LinAlgError,
    ShapeError,
    ValueRangeError,
)
from ..ops import ALIASES, FUNCTIONS, checks
from .errors import MORE_MEMORY, OTHER_ARGUMENTS
from .plain import described
from .suggest import did_you_mean

Explanation = tuple[str, str, str | None]
"""The code, the message and the hint of an error."""

Sampled = Mapping[str, Tensor]

_PLAIN = (int, float, str, list, tuple, range)
_BROADCASTING = frozenset({"+", "-", "*", "/", "//", "%", "**"})


class Failure(NamedTuple):
    """An exception, and the operation and arguments that raised it."""

    error: Exception
    kind: str
    name: str
    args: tuple[Any, ...]

    @property
    def tensors(self) -> list[Tensor]:
        return [value for value in self.args if isinstance(value, Tensor)]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(tensor.shape) for tensor in self.tensors]

    @property
    def text(self) -> str:
        """The exception's own message, without a capital letter at its beginning."""
        text = str(self.error) or type(self.error).__name__
        starts_a_sentence = text[:1].isupper() and text[1:2].islower()
        return text[:1].lower() + text[1:] if starts_a_sentence else text

    @property
    def list_hint(self) -> str | None:
        """A hint to join a list of tensors among the arguments; None without such."""
        lists = (value for value in self.args if isinstance(value, list | tuple))
        if any(isinstance(item, Tensor) for items in lists for item in items):
            return "join tensors first: stack([a, b]) or cat([a, b])"
        return None


def explain(
    error: Exception, kind: str, name: str, args: tuple[object, ...], sampled: Sampled
) -> Explanation | None:
    """Return code, message and hint for an exception; None if no rule applies."""
    failure = Failure(error, kind, name, args)
    for known, rule in _RULES:
        found = rule(failure) if isinstance(error, known) else None
        if found is not None:
            code, message, _ = found
            for given, tensor in sampled.items():
                if any(t.raw is tensor.raw for t in failure.tensors):
                    hint = f"{given} was sampled as one number: give it a shape, "
                    return code, message, f"{hint}{given}=randn(3)"
            return found
    return None


def _call(failure: Failure) -> Explanation:
    error = failure.error
    assert isinstance(error, CallError)
    hint = did_you_mean(error.given, error.allowed) if error.given else None
    if hint is None and error.allowed:
        hint = f"its parameters are {', '.join(error.allowed)}"
    return "E302", error.message.replace("()", "", 1), error.way_out or hint


def _limit(failure: Failure) -> Explanation:
    grown = len(failure.shapes) > 1 and "not enough memory" not in failure.text
    hint = "sum or select before the shapes grow together" if grown else MORE_MEMORY
    return "E403", failure.text, hint


def _shape(failure: Failure) -> Explanation:
    shapes = failure.shapes
    if len(shapes) == 2:
        listed = f"{list(shapes[0])} and {list(shapes[1])}"
        entry = FUNCTIONS.get(ALIASES.get(failure.name, failure.name))
        if "@" in (failure.name if entry is None else entry.formula):
            message = f"shapes {listed} do not multiply: {failure.text}"
            return "E303", message, _product_hint(*shapes)
        if failure.name in _BROADCASTING or "must match the size" in failure.text:
            message = f"shapes {listed} do not broadcast: {failure.text}"
            return "E303", message, _broadcast_hint(*shapes)
    return "E303", failure.text, None


def _product_hint(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """Return a hint on how to multiply arrays of two shapes; None if none is known."""
    if len(a) == len(b) == 2:
        if a[1] == b[1]:
            return "transpose the second one: .T"
        if a[0] == b[0]:
            return "transpose the first one: .T"
    return None if a and b else "to multiply by a number, write '*'"


def _broadcast_hint(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """Return a hint on how to broadcast two shapes; None if none is known."""
    for which, one, other in (("second", b, a), ("first", a, b)):
        if len(one) == 1 and len(other) == 2 and one[0] == other[0]:
            return f"to pair it with the rows, use .unsqueeze(1) on the {which}"
    if len(a) == len(b) == 2 and a == (b[1], b[0]):
        return "transpose the second one: .T"
    return None


def _index(failure: Failure) -> Explanation:
    if failure.kind != "index":
        return "E303", failure.text, None
    if not failure.shapes:
        return "E304", failure.text, None
    shape, hint = list(failure.shapes[0]), None
    if not shape:
        hint = "it is one number, without elements"
    elif "out of bounds" in failure.text:
        hint = "counting starts at 0, and -1 is the last"
    elif "valid indices" in failure.text:
        hint = "an index is an integer, a slice, a list of numbers or a mask"
    known = "" if str(shape) in failure.text else f" (the shape is {shape})"
    return "E304", failure.text + known, hint


def _value(failure: Failure) -> Explanation:
    """Return the explanation of a parameter's value that an operation refuses."""
    known = failure.name in FUNCTIONS
    hint = f"'gradcli ops {failure.name}' shows what it takes" if known else None
    return "E302", failure.text, hint


def _truth(failure: Failure) -> Explanation | None:
    if failure.kind != "truth" or not failure.shapes:
        return None
    message = f"a tensor of shape {list(failure.shapes[0])} is neither true nor false"
    return "E305", message, "choose per entry with where(...), or reduce with .all()"


def _argument(failure: Failure) -> Explanation:
    code = {"index": "E304", "operator": "E301"}.get(failure.kind, "E302")
    return code, failure.text, failure.list_hint


def _not_a_tensor(failure: Failure) -> Explanation | None:
    """Return the explanation of a missing attribute of a value that is no tensor; None
    for other values."""
    asked = getattr(failure.error, "obj", None)
    of_none = asked is None and "'NoneType'" in failure.text
    if not of_none and not isinstance(asked, _PLAIN):
        return None
    message = f"{failure.name} takes tensors, not {described(asked)}"
    return "E302", message, failure.list_hint or "write numbers as tensor([...])"


def _other_runtime_error(failure: Failure) -> Explanation:
    """Return the explanation of a RuntimeError that no earlier rule applies to."""
    if "in-place" in failure.text and failure.kind == "operator":
        hint = f"give the new value a name of its own: y = x {failure.name} ..."
        return "E399", failure.text, hint
    if failure.list_hint is not None:
        message = f"{failure.name} takes tensors, not a list of them"
        return "E302", message, failure.list_hint
    return "E399", failure.text, None


Rule = Callable[[Failure], Explanation | None]


def _if_said(
    part: str, code: str, hint: str | None, message: str | None = None
) -> Rule:
    """Return a rule for exceptions whose message contains ``part``; it is kept unless
    there is another ``message``."""

    def rule(failure: Failure) -> Explanation | None:
        return (code, message or failure.text, hint) if part in failure.text else None

    return rule


def _if_iterating(failure: Failure) -> Explanation | None:
    message = "a loop cannot run over a single number"
    asked = failure.kind == "iterate"
    return ("E306", message, "to count, write range(n)") if asked else None


_ONE_NUMBER = "choose one, as x[0], or reduce them, as x.sum()"
_AS_FLOATS = "compute with floats from the start"
_ON_DEVICE = "write lists as tensor([...]), which are on the device"

_RULES: tuple[tuple[type[Exception], Rule], ...] = (
    (LimitError, _limit),
    (CallError, _call),
    (ShapeError, _shape),
    (checks.ShapeError, _shape),
    (LinAlgError, _if_said("singular", "E399", "add a small multiple of eye(n)")),
    (LinAlgError, _if_said("", "E399", None)),
    (RuntimeError, _if_said("to Scalar", "E307", _ONE_NUMBER)),
    (RuntimeError, _if_said("to Python scalars", "E307", _ONE_NUMBER)),
    (checks.NoSlope, _if_said("", "E596", OTHER_ARGUMENTS)),
    (ValueRangeError, _value),
    (checks.ArgumentError, _value),
    (
        OverflowError,
        _if_said(
            "too large to convert",
            "E402",
            _AS_FLOATS,
            "an integer is too large to become a float",
        ),
    ),
    (DeviceError, _if_said("", "E399", _ON_DEVICE)),
    (IndexError, _index),
    (RuntimeError, _truth),
    (TypeError, _if_iterating),
    (TypeError, _argument),
    (ValueError, _argument),
    (AttributeError, _not_a_tensor),
    (RuntimeError, _other_runtime_error),
)
