"""Jobs for the tests: a program's text, its values, and what the engine says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from gradcli.check import whole
from gradcli.check.process.job import InputVerdict, Job, NumberBlock, Verification
from gradcli.check.process.job import JobInput as Asked
from gradcli.check.subject import program_of
from gradcli.check.verify import verify
from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.run import evaluate

NEURONS = "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d"
NEURON_VALUES = {"a": 3.0, "w1": 2.0, "w2": 4.0, "w3": 5.0, "w4": 6.0}


def block(array: Any) -> NumberBlock:
    return NumberBlock.of(np.shape(array), np.ravel(np.asarray(array, dtype=float)))


def leaves(values: dict[str, Any], dtype: str) -> dict[str, Tensor]:
    return {n: Tensor(np.array(v, dtype), NUMPY, True) for n, v in values.items()}


def job(
    source: str, values: dict[str, Any], *, dtype: str = "float64",
    cotangent: Any = None, seconds: float = inf, seed: int = 0,
) -> Job:  # fmt: skip
    """The engine's gradient, as a claim."""
    tensors = leaves(values, dtype)
    output = evaluate(source, tensors, dtype=dtype, seed=seed)[0]
    given = np.ones(output.shape) if cotangent is None else cotangent
    start = Tensor(np.asarray(given, dtype), NUMPY)
    found = grad([output], list(tensors.values()), [start])
    inputs = tuple(
        Asked(name, block(t.raw), block(np.zeros(t.shape) if g is None else g.raw))
        for (name, t), g in zip(tensors.items(), found, strict=True)
    )
    return Job(
        source, inputs, block(output.raw), dtype=dtype, seconds=seconds, seed=seed,
        cotangent=None if cotangent is None else block(cotangent),
    )  # fmt: skip


def rows_job(source: str, values: dict[str, Any], kind: str) -> Job:
    """The engine's Jacobian or Hessian, as a claim."""
    tensors = leaves(values, "float64")
    inputs = list(tensors.values())
    output = evaluate(source, tensors)[0]
    parts = [output]
    if kind == "hessian":
        parts = [g for g in grad([output], inputs, create_graph=True) if g is not None]
    rows = []
    for part in parts:
        for unit in np.eye(part.numel()):
            start = Tensor(unit.reshape(part.shape), NUMPY)
            rows.append(grad([part], inputs, [start], retain_graph=True))
    claims = [
        np.stack([np.zeros(t.shape) if r[i] is None else r[i].raw for r in rows])
        for i, t in enumerate(inputs)
    ]
    asked = tuple(
        Asked(name, block(t.raw), block(claim))
        for (name, t), claim in zip(tensors.items(), claims, strict=True)
    )
    return Job(source, asked, block(output.raw), kind=kind, seconds=inf)


def claiming(given: Job, name: str, change: Any) -> Job:
    """The same job with other numbers claimed for one input."""
    inputs = tuple(
        replace(
            i,
            claim=NumberBlock.of(i.claim.shape, [change(v) for v in i.claim.values()]),
        )
        if i.name == name and i.claim is not None
        else i
        for i in given.inputs
    )
    return replace(given, inputs=inputs)


def checked(given: Job) -> Verification:
    return verify(given, program_of(given))


@contextmanager
def no_proofs() -> Iterator[None]:
    """Look at numbers alone meanwhile: SymPy is not asked."""
    before, whole.MAX_SYMPY_TREE_NODES = whole.MAX_SYMPY_TREE_NODES, 0
    try:
        yield
    finally:
        whole.MAX_SYMPY_TREE_NODES = before


def by_name(verification: Verification) -> dict[str, InputVerdict]:
    return {v.name: v for v in verification.inputs}
