"""Results as JSON, schema `gradcli/1`.

Invariant: the text is valid JSON, on one line but for a graph and a backward pass,
whose nodes and steps have a line each, and for a descent, whose steps are objects of
their own; numbers that JSON cannot write are the strings "nan", "inf" and "-inf". A
view is an object with its fields as keys, wherever it stands in a result.

    dumps({"value": float("inf")})      # '{"value": "inf"}'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..answers.closed_forms import FormulaView, of_blocks, of_gradients
from ..answers.gradients import GradView, OutputView
from ..views.numbers import Entries, plain
from .latex_forms import equations
from .limits import MAX_JSON_NUMBER
from .line import Line, LongLine
from .long import listed as listed_pieces
from .numbers import count_text
from .remarks import taken

if TYPE_CHECKING:
    from ..answers.catalog import FunctionView
    from ..answers.derivatives import BlockView, DerivativeView
    from ..verify.process.job import InputVerdict, Verification
    from .derivatives import Shown

SCHEMA = "gradcli/1"

UNASKED = "the check was not asked for"

EMPTY: Mapping[str, Any] = {}

UNVERIFIED: Mapping[str, object] = {
    "verdict": "unknown",
    "checked": 0,
    "of": 0,
    "seconds": 0.0,
    "note": UNASKED,
}


def entries(view: Any, *hidden: str) -> dict[str, Any]:
    """Return an answer, or a part of one, as the keys and values of its object.

    Args:
        view: says with its fields' metadata how they stand there (`answers/fields.py`).
        hidden: further fields that are left out.
    """
    found: dict[str, Any] = {}
    if not is_dataclass(view):
        keys = [key for key in view._fields if key not in view.HIDDEN]
        return {key: getattr(view, key) for key in keys}
    for each in fields(view):
        value, how = getattr(view, each.name), each.metadata.get("json")
        if each.name in hidden or how in ("hidden", "rows"):
            continue
        if how == "flat":
            found |= {} if value is None else entries(value)
        elif how is None or value is not None:
            large = isinstance(value, int) and value >= MAX_JSON_NUMBER
            key = each.metadata.get("key", each.name)
            found[key] = count_text(value) if large else value
    return found


def _part(value: Any) -> Any:
    """Return a part of an answer that JSON has no word for in lists and objects."""
    return plain(value) if hasattr(value, "dtype") else entries(value)


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_part)


def dumps(value: object) -> str:
    """JSON on one line."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_finite(value))
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    """A character that could steer a terminal or reorder text, as JSON escapes it."""
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _finite(value: object) -> object:
    """The same value with strings for the numbers that JSON cannot write.

    Recursion is as deep as a result is nested, which its shape bounds.
    """
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    return _finite(_part(value))


def line_of(value: object) -> Line:
    """JSON on a line of its own; with large arrays it is made while it is written."""
    if _holds_entries(value):
        return LongLine.of(lambda: _pieces(value))
    return unbroken(dumps(value))


def _holds_entries(value: object) -> bool:
    """Whether there is a large array in an answer."""
    if isinstance(value, Mapping):
        return any(map(_holds_entries, value.values()))
    if isinstance(value, list | tuple):
        return not _are_numbers(value) and any(map(_holds_entries, value))
    return isinstance(value, Entries) or (
        is_dataclass(value) and _holds_entries(entries(value))
    )


def _are_numbers(value: Sequence[object]) -> bool:
    return not value or isinstance(value[0], int | float | str)


def _pieces(value: object) -> Iterator[str]:
    """JSON piece by piece, in the words of `dumps`."""
    if isinstance(value, Entries):
        yield from listed_pieces(value, dumps)
    elif not _holds_entries(value):
        yield dumps(value)
    elif isinstance(value, list | tuple):
        for nr, entry in enumerate(value):
            yield ", " if nr else "["
            yield from _pieces(entry)
        yield "]"
    else:
        known = value if isinstance(value, Mapping) else entries(value)
        for nr, (key, entry) in enumerate(known.items()):
            yield (", " if nr else "{") + dumps(key) + ": "
            yield from _pieces(entry)
        yield "}"


def unbroken(text: str) -> Line:
    """A line that stays one, so that it can be copied out of a terminal."""
    return Line(((text, "plain"),), hang="")


def as_json(found: Any) -> Iterator[Line]:
    """Write the answer of a command as one object; its rows have a line each."""
    parts = entries(found, "command")
    head = answer(found.command, **parts)
    rows = [f.name for f in fields(found) if f.metadata.get("json") == "rows"]
    if not rows:
        return iter((head,))
    return listed(head, rows[0], map(entries, getattr(found, rows[0])))


def answer(command: str, **parts: object) -> Line:
    """The result of a command."""
    head = {"schema": SCHEMA, "command": command}
    return line_of({**head, **parts, "notes": taken()})


def listed(head: Line, key: str, objects: Iterable[object]) -> Iterator[Line]:
    """The result with a list at its end, a line per object, so that a long one is
    written as it is read."""
    before = unbroken(head.text[:-1] + f', "{key}": [')
    end = ""
    for each in objects:
        yield _with(before, end)
        before, end = line_of(each), ","
    yield _with(before, "")
    yield unbroken("]}")


def _with(line: Line, end: str) -> Line:
    """A line with something behind it."""
    if isinstance(line, LongLine):
        return LongLine.of(lambda: chain(line.pieces(), (end,)))
    return unbroken(line.text + end)


def grad(
    view: GradView,
    verification: Verification | None,
    symbolic: bool = False,
    more: Mapping[str, object] = EMPTY,
    by_input: Mapping[str, Mapping[str, object]] = EMPTY,
    latex: bool = False,
) -> Line:
    """The answer with its verdicts, with ``symbolic`` all formulas too, with
    ``latex`` also as LaTeX; ``more`` and ``by_input`` are added to the result and to
    the inputs."""
    verdicts = by_name(verification)
    formulas = {}
    if symbolic:
        written = _written(of_gradients(view, verdicts.values()), latex)
        names = [given.name for given in view.differentiated]
        formulas = dict(zip(names, written, strict=True))
    inputs = []
    for given in view.inputs:
        verdict = verdicts.get(given.name)
        closed_form = {"closed_form": verdict.closed_form if verdict else None}
        further = (by_input.get(given.name, EMPTY), formulas.get(given.name, EMPTY))
        inputs.append(entries(given) | closed_form | checked(verdict))
        for each in further:
            inputs[-1] |= each
    return answer(
        "grad",
        program=view.program,
        device=view.device,
        dtype=view.dtype,
        output=output_object(view.output),
        inputs=inputs,
        **more,
        verification=verified(verification),
    )


def by_name(verification: Verification | None) -> Mapping[str, InputVerdict]:
    """The verdicts by the names of the inputs."""
    return {v.name: v for v in verification.inputs} if verification else {}


def checked(verdict: InputVerdict | None) -> dict[str, float | int | str | None]:
    """What was shown of one derivative."""
    return {
        "verdict": verdict.verdict if verdict else "unknown",
        "max_error": verdict.max_error if verdict else None,
        "max_ulps": verdict.max_ulps if verdict else None,
        "correct_digits": verdict.digits if verdict else None,
        "note": verdict.note if verdict else UNASKED,
    }


def _written(views: Sequence[FormulaView], latex: bool) -> list[dict[str, Any]]:
    """The formulas of each block, with ``latex`` its equation too."""
    found = [
        {"symbolic": view.nested(), "symbolic_note": view.missing} for view in views
    ]
    if latex:
        for entry, text in zip(found, equations(views), strict=True):
            entry["latex"] = text
    return found


def verified(verification: Verification | None) -> Mapping[str, object]:
    """The summary of a verification, or that there was none."""
    if verification is None:
        return UNVERIFIED
    seconds = round(verification.seconds, 3)
    return entries(verification, "inputs", "done") | {"seconds": seconds}


def output_object(output: OutputView) -> dict[str, object]:
    """An output with its value and node."""
    return entries(output, "named")


def derivative(
    view: DerivativeView,
    verification: Verification | None,
    symbolic: bool,
    latex: bool = False,
    more: Mapping[str, Any] = EMPTY,
    shown: Shown | None = None,
) -> Line:
    """A Jacobian's or a Hessian's blocks, with ``symbolic`` their formulas too, with
    ``latex`` also as LaTeX; ``more`` is added to the result."""
    verdicts = by_name(verification)
    written: Sequence[Mapping[str, Any]] = [EMPTY] * len(view.blocks)
    if symbolic:
        written = _written(of_blocks(view, verdicts.values()), latex)
    blocks = []
    for nr, (block, formulas) in enumerate(zip(view.blocks, written, strict=True)):
        both = {"inputs": block.by} if len(block.by) > 1 else {}
        verdict = checked(verdicts.get(block.by[-1]))
        names = {"input": block.by[0], **both}
        files = None if shown is None else shown.files
        numbers: dict[str, object] = (
            _numbers(block) if files is None else {"file": files[nr]}
        )
        if shown is not None and shown.spied:
            from ..answers.pattern import colours_of

            numbers["colours"] = colours_of(block.pattern)
        told = {"shape": block.shape, **numbers, "structure": block.structure}
        blocks.append({**names, **told, **verdict, **formulas})
    return answer(
        **entries(view, "output", "blocks"),
        output=output_object(view.output),
        blocks=blocks,
        **more,
        verification=verified(verification),
    )


def _numbers(block: BlockView) -> dict[str, object]:
    """A block's numbers: nested lists, or of a sparse block coordinates and values, as
    a matrix of ``size``."""
    if not block.is_sparse:
        return {"value": block.value}
    pattern = block.pattern
    return {
        "size": pattern.shape,
        "stored": pattern.stored,
        "bandwidth": (pattern.below, pattern.above),
        **block.coordinates._asdict(),
    }


def step(number: int, loss: float, grad_norm: float) -> Line:
    """One step of a descent."""
    return unbroken(dumps({"step": number, "loss": loss, "grad_norm": grad_norm}))


def functions(views: Sequence[FunctionView]) -> Line:
    """The table of operations."""
    return answer("ops", functions=views)
