"""A program in PyTorch: its text as Python, with PyTorch's functions as bare names.

PyTorch saves copies here: a change in place leaves them as they were, as it does in
gradcli's language.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks

from gradcli.ops import ALIASES, FUNCTIONS
from tests.random.outcome import Side
from tests.random.program import Line, Program

HOMES = (torch.nn.functional, torch, torch.special, torch.linalg)
"""Where a bare name is looked up, in this order; then among a tensor's methods."""

LIBRARIES = ("linalg",)
"""PyTorch's libraries whose names the table has too."""

MEANT: dict[str, Callable[..., Any]] = {
    "solve": torch.linalg.solve,
    "unfold": torch.Tensor.unfold,
}
"""Names under which PyTorch has something else first."""

FOUND = "_found"


def known(name: str, method: bool) -> bool:
    """Whether PyTorch has a function of the name, or a method."""
    if method:
        own = callable(getattr(torch.Tensor, name, None))
        return own and MEANT.get(name, torch.Tensor.unfold) is torch.Tensor.unfold
    base, _, last = name.rpartition(".")
    if base:
        return callable(getattr(getattr(torch, base, None), last, None))
    return name in namespace()


def function(name: str) -> Callable[..., Any] | None:
    if name in MEANT:
        return MEANT[name]
    for home in HOMES:
        found = getattr(home, name, None)
        if callable(found):
            return found
    if callable(getattr(torch.Tensor, name, None)):
        return lambda x, *args, **given: getattr(x, name)(*args, **given)
    return None


@cache
def namespace() -> dict[str, Any]:
    """PyTorch's functions under the names of the table, and the constants."""
    names = (*FUNCTIONS, *ALIASES, "tensor", "eye", "zeros", "ones", "full", "no_grad")
    found: dict[str, Any] = {"__builtins__": {"range": range, "__import__": __import__}}
    for name in names:
        if "." not in name and (here := function(name)) is not None:
            found[name] = here
    return found | {library: apart(library, names) for library in LIBRARIES} | {
        "inf": math.inf, "nan": math.nan, "pi": math.pi,
    }  # fmt: skip


def apart(library: str, names: tuple[str, ...]) -> SimpleNamespace:
    """PyTorch's functions of a library, under the table's names of them."""
    home = getattr(torch, library)
    own = [name.partition(".")[2] for name in names if name.startswith(f"{library}.")]
    return SimpleNamespace(**{name: getattr(home, name) for name in own})


def run(
    program: Program, given: tuple[torch.Tensor, ...] | None = None
) -> tuple[torch.Tensor, list[tuple[str, torch.Tensor]]]:
    dtype = getattr(torch, program.dtype)
    if given is None:
        given = tuple(
            torch.tensor(value, dtype=dtype, requires_grad=True)
            for value in program.inputs.values()
        )
    inputs = dict(zip(program.inputs, given, strict=True))
    scope = {**namespace(), **inputs}
    *first, last = program.statements
    assert isinstance(last, Line)
    text = "\n".join(line for s in first for line in s.lines)
    end = last.text if last.name else f"{FOUND} = ({last.text})"
    with defaults(dtype), saving_copies():
        exec(compile(f"{text}\n{end}\n", "<program>", "exec"), scope)
        output = scope[last.name or FOUND]
        if isinstance(output, bool | int | float):
            output = torch.tensor(float(output))
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"the output is a {type(output).__name__}")
    return output, list(inputs.items())


@contextmanager
def defaults(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_default_dtype(before)


def gradient(
    outputs: list[torch.Tensor],
    leaves: list[torch.Tensor],
    v: list[torch.Tensor],
    create: bool,
) -> list[torch.Tensor | None]:
    with saving_copies():
        return list(
            torch.autograd.grad(
                outputs, leaves, v, retain_graph=True, create_graph=create,
                allow_unused=True,
            )
        )  # fmt: skip


def saving_copies() -> saved_tensors_hooks:
    return saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)


def whole(program: Program, inputs: tuple[torch.Tensor, ...]) -> tuple[Any, ...]:
    """The whole derivative of a program by its inputs, row by row; once for each of
    the ways in which gradcli has it."""
    found = torch.autograd.functional.jacobian(lambda *x: run(program, x)[0], inputs)
    return 2 * found


def root(tensor: torch.Tensor) -> tuple[Any, int] | None:
    if not tensor.requires_grad:
        return None
    edge = torch.autograd.graph.get_gradient_edge(tensor)
    return edge.node, edge.output_nr


THEIRS = Side(
    run=run,
    grad=gradient,
    jacobian=whole,
    array=lambda tensor: np.array(tensor.detach().numpy(force=True)),
    tensor=lambda values, like: torch.tensor(np.asarray(values), dtype=like.dtype),
    root=root,
    refusals=(Exception,),
)
