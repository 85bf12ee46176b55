"""Words that nobody gave a value, where a line is read as a product of names.

A formula is written with letters: `2x(x+1)`, `v_0 t`, `½kx²`, `2 alpha`. Another name
beside a factor, as in `2 km` or `log of x`, or a letter that is left of a word, as in
`x squared`, may be no input at all, so the line as it was read is shown and not run.

Invariant: a line that is shown runs as it stands, because nothing in it is rewritten.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from ..ops import ALIASES, FUNCTIONS
from .errors import ProgramError, Span
from .excerpt import LINE_BREAK, locate, shortened
from .lexicon import NO_PRODUCTS
from .mend import edited
from .notation import LETTER, StatementWords
from .suggest import greek
from .syntax import Binary, Call, Literal, Name, Program, SyntaxNode, Unary, walk
from .tensor_library import CONSTANTS

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
    hint = _line(source, program, name)
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


def _line(source: str, program: Program, name: str) -> str:
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
