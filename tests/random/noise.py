"""How much of a difference rounding can explain: PyTorch, run with its steps moved.

Every operand and result of PyTorch's arithmetic is moved by up to a unit in its last
place, forward and backward, several times over; what the program's numbers do then is
what rounding can do to them (Monte Carlo arithmetic, Parker 1997). A number that the
operation only copied, and one whose digits end early and that is so exact, stays as it
is: ties remain ties.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

RUNS = 12
EXACT_BITS = {torch.float64: 20, torch.float32: 8}
"""Numbers of so few binary digits are taken to be exact."""

LEFT = 1e-4
"""A result so much smaller than the operands is what is left of their difference."""


class Moved(TorchDispatchMode):
    """Moves what every operation computes by up to a unit in the last place."""

    def __init__(self, seed: int, ties: bool = True) -> None:
        super().__init__()
        self.ties = ties
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = [a for a in flat((args, kwargs)) if movable(a)]
        before = [a.clone() for a in given]
        result = func(*args, **(kwargs or {}))
        changes = func._schema.is_mutable
        if any(r.alias_info is not None for r in func._schema.returns) and not changes:
            return result
        if changes and given and given[0].shape != before[0].shape:
            return result  # seen another way, in place
        exact = [part.clone() if movable(part) else part for part in flat(result)]
        if any(movable(part) for part in exact):
            if changes and movable(args[0]):
                args[0].copy_(before[0])  # it was written to
                args = (args[0], *self.near(args[1:]))
            elif not changes:
                args = self.near(args)
            result = func(*args, **self.near(kwargs or {}))
        for part, first in zip(flat(result), exact, strict=True):
            if movable(part):
                solved = "linalg" in func.name()
                near = self.moved(part)
                part.copy_(
                    torch.where(first.isfinite(), near, first)
                    if solved  # no 0 of a solution is one but by rounding
                    else self.kept(first, near, before)
                )
            elif isinstance(part, torch.Tensor):
                part.copy_(first)
        return result

    def near(self, value: Any) -> Any:
        """Arguments, with their numbers moved."""
        if movable(value):
            return self.moved(value)
        if isinstance(value, tuple | list):
            return type(value)(self.near(item) for item in value)
        if isinstance(value, dict):
            return {key: self.near(item) for key, item in value.items()}
        return value

    def moved(self, x: torch.Tensor) -> torch.Tensor:
        u = torch.rand(x.shape, generator=self.generator, dtype=x.dtype) * 2 - 1
        info = torch.finfo(x.dtype)
        least = info.smallest_normal * info.eps
        near = torch.where(x == 0, x, x * (1 + u * info.eps) + torch.round(u) * least)
        return laid_out(x, near)

    def kept(
        self, exact: torch.Tensor, noisy: torch.Tensor, given: list[torch.Tensor]
    ) -> torch.Tensor:
        """The moved numbers, and those as they were that are copies, or short."""
        largest = max([o.abs().max().item() for o in given if o.numel()], default=0.0)
        # What a sum of larger numbers leaves is an error of rounding, however short.
        left = (exact == 0) | (exact.abs() >= LEFT * largest)
        still = short(exact, self.ties) & left
        for other in given:
            if self.ties and other.dtype == exact.dtype and other.numel():
                still |= torch.isin(exact.contiguous(), other.contiguous())
        return torch.where(still, exact, noisy)


def laid_out(like: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The values in memory as another tensor lies there: views ask for that."""
    axes = zip(like.shape, like.stride(), strict=True)
    if any(n > 1 and not step for n, step in axes):
        return values
    found = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)
    return found.copy_(values)


def movable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in EXACT_BITS


def short(x: torch.Tensor, few: bool = True) -> torch.Tensor:
    """Which numbers have few binary digits; without ``few``, those that have none.

    A 0 that stands for nothing at all stays one when what it is made of moves.
    """
    if not few:
        return ~torch.isfinite(x)
    mantissa, _ = torch.frexp(x)
    scaled = mantissa * 2.0 ** EXACT_BITS[x.dtype]
    return (scaled == torch.floor(scaled)) | ~torch.isfinite(x)


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [part for item in value for part in flat(item)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [value]
