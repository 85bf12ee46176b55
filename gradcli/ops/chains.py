"""Products and powers of many: chains of matrices, Vandermonde's, exponentials.

linalg.multi_dot([a, b, c])         # in the order that takes the fewest products
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .checks import EngineError, ShapeError, demand_rank
from .linalg import square
from .op import WHOLES, case, function, row
from .products import turned
from .types import Array, Call, Namespace

# fmt: off

# chains of matrices


def cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return where to part each stretch of a chain of matrices so that the fewest
    numbers are multiplied. Cormen et al., Introduction to Algorithms, chapter 15.2."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    parts = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            for k in range(i, j):
                found = cost[i, k] + cost[k + 1, j] + (
                    sizes[i] * sizes[k + 1] * sizes[j + 1])
                if (i, j) not in cost or found < cost[i, j]:
                    cost[i, j], parts[i, j] = found, k
    return parts


def in_order(call: Call, tensors: Sequence[Array], sizes: list[int]) -> Array:
    if len(tensors) == 3:
        a, b, c, d = sizes
        if a * c * (b + d) > b * d * (a + c):
            return call("mm", tensors[0], call("mm", tensors[1], tensors[2]))
        return call("mm", call("mm", tensors[0], tensors[1]), tensors[2])
    parts = cheapest(sizes)

    def product(i: int, j: int) -> Array:
        if i == j:
            return tensors[i]
        k = parts[i, j]
        return call("mm", product(i, k), product(k + 1, j))

    return product(0, len(tensors) - 1)


def multi_dot(call: Call, tensors: Sequence[Array]) -> Array:
    if len(tensors) < 2:
        raise EngineError("multi_dot(): expected at least 2 tensors but got "
                          f"{len(tensors)}")
    return product_of(call, list(tensors))


def product_of(call: Call, tensors: list[Array]) -> Array:
    """Return the product; a vector at either end is made a matrix."""
    shape: list[int] = []
    for i, called in ((0, "first"), (-1, "last")):
        rank = len(tensors[i].shape)
        if rank not in (1, 2):
            raise ShapeError(f"multi_dot(): the {called} tensor must be 1D or 2D but "
                             f"got {rank}D")
        if rank == 2:
            shape.append(tensors[i].shape[i])
        else:
            tensors[i] = call("unsqueeze", tensors[i], i)
    for i, tensor in enumerate(tensors[1:-1], 1):
        demand_rank(f"multi_dot(): tensor {i}", tensor, 2, 2)
    for i, (a, b) in enumerate(pairwise(tensors)):
        if a.shape[1] != b.shape[0]:
            raise ShapeError(f"multi_dot(): tensors {i} and {i + 1} with shapes "
                             f"{list(a.shape)} and {list(b.shape)} cannot be "
                             "multiplied")
    sizes = [tensors[0].shape[0], *(t.shape[1] for t in tensors)]
    return call("view", in_order(call, tensors, sizes), tuple(shape))


function("linalg.multi_dot", multi_dot, formula="a @ b @ c",
         doc="The product of matrices, in the order that takes the fewest products of "
             "numbers; the first and the last may be vectors.",
         cases=[case((2, 3), (3, 4), (4, 2)), case((3,), (3, 2), (2, 4), (4,)),
                case((2, 3), (3,))])


# powers


# exponentials


def beside(xp: Namespace, a: Array, change: Array) -> Array:
    """Return the derivative of a matrix's exponential in a direction: the upper right
    part of that of ``[[a, change], [0, a]]``. Van Loan 1978, Computing integrals
    involving the matrix exponential."""
    n = a.shape[-1]
    none = xp.new_full(change, a.shape, 0)
    both = xp.cat([xp.cat([a, change], -1), xp.cat([none, a], -1)], -2)
    found = xp.call("matrix_exp", both)
    return xp.narrow(xp.narrow(found, -2, 0, n), -1, n, n)


row("matrix_exp", node="LinalgMatrixExpBackward0", formula="1 + a + a @ a/2 + ...",
    aliases=("linalg.matrix_exp",), refuses=WHOLES,
    doc="The exponential of a square matrix.",
    fwd=lambda xp, a: xp.matrix_exp(square("linalg.matrix_exp", a)),
    vjp=(lambda xp, g, y, a: beside(xp, turned(xp, a), g),),
    jvp=lambda xp, t, y, a: beside(xp, a, t[0]),
    cases=[case((2, 2)), case((2, 2, 2)), case((1, 1))], saves="a", overflows=True)
