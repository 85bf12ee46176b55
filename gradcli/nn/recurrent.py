"""Recurrent networks: cells, each one step along a sequence, and runs of them.

Invariant: weights are stacked by gate in PyTorch's order: input, forget, cell, output
for an LSTM; reset, update, new for a GRU. A network is its cells, step by step: layer
after layer, and in each layer forwards and, if ``bidirectional``, backwards.

    h, c = LSTMCell(3, 4)(x, (h, c))    # x: (N, 3); h and c: (N, 4)
    output, (h, c) = LSTM(3, 4)(x)      # x: (L, N, 3); output: (L, N, 4)
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ..engine.dtypes import float32
from ..engine.raw import Params
from ..engine.record import apply, call
from ..engine.tensor import Tensor
from ..ops import OPS
from ..torch.signatures import constructor, new_class
from . import functional as F
from . import init
from .declare import add_parameters, head, saying
from .functional.layers import check_probability
from .module import Module
from .utils.rnn import PackedSequence

State = tuple[Tensor, ...]
"""The state of a cell: (h,), or (h, c)."""

Weights = Sequence[Any]
"""Weight of the state, its bias or None, the state's projection if there is one."""


def plain_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """Compute ``squash(U h + c + x)``."""
    (h,), (u, c) = state, weights[:2]
    return (call(squash, F.linear(h, u, c) + x),)


def lstm_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """Step Hochreiter and Schmidhuber's cell with forget gates; project h if wanted."""
    (h, cell), (u, c) = state, weights[:2]
    enter, forget, new, leave = _gates(F.linear(h, u, c) + x, 4)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    h = leave.sigmoid() * cell.tanh()
    return (h if len(weights) == 2 else F.linear(h, weights[2])), cell


def whole_lstm_step(x: Tensor, state: State, weights: Weights) -> State:
    """Step the same cell as one node, where PyTorch has one node for all steps; ``x``
    has the bias of the state, too."""
    found: State = apply(OPS["lstm.cell"], (x, *state, weights[0]), {})
    return found


def gru_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """Step Cho's gated unit, with the reset gate behind the state's weight."""
    (h,), (u, c) = state, weights[:2]
    reset, update, new = _gates(x, 3)
    reset_h, update_h, new_h = _gates(F.linear(h, u, c), 3)
    opened = (reset_h + reset).sigmoid()
    keep, fresh = (update_h + update).sigmoid(), (new + new_h * opened).tanh()
    return ((h - fresh) * keep + fresh,)


def _gates(x: Tensor, count: int) -> Any:
    return call("split.unsafe", x, x.shape[1] // count, 1)


STEPS = {"RNN": plain_step, "LSTM": lstm_step, "GRU": gru_step}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}

MODES = {
    "RNN_TANH": ("RNN", "tanh"), "RNN_RELU": ("RNN", "relu"),
    "LSTM": ("LSTM", "tanh"), "GRU": ("GRU", "tanh"),
}  # fmt: skip
"""The cells of a network's mode, and what squashes their state."""


def _demand_size(x: Tensor, wanted: tuple[int, ...], what: str) -> None:
    """Raise RuntimeError for an input or a state of another shape."""
    if tuple(x.shape) != wanted:
        raise RuntimeError(f"{what} has the shape {tuple(x.shape)}, expected {wanted}")


class _Recurrent(Module):
    """The weights and the step that cells and networks share."""

    kind: str = "RNN"
    hidden_size: int
    nonlinearity: str = "tanh"

    def reset_parameters(self) -> None:
        """Draw all weights uniformly from ±1/sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, x: Tensor, state: State, weights: Weights) -> State:
        return STEPS[self.kind](x, state, weights, self.nonlinearity)


class RNNCellBase(_Recurrent):
    """One step of a recurrent network, on an input (N, input_size)."""

    @head()
    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        wide = GATES[self.kind] * hidden_size
        shift = (wide,) if bias else None
        add_parameters(
            self, device, dtype, weight_ih=(wide, input_size),
            weight_hh=(wide, hidden_size), bias_ih=shift, bias_hh=shift,
        )  # fmt: skip
        self.reset_parameters()

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        one = input.ndim == 1
        x = input.unsqueeze(0) if one else input
        _demand_size(x, (x.shape[0], self.input_size), "input")
        shape, count = (x.shape[0], self.hidden_size), 2 if self.kind == "LSTM" else 1
        state: State = (call("new_zeros", x, shape),) * count
        if hx is not None:
            parts = hx if count == 2 else (hx,)
            state = tuple([part.unsqueeze(0) if one else part for part in parts])
        for part in state:
            _demand_size(part, shape, "state")
        x = F.linear(x, self.weight_ih, self.bias_ih)
        found = self._step(x, state, (self.weight_hh, self.bias_hh))
        found = tuple([part.squeeze(0) for part in found]) if one else found
        return found if count == 2 else found[0]

    extra_repr = saying("{input_size}, {hidden_size}", bias=True, nonlinearity="tanh")


class RNNCell(RNNCellBase):
    __doc__ = f"``tanh(W x + b + U h + c)``, or relu. {RNNCellBase.__doc__}"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        nonlinearity: str = "tanh", device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity


class GRUCell(RNNCellBase):
    __doc__ = f"A gated recurrent unit. {RNNCellBase.__doc__}"
    kind = "GRU"


class LSTMCell(RNNCellBase):
    __doc__ = f"A long short-term memory; its state is (h, c). {RNNCellBase.__doc__}"
    kind = "LSTM"


class RNNBase(_Recurrent):
    """A recurrent network along a sequence (L, N, input_size).

    Args:
        num_layers: how many layers; each runs on the output of the one before.
        batch_first: sequences come as (N, L, input_size).
        dropout: how much is dropped between layers in training.
        bidirectional: run backwards as well; outputs are concatenated.

    Returns:
        The outputs of the last layer, and the last state of every layer and direction.

    Raises:
        RuntimeError: an input or a state of another shape.
    """

    @head()
    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, proj_size: int = 0, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        if mode not in MODES or hidden_size <= 0 or num_layers <= 0:
            raise ValueError(
                "a network needs a known kind, a positive hidden_size and num_layers, "
                f"not {mode}, {hidden_size} and {num_layers}"
            )
        check_probability(dropout)
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout is between layers, and there is only one layer",
                stacklevel=5,
            )
        if proj_size and not 0 < proj_size < hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.kind, self.nonlinearity = MODES[mode]
        self.dropout = float(dropout)
        self._all_weights: list[list[str]] = []
        wide, handed_on = GATES[self.kind] * hidden_size, proj_size or hidden_size
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            of_layer = handed_on * directions if layer else input_size
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (wide, of_layer), "weight_hh": (wide, handed_on),
            }  # fmt: skip
            if bias:
                shapes |= {"bias_ih": (wide,), "bias_hh": (wide,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in (f"_l{layer}", f"_l{layer}_reverse")[:directions]:
                self._all_weights.append([f"{name}{suffix}" for name in shapes])
                named = {f"{name}{suffix}": shape for name, shape in shapes.items()}
                add_parameters(self, device, dtype, **named)
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """Return the weights of each layer and direction."""
        return [[getattr(self, n) for n in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: weights need not lie side by side in memory here."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        packed = input if isinstance(input, PackedSequence) else None
        data = input if packed is None else packed.data
        several, batched = self.kind == "LSTM", packed is not None or data.ndim == 3
        turned = packed is None and self.batch_first
        if not batched:
            data = data.unsqueeze(0 if turned else 1)
        if turned:
            data = data.transpose(0, 1)
        _demand_size(data, (*data.shape[:-1], self.input_size), "input")
        sizes = None if packed is None else packed.batch_sizes.tolist()
        given = hx if hx is None or several else (hx,)
        if packed is not None:
            given = _in_order(given, packed.sorted_indices)
        parts = self._states(data, sizes[0] if sizes else data.shape[1], given, batched)
        pairs = zip(*[part.unbind(0) for part in parts], strict=True)
        out: Any
        out, parts = self._layers(data, list(pairs), sizes)
        if turned:
            # PyTorch turns an LSTM's output anew and the others' in place.
            out = call("transpose" if several else "transpose_.inside", out, 0, 1)
        if packed is not None:
            parts = _in_order(parts, packed.unsorted_indices)
            out = PackedSequence(out, *packed[1:])
        elif not batched:
            out = out.squeeze(0 if turned else 1)
            parts = [part.squeeze(1) for part in parts]
        return out, tuple(parts) if several else parts[0]

    def _states(
        self, input: Tensor, items: int, given: Any, batched: bool
    ) -> list[Tensor]:
        """Return the states that all layers and directions begin with, part by part."""
        count, last = len(self._all_weights), self.proj_size or self.hidden_size
        sizes = (last, self.hidden_size) if self.kind == "LSTM" else (last,)
        shapes = [(count, items, size) for size in sizes]
        if given is None:
            parts = [call("new_zeros", input, shape) for shape in shapes]
        else:
            parts = [part if batched else part.unsqueeze(1) for part in given]
        for part, shape in zip(parts, shapes, strict=True):
            _demand_size(part, shape, "state")
        return parts

    def _layers(
        self, out: Tensor, states: Sequence[State], sizes: Sequence[int] | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the last layer's outputs, and the last states of all layers and
        directions, part by part.

        Args:
            sizes: how many sequences last to each step, of packed ones.
        """
        last: list[State] = []
        directions = 2 if self.bidirectional else 1
        weights = self.all_weights
        for first in range(0, len(weights), directions):
            ways = []
            for at in range(first, first + directions):
                back = at > first
                seen, state = self._way(out, states[at], weights[at], back, sizes)
                ways.append(seen)
                last.append(state)
            out = call("cat", ways, -1) if self.bidirectional else ways[0]
            if self.dropout and self.training and first + directions < len(weights):
                out = F.dropout(out, self.dropout)
        kinds = zip(*last, strict=True)
        return out, [apply(OPS["stack.default"], parts, {"dim": 0}) for parts in kinds]

    def _way(
        self, x: Tensor, first: State, given: Weights, backwards: bool,
        sizes: Sequence[int] | None,
    ) -> tuple[Tensor, State]:  # fmt: skip
        """Run one layer one way, step by step, on inputs that are projected at once."""
        b, c = given[2:4] if self.bias else (None, None)
        weights = [given[1], c, *given[4 if self.bias else 2 :]]
        of_x = F.linear(x, given[0], b)
        step = self._step
        single = self.kind == "LSTM" and x.dtype == float32 and not self.proj_size
        if single and sizes is None:
            step, of_x = whole_lstm_step, of_x if c is None else of_x + c
        steps: Any = of_x.unbind(0) if sizes is None else _pieces(of_x, sizes)
        order = steps[::-1] if backwards else steps
        state, seen, ended = first, [], []
        if backwards and order[0].shape[0] < first[0].shape[0]:
            state = tuple([part[: order[0].shape[0]] for part in first])
        for x in order:
            size, before = x.shape[0], state[0].shape[0]
            if size < before:
                ended.append(tuple([part[size:] for part in state]))
                state = tuple([part[:size] for part in state])
            elif size > before:
                pairs = zip(state, first, strict=True)
                state = tuple([call("cat", [s, f[before:size]], 0) for s, f in pairs])
            state = step(x, state, weights)
            seen.append(state[0])
        if ended:
            kinds = zip(state, *reversed(ended), strict=True)
            state = tuple([call("cat", parts, 0) for parts in kinds])
        seen = seen[::-1] if backwards else seen
        whole: Tensor = call("stack" if sizes is None else "cat", seen, 0)
        return whole, state

    extra_repr = saying(
        "{input_size}, {hidden_size}", proj_size=0, num_layers=1, bias=True,
        batch_first=False, dropout=0.0, bidirectional=False,
    )  # fmt: skip


def _pieces(x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    starts = accumulate(sizes, initial=0)
    return [call("narrow", x, 0, *each) for each in zip(starts, sizes, strict=False)]


def _in_order(parts: Any, order: Tensor | None) -> Any:
    """Return the parts of a state, if any, with the items of a batch in an order."""
    if parts is None or order is None:
        return parts
    return [call("index_select", part, 1, order) for part in parts]


class RNN(RNNBase):
    __doc__ = f"Elman's network, with tanh or relu. {RNNBase.__doc__}"

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1,
        nonlinearity: str = "tanh", bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias,
            batch_first, dropout, bidirectional, 0, device, dtype,
        )  # fmt: skip


def network(kind: str, doc: str, *left_out: str) -> type[RNNBase]:
    """Make a class of networks of one kind of cells; some options are left out."""
    parameters = [
        each
        for each in inspect.signature(RNNBase).parameters.values()
        if each.name not in ("mode", *left_out)
    ]

    def begin(self: Any, given: Params) -> None:
        RNNBase.__init__(self, kind, **given)

    init = constructor(kind, parameters, begin)
    about = {"__doc__": f"{doc} {RNNBase.__doc__}", "__init__": init}
    return new_class(kind, (RNNBase,), about)
