"""Names that a program gave to the values of its graph.

Invariant: a value is called by its input's name or else by the first name that it was
given while the program ran. `sole` tells whether that name meant nothing else at any
time, so that a formula may use it.

    names = Names()
    run = execute(prepared, trace=names.record_statement)
    names.settle(run.inputs, run.variables, prepared.code.assigned)
    names.of(run.output.edge)                # "L"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ..engine import Tensor
from ..lang.run import Input


class NameCollector:
    """A collector of the names that values get during a run."""

    def __init__(self) -> None:
        self._by_edge: dict[object, str] = {}
        self._by_value: dict[int, str] = {}
        self._held: list[object] = []
        self._times: Counter[str] = Counter()
        self._assigned: frozenset[str] = frozenset()

    def record_statement(self, span: object, name: str | None, value: object) -> None:
        """Record a statement that ran; the run takes this method as its trace."""
        if name is not None:
            self._times[name] += 1
            if isinstance(value, Tensor) and value.edge is not None:
                self._by_edge.setdefault(value.edge, name)

    def settle(
        self,
        inputs: Iterable[Input],
        variables: Mapping[str, object],
        assigned: frozenset[str],
    ) -> None:
        """Record, after a run, its inputs, its variables and the names assigned."""
        self._assigned = assigned
        for name, value in variables.items():
            if isinstance(value, Tensor):
                self._by_edge.setdefault(value.edge, name)
                self._call(value.raw, name)
        for given in inputs:
            self._times[given.name] += 1
            self._by_edge[given.tensor.edge] = given.name
            self._call(given.tensor.raw, given.name)

    def _call(self, raw: object, name: str) -> None:
        self._by_value[id(raw)] = name
        # The value is kept, because another one could get its id once it is freed.
        self._held.append(raw)

    def of(self, edge: object) -> str | None:
        """Return the name of the value that an edge leads to; None if it has none."""
        return None if edge is None else self._by_edge.get(edge)

    def of_constant(self, raw: object) -> str | None:
        """Return the name of a raw value without a gradient; None if it has none."""
        return self._by_value.get(id(raw))

    def sole(self, name: str) -> bool:
        """Return whether the name meant only one value during the whole run.

        The names that a `for` assigns are not recorded, so they count as not.
        """
        heard = self._times[name]
        return heard == 1 or (heard == 0 and name not in self._assigned)
