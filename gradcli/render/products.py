"""A matrix of derivatives times a vector as text and as JSON.

Hv[x] = [12.0, 0.0]
Hv[y] = 0.0

one backward pass through the gradient
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..answers.products import PartView, ProductView
from ..lang.excerpt import printable
from .arrays import SHORTENED, bare_line, value_lines
from .jsons import answer as json_answer
from .jsons import by_name, checked, entries, output_object, verified
from .line import BLANK, Layout, Line

if TYPE_CHECKING:
    from ..verify.process.job import Verification


def labels(view: ProductView) -> dict[str, str]:
    """What each part of the product is called: ``Hv[x]`` by an input, or ``Jv``."""
    if view.command == "jacobian":
        return {part.name: "Jv" for part in view.product}
    return {part.name: f"Hv[{printable(part.name)}]" for part in view.product}


def answer(view: ProductView, layout: Layout) -> Iterator[Line]:
    """The product, and how it was computed; the verdicts come later."""
    called = labels(view)
    pad = max(map(len, called.values()))
    cut = False
    for part in view.product:
        shortened = yield from value_lines(
            called[part.name], part.value, layout, pad=pad
        )
        cut = cut or shortened
    if cut:
        yield SHORTENED
    yield BLANK
    ways = {
        "jacobian": "one forward pass",
        "hessian": "one backward pass through the gradient",
    }
    yield Line(((ways[view.command], "dim"),))


def bare(view: ProductView) -> Iterator[Line]:
    """The product alone, a line for each part."""
    for part in view.product:
        yield bare_line(part.value)


def as_json(view: ProductView, verification: Verification | None) -> Line:
    """The whole answer as one object."""
    verdicts = by_name(verification)
    whose = "output" if view.command == "jacobian" else "input"

    def told(part: PartView, key: str) -> dict[str, object]:
        return {key: part.name, "shape": part.shape, "value": part.value}

    products = [
        told(part, whose) | checked(verdicts.get(part.name)) for part in view.product
    ]
    return json_answer(
        **entries(view, "output", "vector", "product"),
        output=output_object(view.output),
        vectors=[told(part, "input") for part in view.vector],
        products=products,
        verification=verified(verification),
    )
