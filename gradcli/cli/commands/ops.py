"""``gradcli ops``: the table of operations as pages."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from ...answers.catalog import catalog, find, known_names, listing, page
from ...answers.jsons import answer
from ...lang.suggest import did_you_mean
from ..options import Debug, Json
from ..output import Printer
from ..problems import Exit, wrong


def _names(incomplete: str) -> list[tuple[str, str]]:
    """Return the names that complete a word, with descriptions, for the shell."""
    from ..completion import describe, functions

    names = [name for name in functions() if name.startswith(incomplete)]
    known = describe(names)
    return [(name, known.get(name, ("",))[0]) for name in names]


def main(
    name: Annotated[
        str | None,
        Argument(
            metavar="[NAME]",
            autocompletion=_names,
            help="A function; without a name, all are listed.",
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """The operations: formulas, graph nodes, conventions.

    Example: gradcli ops maximum
    """
    found = None if name is None else find(name)
    if name is not None and found is None:
        hint = did_you_mean(name, known_names()) or "gradcli ops lists all of them"
        raise wrong("E597", f"no operation {name!r}", hint)
    if json:
        Printer().lines([answer("ops", functions=[found] if found else catalog())])
    else:
        Printer().paged(page(found) if found else listing(catalog()))
    return Exit.DONE
