"""Recorded PyTorch programs as runs, and programs run again from their text."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.formulas.programs import WantedCode
from gradcli.lang.bindings import read_bindings
from gradcli.lang.parser import parse
from gradcli.lang.run import Run, Session, input_names, prepare
from tests.reference.recorded_programs import RECORDS

BY_NAME = {record["name"]: record for record in RECORDS}


def run_of(text: str, inputs: dict[str, Any], of: str | None = None) -> Run:
    """Run a program with those of the values that it reads."""
    names = input_names(parse(text, inputs), inputs)
    words = [f"{name}={json.dumps(inputs[name])}" for name in names]
    return Session(prepare(text, read_bindings(words)), of=of).run()


def text_of(run: Run, language: str, kind: str = "gradient") -> str:
    """The program of a derivative."""
    return "\n".join(WantedCode(run, language, kind).lines())


def zeros_for(found: Any, like: Tensor) -> Any:
    return np.zeros(like.shape) if found is None else np.asarray(found.raw)


def summed_gradient(run: Run, create: bool = False) -> dict[str, Any]:
    """Per input the gradient of the sum of the output's entries."""
    inputs = [given.tensor for given in run.inputs]
    if run.output.edge is None:
        return {given.name: np.zeros(given.tensor.shape) for given in run.inputs}
    ones = Tensor(np.ones(run.output.shape), run.output.xp)
    found = grad([run.output], inputs, [ones], create_graph=create)
    return {
        given.name: zeros_for(g, given.tensor)
        for given, g in zip(run.inputs, found, strict=True)
    }


def differs(found: Any, true: Any, tolerance: float = 1e-12) -> bool:
    """Whether numbers differ by more than rounding, or in shape."""
    found, true = np.asarray(found), np.asarray(true)
    bounds = {"rtol": tolerance, "atol": tolerance, "equal_nan": True}
    return found.shape != true.shape or not np.allclose(found, true, **bounds)
