"""Rules that turn exceptions of the engine into a code, a message and a hint.

This module is loaded only when an exception was raised. The first rule that applies
words the error; any other exception is left to the machine's general wording.

    explain(ShapeError(...), "operator", "+", (x, y), {})
    # ("E303", "shapes [2, 3] and [4] do not broadcast: ...", None)
"""

import re
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
from .derivatives import DIFF
from .errors import MORE_MEMORY, OTHER_ARGUMENTS
from .plain import described
from .suggest import did_you_mean

Explanation = tuple[str, str, str | None]
"""The code, the message and the hint of an error."""

Sampled = Mapping[str, Tensor]

ON_THE_DEVICE = "write lists as tensor([...]), which are on the device"
CHOOSE_ONE = "choose one, as x[0], or reduce them, as x.sum()"

WAYS_OUT = {
    "out of bounds.*the shape": "counting starts at 0, and -1 is the last",
    "out of bounds for": "counting starts at 0",
    "valid indices": "an index is an integer, a slice, a list of numbers or a mask",
    "imension out of range": "the first dimension is 0, and -1 is the last",
    "too many indices": "give one index for each dimension at most",
    "is invalid for input": "sizes multiply to the number of entries; one may be -1",
    "do not multiply": "the last size on the left is to be the first on the right",
    "do not broadcast": "from the last size on, two are equal, or one of them is 1",
    "singular": "add a small multiple of eye(n)",
    "not positive-definite": "add a multiple of eye(n) that is large enough",
}
"""Hints by a pattern of the messages that they belong to."""

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
    if name == DIFF and kind == "function" and len(args) > 1 and not _has_entries(args):
        message = "diff differentiates by a name, and this is not one"
        return "E302", message, "write diff(x^2, x); diff(v) has an array's differences"
    for known, rule in _RULES:
        found = rule(failure) if isinstance(error, known) else None
        if found is not None:
            code, message, hint = found
            for given, tensor in sampled.items():
                if any(t.raw is tensor.raw for t in failure.tensors):
                    hint = f"{given} has no value, so it is one number: give it one, "
                    return code, message, f"{hint}or a shape: --shape {given}=3"
            ways = (way for said, way in WAYS_OUT.items() if re.search(said, message))
            return code, message, hint or next(ways, None)
    return None


def _has_entries(args: tuple[object, ...]) -> bool:
    """Return whether a call of `diff` is one for the differences of entries."""
    first, count = args[:2]
    has = isinstance(first, list) or bool(getattr(first, "ndim", 0))
    return has and isinstance(count, int)


def _call(failure: Failure) -> Explanation:
    error = failure.error
    assert isinstance(error, CallError)
    hint = did_you_mean(error.given, error.allowed) if error.given else None
    if hint is None and error.allowed:
        hint = f"its parameters are {', '.join(error.allowed)}"
        if error.message.endswith(" needs dim"):
            name = error.message.partition("(")[0]
            hint += f"; for a vector write {name}({error.allowed[0]}, 0)"
    return "E302", error.message.replace("()", "", 1), error.way_out or hint


def _limit(failure: Failure) -> Explanation:
    grown = len(failure.shapes) > 1 and "not enough memory" not in failure.text
    hint = "sum or select before the shapes grow together" if grown else MORE_MEMORY
    return "E403", failure.text, hint


def _shape(failure: Failure) -> Explanation:
    if len(failure.shapes) != 2:
        return "E303", failure.text, None
    (a, b), hint = failure.shapes, None
    listed = f"{list(a)} and {list(b)}"
    entry = FUNCTIONS.get(ALIASES.get(failure.name, failure.name))
    matrices = len(a) == len(b) == 2
    if "@" in (failure.name if entry is None else entry.formula):
        if matrices and a[1] == b[1]:
            hint = "transpose the second one: .T"
        elif matrices and a[0] == b[0]:
            hint = "transpose the first one: .T"
        elif not (a and b):
            hint = "to multiply by a number, write '*'"
        return "E303", f"shapes {listed} do not multiply: {failure.text}", hint
    if failure.name not in _BROADCASTING and "must match the size" not in failure.text:
        return "E303", failure.text, None
    for which, one, other in (("first", a, b), ("second", b, a)):
        if len(one) == 1 and len(other) == 2 and one[0] == other[0]:
            hint = f"to pair it with the rows, use .unsqueeze(1) on the {which}"
    if matrices and a == (b[1], b[0]):
        hint = "transpose the second one: .T"
    return "E303", f"shapes {listed} do not broadcast: {failure.text}", hint


def _index(failure: Failure) -> Explanation:
    code = "E304" if failure.kind == "index" else "E303"
    if code == "E303" or not failure.shapes:
        return code, failure.text, None
    shape = list(failure.shapes[0])
    hint = None if shape else "it is one number, without elements"
    known = "" if str(shape) in failure.text else f" (the shape is {shape})"
    return code, failure.text + known, hint


def _value(failure: Failure) -> Explanation:
    known = failure.name in FUNCTIONS
    hint = f"'gradcli ops {failure.name}' shows what it takes" if known else None
    return "E302", failure.text, hint


def _argument(failure: Failure) -> Explanation:
    if failure.kind == "iterate" and isinstance(failure.error, TypeError):
        message = "a loop cannot run over a single number"
        return "E306", message, "to count, write range(n)"
    code = {"index": "E304", "operator": "E301"}.get(failure.kind, "E302")
    return code, failure.text, failure.list_hint


def _attribute(failure: Failure) -> Explanation | None:
    """Return the explanation of a missing attribute of a value that is no tensor."""
    asked = getattr(failure.error, "obj", None)
    of_none = asked is None and "'NoneType'" in failure.text
    if not of_none and not isinstance(asked, _PLAIN):
        return None
    message = f"{failure.name} takes tensors, not {described(asked)}"
    return "E302", message, failure.list_hint or "write numbers as tensor([...])"


def _runtime(failure: Failure) -> Explanation:
    """Return the explanation of a RuntimeError that no earlier rule applies to."""
    text = failure.text
    if failure.kind == "truth" and failure.shapes:
        shape = list(failure.shapes[0])
        hint = "choose per entry with where(...), or reduce with .all()"
        return "E305", f"a tensor of shape {shape} is neither true nor false", hint
    if "in-place" in text and failure.kind == "operator":
        hint = f"give the new value a name of its own: y = x {failure.name} ..."
        return "E399", text, hint
    if failure.list_hint is not None:
        message = f"{failure.name} takes tensors, not a list of them"
        return "E302", message, failure.list_hint
    return "E399", text, None


def _overflow(failure: Failure) -> Explanation | None:
    if "too large to convert" in failure.text:
        message = "an integer is too large to become a float"
        return "E402", message, "compute with floats from the start"
    if failure.text.endswith("to integer"):
        which = "nan" if "NaN" in failure.text else "an infinite number"
        return "E307", f"{which} cannot become an integer", None
    if isinstance(failure.error, ArithmeticError):
        return "E399", "an intermediate number is beyond the range of floats", None
    return None


Rule = Callable[[Failure], Explanation | None]


def _keep_message(code: str, hint: str | None, of: str = "") -> Rule:
    """Return a rule that keeps the message, if the pattern ``of`` is found in it."""
    return lambda f: (code, f.text, hint) if re.search(of, f.text) else None


_RULES: tuple[tuple[type[Exception], Rule], ...] = (
    (LimitError, _limit),
    (CallError, _call),
    (ShapeError, _shape),
    (checks.ShapeError, _shape),
    (LinAlgError, _keep_message("E399", None)),
    (RuntimeError, _keep_message("E307", CHOOSE_ONE, "to Scalar|to Python scalars")),
    (checks.NoSlope, _keep_message("E596", OTHER_ARGUMENTS)),
    (ValueRangeError, _value),
    (checks.ArgumentError, _value),
    (OverflowError, _overflow),
    (ValueError, _overflow),
    (DeviceError, _keep_message("E399", ON_THE_DEVICE)),
    (IndexError, _index),
    (TypeError, _argument),
    (ValueError, _argument),
    (AttributeError, _attribute),
    (RuntimeError, _runtime),
)
"""Rules by the class of the exception that they word; the first that applies counts."""
