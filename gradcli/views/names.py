"""What a program called the values of its graph.

Invariant: a value is called by the first name it was given while the program ran;
`sole` says whether that name meant nothing else at any time, so that a formula may use
it.

    names = Names(inputs)
    execute(prepared, trace=names.heard)
    names.of(tensor.edge)                # "d"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..engine import Tensor


class Names:
    """Collects names during a run."""

    def __init__(self, inputs: Iterable[tuple[str, Tensor]]) -> None:
        self._by_edge: dict[Any, str] = {}
        self._by_value: dict[int, str] = {}
        self._held: list[Any] = []
        self._times: Counter[str] = Counter()
        self._assigned: frozenset[str] = frozenset()
        for name, tensor in inputs:
            self._call(tensor, name)
            self._times[name] += 1

    def heard(self, span: object, name: str | None, value: object) -> None:
        """A statement ran; to be handed to the run as its trace."""
        if name is not None:
            self._times[name] += 1
            if isinstance(value, Tensor):
                self._call(value, name)

    def settle(self, variables: Mapping[str, object], assigned: frozenset[str]) -> None:
        """The run is over: its variables, and the names its text gives a value."""
        self._assigned = assigned
        for name, value in variables.items():
            if isinstance(value, Tensor):
                self._call(value, name)

    def _call(self, tensor: Tensor, name: str) -> None:
        if tensor.edge is not None:
            self._by_edge.setdefault(tensor.edge, name)
        elif self._times[name] <= 1 and id(tensor.raw) not in self._by_value:
            self._by_value[id(tensor.raw)] = name
            # A value that is freed could leave its id to another one.
            self._held.append(tensor.raw)

    def of(self, edge: Any) -> str | None:
        """The name of what an edge leads to."""
        return self._by_edge.get(edge)

    def of_constant(self, raw: Any) -> str | None:
        """The name of a value without a gradient."""
        return self._by_value.get(id(raw))

    def sole(self, name: str) -> bool:
        """Whether the name meant one value all the time.

        Names that were given a value unheard, as those of a `for`, count as not.
        """
        heard = self._times[name]
        return heard == 1 or (heard == 0 and name not in self._assigned)
