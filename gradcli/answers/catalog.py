"""The table of operations as pages: what each function is, and the nodes it records.

Invariant: a page shows only what stands in the function's row and in `SPELLINGS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from ..formulas.texts import Text, filled, partial_text
from ..lang.parser import is_program_as_it_stands, parse
from ..lang.syntax import Call, free_names, walk
from ..lang.tensor_library import CONSTANTS, is_function
from ..ops import ALIASES, FUNCTIONS, Op, defaults, offered, overloads, parameters
from ..ops.spellings import SPELLINGS, Template
from .line import BLANK, Line, title


@dataclass(frozen=True, slots=True)
class RowView:
    """One overload of a function, a row of the table, with the node that it records.

    ``readable`` tells whether the formula can be typed as a program; ``defaults`` are
    those of the parameters that need not be given; ``slope`` is a text on the slope
    that the rules give where it is not the value's derivative, ``jumps`` one on where
    the value jumps. ``derivatives`` are formulas of an elementwise row's partials, by
    input: ``y`` stands for the result, None for what the language cannot express.
    """

    name: str
    formula: str
    readable: bool
    node: str | None
    parameters: tuple[str, ...]
    defaults: Mapping[str, object]
    elementwise: bool
    kink: str
    slope: str
    jumps: str
    derivatives: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A public function and its overloads, its rows; a composite has none.

    ``domain`` is a text on where the function is defined and smooth, if that is not
    everywhere; ``not_finite`` has the reasons why a result is infinite or NaN, by that
    result, ``spellings`` what libraries and languages call the function, by their
    names.
    """

    name: str
    family: str
    doc: str
    formula: str
    readable: bool
    kink: str
    slope: str
    domain: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, object]
    aliases: tuple[str, ...]
    not_finite: Mapping[str, str]
    spellings: Mapping[str, str]
    rows: tuple[RowView, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes that the rows record, each once."""
        return tuple(dict.fromkeys(row.node for row in self.rows if row.node))


@cache
def is_program(formula: str, names: tuple[str, ...]) -> bool:
    """Tell whether a formula can be typed as a program in these parameters. Formulas
    that cannot describe the operation in words, or entry by entry."""
    if not is_program_as_it_stands(formula, names):
        return False
    program = parse(formula, names)
    if program.source != formula:
        return False
    called = (node.function for node in walk(program) if isinstance(node, Call))
    free = free_names(program, CONSTANTS)
    return set(free) <= set(names) and all(map(is_function, called))


def catalog() -> tuple[FunctionView, ...]:
    """Return every public function, in the table's order."""
    return tuple(map(_function, offered()))


def find(name: str) -> FunctionView | None:
    """Return the function of this name or alias; None if there is none."""
    name = ALIASES.get(name, name)
    if name not in FUNCTIONS or FUNCTIONS[name].internal:
        return None
    return _function(name)


def known_names() -> tuple[str, ...]:
    """Return all names and aliases of public functions."""
    return (*offered(), *ALIASES)


def _function(name: str) -> FunctionView:
    entry = FUNCTIONS[name]
    names = parameters(entry)
    return FunctionView(
        name=name,
        family=entry.family,
        doc=entry.doc,
        formula=entry.formula,
        readable=is_program(entry.formula, names),
        kink=entry.kink,
        slope=entry.slope,
        domain=entry.domain,
        parameters=names,
        defaults=defaults(entry),
        aliases=tuple(alias for alias, meant in ALIASES.items() if meant == name),
        not_finite=entry.not_finite,
        spellings=spellings_of(name),
        rows=tuple(_row(op) for op in overloads(name)),
    )


LANGUAGES = {"NumPy": "numpy", "PyTorch": "torch", "C": "c", "SymPy": "sympy"}
"""Libraries and languages whose spellings are shown, with their keys in `SPELLINGS`."""


def spellings_of(name: str) -> dict[str, str]:
    """Return how each library writes a function, by the library's name."""
    given = parameters(FUNCTIONS[name])
    texts = [Text(each) for each in given]
    found = {}
    for language, at in LANGUAGES.items():
        word = getattr(SPELLINGS.get(name), at, None)
        if isinstance(word, Template):
            word = filled(word, texts, {"like": given[0]}).written
        if word is not None:
            found[language] = word
    return found


def derivatives(op: Op) -> dict[str, str | None]:
    """Return an elementwise row's partial derivatives as formulas, by input."""
    names = parameters(op)
    partials = op.partials or ()
    inputs = [Text(name) for name in names[: len(partials)]]
    params = {name: Text(name) for name in names[len(partials) :]}
    found = {}
    for name, partial in zip(names, partials, strict=False):
        if partial is not None:
            text = partial_text(partial, Text("y"), inputs, params)
            found[name] = None if text is None else text.written
    return found


def _row(op: Op) -> RowView:
    jumps = ""
    if op.jumps_at is not None:
        above = f"{op.jumps_at:g} above " if op.jumps_at else ""
        but = " other than 0" if op.smooth_at_zero else ""
        jumps = f"what is rounded is {above}a whole number{but}"
    names = parameters(op)
    return RowView(
        op.name,
        op.formula,
        is_program(op.formula, names),
        op.node,
        names,
        defaults(op),
        op.elementwise,
        op.kink,
        op.slope,
        jumps,
        derivatives(op),
    )


_WORD = {True: "formula", False: "meaning"}
"""Labels of a formula: one that can be read as a program, and one that cannot."""


def listing(functions: Sequence[FunctionView]) -> Iterator[Line]:
    """Yield a line for every function, family by family."""
    width = max(len(f.name) for f in functions)
    families = groupby(sorted(functions, key=lambda f: f.family), lambda f: f.family)
    for nr, (family, members) in enumerate(families):
        if nr:
            yield BLANK
        yield title(family)
        for function in members:
            nodes = ", ".join(function.nodes)
            yield Line(
                (function.name.ljust(width), "name"),
                (f"  {function.formula or function.doc}", "plain"),
                (f"  {nodes}" if nodes else "", "node"),
            )


def page(function: FunctionView) -> Iterator[Line]:
    """Yield everything about one function."""
    yield title(f"{function.name}({_parameters(function)})")
    yield from _facts(
        ("", function.doc),
        (_WORD[function.readable], function.formula),
        ("aliases", ", ".join(function.aliases)),
        ("family", function.family),
        ("smooth where", function.domain),
        ("at a kink", function.kink),
        ("its slope", function.slope),
        *((f"is {value}", why) for value, why in function.not_finite.items()),
        *function.spellings.items(),
    )
    for row in function.rows:
        yield BLANK
        node = row.node or "not differentiable"
        yield Line((row.name, "name"), (f"  {node}", "node"))
        derivatives = row.derivatives.items()
        yield from _facts(
            (_WORD[row.readable], row.formula),
            ("parameters", _parameters(row)),
            *((f"derivative by {x}", text or "") for x, text in derivatives),
            ("at a kink", row.kink),
            ("its slope", row.slope),
            ("jumps where", row.jumps),
        )


def _parameters(view: FunctionView | RowView) -> str:
    """Return the parameters as they are called, with their defaults."""
    given = view.defaults
    return ", ".join(
        f"{name}={given[name]!r}" if name in given else name for name in view.parameters
    )


def _facts(*facts: tuple[str, str]) -> Iterator[Line]:
    """Yield a line ``name: value`` for each fact that is not empty."""
    for name, value in facts:
        if value:
            lead = f"{name}: " if name else ""
            yield Line(("  " + lead, "dim"), (value, "plain"))
