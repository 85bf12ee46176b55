r"""The backward pass as a worked solution: LaTeX, Markdown, a page of HTML; and the
chain rule path by path as LaTeX.

Invariants: every number stands beside the rule that it comes from, and is the engine's.
LaTeX compiles with the package amsmath, an equation a line; in Markdown the program's
text stands in a fence of backticks that it cannot close; a page is one file, which
loads nothing, has no script, and has the user's text escaped everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from itertools import islice, pairwise
from typing import Final

from ..formulas.latex import LatexDialect, LatexSymbols, aligned, matrix, verbatim
from ..formulas.typeset import typeset
from ..lang.excerpt import printable
from .explanation import (
    Explanation,
    Send,
    StepView,
    factors,
    product,
    target,
)
from .gradients import derived
from .graph import assignment_text, shape_text, size_text
from .html import begun, program_title, sheet
from .line import Line, Theme, unbroken
from .numbers import LargeArray, Plain, Shown, flat, inline, six_digits, sizes
from .paths import PathsAnswer, PathsView, PathView
from .textbook_rules import Stated, StatedRules

MAX_ENTRIES: Final = 9
"""Largest number of entries of an array that is written out."""

MAX_NAME: Final = 40
"""Largest length of a text that stands for a value without a name, in characters."""

LAST_LETTER: Final = "\u017f"
"""The last letter that every LaTeX has; Greek ones are written as commands."""

ROUNDED: Final = "Numbers are shown to six digits."

TITLE: Final = "The backward pass"

OUTPUT: Final = "y"
"""Name in LaTeX of an output that has none in the program."""

_DIALECT: Final = LatexDialect()


def markdown(explanation: Explanation, rules: StatedRules) -> Iterator[Line]:
    """Yield the lines of a document."""
    return map(unbroken, _document(explanation, rules))


def _document(explanation: Explanation, rules: StatedRules) -> Iterator[str]:
    output, seed = explanation.output, derived(explanation.output) or "output"
    fence = "`" * max(3, 1 + _longest_ticks(explanation.program))
    yield from (f"## {TITLE}", "", fence)
    yield from _program(explanation)
    yield from (fence, "")
    yield f"{_code(output.name)} = {_shown(output.value)}. The pass starts with"
    yield f"d{seed}/d{seed} = {_shown(explanation.start)}. {ROUNDED}"
    if explanation.letters:
        yield f"{explanation.letters}."
    yield ""
    for step in explanation.steps:
        arrives, text = ", ".join(map(_shown, step.incoming)), _text_of(step)
        yield f"{step.number}. {step.node} {_code(text)}: **{arrives}** arrives"
        # Some readers of Markdown need four blanks before the items of an inner list.
        indent = " " * max(4, len(str(step.number)) + 2)
        if step.is_leaf:
            name = _code(f"{step.name or text}.grad")
            yield f"{indent}- {name} = **{_shown(step.grad_after)}**"
        for send in step.sends:
            rule, by = rules.get((step.id, send.edge)), ""
            if rule is not None:
                by = f" — {rule.name}{', ' * bool(rule.name)}{_code(rule.text)}"
            sent = _sum(step, send, "**{}**", "; ", _code)
            yield f"{indent}- to {_code(target(send))}: {sent}{by}"
    yield ""


def page(
    explanation: Explanation, rules: StatedRules, theme: Theme = "auto"
) -> Iterator[Line]:
    """Yield the lines of a page."""
    return map(unbroken, _page(explanation, rules, theme))


def _page(explanation: Explanation, rules: StatedRules, theme: Theme) -> Iterator[str]:
    output = explanation.output
    seed = _text(derived(output) or "output")
    title = f"{TITLE} of {_text(program_title(explanation.program))}"
    yield from begun(title, sheet("worked", theme, printed=True))
    yield "<main>"
    yield f"<h1>{title}</h1>"
    program = "\n".join(_program(explanation))
    yield f"<pre>{escape(program, quote=False)}</pre>"
    yield (
        f"<p><code>{_text(output.name)}</code> = {_shown(output.value)}. The pass "
        f"starts with d{seed}/d{seed} = {_shown(explanation.start)}. {ROUNDED}</p>"
    )
    if explanation.letters:
        yield f"<p>{_text(explanation.letters)}.</p>"
    yield "<table><thead><tr>"
    for head in ("", "node", "arrives", "goes to", "as", "by"):
        yield f'<th scope="col">{head}</th>'
    yield "</tr></thead>"
    for step in explanation.steps:
        yield "<tbody>"
        first = _first_cells(step)
        for cells in _cells(step, rules):
            yield f"<tr>{first}{cells}</tr>"
            first = ""
        yield "</tbody>"
    yield "</table></main></body></html>"


def _first_cells(step: StepView) -> str:
    """Return the cells that a step's rows have in common."""
    count = len(step.sends)
    span = f' rowspan="{count}"' if count > 1 else ""
    arrives = _by_rows(", ".join(map(_shown, step.incoming)))
    return (
        f'<th scope="row"{span}>{step.number}</th><td{span}><span>{_text(step.node)}'
        f"</span><code>{_text(_text_of(step))}</code></td>"
        f'<td class="number arrives"{span}>{arrives}</td>'
    )


def _by_rows(text: str) -> str:
    """Return the text of numbers with each matrix in it as rows that are not broken."""
    rows = r"(?<!\[)(\[\[+(?:[^][\n]|\[(?!\[)|\](?!\]))*+\]\]+)"
    marked = re.sub(rows, r'<i class="rows">\1</i>', text)
    return marked.replace("], [", "],<br> [")


def _cells(step: StepView, rules: StatedRules) -> Iterator[str]:
    """Yield the cells of each row of a step, behind the common ones."""
    for send in step.sends:
        rule, by = rules.get((step.id, send.edge)), ""
        if rule is not None:
            name = f"<i>{rule.name}</i> " if rule.name else ""
            by = f"{name}<code>{_text(rule.text)}</code>"
        yield (
            f'<td class="to"><code>{_text(target(send))}</code></td><td class="number">'
            f"{_by_rows(_sum(step, send, '<b>{}</b>', '<br>', _text))}</td>"
            f'<td class="by">{by}</td>'
        )
    if not step.sends:
        name = f"<code>{_text(step.name or _text_of(step))}.grad</code>" * step.is_leaf
        result = f"<b>{_by_rows(_shown(step.grad_after))}</b>" * step.is_leaf
        yield f'<td class="to">{name}</td><td class="number">{result}</td><td></td>'


def _sum(
    step: StepView, send: Send, bold: str, between: str, code: Callable[[str], str]
) -> str:
    """Return ``1.0 × 3.0 = 3.0`` or ``g @ W.T = …``, with the gradient that had arrived
    before; ``code`` writes the rule."""
    made = product(step, send, " × ", _bracketed, code)
    said = f"{made} = " * bool(made) + bold.format(_shown(send.gradient))
    said += f" (summed to {_reduced(send)})" if send.reduced is not None else ""
    if send.held is not None:
        total = bold.format(_shown(send.total))
        said += f"{between}{_shown(send.held)} had arrived: together {total}"
    return said


def _program(explanation: Explanation) -> Iterator[str]:
    return map(printable, explanation.program.strip().splitlines())


def _text_of(step: StepView) -> str:
    """Return the program's text that makes the value of a step's node."""
    return assignment_text(step.name, step.source)


def _reduced(send: Send) -> str:
    return shape_text(send.reduced or ()) or "[]"


def _shown(value: Shown | None) -> str:
    """Return a number with six digits, a small array, or the shape of a larger one."""
    if value is None:
        return "None"
    if isinstance(value, LargeArray) or len(flat(value)) > MAX_ENTRIES:
        return size_text(value)
    return inline(value, six_digits)


def _bracketed(value: Plain) -> str:
    """Return a factor, a negative one in brackets."""
    text = _shown(value)
    return f"({text})" if text.startswith("-") else text


def _text(text: str) -> str:
    return escape(printable(text), quote=False)


def _code(text: str) -> str:
    """Return text as code between backticks that it cannot close."""
    told = printable(text)
    ticks = "`" * (1 + _longest_ticks(told))
    room = " " if told[:1] == "`" or told[-1:] == "`" else ""
    return f"{ticks}{room}{told}{room}{ticks}"


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def latex(explanation: Explanation, rules: StatedRules) -> Iterator[Line]:
    """Yield the lines of an align environment."""
    names = {step.id: step.name or _text_of(step) for step in explanation.steps}
    output = derived(explanation.output) or OUTPUT
    symbols = NameSymbols([output, *names.values()], explanation.shapes)
    equations = [
        f"{symbols[output]} &= {_value(explanation.output.known)}",
        f"{_ratio(output, output, symbols)} &= {_value(explanation.start)}",
    ]
    for step in explanation.steps:
        for send in step.sends:
            to, products = target(send), [_value(send.gradient)]
            left, both = _ratio(output, to, symbols), factors(step, send)
            if both:
                name, sign = names[step.id], r" \cdot "
                chain = _ratio(output, name, symbols), _ratio(name, to, symbols)
                sign = sign if isinstance(both[1], float) else r" \odot "
                products[:0] = r" \, ".join(chain), sign.join(map(_factor, both))
            equals = r"&\mathrel{{+}{=}}" if send.held is not None else "&="
            rule = rules.get((step.id, send.edge))
            beside = "" if rule is None else f" && {_aligned(rule, send)}"
            equations.append(f"{left} {equals} {' = '.join(products)}{beside}")
            if send.held is not None:
                added = f"{_value(send.held)} + {_factor(send.gradient)}"
                equations.append(f"{left} &= {added} = {_value(send.total)}")
    return map(unbroken, _environment(equations))


def _aligned(rule: Stated, send: Send) -> str:
    name = rf"\text{{{rule.name}: }} " if rule.name else ""
    reduced = "" if send.reduced is None else rf"\text{{, summed to }} {_reduced(send)}"
    return name + rule.latex + reduced


def _environment(equations: list[str]) -> Iterator[str]:
    yield f"% {ROUNDED}"
    letters = (letter for each in equations for letter in each)
    foreign = next((n for n in letters if n.isalpha() and n > LAST_LETTER), "")
    if foreign:
        yield f"% {foreign} needs LuaLaTeX or XeLaTeX, and a font that has it."
    yield from aligned(equations)


def paths_latex(answer: PathsAnswer) -> Iterator[Line]:
    """Yield the chain rule path by path: a sum of products of derivatives, and below
    each derivative its number; a product of several edges is put in brackets."""
    names = {n for t in answer.targets for p in t.paths for n in p.variables}
    symbols = NameSymbols(names, answer.shapes)
    for each in answer.targets:
        equations = _target(answer.derived or OUTPUT, each, symbols)
        yield from map(unbroken, _environment(list(equations)))


def _target(start: str, view: PathsView, symbols: NameSymbols) -> Iterator[str]:
    left, paths = _ratio(start, view.to, symbols), view.paths
    if not paths:
        yield f"{left} &= 0"
        return
    ways = [_chain(path, start, symbols) for path in paths]
    products = [product for path in paths if (product := _product(path))]
    sums = [
        ways if len(ways) > 1 or " " in ways[0] else [],
        products if len(products) == len(paths) else [],
        [_factor(path.product) for path in paths] if len(paths) > 1 else [],
    ]
    more = [r"\cdots"] if len(paths) < view.count else []
    for terms in filter(None, sums):
        yield f"{left} &= {' + '.join([*terms, *more])}"
        left = ""
    yield f"{left} &= {_value(view.sum)}"


def _chain(path: PathView, start: str, symbols: NameSymbols) -> str:
    names = [start, *path.variables[1:]]
    steps = [_ratio(above, below, symbols) for above, below in pairwise(names)]
    return r" \, ".join(steps) or "1"


def _product(path: PathView) -> str:
    if not path.elementwise or len(path.local_gradients) < 2:
        return ""
    known = [p for p in path.local_gradients if p is not None]
    sign = r" \odot " if any(isinstance(p, list) for p in known) else r" \cdot "
    rest = iter(known)
    # Several edges between two names make one factor of the chain above.
    legs = [[_factor(p) for p in islice(rest, count)] for count in path.legs]
    whole = [sign.join(leg) for leg in legs]
    return sign.join(
        rf"\left({text}\right)" if len(legs) > 1 and len(leg) > 1 else text
        for leg, text in zip(legs, whole, strict=True)
    )


def _ratio(of: str, by: str, symbols: NameSymbols) -> str:
    """Return a partial derivative as a fraction."""
    above, below = symbols[of], symbols[by]
    return rf"\frac{{\partial {above}}}{{\partial {below}}}"


class NameSymbols:
    """The symbols of a program's names, and of its texts, which are formulas of them.

    A text without a formula is written letter by letter. Texts are in brackets.
    """

    def __init__(
        self, names: Iterable[str], shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        own = {*filter(str.isidentifier, names), *shapes}
        self._shapes, self._own = shapes, LatexSymbols(own)
        self._texts: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name.isidentifier():
            return self._own[name]
        if name not in self._texts:
            formula = typeset(name, self._shapes, self._own)
            written = rf"\left({formula}\right)" if formula else f"({_verbatim(name)})"
            self._texts[name] = written
        return self._texts[name]


def _verbatim(text: str) -> str:
    told = printable(text)
    short = told if len(told) <= MAX_NAME else told[: MAX_NAME - 1] + "…"
    return verbatim(short.replace("^", "**").replace("\\", "/"))


def _value(number: Shown) -> str:
    """Return a number, a small matrix, or the shape of a larger one."""
    if not isinstance(number, list | LargeArray):
        return _DIALECT.plain(float(six_digits(number))).written
    shape = sizes(number)
    if (
        len(shape) > 2
        or isinstance(number, LargeArray)
        or len(flat(number)) > MAX_ENTRIES
    ):
        return "[" + r" \times ".join(map(str, shape)) + "]"
    return matrix([_value(each) for each in flat(number)], shape)


def _factor(number: Plain) -> str:
    """Return a number in a product or a sum, a negative one in brackets."""
    text = _value(number)
    return rf"\left({text}\right)" if text.startswith("-") else text
