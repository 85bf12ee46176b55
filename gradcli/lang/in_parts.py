"""The gradients of a pointwise program, computed part by part on all cores.

Invariant: the numbers of one run over everything, bit for bit in the value and in the
gradients of arrays; a gradient by a single number that is read more than once is added
up in another order. Nothing on the way is larger than a part.

    in_parts(compile("sum(tanh(a*b))").at({"a": a, "b": b}))   # value and gradients
"""

from collections.abc import Mapping
from threading import local
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.lang import tiles
from gradcli.lang.code import Code
from gradcli.lang.machine import Machine
from gradcli.lang.point import Point

Gradients = tuple[Tensor, list[Tensor | None]]


def in_parts(point: Point) -> Gradients | None:
    """The value and the gradients of a sum or a mean of entries; None where the
    program is no such one, or its arrays are small."""
    reading, factory = point.reading, point.factory
    raws = {name: t.raw for name, t in point.tensors.items()}
    shape = tiles.common_shape(list(raws.values()))
    if reading.entries is None or not reading.reduction or shape is None:
        return None
    if factory.xp is not NUMPY:
        return None
    large = {n: r.reshape(-1) for n, r in raws.items() if np.ndim(r)}
    count = next(iter(large.values())).size
    one = np.ones((), factory.dtype)
    mean = reading.reduction == "mean"
    entries = _Entries(point, reading.entries, large, one / count if mean else one)
    with default_dtype(factory.dtype):
        if not entries.apply(*next(tiles.parts(0, count))):
            return None
        found = tiles.over_parts(count, entries.sums)
    value, *scalars = (
        tiles.total({at: sums[k] for at, sums in found.items()}, 0, count)
        for k in range(1 + len(entries.single))
    )
    by_number = dict(zip(entries.single, scalars, strict=True))
    grads: list[Tensor | None] = [
        Tensor(
            entries.grads[n].reshape(shape) if n in large else by_number[n], factory.xp
        )
        for n in point.wanted
    ]
    return Tensor(value / count if mean else value, factory.xp), grads


class _Entries:
    """A program of single entries, run on parts of its inputs.

    grads   the gradients of the arrays, filled part by part
    single  the inputs that are single numbers, of those that gradients are asked for
    """

    def __init__(
        self, point: Point, code: Code, large: Mapping[str, Any], seed: Any
    ) -> None:
        self.point = point
        self.code = code
        self.large = large
        self.seed = seed
        self.grads = {n: np.empty_like(large[n]) for n in point.wanted if n in large}
        self.single = [n for n in point.wanted if n not in large]
        self.threads = local()

    def apply(self, start: int, stop: int) -> bool:
        """Whether a part's result has an entry, with a gradient, for each entry."""
        y, _ = self._run(start, stop)
        return tuple(y.shape) == (stop - start,) and y.requires_grad

    def sums(self, start: int, stop: int) -> list[Any]:
        """The sum of a part's entries, and of its gradients by each single number."""
        with np.errstate(all="ignore"):
            y, leaves = self._run(start, stop)
            cotangent = Tensor(np.broadcast_to(self.seed, y.raw.shape), y.xp)
            wanted = [leaves[name] for name in self.point.wanted]
            found = grad([y], wanted, [cotangent])
            by_name = {
                name: 0.0 if g is None else g.raw
                for name, g in zip(self.point.wanted, found, strict=True)
            }
            for name, g in self.grads.items():
                g[start:stop] = by_name[name]
            return [y.raw.sum(), *(by_name[name] for name in self.single)]

    def _run(self, start: int, stop: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The program's entries on a part, and its inputs there."""
        point = self.point
        leaves = {
            name: Tensor(
                self.large[name][start:stop] if name in self.large else t.raw,
                t.xp,
                requires_grad=name in point.wanted,
            )
            for name, t in point.tensors.items()
        }
        machine: Machine | None = getattr(self.threads, "machine", None)
        if machine is None:
            machine = self.threads.machine = point.machine(self.code, leaves)
        machine.rebind(leaves)
        return point.result(machine, self.code), leaves
