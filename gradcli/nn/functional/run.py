"""A function of the table, known to give one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...engine.record import call
from ...engine.tensor import Tensor

run = cast("Callable[..., Tensor]", call)
