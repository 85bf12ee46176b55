"""One of PyTorch's own sample inputs, run in PyTorch and in gradcli.

Value, first derivative against a random cotangent, and second derivative against
another one; all in the precision of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import gradcli
from gradcli.engine import NUMPY, Tensor, grad

RELATIVE = 1e-9
ABSOLUTE = 1e-11
"""Of the largest entry, or of 1."""

NAMED = (torch.dtype, torch.layout, torch.memory_format)


class Differs(AssertionError):
    """What gradcli gives is not what PyTorch gives."""


class Twins:
    """Each of PyTorch's tensors with the one of gradcli that stands for it."""

    def __init__(self) -> None:
        self._pairs: dict[int, tuple[torch.Tensor, Tensor]] = {}

    def of(self, value: Any) -> Any:
        """The same arguments with gradcli's tensors and types."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, list | tuple):
            return type(value)(self.of(entry) for entry in value)
        if isinstance(value, dict):
            return {key: self.of(entry) for key, entry in value.items()}
        if isinstance(value, NAMED):
            return getattr(gradcli, str(value).removeprefix("torch."), value)
        return value

    def _tensor(self, value: torch.Tensor) -> Tensor:
        if id(value) not in self._pairs:
            twin = Tensor(laid_out(value), NUMPY, requires_grad=value.requires_grad)
            self._pairs[id(value)] = value, twin
        return self._pairs[id(value)][1]

    @property
    def leaves(self) -> list[tuple[torch.Tensor, Tensor]]:
        return [pair for pair in self._pairs.values() if pair[0].requires_grad]


def laid_out(value: torch.Tensor) -> Any:
    """A copy of a tensor's whole memory, seen as the tensor sees its own."""
    storage = value.detach().untyped_storage()
    whole = torch.empty(0, dtype=value.dtype).set_(storage)
    size = value.element_size()
    return np.ndarray(
        tuple(value.shape),
        whole.numpy().dtype,
        np.array(whole.numpy()),
        value.storage_offset() * size,
        [stride * size for stride in value.stride()],
    )


def compare(
    theirs: Callable[..., Any],
    ours: Callable[..., Any],
    sample: Any,
    rng: np.random.Generator,
) -> int:
    """Compare one sample; the highest order of derivative that there was.

    What a sample makes of the result is compared: of singular vectors, whose signs are
    anybody's choice, the sizes.

    Raises:
        Differs: naming what, and both values.
    """
    twins = Twins()
    arguments = [twins.of(argument) for argument in (sample.input, *sample.args)]
    keywords = twins.of(sample.kwargs)
    settle = sample.output_process_fn_grad
    expected = flat(settle(theirs(sample.input, *sample.args, **sample.kwargs)))
    found = flat(settle(ours(*arguments, **keywords)))
    if len(found) != len(expected):
        raise Differs(f"{len(found)} outputs, not {len(expected)}")
    for a, b in zip(found, expected, strict=True):
        check("value", a, b)
        if isinstance(b, torch.Tensor) and a.requires_grad != b.requires_grad:
            raise Differs(f"requires_grad is {a.requires_grad}")
    pairs = list(zip(found, expected, strict=True))
    first = derivatives("first derivative", pairs, twins.leaves, rng, again=True)
    if first is None:
        return 0
    second = derivatives("second derivative", first, twins.leaves, rng, again=False)
    return 1 if second is None else 2


Pairs = list[tuple[Any, Any]]


def derivatives(
    what: str, outputs: Pairs, leaves: Pairs, rng: np.random.Generator, again: bool
) -> Pairs | None:
    """The gradients of both, compared; None if there is nothing to differentiate."""
    carrying = [(a, b) for a, b in outputs if needs_grad(b)]
    if not carrying or not leaves:
        return None
    cotangents = [
        rng.standard_normal(tuple(b.shape)).astype(array(b).dtype) for _, b in carrying
    ]
    try:
        expected = torch.autograd.grad(
            [b for _, b in carrying],
            [leaf for leaf, _ in leaves],
            [torch.from_numpy(np.array(c)) for c in cotangents],
            create_graph=again,
            allow_unused=True,
        )
    except RuntimeError as error:
        if "not implemented" in str(error) or "not differentiable" in str(error):
            return None
        raise
    kept = [(a, c) for (a, _), c in zip(carrying, cotangents, strict=True) if a_leaf(a)]
    twins = [twin for _, twin in leaves]
    found = (
        grad(
            [a for a, _ in kept],
            twins,
            [Tensor(np.array(c), NUMPY) for _, c in kept],
            create_graph=again,
        )
        if kept
        else [None] * len(twins)
    )
    for a, b in zip(found, expected, strict=True):
        check(what, a, b)
    return list(zip(found, expected, strict=True))


def needs_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def a_leaf(value: Any) -> bool:
    return value is not None and bool(value.requires_grad)


def flat(value: Any) -> list[Any]:
    """The tensors and numbers of a result."""
    if isinstance(value, list | tuple):
        return [part for entry in value for part in flat(entry)]
    return [value]


def array(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().numpy(force=True)
    return np.asarray(value.raw if isinstance(value, Tensor) else value)


def check(what: str, ours: Any, theirs: Any) -> None:
    """Raise where two arrays differ; a gradient that is absent counts as zero."""
    a, b = (None if v is None else array(v) for v in (ours, theirs))
    if a is None and b is None:
        return
    a = np.zeros_like(b) if a is None else a
    b = np.zeros_like(a) if b is None else b
    if a.shape != b.shape:
        raise Differs(f"{what}: shape {a.shape}, not {b.shape}")
    if not close(a, b):
        raise Differs(f"{what}: {shown(a)}, not {shown(b)}")


def close(a: Any, b: Any) -> bool:
    if b.dtype.kind in "biu":
        return bool(np.array_equal(a.astype(float), b.astype(float)))
    finite = np.abs(b[np.isfinite(b)])
    scale = max(1.0, float(finite.max()) if finite.size else 1.0)
    single = b.dtype.itemsize < 8
    relative = float(np.finfo(b.dtype).eps) * 8 if single else RELATIVE
    return bool(np.allclose(a, b, rtol=relative, atol=ABSOLUTE * scale, equal_nan=True))


def shown(values: Any) -> str:
    listed = list(flat_entries(values))
    return f"[{', '.join(listed)}]"


def flat_entries(values: Any) -> Iterator[str]:
    for entry in values.reshape(-1)[:4]:
        yield f"{entry:.10g}"
    if values.size > 4:
        yield "..."
