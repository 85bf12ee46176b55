"""Derivatives by an intermediate value: ``--wrt`` of a name that the program assigns.

The program is run once. Then the assignment is cut from its text, and the name is given
as an input with the value that it had, so that all that holds for inputs holds for it.

Invariant: the text keeps its length, so that every place in it stays the same.

    without("h = x*w; y = h**2", "h")        # "0      ; y = h**2"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..lang.bindings import Binding
from ..lang.errors import ProgramError, Span
from ..lang.excerpt import printable, shortened
from ..lang.parser import parse
from ..lang.run import Prepared, execute, input_names, prepare
from ..lang.syntax import Assign, Target, assigned_names, walk


def asked_midway(source: str, wrt: Sequence[str], bound: Collection[str]) -> list[str]:
    """Return the names in ``wrt`` that the program assigns and that are no inputs."""
    program = parse(source, bound)
    names = input_names(program, bound)
    return [n for n in wrt if n not in names and n in assigned_names(program)]


def without(source: str, name: str, bound: Collection[str] = ()) -> str:
    """Return the text with the one assignment to a name replaced by 0 and blanks.

    Raises:
        ProgramError: the name is assigned several times, in a block, or last.
    """
    start, end = _assignment(source, name, bound)
    blank = re.sub(r"[^\r\n]", " ", source[start + 1 : end])
    return f"{source[:start]}0{blank}{source[end:]}"


def _assignment(source: str, name: str, bound: Collection[str]) -> Span:
    """Return the span of the one assignment to a name."""
    program = parse(source, bound)
    targets = [t for t in walk(program) if isinstance(t, Target) and t.name == name]
    for statement in program.body.statements[:-1]:
        if isinstance(statement, Assign) and statement.targets == tuple(targets):
            return statement.span
    message = f"--wrt: '{name}' is assigned in a block, several times, or last"
    hint = "give the value that is meant a name of its own"
    raise ProgramError("E507", message, hint=hint)


def prepared_midway(
    prepared: Prepared, bindings: Sequence[Binding], name: str, seed: int
) -> tuple[Prepared, str]:
    """Return the program with an intermediate value as an input, and a note on it."""
    source = prepared.source
    bound = {binding.name for binding in bindings}
    text = without(source, name, bound)
    value = execute(prepared, of=name).output
    names = input_names(parse(text, {*bound, name}), {*bound, name})
    if name not in names:
        message = f"--wrt: nothing depends on '{name}'"
        raise ProgramError("E507", message, hint="ask for another")
    cut = prepare(
        text,
        [binding for binding in bindings if binding.name in names],
        wrt=[name],
        seed=seed,
        dtype=prepared.factory.dtype,
        device=str(prepared.factory.xp.device),
    )
    own = {given.name: given.tensor.detach() for given in prepared.inputs}
    leaf = prepared.factory.leaf(value.detach().cpu().raw)
    given = {n: own[n] for n in names if n in own}
    start, end = _assignment(source, name, bound)
    said = shortened(source[start:end], 40)
    note = f"{name} stands for its value: what made it, {said}, is left out"
    return cut.on({**given, name: leaf}), printable(note)
