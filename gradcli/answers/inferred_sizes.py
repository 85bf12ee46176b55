"""Shapes of inputs without a value, as a question finds them: by running its program.

Invariants: a program that runs with numbers alone has inputs that are numbers, unless
it reduces one of them, as in `sum(x)`. No file is read, and a program of many steps or
characters is not examined.

    infer_sizes("norm(A@x - b)**2", (), {}).names   # {"A": ("n", "m"), "x": ("m",), ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..engine import Tensor, grad
from ..engine.modes import MODE
from ..formulas.inferred_shapes import MAX_INPUTS, OTHER_SIZE, infer_shapes
from ..lang.errors import ProgramError
from ..lang.parser import parse
from ..lang.prepare import read_program
from ..lang.run import Prepared, Run, Session, input_names, prepare
from ..ops import Op, parameters
from ..ops.spellings import REDUCTIONS

if TYPE_CHECKING:
    from ..lang.bindings import Binding

SMALL: Final = (2, 3, 4, 5, 6, 7, 8, 9)
"""Sizes with which a program is run, the smallest first."""

_TRANSPOSED: Final = re.compile(r"\.m?T\b|\^\s*(?:\{\s*)?(?:T\b|\\top|⊤)|ᵀ")
"""Pattern of a transpose, which nobody writes of a number."""

MAX_CHARACTERS: Final = 2_000
"""Largest length of a program whose shapes are inferred, in characters."""

MAX_RUN_STEPS: Final = 1_000
"""Most steps in loops of each run."""

MODERATE: Final = 1e6
"""Largest size of a value and of gradients at a regular point, and inverse of the
value's smallest."""


class Unlikely(Exception):
    """A signal that a function is called on a shape that nobody means."""


@dataclass(frozen=True, slots=True)
class InferredSizes:
    """Shapes that were inferred.

    names   names of sizes, by input; a size that the program fixes is its number
    sizes   a small number for each name; none if all are fixed
    shapes  the shape of each input with these numbers
    """

    names: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return shapes_with(self.names, self.sizes)

    @property
    def text(self) -> str:
        """The shapes in words, with their numbers."""
        shown = {n: " × ".join(map(str, s)) for n, s in self.shapes.items() if s}
        return ", ".join(f"{name} is {shape}" for name, shape in shown.items())


def shapes_with(
    names: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """Return shapes with numbers for the names of sizes."""
    return {
        name: tuple([sizes[n] if n in sizes else int(n) for n in shape])
        for name, shape in names.items()
    }


def infer_sizes(
    source: str,
    values: Sequence[Binding],
    shapes: Mapping[str, tuple[int, ...]],
    of: str | None = None,
    scalar: bool = True,
    like: Mapping[str, tuple[int, ...]] | None = None,
) -> InferredSizes | None:
    """Return the shapes of inputs without a value; None if all are numbers, or if none
    were found with which the program runs.

    Args:
        shapes: the shapes of inputs that have one.
        scalar: whether the program's value has to be a single number.
        like: shapes whose numbers of dimensions are those wanted; None: any are.
    """
    if len(source) > MAX_CHARACTERS or any(b.place is not None for b in values):
        return None
    given = {*shapes, *(binding.name for binding in values)}
    try:
        text = read_program(source, values, shapes, lambda text: None)
        inputs = input_names(parse(text, given), given)
    except ProgramError:
        return None
    names = [n for n in inputs if n not in given]

    def runs(tried: Mapping[str, tuple[int, ...]]) -> bool:
        if like is not None and any(len(tried[n]) != len(like[n]) for n in names):
            return False
        run = _run(source, values, {**shapes, **tried}, of)
        return run is not None and not (scalar and run.output.shape)

    if not names or len(names) > MAX_INPUTS:
        return None
    of_numbers = _TRANSPOSED.search(source) is None
    if of_numbers and runs(dict.fromkeys(names, ())):
        return None
    leaves = prepare(text, values, shapes=shapes).inputs if given else ()
    known = [n for i in leaves if i.name in given for n in i.tensor.shape]
    inferred = infer_shapes(names, runs, known)
    if inferred is None:
        return None
    found, tried = inferred
    fixed = {
        size: number
        for size, number in tried.items()
        if known and not runs(shapes_with(found, {**tried, size: OTHER_SIZE}))
    }
    named = {
        name: tuple([str(fixed.get(size, size)) for size in shape])
        for name, shape in found.items()
    }
    sizes = [size for size in tried if size not in fixed]
    orders = [SMALL[: len(sizes)], SMALL[len(sizes) - 1 :: -1], (2,) * len(sizes),
              SMALL[1 : len(sizes) + 1]]  # fmt: skip
    for order in orders:
        chosen = dict(zip(sizes, order, strict=False))
        run = _run(source, values, {**shapes, **shapes_with(named, chosen)}, of)
        if run is not None and _is_regular(run):
            return InferredSizes(named, chosen)
    return None


def _is_regular(run: Run) -> bool:
    """Return whether value and gradients at the point are neither huge nor zero, as
    they are where a matrix is singular."""
    wanted = [i.tensor for i in run.inputs if i.requires_grad]
    output = run.output
    if output.edge is None or output.shape:
        return True
    with np.errstate(all="ignore"):
        found = grad([output], wanted)
    numbers = [output.raw, *(g.raw for g in found if g is not None)]
    most = max(float(abs(each).max(initial=0.0)) for each in numbers)
    return most < MODERATE and float(abs(output.raw)) > 1 / MODERATE


def _run(
    source: str,
    values: Sequence[Binding],
    shapes: Mapping[str, tuple[int, ...]],
    of: str | None,
) -> Run | None:
    """Return a run of a program at a regular point with these shapes; None if it does
    not run there as anybody would mean it."""
    try:
        text = read_program(source, values, shapes, lambda text: None)
        prepared = at_regular_point(prepare(text, values, shapes=shapes))
        with np.errstate(all="ignore"), MODE.having(on_call=(*MODE.on_call, _refuse)):
            return Session(prepared, of, max_steps=MAX_RUN_STEPS).run()
    except (ProgramError, Unlikely):
        return None


def _refuse(op: Op, inputs: Any, params: Any, raw: Any, out: Any) -> None:
    """Refuse a reduction of a number, and the trace of a matrix that is not square."""
    x = inputs[0] if inputs else None
    if not isinstance(x, Tensor):
        return
    of_one = not op.variadic and "dim" in parameters(op)
    reduces = of_one or op.base in REDUCTIONS
    if (reduces and not x.raw.shape) or (
        op.base == "trace" and x.raw.shape[0] != x.raw.shape[1]
    ):
        raise Unlikely


def at_regular_point(prepared: Prepared) -> Prepared:
    """Return a program with positive entries for inputs without a value, and square
    matrices of a positive determinant."""
    draws = np.random.default_rng(1)
    leaves = {}
    for given in prepared.inputs:
        if not given.sampled:
            continue
        values = draws.uniform(0.2, 1.0, tuple(given.tensor.shape))
        if values.ndim == 2 and len(values) == values.shape[1]:
            values += np.eye(len(values)) * len(values)
        leaves[given.name] = prepared.factory.leaf(values)
    return prepared.on(leaves, sampled=leaves)
