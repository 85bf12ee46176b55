"""Lines that are no program as they stand: they are rewritten where their notation is
clear, and put right in a hint where it is not.

An error carries the edits of the text that correct it. They are made and the text is
parsed again, repeatedly, until the line can be parsed: it becomes the error's hint.

Invariant: a corrected line that is shown can be parsed; an error without one keeps its
hint. This module is loaded only where a text has no tree, or names without a meaning.

A word that nobody gave a value is no factor: beside one, as in `2 km` or `log of x`, or
right of a letter, as in `x squared`, it may be no input at all, so the line as it was
read is shown and not run.

    mended(error, read).hint          # "write 1000*x"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from ..ops import ALIASES, FUNCTIONS
from .errors import Edit, ProgramError, Span
from .excerpt import LINE_BREAK, locate, shortened
from .lexicon import BROKEN_LINE, DERIVATIVE, NO_PRODUCTS
from .maxima import MAX_MENDED_CHARACTERS, MAX_MENDS
from .notation import IN_LATEX, LETTER, Doubt, StatementWords, commands
from .suggest import did_you_mean, greek
from .syntax import Binary, Call, Literal, Name, Note, Program, SyntaxNode, Unary, walk
from .tensor_library import CONSTANTS
from .tokens import Token
from .written_derivatives import NAMED_DERIVATIVE

Reader = Callable[[str], Program | ProgramError]
"""A function that returns the tree of a text, or the error that it has none."""

_TO_DERIVE = "derivatives are taken of what is written: write"
_THOUSANDS = re.compile(r"\d{1,3} \d{3}(\.\d*)?")
_OF_STATEMENT = frozenset({"newline", ";", "=", "indent", "dedent", ":"})


def mended(error: ProgramError, read: Reader) -> ProgramError:
    """Return an error that has edits with the corrected line as its hint, if one is
    found; ``read`` parses a text, or raises a `ProgramError`."""
    text, line = error.source, _line_of(error)
    edits = error.edits
    for _ in range(MAX_MENDS):
        text = edited(text, edits)
        problem = read(text)
        again = isinstance(problem, ProgramError) and problem.source == text
        if isinstance(problem, ProgramError) and again and _line_of(problem) == line:
            if not problem.edits:
                return error
            edits = problem.edits
            continue
        shown = LINE_BREAK.split(text)[line - 1].strip()
        if len(shown) <= MAX_MENDED_CHARACTERS:
            error.right = shown
            error.hint = f"{error.lead} {shown}"
        return error
    return error


def read_as_meant(
    source: str,
    found: Program | ProgramError,
    ranks: Mapping[str, int | None],
    read: Reader,
) -> Program | None:
    """Return the tree of a program with its mathematical notation rewritten, and a note
    on each line that was; None if a part of it is in doubt. ``found`` is what was read
    of the source, ``ranks`` the numbers of dimensions by name."""
    from .mathematics import rewritten

    if isinstance(found, ProgramError) and (
        found.code not in _NOTATION or found.message == BROKEN_LINE
    ):
        return None

    notes: list[Note] = []
    text = source
    assigned = _ASSIGNED.findall(source)
    ranks = {**dict.fromkeys((*assigned, *_definitions(source))), **ranks}
    try:
        for _ in range(MAX_MENDS):
            if IN_LATEX.search(text):
                made = rewritten(text, ranks)
                notes.append(_note_text(text, made, Span(0, len(made))))
                text = made
            else:
                doubts = found.doubts if isinstance(found, Program) else (found.span,)
                span = doubts[0] if doubts else None
                place = locate(text, span or Span(0, 0))
                start = sum(map(len, text.splitlines(True)[: place.line - 1]))
                line = LINE_BREAK.split(text)[place.line - 1]
                made = _line(line, start, ranks, read)
                if made == line:
                    return None
                text = text[:start] + made + text[start + len(line) :]
                notes.append(_note_text(line, made, Span(start, start + len(made))))
            found = read(text)
            if isinstance(found, Program) and not found.doubts:
                return Program(found.span, text, found.body, (*found.notes, *notes))
    except Doubt as doubt:
        if doubt.guess is not None or (source == text and IN_LATEX.search(text)):
            raise _refused(doubt, text) from None
    return None


def _definitions(source: str) -> Iterator[str]:
    """Yield the functions that a program defines, with their inputs: `f(x, y)`."""
    for found in _DEFINED.finditer(source):
        inputs = [each.strip() for each in found[2].split(",")]
        if all(map(str.isidentifier, inputs)):
            yield f"{found[1]}({', '.join(inputs)})"


def _refused(doubt: Doubt, source: str) -> ProgramError:
    """Return the error that notation is in doubt, or is not read."""
    place = doubt.at if doubt.at.end > doubt.at.start else None
    if doubt.guess is None:
        unpaired = _unpaired_brace(source) if IN_LATEX.search(source) else None
        if unpaired is not None:
            sign, at = source[unpaired], Span(unpaired, unpaired + 1)
            said, hint = _UNPAIRED[sign]
            return ProgramError("E205", f"'{sign}' {said}", at, source, hint=hint)
        shown = shortened(source[slice(*place)]) if place else "this"
        meant = _INSTEAD.get(shown) or did_you_mean(shown, commands())
        hint = meant or "write it in the language: sqrt(x), x^2, a/b, sum(x)"
        return ProgramError("E201", f"{shown} is not read", place, source, hint=hint)
    hint = f"write {' '.join(doubt.guess.split())}"
    return ProgramError("E208", doubt.message, place, source, hint=hint)


def _unpaired_brace(source: str) -> int | None:
    r"""Return the place of the first brace that is never closed or closes nothing; a
    brace such as `\{` is a sign of its own."""
    opened: list[int] = []
    for found in re.finditer(r"\\.|[{}]", source, re.S):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}":
            if not opened:
                return found.start()
            opened.pop()
    return opened[-1] if opened else None


_UNPAIRED = {"{": ("is never closed", "add '}'"), "}": ("closes nothing", "delete it")}

_INSTEAD = {
    r"\int": "integrals are not computed; that of f(t) up to x has the slope f(x)",
    r"\lim": "limits are not computed; give a value nearby, as in x=1e-9",
}
"""Hints by commands of LaTeX for what is not computed here."""


def _note_text(before: str, after: str, span: Span) -> Note:
    shown = (shortened(" ".join(each.split()), MAX_MENDED_CHARACTERS)
             for each in (before, after))  # fmt: skip
    return Note(" is read as ".join(shown), span)


_NOTATION = frozenset({"E201", "E202", "E205", "E207", "E208", "E209", "E210"})
"""Codes of errors that may be due to mathematical notation."""

_DEFINED = re.compile(r"(?m)(?:^|;)[^\S\n]*([^\W\d]\w*)\s*\(([^()\n]*)\)\s*=(?!=)")

_ASSIGNED = re.compile(r"(?m)(?:^|;)[^\S\n]*([^\W\d]\w*)\s*=(?!=)")
_INSIDE = re.compile(r"([^(]*\))|[^(]*+\(?")
"""Pattern of all text up to a closing parenthesis, or of what has none behind it."""

_HEAD = re.compile(r"\s*(?:(?:if|elif|while|return)\b)?\s*")


def _line(line: str, start: int, ranks: Mapping[str, int | None], read: Reader) -> str:
    """Return a line, which begins at ``start``, with each statement rewritten that
    cannot be read as it is."""
    from .mathematics import rewritten

    head = _HEAD.match(line)
    assert head is not None
    begun, rest = line[: head.end()], line[head.end() :]
    if begun.strip() in ("if", "elif", "while"):
        test, colon, after = rest.partition(":")
        return begun + rewritten(test, ranks) + colon + after
    parts: list[str] = []
    outside = _INSIDE.sub(lambda m: " " * len(m[0]) if m[1] else m[0], rest)
    ends = [-1, *(n for n, sign in enumerate(outside) if sign == ";"), len(rest)]
    given = [rest[end + 1 : next_end] for end, next_end in pairwise(ends)]
    for part in given:
        tree = read(part) if part.strip() else None
        doubtful = isinstance(tree, ProgramError) or (tree is not None and tree.doubts)
        if doubtful or (tree is not None and _derives(part, ranks)):
            blank = part[: len(part) - len(part.lstrip())]
            try:
                part = blank + rewritten(part, ranks)
            except Doubt as doubt:
                before = [begun, *(f"{each};" for each in given[: len(parts)])]
                at = start + len("".join(before))
                doubt.at = Span(at + doubt.at.start, at + doubt.at.end)
                if doubt.guess is not None:
                    parts += [blank + doubt.guess, *given[len(parts) + 1 :]]
                    doubt.guess = begun + ";".join(parts)
                raise
        parts.append(part)
    return begun + ";".join(parts)


def _derives(part: str, ranks: Mapping[str, int | None]) -> bool:
    """Return whether a statement has the derivative of a function of the program."""
    named = (found["of"] for found in NAMED_DERIVATIVE.finditer(part))
    return any(known.startswith(f"{of}(") for of in named for known in ranks)


def _line_of(error: ProgramError) -> int:
    return locate(error.source, error.span or Span(0, 0)).line


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with the edits made: each part replaced by its new text."""
    parts, done = [], 0
    for start, end, new in sorted(edits):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def between(error: ProgramError, tokens: Sequence[Token], at: int) -> ProgramError:
    """Return the error about a missing operator before the token number ``at``, with
    the edits that correct it: a derivative's sign before it, or two numbers."""
    start = at
    while start and tokens[start - 1].kind not in _OF_STATEMENT:
        start -= 1
    from .tensor_library import is_function

    first, after = tokens[start].start, tokens[at]
    derived = DERIVATIVE.match(error.source, first)
    if derived is not None:
        return error.mended_by((first, derived.end(), ""), lead=_TO_DERIVE)
    if tokens[at - 1].kind == after.kind == "number":
        return error.mended_by(*_numbers(error.source, tokens, at), lead="write")
    if any(is_function(str(token.value)) for token in (tokens[at - 1], after)):
        return error  # its argument is in doubt, and not a product
    edit = (tokens[at - 1].end, max(tokens[at - 1].end, after.start), "*")
    return error.mended_by(edit, lead="to multiply, write")


def _numbers(source: str, tokens: Sequence[Token], at: int) -> list[Edit]:
    """Return the edits for two numbers side by side, which become one number (`1 000`),
    a sum (`1 1/2`) or a product."""
    before, after = tokens[at - 1], tokens[at]
    first, second = source[slice(*before.span)], source[slice(*after.span)]
    if _THOUSANDS.fullmatch(f"{first} {second}") and before.value:
        return [(before.end, after.start, "")]
    fraction = tokens[at + 1].kind == "/" and tokens[at + 2].kind == "number"
    if fraction and first.isdecimal() and second.isdecimal():
        end = tokens[at + 2].end
        return [(before.start, before.start, "("), (before.end, after.start, "+"),
                (end, end, ")")]  # fmt: skip
    return [(before.end, after.start, "*")]


_WORD = re.compile(rf"(?<![^\W\d]){LETTER}+")
_BY_HABIT = re.compile(r"\\[a-z]+(_\S*)? |e\^|\\sqrt")
"""Pattern of the LaTeX of functions that books write without brackets: `sinx`."""


def is_plain(name: str) -> bool:
    """Return whether a name is a letter, or a Greek one's word, perhaps with digits or
    a subscript: a variable of a formula."""
    first, _, _ = name.partition("_")
    letter = first.rstrip("0123456789")
    return len(letter) == 1 or bool(greek(letter))


def letters_together(
    source: str, program: Program, missing: Collection[str]
) -> frozenset[str]:
    """Return the letters of names such as `kx` and `cosx`, which are read as products
    and calls: of two letters beside a factor that are no unit and no word."""
    found: set[str] = set()
    for name in _doubtful(source, program, missing):
        if len(name) == 2 and name.isalpha() and name.lower() not in NO_PRODUCTS:
            found |= {*name}
        parts = [token.text for token in StatementWords(name, {}, False).tokens[:-1]]
        if len(parts) == 2 and len(parts[1]) == 1 and _is_habit(parts[0]):
            found.add(parts[1])
    return frozenset(found - CONSTANTS.keys())


def refuse_words(source: str, program: Program, missing: Collection[str]) -> None:
    """Refuse words among the inputs without a value, and those that were split.

    Raises:
        ProgramError: there is one; the hint has the line as it was read.
    """
    name = next(_doubtful(source, program, missing), None)
    if name is None and program.source != source:
        name = next(_split(source, program, missing), None)
    if name is None:
        return
    found = re.search(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", source)
    span = Span(*found.span()) if found else None
    message = f"'{shortened(name)}' is a word here: it has no value and is no function"
    hint = _hint_line(source, program, name)
    rising = re.search(rf"\(([^()]+)\){re.escape(name)}(?!\w)", source)
    if rising and name.startswith("_"):
        base = rising[1]
        hint = f"a rising factorial is gamma({base} + {name[1:]})/gamma({base})"
    raise ProgramError("E208", message, span, source, hint=hint)


def _rewritten(source: str, program: Program) -> Iterator[Span]:
    """Yield the places of the lines that were rewritten."""
    if program.source != source:
        yield from (n.span for n in program.notes if " is read as " in n.message)


def _products(program: Program) -> Iterator[Binary]:
    """Yield the products that have no sign."""
    for node in walk(program):
        if isinstance(node, Binary) and node.op_span == node.span:
            yield node


def _doubtful(source: str, program: Program, missing: Collection[str]) -> Iterator[str]:
    """Yield inputs without a value that are no plain variables, beside a factor or in
    a line that was rewritten."""
    words = {name for name in missing if not is_plain(name)}
    if not words:
        return
    lines = [*_rewritten(source, program)]
    factors: set[int] = set()
    for product in _products(program):
        for side in (product.left, product.right):
            while isinstance(side, Binary) and side.operator == "**":
                side = side.left
            factors.add(id(side))
    for node in walk(program):
        if isinstance(node, Name) and node.name in words:
            at = node.span.start
            if id(node) in factors or any(s.start <= at < s.end for s in lines):
                yield node.name


def _split(source: str, program: Program, missing: Collection[str]) -> Iterator[str]:
    """Yield the words of the source that became a function and what no habit writes
    behind one: `squared`, `the`."""
    read = {*_WORD.findall(program.source)}
    reader = StatementWords("", dict.fromkeys(_names(program) - {*missing}), False)
    for word in _WORD.findall(source):
        if word in read or len(word) < 3 or "\\" + word in source:
            continue
        reader.put(word)
        parts = [token.text for token in reader.tokens[:-1]]
        heads = [part for part in parts[:-1] if reader.meant(part)]
        if heads and (parts[-1] == "e" or not all(map(_is_habit, heads))):
            yield word


def _is_habit(word: str) -> bool:
    """Return whether books write a function with its argument right behind it."""
    meant = StatementWords("", {}, False).meant(word) or word
    entry = FUNCTIONS.get(ALIASES.get(meant, meant))
    latex = getattr(entry, "latex", None) or ""
    formula = getattr(entry, "formula", None) or ""
    return bool(_BY_HABIT.match(latex)) or formula.startswith("1/")


def refuse_imaginary(program: Program, missing: Collection[str]) -> None:
    """Refuse ``i`` or ``j`` without a value where it is used like the imaginary unit: a
    factor in the exponent of e, or of a number or a sine that is added to another.

    Raises:
        ProgramError: complex numbers are not read.
    """
    units = {"i", "j"}.intersection(missing)
    for node in walk(program) if units else ():
        places: list[tuple[SyntaxNode, SyntaxNode | None]] = []
        if isinstance(node, Call) and node.function == "exp" and node.arguments:
            places = [(node.arguments[0], None)]
        elif isinstance(node, Binary) and node.operator == "**":
            base = node.left
            natural = isinstance(base, Name) and base.name == "e"
            places = [(node.right, None)] if natural else []
        elif isinstance(node, Binary) and node.operator in "+-":
            places = [(node.right, node.left), (node.left, node.right)]
        for product, other in places:
            factors = [*_factors(product)]
            unit = next((f for f in factors if isinstance(f, Name)
                         and f.name in units), None)  # fmt: skip
            if unit is None or not (other is None or _is_real_part(factors, other)):
                continue
            message = f"no value for {unit.name}: complex numbers are not read"
            hint = f"give {unit.name}=VALUE if it is a real number"
            raise ProgramError("E506", message, unit.span, program.source, hint=hint)


def _factors(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the factors of a product, without those below a fraction's line."""
    if isinstance(node, Binary) and node.operator in "*/":
        yield from _factors(node.left)
        yield from _factors(node.right) if node.operator == "*" else ()
    elif isinstance(node, Unary):
        yield from _factors(node.operand)
    elif isinstance(node, Binary) and node.operator in "+-":
        yield from (*_factors(node.left), *_factors(node.right))
    else:
        yield node


def _is_real_part(factors: Sequence[SyntaxNode], other: SyntaxNode) -> bool:
    """Return whether a sum with an imaginary unit's product is a complex number."""
    kinds = {type(each) for each in factors} - {Name}
    return isinstance(other, Literal | Call) and type(other) in kinds


def _names(program: Program) -> set[str]:
    return {node.name for node in walk(program) if isinstance(node, Name)}


def _hint_line(source: str, program: Program, name: str) -> str:
    """Return a hint with the line that has a name, as it was read."""
    text, edits = program.source, []
    for node in _products(program):
        start, end = node.left.span.end, node.right.span.start
        closed = start + text[start:end].rfind(")") + 1
        blank = len(text[closed:end]) - len(text[closed:end].lstrip())
        edits.append((closed, closed + blank, "*"))
    lines = LINE_BREAK.split(edited(text, edits))
    at = next((node.span for node in walk(program)
               if isinstance(node, Name) and node.name == name), None)  # fmt: skip
    at = at or next(_rewritten(source, program), Span(0, 0))
    shown = lines[locate(text, at).line - 1].strip()
    return f"if that is meant, write {shown}"
