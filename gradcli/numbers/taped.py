"""The namespace of arrays on a tape: an elementwise function, a sum or a product of
matrices makes one block; everything else goes element by element.

Invariant: an `ObjectArray` of this namespace holds integers, the steps of its
entries on the tape; changes of shape are NumPy's on those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.raw import Host, Run
from ..ops.exact import Exact
from ..ops.types import Dims, Shape
from . import decided
from .arrays import OBJECT, ObjectArray
from .decided import Extreme
from .namespace import ObjectNamespace
from .scalars import CALLED
from .system import RELATIONS
from .tape import Tape


class TapeNamespace(ObjectNamespace):
    """The namespace in which a program runs on a tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.tape = tape
        for name, scalar in CALLED.items():
            setattr(self, name, self._block(scalar))
        for relation in RELATIONS.values():
            slowly = getattr(self, relation.__name__)
            setattr(self, relation.__name__, self._comparison(relation, slowly))

    def _block(self, name: str) -> Run:
        def run(*operands: object) -> ObjectArray:
            arrays = np.broadcast_arrays(*[self.elements(o) for o in operands])
            made = self.tape.applied(name, *[a.reshape(-1) for a in arrays])
            return self._of(made.reshape(arrays[0].shape))

        return run

    def elements(self, x: object) -> Host:
        if isinstance(x, ObjectArray):
            return self._stopped(x.data) if x.stopped else x.data
        if isinstance(x, Exact):
            return np.array(self.tape.lift(x))
        array = np.asarray(x, dtype=object if isinstance(x, list) else None)
        if array.dtype == OBJECT:
            lift = self.tape.lift
            steps = [lift(number) for number in array.reshape(-1).tolist()]
            return np.array(steps, dtype=np.int64).reshape(array.shape)
        if array.size and (array == array.flat[0]).all():
            return np.full(array.shape, self.tape.lift(array.flat[0].item()))
        numbers, inverse = np.unique(array, return_inverse=True)
        lifted = [self.tape.lift(number) for number in numbers.tolist()]
        return np.array(lifted, dtype=np.int64)[inverse].reshape(array.shape)

    def _of(self, data: object) -> ObjectArray:
        steps = np.asarray(data).astype(np.int64)
        return ObjectArray(
            self._stopped(steps) if self._makes_constants else steps, self
        )

    def _stopped(self, steps: Host) -> Host:
        return self.tape.stopped(steps.reshape(-1)).reshape(steps.shape)

    def sum(self, x: object, dim: Dims = None, keepdim: bool = False) -> ObjectArray:
        rows, shape, full = self._rows(x, dim)
        made = self.tape.totals(rows.reshape(-1, rows.shape[-1]))
        return self._of(made.reshape(full if keepdim else shape))

    def matmul(self, a: object, b: object) -> ObjectArray:
        left, right = self.elements(a), self.elements(b)
        if left.ndim == 2 and right.ndim == 2 and left.shape[1] == right.shape[0]:
            made = self.tape.dots(left, right)
            return self._of(made.reshape(left.shape[0], right.shape[1]))
        return super().matmul(a, b)

    def _comparison(self, relation: Run, slowly: Run) -> Run:
        """Return a comparison that is done at once where all entries are floats."""

        def run(left: object, right: object) -> Any:
            steps = np.broadcast_arrays(self.elements(left), self.elements(right))
            a, b = map(self.tape.floats, steps)
            if a is None or b is None:
                return slowly(left, right)
            met = np.asarray(a == b)
            met[met] = self.tape.tie(*[p[met] for p in steps])
            return np.where(met, relation(self.tape.tie_break, 0), relation(a, b))

        return run

    def _extreme(
        self, rule: Extreme[Any], x: object, dim: Dims, keepdim: bool
    ) -> ObjectArray:
        rows, shape, full = self._rows(x, dim)
        floats = self.tape.floats(rows)
        if floats is None or np.isnan(floats).any() or not rows.shape[-1]:
            return super()._extreme(rule, x, dim, keepdim)
        best = floats.max(-1) if rule is decided.largest else floats.min(-1)
        among = floats == best[..., np.newaxis]
        # The first of equal entries is taken, or the last if ties count as less.
        last = rows.shape[-1] - 1 - among[..., ::-1].argmax(-1)
        at = last if self.tape.tie_break < 0 else among.argmax(-1)
        chosen = np.take_along_axis(rows, at[..., np.newaxis], -1)
        self.tape.tie(np.broadcast_to(chosen, rows.shape)[among], rows[among])
        return self._of(chosen.reshape(full if keepdim else shape))

    def symbols(self, values: Host, shape: Shape, varies: bool) -> ObjectArray:
        """Return an input's array; ``varies``: its derivative may be asked for."""
        return ObjectArray(self.tape.symbols(values, varies).reshape(shape), self)
