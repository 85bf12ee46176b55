"""Arguments of the form NAME=VALUE: names are checked, values stay unevaluated text.

A name is in Unicode's form NFC, as in a program, and is bound once. Every error shows
the argument with carets under the part that is wrong.

    read_bindings(["x=3", "W=@data.npz:weights"])
    # (Binding("x", "x=3", ...), Binding("W", "W=@data.npz:weights", ...))
"""

import re
from collections.abc import Iterable

from ..ops.records import record
from .errors import ProgramError, Span
from .excerpt import shortened
from .lexicon import KEYWORDS
from .maxima import MAX_ARGUMENT_QUOTE_CHARACTERS, MAX_NAME_CHARACTERS

FILE = "@"
"""Sign at the beginning of a VALUE that names a file."""


@record
class Binding:
    """One argument NAME=VALUE; ``value`` is the span of VALUE in it."""

    name: str
    argument: str
    value: Span

    @property
    def text(self) -> str:
        return self.argument[self.value.start : self.value.end]

    @property
    def place(self) -> str | None:
        """The file that VALUE names, ``-`` for standard input; None without a file."""
        text = self.text.strip()
        return text[len(FILE) :] if text.startswith(FILE) else None


def read_bindings(arguments: Iterable[str]) -> tuple[Binding, ...]:
    """Return the bindings of the arguments, in order.

    Raises:
        ProgramError: an argument is no binding, or a name is given a value twice.
    """
    bindings: dict[str, Binding] = {}
    words = list(arguments)
    for argument, after in zip(words, [*words[1:], ""], strict=False):
        binding = read_binding(argument, after)
        if binding.name in bindings:
            first = bindings[binding.name].argument
            message = f"'{binding.name}' is given a value twice"
            hint = f"keep one of {_brief(first)} and {_brief(argument)}"
            span = Span(0, binding.value.start - 1)
            raise ProgramError("E503", message, span, argument, hint=hint)
        bindings[binding.name] = binding
    return tuple(bindings.values())


def read_binding(argument: str, after: str = "") -> Binding:
    """Return the binding of one argument; only hints use ``after``, the next one."""
    head, equals, text = argument.partition("=")
    if not equals:
        raise _no_binding(argument.strip(), argument, after)
    if text.startswith("="):
        span = Span(len(head), len(head) + 2)
        hint = f"one '=' gives a value: {_brief(head + text)}"
        raise ProgramError("E501", "'==' compares values", span, argument, hint=hint)
    start = len(head) + 1
    name = _name(head, argument)
    if not text.strip():
        span = Span(start - 1, start)
        hint = f"write {name}=3, without blanks around '='"
        message = f"'{name}' is given no value"
        raise ProgramError("E504", message, span, argument, hint=hint)
    return Binding(name, argument, Span(start, len(argument)))


def _no_binding(word: str, argument: str, after: str) -> ProgramError:
    if not word:
        hint = "a program and its bindings are arguments of their own"
        return ProgramError("E501", "an argument is empty", None, argument, hint=hint)
    hint = "write NAME=VALUE; put quotes around a program: 'x**2 + 1'"
    if word.isidentifier() and after == "=":
        hint = f"write {_brief(word)}=3, without blanks around '='"
    elif word.isidentifier():
        hint = f"give it a value: {_brief(word)}=3"
    elif word.partition(":")[0].isidentifier():
        hint = f"write {_brief(word.replace(':', '=', 1))}"
    span, message = Span(0, len(argument)), "this argument is not NAME=VALUE"
    return ProgramError("E501", message, span, argument, hint=hint)


def _name(head: str, argument: str) -> str:
    name = head.strip()
    if len(name) > MAX_NAME_CHARACTERS:
        message = f"a name of {len(name):,} characters"
        most = f"a name has {MAX_NAME_CHARACTERS:,} characters at most"
        raise ProgramError("E404", message, Span(0, len(head)), argument, hint=most)
    if not name.isascii():
        import unicodedata

        from .copied import narrow, plain_name

        name = plain_name(narrow(unicodedata.normalize("NFC", name)))
    if name == "lambda":
        return "lam"  # as \lambda is read
    if name in KEYWORDS:
        message = f"'{name}' is a word of the language, not a name"
        hint = f"call it {name}_ in the program and here"
    elif not name.isidentifier():
        message = f"'{name}' is not a name" if name else "there is no name before '='"
        base = name.partition("[")[0]
        hint = "a name is letters, digits and '_', not beginning with a digit"
        if base != name and base.isidentifier():
            hint = f"give the whole array: {base}=[...]"
        elif re.fullmatch(r"\w+\s*\([^()]*\)", name):
            message = "a function is defined in the program"
            hint = f"put {_brief(argument)} before the formula, with ';' between"
        elif name.endswith(("+", "-", "*", "/")):
            hint = "put quotes around a program that assigns"
    else:
        return name
    span = Span(0, max(1, len(head)))
    raise ProgramError("E502", message, span, argument, hint=hint)


def _brief(argument: str) -> str:
    return shortened(argument, MAX_ARGUMENT_QUOTE_CHARACTERS)
