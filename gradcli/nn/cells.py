"""Recurrent cells: one step along a sequence.

Invariant: the weights of a cell are stacked by gate in PyTorch's order: input, forget,
cell, output for an LSTM; reset, update, new for a GRU.

    h, c = LSTMCell(3, 4)(x, (h, c))        # x: (N, 3); h and c: (N, 4)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from ..engine.record import call
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, head, saying
from .module import Module

State = tuple[Tensor, ...]
"""What a cell hands on: (h,), or (h, c)."""

Weights = Sequence[Tensor | None]
"""Weight of the input, of the state, their biases, and the state's projection."""


def plain_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """``squash(W x + b + U h + c)``."""
    (h,), (w, u, b, c) = state, weights[:4]
    return (call(squash, F.linear(x, _known(w), b) + F.linear(h, _known(u), c)),)


def lstm_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """Hochreiter and Schmidhuber's cell with forget gates; h is projected if wanted."""
    (h, cell), (w, u, b, c) = state, weights[:4]
    gates = F.linear(x, _known(w), b) + F.linear(h, _known(u), c)
    enter, forget, new, leave = gates.chunk(4, -1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    h = leave.sigmoid() * cell.tanh()
    return (h if len(weights) == 4 else F.linear(h, _known(weights[4]))), cell


def gru_step(x: Tensor, state: State, weights: Weights, squash: str) -> State:
    """Cho's gated unit, with the reset gate behind the state's weight."""
    (h,), (w, u, b, c) = state, weights[:4]
    of_x, of_h = F.linear(x, _known(w), b), F.linear(h, _known(u), c)
    reset, update, new = of_x.chunk(3, -1)
    reset_h, update_h, new_h = of_h.chunk(3, -1)
    keep = (update + update_h).sigmoid()
    fresh = (new + (reset + reset_h).sigmoid() * new_h).tanh()
    return (fresh + keep * (h - fresh),)


def _known(weight: Tensor | None) -> Tensor:
    return cast("Tensor", weight)


STEPS = {"RNN": plain_step, "LSTM": lstm_step, "GRU": gru_step}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


class _Recurrent(Module):
    """The weights and the step that cells and networks share."""

    kind: str = "RNN"
    hidden_size: int
    nonlinearity: str = "tanh"

    def reset_parameters(self) -> None:
        """Draw all weights evenly within one over the root of the hidden size."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, x: Tensor, state: State, weights: Weights) -> State:
        return STEPS[self.kind](x, state, weights, self.nonlinearity)


class RNNCellBase(_Recurrent):
    """One step of a recurrent network.

    Args:
        input_size: the length of an input.
        hidden_size: the length of the state.
        bias: whether to add biases.
    """

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

    def _next(self, input: Tensor, given: State | None) -> State:
        kind = type(self).__name__
        for what, parts in (("input", (input,)), ("hidden", given or ())):
            for part in parts:
                if part.ndim not in (1, 2):
                    raise ValueError(
                        f"{kind}: Expected {what} to be 1D or 2D, got {part.ndim}D "
                        "instead"
                    )
        if input.ndim == 1:
            items = None if given is None else tuple([t.unsqueeze(0) for t in given])
            return tuple([t.squeeze(0) for t in self._next(input.unsqueeze(0), items)])
        if input.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[1]} expected "
                f"{self.input_size}"
            )
        shape = (input.shape[0], self.hidden_size)
        count = 2 if self.kind == "LSTM" else 1
        state: State = given or (call("new_zeros", input, shape),) * count
        for i, part in enumerate(state):
            rows, size = part.shape
            if rows != shape[0]:
                raise RuntimeError(
                    f"Input batch size {shape[0]} doesn't match hidden{i} batch size "
                    f"{rows}"
                )
            if size != shape[1]:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {size}, expected "
                    f"{shape[1]}"
                )
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return self._step(input, state, weights)

    extra_repr = saying("{input_size}, {hidden_size}", bias=True, nonlinearity="tanh")


class RNNCell(RNNCellBase):
    __doc__ = f"``tanh(W x + b + U h + c)``, or relu. {RNNCellBase.__doc__}"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True,
        nonlinearity: str = "tanh", device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._next(input, None if hx is None else (hx,))[0]


class GRUCell(RNNCellBase):
    __doc__ = f"A gated recurrent unit. {RNNCellBase.__doc__}"
    kind = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._next(input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    __doc__ = f"A long short-term memory; its state is (h, c). {RNNCellBase.__doc__}"
    kind = "LSTM"

    def forward(self, input: Tensor, hx: State | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._next(input, hx)
        return h, c
