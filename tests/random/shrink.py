"""Make a program that differs small: fewer statements, plainer values, less at the end.

Invariant: what is returned differs in the same way as the program did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.random.program import Line, Program

MOST_TRIALS = 250

Same = Callable[[Program], bool]


def shrunk(program: Program, same: Same) -> Program:
    """The smallest program found that still differs."""
    trials = 0
    again = True
    while again:
        again = False
        for smaller in smaller_than(program):
            trials += 1
            if trials > MOST_TRIALS:
                return program
            if same(smaller):
                program, again = smaller, True
                break
    return program


def smaller_than(program: Program) -> Iterator[Program]:
    *first, last = program.statements
    for at in reversed(range(len(first))):
        for parts in first[at].smaller():
            statements = (*first[:at], *parts, *first[at + 1 :], last)
            yield with_inputs_read(replace(program, statements=statements))
    if first and isinstance(first[-1], Line):
        yield with_inputs_read(replace(program, statements=tuple(first)))
    assert isinstance(last, Line)
    terms = last.text.split(" + ") if last.name is None else []
    if len(terms) > 1:
        for term in terms:
            line = Line(term)
            yield with_inputs_read(replace(program, statements=(*first, line)))
    for part, plain in PLAINER:
        text = part.sub(plain, last.text)
        if text != last.text:
            line = replace(last, text=text)
            yield with_inputs_read(replace(program, statements=(*first, line)))
    for name, value in program.inputs.items():
        for plainer in plainer_than(value):
            yield replace(program, inputs={**program.inputs, name: plainer})
    if program.dtype != "float64":
        yield replace(program, dtype="float64")


PLAINER = (
    (re.compile(r"^\((\w+)\*\1\)\.sum\(\)$"), r"\1.sum()"),
    (re.compile(r"^\(?(\w+)(?:\*\1\))?\.(?:sum|mean)\(\)$"), r"\1"),
    (re.compile(r"^(\w+)\*\1$"), r"\1"),
)


def with_inputs_read(program: Program) -> Program:
    """Without the inputs that nothing reads any more."""
    words = set(re.findall(r"\w+", program.text))
    kept = {n: v for n, v in program.inputs.items() if n in words}
    return replace(program, inputs=kept)


def plainer_than(value: Any) -> Iterator[Any]:
    """The same with integers, or one entry at a time with a 1."""
    array = np.array(value)
    whole = np.where(np.isfinite(array), np.round(array), array)
    if not same_array(whole, array):
        yield whole.tolist()
    for at in range(array.size if array.size < 13 else 0):
        flat = array.reshape(-1).copy()
        if flat[at] != 1:
            flat[at] = 1
            yield flat.reshape(array.shape).tolist()


def same_array(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))
