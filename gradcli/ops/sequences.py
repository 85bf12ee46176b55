"""Recurrent layers, which step along a sequence: all steps of a layer in one row.

Invariant: weights are stacked by gate in PyTorch's order, input, forget, cell, output.
What steps hand on has an item of the batch in each column, so that gates are blocks of
rows; what a layer takes and returns has an item in each row.

    y, h, c, *_ = call("lstm.layer", x, w, u, b, d, h, c)   # MkldnnRnnLayerBackward0
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from .op import case, of_floats
from .products import turned
from .types import Array, Cotangents, Namespace, Outputs, Shape

# fmt: off


def in_order(xp: Namespace, x: Array, reverse: bool) -> Array:
    """Return the entries of a sequence in the order in which the layer takes them."""
    return xp.flip(x, (0,)) if reverse else x


def before(xp: Namespace, first: Array, states: Array) -> Array:
    """Return the state that each step begins with, given those that steps end with."""
    return xp.cat((xp.unsqueeze(first, 0), states[:-1]))


class Nowhere:
    """A place for results of numbers that cannot be written over."""

    def __getitem__(self, at: object) -> Nowhere:
        return self


def writing(xp: Namespace, like: Any) -> tuple[Any, Callable[[Shape], Any]]:
    """Return NumPy's functions, whose last argument is the place of the result, and a
    function that makes places. Where numbers have no places, results are new."""
    if xp.plain:
        return xp.np, partial(xp.np.empty, dtype=like.dtype)
    return SimpleNamespace(
        add=lambda a, b, _: a + b, subtract=lambda a, b, _: a - b,
        multiply=lambda a, b, _: a * b, dot=lambda a, b, _: xp.matmul(a, b),
        exp=lambda x, _: xp.exp(x), tanh=lambda x, _: xp.tanh(x),
        reciprocal=lambda x, _: 1 / x), lambda shape: Nowhere()


def lstm_cotangents(xp: Namespace, g: Cotangents, y: Outputs, *inputs: Array,
                    reverse: bool = False) -> Outputs:
    """Return the cotangents of all inputs: those of the gates step by step, and then
    those of the weights and the sequence as one product each, over all steps."""
    x, w, u, _, _, h, c = inputs
    gy, gh, gc, g_gates, g_cells = g
    hs, _, _, gates, cells = y
    (count, items, _), n, (at, empty) = x.shape, h.shape[1], writing(xp, x)
    blocks, squashed = xp.reshape(gates, (count, 4, n, items)), xp.tanh(cells)
    enter, forget, new, leave = (blocks[:, k] for k in range(4))
    slopes = (1 - blocks) * xp.stack((enter, forget, 1 + new, leave), 1)
    held = before(xp, xp.t(c), cells)
    shares = slopes * xp.stack((new, held, enter, squashed), 1)
    to_cell = leave * (1 - xp.square(squashed))
    nothing = xp.t(xp.zeros_like(h))
    gh, gc = (nothing if part is None else xp.t(part) for part in (gh, gc))
    gy = None if gy is None else turned(xp, in_order(xp, gy, reverse))
    g_gates = None if g_gates is None else xp.reshape(g_gates, blocks.shape) * slopes
    gy, g_gates, g_cells = (
        part if part is None else xp.packed(part) if xp.plain else xp.unbind(part)
        for part in (gy, g_gates, g_cells))
    room, small = empty(blocks.shape), empty((3, n, items))
    to_h, to_c, part, steps = small[0], small[1], small[2], []
    by_c, by_h, of_c, of_h = shares[:, :3], shares[:, 3:], room[:, :3], room[:, 3:]
    back = xp.packed(xp.t(u))
    for k in reversed(range(count)):
        gh = gh if gy is None else at.add(gh, gy[k], to_h)
        gc = at.add(gc, at.multiply(gh, to_cell[k], part), to_c)
        gc = gc if g_cells is None else at.add(gc, g_cells[k], to_c)
        both = at.multiply(gc, by_c[k], of_c[k]), at.multiply(gh, by_h[k], of_h[k])
        step = room[k] if xp.plain else xp.cat(both)
        steps.append(step if g_gates is None else at.add(step, g_gates[k], step))
        gc = at.multiply(gc, forget[k], to_c)
        gh = at.dot(back, xp.reshape(steps[-1], (4 * n, items)), to_h)
    found = xp.permute(room if xp.plain else xp.stack(steps[::-1]), (1, 2, 0, 3))
    found = xp.reshape(found, (4 * n, count * items))
    x, hs = in_order(xp, x, reverse), before(xp, h, in_order(xp, hs, reverse))
    by_x, by_h = (xp.matmul(found, xp.reshape(each, (count * items, each.shape[2])))
                  for each in (x, hs))
    by_bias = xp.sum(found, (1,))
    gx = in_order(xp, xp.reshape(xp.matmul(xp.t(found), w), x.shape), reverse)
    return gx, by_x, by_h, by_bias, by_bias, xp.t(gh), xp.t(gc)


# Hochreiter, Schmidhuber 1997, with the forget gates of Gers et al. 2000.
@of_floats("lstm.layer", node="MkldnnRnnLayerBackward0", variadic=True, returns=5,
    carries=5, one_type=True, vjp=lstm_cotangents, saves="y",
    formula="gates = w @ x + b + u @ h + d; c = sigmoid(f)*c + sigmoid(i)*tanh(g); "
            "h = sigmoid(o)*tanh(c)",
    doc="The states h of all steps of a layer of LSTM cells, the last h and c, and the "
        "gates and the cells c of all steps, which the reverse rule reads.",
    cases=[case((2, 2, 3), (8, 3), (8, 2), (8,), (8,), (2, 2), (2, 2)),
           case((3, 1, 2), (4, 2), (4, 1), (4,), (4,), (1, 1), (1, 1), reverse=True)])
def lstm(xp: Namespace, *inputs: Array, reverse: bool = False) -> Outputs:
    x, w, u, b, d, h, c = inputs
    (count, items, _), n, (at, empty) = x.shape, h.shape[1], writing(xp, x)
    of_x = xp.matmul(w, turned(xp, in_order(xp, x, reverse))) + xp.unsqueeze(b + d, 1)
    # A sigmoid needs -x, which is thus computed for all gates; tanh(-x) = -tanh(x).
    of_x, u, h, c = -of_x, -u, xp.t(h), xp.t(c)
    one = xp.ones_like(of_x[0])
    gates, fresh, cells, hs = (empty((count, rows, items)) for rows in (4 * n, n, n, n))
    part, steps = empty((n, items)), []
    for k in range(count):
        gate = at.add(at.dot(u, h, gates[k]), of_x[k], gates[k])
        new = at.tanh(gate[2 * n:3 * n], fresh[k])
        gate = at.reciprocal(at.add(at.exp(gate, gate), one, gate), gate)
        c = at.multiply(gate[n:2 * n], c, cells[k])
        c = at.subtract(c, at.multiply(gate[:n], new, part), cells[k])
        h = at.multiply(gate[3 * n:], at.tanh(c, part), hs[k])
        steps.append((gate, new, c, h))
    if not xp.plain:
        gates, fresh, cells, hs = (xp.stack(each) for each in zip(*steps, strict=True))
    gates = xp.cat((gates[:, :2 * n], -fresh, gates[:, 3 * n:]), 1)
    y = in_order(xp, turned(xp, hs), reverse)
    return xp.packed(y), xp.t(h), xp.t(c), gates, cells
