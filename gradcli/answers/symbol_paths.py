"""Paths of the chain rule as text, where inputs have no values: formulas, no numbers.

Invariant: no number that was drawn is shown.

    dL/da  2 paths

    1  L → b → a
       MulBackward0 → MulBackward0 → AccumulateGrad
       c * w
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lang.excerpt import printable
from .line import BLANK, Layout, Line, Role, dim
from .path_formulas import MAX_FORMULA_CHARACTERS
from .paths import PathsAnswer, PathsView


def formula_listing(answer: PathsAnswer, layout: Layout) -> Iterator[Line]:
    """Yield every target with its paths, each with its product as a formula."""
    for nr, target in enumerate(answer.targets):
        if nr:
            yield BLANK
        yield from _target(answer, target, layout)


def _target(answer: PathsAnswer, target: PathsView, layout: Layout) -> Iterator[Line]:
    label = f"d{printable(answer.derived)}/d{printable(target.to)}"
    if not target.count:
        start, end = printable(answer.start), printable(target.to)
        yield Line((label, "name"), (f"  no path leads from {start} to {end}", "dim"))
        return
    paths = "path" if target.count == 1 else "paths"
    yield Line((label, "name"), (f"  {target.count} {paths}", "dim"))
    width = len(str(len(target.paths)))
    for nr, path in enumerate(target.paths, 1):
        indent = " " * (width + 2)
        text = path.formula or path.composed
        yield BLANK
        names = " → ".join(map(printable, path.variables))
        yield Line((str(nr).rjust(width), "dim"), (f"  {names}", "name"), hang=indent)
        yield Line((indent + " → ".join(path.nodes), "node"), hang=indent)
        said = "no short formula" if text is None else printable(text)
        role: Role = "dim" if text is None else "number"
        yield Line((indent, "plain"), (said, role), hang=indent)
    yield BLANK
    if len(target.paths) < target.count:
        yield dim(f"{len(target.paths)} of the paths are shown; --most N shows more")
        return
    terms = [path.formula or path.composed for path in target.paths]
    whole = " + ".join(map(str, terms)).replace("+ -", "- ")
    known = None not in terms and len(whole) <= MAX_FORMULA_CHARACTERS
    which = "the path's product" if target.count == 1 else "the sum over the paths"
    end = f": {printable(whole)}" if known and target.count > 1 else ""
    yield Line((f"{which} is {label}", "dim"), (end, "number"))
