"""A reverse pass with one rule changed: what a mistake inside the chain rule gives.

Invariant: an altered pass is the true one but for the change that it is about.

    altered({y.edge: g}, lambda edge, total: () if edge is blocked else None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..engine.reverse import accumulate, added
from ..engine.walk import inputs_first
from ..views.survey import below

Sent = Iterable[tuple[object, Any]]

Change = Callable[[Any, Any], "Sent | None"]
"""From an edge and what arrives there to what it sends on; None: what its rule says."""


def altered(seeds: Mapping[Any, Any], change: Change) -> dict[object, Any]:
    """What comes to each part of the graph below ``seeds``, under a change."""

    def pull(edge: Any, total: object) -> Sent:
        sent = change(edge, total)
        return below(edge, total) if sent is None else sent

    return accumulate(reversed(inputs_first(seeds)), seeds, pull, added)
