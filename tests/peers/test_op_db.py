"""PyTorch's own samples of every operation that gradcli has, as function and as method.

Invariant: each sample gives PyTorch's value, first and second derivative, or it stands
in one of the tables below with the reason; and what stands there still fails, so that
no table outlives its reason.

    python -m tests.peers.test_op_db          # the counts, with reasons
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("expecttest", reason="PyTorch's samples need expecttest")

import torch

import gradcli

from .compare import Differs, compare

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.peers

AT_RANDOM = frozenset(
    "bernoulli empty empty_like multinomial new_empty nn.functional.dropout normal "
    "rand_like randint randint_like randn randn_like".split()
)
"""Draws, and memory that was not written to: there is no value to compare."""

SINGULAR_VALUES = "orders made of singular values are refused by name"
PADDING = "padding by anything but a constant is refused by name"
NO_CHANNELS = "an input of no dimension for channels is refused"
TYPE_OF_NEW = "new_... take no dtype and no device"

REFUSED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "norm": (SINGULAR_VALUES, lambda s: "nuc" in s.args),
    "linalg.norm": (SINGULAR_VALUES, lambda s: takes_singular_values(s)),
    "linalg.matrix_norm": (SINGULAR_VALUES, lambda s: takes_singular_values(s)),
    "nn.functional.pad": (PADDING, lambda s: mode_of(s) != "constant"),
    "nn.functional.batch_norm": (NO_CHANNELS, lambda s: s.input.dim() < 2),
    "new_zeros": (TYPE_OF_NEW, lambda s: bool(s.kwargs)),
    "new_ones": (TYPE_OF_NEW, lambda s: bool(s.kwargs)),
    "new_full": (TYPE_OF_NEW, lambda s: bool(s.kwargs)),
}
"""Arguments that gradcli does not take: an operation, why, and of which samples."""

ZERO_NORM = "gradcli: 0 for the second derivative of a norm at 0; PyTorch: NaN"
SIXTH = "PyTorch multiplies by a sixth in single precision, which is off by 3e-8"

DEVIATES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "linalg.norm": (ZERO_NORM, lambda s: not s.input.detach().count_nonzero()),
    "nn.functional.hardsigmoid": (SIXTH, lambda s: bool(s.input.numel())),
}
"""Where gradcli means something else: an operation, what, and at which samples."""

ORDER: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "einsum": lambda f: lambda tensors, equation: f(equation, *tensors),
    "where": lambda f: lambda a, condition, b: f(condition, a, b),
    "nn.functional.embedding": lambda f: lambda w, at, **rest: f(at, w, **rest),
}
"""Samples whose arguments come in another order than the function's."""


def takes_singular_values(sample: Any) -> bool:
    x, given = sample.input, sample.kwargs
    order = sample.args[0] if sample.args else given.get("ord")
    dim = sample.args[1] if len(sample.args) > 1 else given.get("dim")
    matrix = x.dim() == 2 if dim is None else isinstance(dim, tuple) and len(dim) == 2
    return order == "nuc" or (matrix and order in (2, -2))


def mode_of(sample: Any) -> str:
    mode = sample.args[1] if len(sample.args) > 1 else sample.kwargs.get("mode")
    return str(mode or "constant")


class Form(NamedTuple):
    """One way to call an operation, in PyTorch and in gradcli."""

    op: Any
    kind: str
    theirs: Callable[..., Any]
    ours: Callable[..., Any]

    @property
    def ident(self) -> str:
        variant = f"/{self.op.variant_test_name}" if self.op.variant_test_name else ""
        return f"{self.op.name}{variant}-{self.kind}"

    def samples(self) -> Iterator[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(
                self.op.sample_inputs(
                    "cpu", torch.float64, requires_grad=self.op.supports_autograd
                )
            )
        for sample in found:
            if self.kind == "function" or isinstance(sample.input, torch.Tensor):
                yield sample


def reached(root: Any, path: str) -> Any:
    """``root.nn.functional.relu``; None if there is no such thing to call."""
    for name in path.split("."):
        root = getattr(root, name, None)
    return root if callable(root) else None


def method(name: str) -> Callable[..., Any]:
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(x, name)
        return found(*args, **kwargs) if callable(found) else found

    return call


def forms_of(op: Any) -> Iterator[Form]:
    for name in (op.name, *(alias.name for alias in op.aliases)):
        ours = reached(gradcli, name)
        if ours is not None and reached(torch, name) is not None:
            arranged = ORDER.get(op.name, lambda f: f)(ours)
            yield Form(op, "function", op, arranged)
            break
    if op.method_variant is not None and hasattr(gradcli.Tensor, op.name):
        yield Form(op, "method", op.method_variant, method(op.name))


def forms() -> list[Form]:
    """Every operation of PyTorch's that gradcli has too, in doubles."""
    return [
        form
        for op in op_db
        if torch.float64 in op.supported_dtypes("cpu") and op.name not in AT_RANDOM
        for form in forms_of(op)
    ]


class Outcome(NamedTuple):
    """What became of one sample: the reason it was excepted for, and what differed."""

    excepted: str | None
    differs: str | None
    order: int


def outcomes(form: Form) -> Iterator[Outcome]:
    rng = np.random.default_rng(0)
    tables = [table[form.op.name] for table in (REFUSED, DEVIATES)
              if form.op.name in table]  # fmt: skip
    for sample in form.samples():
        excepted = next((why for why, holds in tables if holds(sample)), None)
        order, differs = -1, None
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                order = compare(form.theirs, form.ours, sample, rng)
            except Differs as difference:
                differs = str(difference)
            except Exception as error:
                differs = f"{type(error).__name__}: {error}"
        yield Outcome(excepted, differs, order)


FORMS = forms()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.ident)
def test_an_operation_gives_pytorch_s_values_and_derivatives(form: Form) -> None:
    found = list(outcomes(form))
    wrong = [f"#{i} {o.differs}" for i, o in enumerate(found)
             if o.differs and not o.excepted]  # fmt: skip
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "form",
    [form for form in FORMS if form.op.name in {**REFUSED, **DEVIATES}],
    ids=lambda form: form.ident,
)
def test_what_is_excepted_still_differs(form: Form) -> None:
    held = [i for i, o in enumerate(outcomes(form)) if o.excepted and not o.differs]
    assert not held, f"samples {held} agree: take them off the table"


def test_most_of_the_operations_are_there() -> None:
    assert len({form.op.name for form in FORMS}) > 290


def report() -> str:
    """How many samples passed, failed and were excepted, with reasons."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    failures = []
    for form in FORMS:
        for outcome in outcomes(form):
            if outcome.excepted and outcome.differs:
                counts["skipped"] += 1
                reasons[outcome.excepted] += 1
            elif outcome.differs:
                counts["failed"] += 1
                failures.append(f"{form.ident}: {outcome.differs}")
            else:
                counts["passed"] += 1
                reasons[f"passed, derivatives of order {outcome.order}"] += 1
    operations = {op.name for op in op_db}
    lines = [
        f"{len({f.op.name for f in FORMS})} of PyTorch's {len(operations)} operations",
        ", ".join(f"{counts[k]} {k}" for k in ("passed", "failed", "skipped")),
        *(f"{count:6} {reason}" for reason, count in sorted(reasons.items())),
        *failures,
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
