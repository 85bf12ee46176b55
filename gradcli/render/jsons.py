"""Results as JSON, schema `gradcli/1`.

Invariant: the text is valid JSON, on one line but for a graph, whose nodes have a line
each, and for a descent, whose steps are objects of their own; numbers that JSON cannot
write are the strings "nan", "inf" and "-inf".

    dumps({"value": float("inf")})      # '{"value": "inf"}'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from ..views.catalog import FunctionView
from ..views.closed_forms import FormulaView, of_blocks, of_gradients
from ..views.derivatives import DerivativeView
from ..views.descent import DescentView
from ..views.gradients import GradView, InputView, OutputView
from ..views.graph import GraphView, NodeView
from .latex_forms import equations
from .line import Line
from .verdicts import VerdictLike, VerificationLike

SCHEMA = "gradcli/1"

UNASKED = "the check was not asked for"

EMPTY: Mapping[str, Any] = {}

UNVERIFIED: Mapping[str, Any] = {
    "verdict": "unknown",
    "checked": 0,
    "of": 0,
    "seconds": 0.0,
    "note": UNASKED,
}

_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


def dumps(value: Any) -> str:
    """JSON on one line."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_finite(value))
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    """A character that could steer a terminal or reorder text, as JSON escapes it."""
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _finite(value: Any) -> Any:
    """The same value with strings for the numbers that JSON cannot write.

    Recursion is as deep as a result is nested, which its shape bounds.
    """
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value


def _object(value: Any) -> Line:
    return unbroken(dumps(value))


def unbroken(text: str) -> Line:
    """A line that stays one, so that it can be copied out of a terminal."""
    return Line(((text, "plain"),), hang="")


def grad(
    view: GradView,
    verification: VerificationLike | None,
    symbolic: bool = False,
    more: Mapping[str, Any] = EMPTY,
    by_input: Mapping[str, Mapping[str, Any]] = EMPTY,
    latex: bool = False,
) -> Line:
    """The whole answer with its verdicts, with ``symbolic`` all formulas too, with
    ``latex`` also as LaTeX; ``more`` and ``by_input`` are added to the whole and to the
    inputs."""
    verdicts = {v.name: v for v in verification.inputs} if verification else {}
    inputs = [_input(i, verdicts.get(i.name)) for i in view.inputs]
    for entry in inputs:
        entry |= by_input.get(entry["name"], EMPTY)
    if symbolic:
        written = _written(of_gradients(view, verdicts.values()), latex)
        by_name = dict(zip([g.name for g in view.differentiated], written, strict=True))
        for entry in inputs:
            entry |= by_name.get(entry["name"], EMPTY)
    return _object(
        {
            "schema": SCHEMA,
            "command": "grad",
            "program": view.program,
            "device": view.device,
            "dtype": view.dtype,
            "output": output_object(view.output),
            "inputs": inputs,
            **more,
            "verification": verified(verification),
        }
    )


def _written(views: Sequence[FormulaView], latex: bool) -> list[dict[str, Any]]:
    """The formulas of each block, with ``latex`` its equation too."""
    found = [
        {"symbolic": view.nested(), "symbolic_note": view.missing} for view in views
    ]
    if latex:
        for entry, text in zip(found, equations(views), strict=True):
            entry["latex"] = text
    return found


def verified(verification: VerificationLike | None) -> Mapping[str, Any]:
    """The summary of a verification, or that there was none."""
    if verification is None:
        return UNVERIFIED
    return {
        "verdict": verification.verdict,
        "checked": verification.checked,
        "of": verification.of,
        "seconds": round(verification.seconds, 3),
        "side_conditions": list(verification.side_conditions),
        "kinks": list(verification.kinks),
    }


def output_object(output: OutputView) -> dict[str, Any]:
    """An output with its value and node."""
    return {
        "name": output.name,
        "shape": output.shape,
        "value": output.value,
        "grad_fn": output.grad_fn,
    }


def _input(given: InputView, verdict: VerdictLike | None) -> dict[str, Any]:
    return {
        "name": given.name,
        "shape": given.shape,
        "value": given.value,
        "sampled": given.sampled,
        "requires_grad": given.requires_grad,
        "grad": given.grad,
        "closed_form": verdict.closed_form if verdict else None,
        "verdict": verdict.verdict if verdict else "unknown",
        "max_error": verdict.max_error if verdict else None,
        "max_ulps": verdict.max_ulps if verdict else None,
        "correct_digits": verdict.digits if verdict else None,
        "note": verdict.note if verdict else UNASKED,
    }


def graph(view: GraphView) -> Iterator[Line]:
    """The graph, a line per node, so that a long one is written as it is read."""
    head = {
        "schema": SCHEMA,
        "command": "graph",
        "program": view.program,
        "output": view.name,
        "output_nr": view.output_nr,
        "root": view.root,
    }
    yield unbroken(dumps(head)[:-1] + ', "nodes": [')
    last = len(view.nodes) - 1
    for node in view.nodes:
        comma = "" if node.id == last else ","
        yield unbroken(dumps(_node(node)) + comma)
    yield unbroken("]}")


def _node(node: NodeView) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": node.name,
        "variable": node.variable,
        "output": node.output,
        "shape": node.shape,
        "source": node.source,
        "line": node.line,
        "column": node.column,
        "span": node.span,
        "next_functions": node.next_functions,
        "local_gradients": node.local_gradients,
    }


def derivative(
    view: DerivativeView,
    verification: VerificationLike | None,
    symbolic: bool,
    latex: bool = False,
    more: Mapping[str, Any] = EMPTY,
) -> Line:
    """A Jacobian's or a Hessian's blocks, with ``symbolic`` their formulas too, with
    ``latex`` also as LaTeX; ``more`` is added to the whole."""
    verdicts = {v.name: v for v in verification.inputs} if verification else {}
    written: Sequence[Mapping[str, Any]] = [EMPTY] * len(view.blocks)
    if symbolic:
        written = _written(of_blocks(view, verdicts.values()), latex)
    blocks = []
    for block, formulas in zip(view.blocks, written, strict=True):
        verdict = verdicts.get(block.by[-1])
        entry: dict[str, Any] = {"input": block.by[0]}
        if len(block.by) > 1:
            entry["inputs"] = block.by
        entry |= {
            "shape": block.shape,
            "value": block.value,
            "structure": block.structure,
            "verdict": verdict.verdict if verdict else "unknown",
            "max_error": verdict.max_error if verdict else None,
            "max_ulps": verdict.max_ulps if verdict else None,
            "correct_digits": verdict.digits if verdict else None,
            "note": verdict.note if verdict else UNASKED,
        }
        blocks.append(entry | dict(formulas))
    return _object(
        {
            "schema": SCHEMA,
            "command": view.command,
            "program": view.program,
            "device": view.device,
            "dtype": view.dtype,
            "mode": view.mode,
            "passes": view.passes,
            "output": output_object(view.output),
            "blocks": blocks,
            **more,
            "verification": verified(verification),
        }
    )


def step(number: int, loss: float, grad_norm: float) -> Line:
    """One step of a descent."""
    return _object({"step": number, "loss": loss, "grad_norm": grad_norm})


def descent(view: DescentView) -> Line:
    """Where a descent ended."""
    return _object(
        {
            "schema": SCHEMA,
            "command": "descend",
            "program": view.program,
            "device": view.device,
            "dtype": view.dtype,
            "seed": view.seed,
            "optimizer": view.optimizer,
            "lr": view.lr,
            "output": view.output,
            "steps": view.steps,
            "loss": view.loss,
            "grad_norm": view.grad_norm,
            "stopped": view.stopped,
            "inputs": [
                {"name": i.name, "shape": i.shape, "value": i.value}
                for i in view.inputs
            ],
        }
    )


def functions(views: Sequence[FunctionView]) -> Line:
    """The table of operations."""
    return _object(
        {
            "schema": SCHEMA,
            "command": "ops",
            "functions": [_function(view) for view in views],
        }
    )


def _function(view: FunctionView) -> dict[str, Any]:
    return {
        "name": view.name,
        "family": view.family,
        "doc": view.doc,
        "formula": view.formula,
        "kink": view.kink,
        "parameters": view.parameters,
        "aliases": view.aliases,
        "not_finite": dict(view.not_finite),
        "spellings": dict(view.spellings),
        "rows": [
            {
                "name": row.name,
                "formula": row.formula,
                "node": row.node,
                "parameters": row.parameters,
                "elementwise": row.elementwise,
                "kink": row.kink,
                "derivatives": dict(row.derivatives),
            }
            for row in view.rows
        ],
    }
