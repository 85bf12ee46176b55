"""Recurrent layers, which step along a sequence: all steps of a layer in one row.

Invariant: weights are stacked by gate in PyTorch's order, input, forget, cell, output.
What steps hand on has an item of the batch in each column, so that gates are blocks of
rows; what a layer takes and returns has an item in each row.

    y, h, c, *_ = call("lstm.layer", x, w, u, b, d, h, c)   # MkldnnRnnLayerBackward0
"""

from __future__ import annotations

from collections.abc import Sequence

from .op import case, of_floats
from .products import turned
from .types import Array, Cotangents, Namespace, Outputs

# fmt: off


def in_order(xp: Namespace, x: Array, reverse: bool) -> Array:
    """Return the entries of a sequence in the order in which the layer takes them."""
    return xp.flip(x, (0,)) if reverse else x


def before(xp: Namespace, first: Array, states: Array) -> Array:
    """Return the state that each step begins with, given those that steps end with."""
    return xp.cat((xp.unsqueeze(first, 0), states[:-1]))


def by_gate(gates: Array, n: int) -> Sequence[Array]:
    return [gates[:, at:at + n] for at in range(0, 4 * n, n)]


def lstm_cotangents(xp: Namespace, g: Cotangents, y: Outputs, *inputs: Array,
                    reverse: bool = False) -> Outputs:
    """Return the cotangents of all inputs: those of the gates step by step, and then
    those of the weights and the sequence as one product each, over all steps."""
    x, w, u, _, _, h, c = inputs
    gy, gh, gc, g_gates, g_cells = g
    (count, items, _), n, gates, cells = x.shape, h.shape[1], y[3], y[4]
    enter, forget, new, leave = by_gate(gates, n)
    squashed, opened = xp.tanh(cells), 1 - gates
    opens, forgets, _, leaves = by_gate(opened, n)
    slopes = xp.cat((enter * opens, forget * forgets, 1 - xp.square(new),
                     leave * leaves), 1)
    shares = slopes * xp.cat((new, before(xp, xp.t(c), cells), enter, squashed), 1)
    to_cell = leave * (1 - xp.square(squashed))
    nothing = xp.t(xp.zeros_like(h))
    gh, gc = (nothing if part is None else xp.t(part) for part in (gh, gc))
    if gy is not None:
        gy = turned(xp, in_order(xp, gy, reverse))
    if g_gates is not None:
        g_gates = g_gates * slopes
    back, steps = xp.t(u), []
    for k in reversed(range(count)):
        gh = gh if gy is None else gh + gy[k]
        gc = gc + gh * to_cell[k]
        gc = gc if g_cells is None else gc + g_cells[k]
        step = xp.cat((gc, gc, gc, gh)) * shares[k]
        steps.append(step if g_gates is None else step + g_gates[k])
        gc, gh = gc * forget[k], xp.matmul(back, steps[-1])
    found = xp.reshape(xp.stack(steps[::-1], 1), (4 * n, count * items))
    x, hs = (in_order(xp, each, reverse) for each in (x, y[0]))
    by_x, by_h = (xp.matmul(found, xp.reshape(each, (count * items, each.shape[2])))
                  for each in (x, before(xp, h, hs)))
    by_bias = xp.sum(found, (1,))
    gx = xp.reshape(xp.matmul(xp.t(found), w), x.shape)
    return (in_order(xp, gx, reverse), by_x, by_h, by_bias, by_bias, xp.t(gh),
            xp.t(gc))


# Hochreiter, Schmidhuber 1997, with the forget gates of Gers et al. 2000.
@of_floats("lstm.layer", node="MkldnnRnnLayerBackward0", variadic=True, returns=5,
    carries=5, one_type=True, vjp=lstm_cotangents,
    formula="gates = w @ x + b + u @ h + d; c = sigmoid(f)*c + sigmoid(i)*tanh(g); "
            "h = sigmoid(o)*tanh(c)",
    doc="The states h of all steps of a layer of LSTM cells, the last h and c, and the "
        "gates and the cells c of all steps, which the reverse rule reads.",
    cases=[case((2, 2, 3), (8, 3), (8, 2), (8,), (8,), (2, 2), (2, 2)),
           case((3, 1, 2), (4, 2), (4, 1), (4,), (4,), (1, 1), (1, 1), reverse=True)])
def lstm(xp: Namespace, *inputs: Array, reverse: bool = False) -> Outputs:
    x, w, u, b, d, h, c = inputs
    n, h, c = h.shape[1], xp.t(h), xp.t(c)
    of_x = xp.matmul(w, turned(xp, in_order(xp, x, reverse))) + xp.unsqueeze(b + d, 1)
    hs, cells, opened, fresh = [], [], [], []
    for k in range(x.shape[0]):
        gates = xp.plus(xp.matmul(u, h), of_x[k])
        opens, new = xp.sigmoid(gates), xp.tanh(gates[2 * n:3 * n])
        c = opens[n:2 * n] * c + opens[:n] * new
        h = opens[3 * n:] * xp.tanh(c)
        for each, found in zip((hs, cells, opened, fresh), (h, c, opens, new),
                               strict=True):
            each.append(found)
    enter, forget, _, leave = by_gate(xp.stack(opened), n)
    gates = xp.cat((enter, forget, xp.stack(fresh), leave), 1)
    y = in_order(xp, turned(xp, xp.stack(hs)), reverse)
    return xp.packed(y), xp.t(h), xp.t(c), gates, xp.stack(cells)
