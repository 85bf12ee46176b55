"""The gradients of a pointwise program, computed part by part on all cores.

Invariant: the numbers of one run over everything, bit for bit in the value and in the
gradients of arrays; a gradient by a single number that is read more than once is added
up in another order. Nothing on the way is larger than a part.

    in_parts(compile("sum(tanh(a*b))").at({"a": a, "b": b}))   # value and gradients
    entrywise(compile("tanh(a*b)").at({"a": a, "b": b}))       # of every entry
"""

from collections.abc import Mapping
from threading import local
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.lang import tiles
from gradcli.lang.code import Code
from gradcli.lang.errors import ProgramError
from gradcli.lang.point import Point
from gradcli.lang.run import Session

Gradients = tuple[Tensor, list[Tensor | None]]


def in_parts(point: Point) -> Gradients | None:
    """The value and the gradients of a sum or a mean of entries; None where the
    program is no such one, or its arrays are small."""
    factory, reduction = point.factory, point.reading.reduction
    shape = tiles.common_shape([t.raw for t in point.tensors.values()])
    if not reduction or shape is None:
        return None
    entries = _entries(point, reduction)
    if entries is None:
        return None
    with default_dtype(factory.dtype):
        found = tiles.over_parts(entries.count, entries.sums)
    value, *scalars = (
        tiles.total({at: sums[k] for at, sums in found.items()}, 0, entries.count)
        for k in range(1 + len(entries.single))
    )
    known = dict(zip(entries.single, scalars, strict=True))
    known |= {name: g.reshape(shape) for name, g in entries.grads.items()}
    if reduction == "mean":
        value = value / entries.count
    grads = [Tensor(known[name], factory.xp) for name in point.wanted]
    return Tensor(value, factory.xp), [*grads]


def entrywise(point: Point) -> Gradients | None:
    """Each entry of a pointwise program's value, and its derivative by each input's
    entry; None where the program is no such one.

    All inputs are vectors of one length.
    """
    entries = _entries(point, "")
    if entries is None:
        return None
    entries.values = np.empty(entries.count, point.factory.dtype)
    with default_dtype(point.factory.dtype):
        tiles.over_parts(entries.count, entries.sums)
    xp = point.factory.xp
    return Tensor(entries.values, xp), [Tensor(g, xp) for g in entries.grads.values()]


def _entries(point: Point, reduction: str) -> "_Entries | None":
    """A point's program, if it is one of single entries and runs as one."""
    code, factory = point.reading.entries, point.factory
    large = {n: t.raw.reshape(-1) for n, t in point.tensors.items() if t.raw.ndim}
    if code is None or factory.xp is not NUMPY or not large:
        return None
    count = next(iter(large.values())).size
    one = np.ones((), factory.dtype)
    seed = one / count if reduction == "mean" else one
    entries = _Entries(point, code, large, count, seed)
    with default_dtype(factory.dtype):
        return (
            entries if count and entries.apply(*next(tiles.parts(0, count))) else None
        )


class _Entries:
    """A program of single entries, run on parts of its inputs.

    values  the value's entries, filled part by part; None: they are not kept
    grads   the gradients of the arrays, likewise
    single  the inputs that are single numbers, of those that gradients are asked for
    """

    def __init__(
        self, point: Point, code: Code, large: Mapping[str, Any], count: int, seed: Any
    ) -> None:
        self.point = point
        self.count = count
        self.values: Any = None
        self.code = code
        self.large = large
        self.seed = seed
        self.grads = {n: np.empty_like(large[n]) for n in point.wanted if n in large}
        self.single = [n for n in point.wanted if n not in large]
        self.threads = local()

    def apply(self, start: int, stop: int) -> bool:
        """Whether a part's result has an entry, with a gradient, for each entry."""
        try:
            y, _ = self._run(start, stop)
        except ProgramError:
            return False  # said of the whole, whose shape is the caller's
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
            if self.values is not None:
                self.values[start:stop] = y.raw
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
        session: Session | None = getattr(self.threads, "session", None)
        if session is None:
            session = self.threads.session = point.session(self.code)
        session.rebind(leaves)
        return session(), leaves
