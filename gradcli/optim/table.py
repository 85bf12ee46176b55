"""The optimizers: each is a rule for one step of one parameter, with the options that
it has.

Invariant: a rule changes ``p`` in place by its gradient ``g``, the options ``o`` of its
group and its state ``kept``; it is written against a namespace, so that with
``differentiable=True`` the same rule is recorded. Constructors are PyTorch's, and so is
the order of a group's options, in which it is saved and printed. A default that is not
given here is the option's own, in `optimizer.OPTIONS`.
"""

from __future__ import annotations

from ..engine.namespace import NumberSystem
from ..ops.types import Array, Operand
from .lbfgs import QuasiNewton
from .optimizer import Group, ParameterState, move_towards, optimizer


def sgd(
    xp: NumberSystem, p: Array, g: Array, kept: ParameterState, o: Group, lr: Operand
) -> None:
    """Step by ``p -= lr*g``; with momentum by ``p -= lr*b``, ``b = momentum*b + g``."""
    momentum = o["momentum"]
    if momentum:
        if kept.state.get("momentum_buffer") is None:
            direction = kept.hold("momentum_buffer", g)
        else:
            direction = kept["momentum_buffer"]
            direction *= momentum
            direction += (1 - o["dampening"]) * g
        g = g + momentum * direction if o["nesterov"] else direction
    p += -lr * g


def _clean_nesterov(o: Group) -> None:
    if o["nesterov"] and (o["momentum"] <= 0 or o["dampening"] != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")


SGD = optimizer(
    "SGD", sgd,
    "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused",
    takes="lr momentum dampening weight_decay nesterov "
    "* maximize foreach differentiable fused",
    lr=1e-3, check=_clean_nesterov,
)  # fmt: skip


def _means(g: Array, kept: ParameterState, o: Group) -> tuple[Array, Array]:
    """Update the running means of the gradient and of its square, and return them."""
    beta1, beta2 = o["betas"]
    mean, square = kept["exp_avg"], kept["exp_avg_sq"]
    move_towards(mean, g, 1 - beta1)
    square *= beta2
    square += (1 - beta2) * g * g
    return mean, square


def adam(
    xp: NumberSystem, p: Array, g: Array, kept: ParameterState, o: Group, lr: Operand
) -> None:
    """Step by ``p -= lr*m/(sqrt(v) + eps)``, where m and v are the running means of the
    gradient and of its square, corrected for their start at 0."""
    step = kept.step
    beta1, beta2 = o["betas"]
    mean, square = _means(g, kept, o)
    if o["amsgrad"]:
        largest = kept["max_exp_avg_sq"]
        largest[...] = xp.maximum(largest, square)
        square = largest
    scale = xp.sqrt(square) / (1 - beta2**step) ** 0.5 + o["eps"]
    p += -(lr / (1 - beta1**step)) * mean / scale


def _start_of_adam(kept: ParameterState, o: Group) -> None:
    largest_too = ("max_exp_avg_sq",) if o["amsgrad"] else ()
    kept.begin("exp_avg", "exp_avg_sq", *largest_too)


ADAM = (
    "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
    "fused decoupled_weight_decay"
)

Adam = optimizer(
    "Adam", adam, ADAM,
    takes="lr betas eps weight_decay amsgrad "
    "* foreach maximize capturable differentiable fused decoupled_weight_decay",
    lr=1e-3, start=_start_of_adam,
)  # fmt: skip

AdamW = optimizer(
    "AdamW", adam, ADAM, base=Adam,
    takes="lr betas eps weight_decay amsgrad "
    "* maximize foreach capturable differentiable fused",
    lr=1e-3, weight_decay=1e-2, fixed={"decoupled_weight_decay": True},
)  # fmt: skip


def adadelta(
    xp: NumberSystem, p: Array, g: Array, kept: ParameterState, o: Group, lr: Operand
) -> None:
    """Step by ``p -= lr*g*sqrt(d + eps)/sqrt(v + eps)``, where d and v are the running
    means of the squares of steps and of gradients (Zeiler 2012)."""
    rho, eps = o["rho"], o["eps"]
    square, steps = kept["square_avg"], kept["acc_delta"]
    square *= rho
    square += (1 - rho) * g * g
    delta = xp.sqrt(steps + eps) / xp.sqrt(square + eps) * g
    steps *= rho
    steps += (1 - rho) * delta * delta
    p += -lr * delta


Adadelta = optimizer(
    "Adadelta", adadelta,
    "lr rho eps weight_decay maximize capturable foreach differentiable",
    takes="lr rho eps weight_decay foreach * capturable maximize differentiable",
    lr=1.0, eps=1e-6, start=lambda kept, o: kept.begin("square_avg", "acc_delta"),
)  # fmt: skip


def adagrad(
    xp: NumberSystem, p: Array, g: Array, kept: ParameterState, o: Group, lr: Operand
) -> None:
    """Step by ``p -= lr*g/(sqrt(v) + eps)``, where v is the sum of all ``g**2``."""
    step = kept.step
    rate = lr / (1 + (step - 1) * o["lr_decay"])
    total = kept["sum"]
    total += g * g
    p += -rate * g / (xp.sqrt(total) + o["eps"])


def _start_of_adagrad(kept: ParameterState, o: Group) -> None:
    kept.begin("sum")
    kept.state["sum"].raw.fill(o["initial_accumulator_value"])


Adagrad = optimizer(
    "Adagrad", adagrad,
    "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
    "differentiable fused",
    takes="lr lr_decay weight_decay initial_accumulator_value eps foreach "
    "* maximize differentiable fused",
    lr=1e-2, eps=1e-10, start=_start_of_adagrad, at_once=True,
)  # fmt: skip


def rmsprop(
    xp: NumberSystem, p: Array, g: Array, kept: ParameterState, o: Group, lr: Operand
) -> None:
    """Step by ``p -= lr*g/(sqrt(v) + eps)``, where v is the mean of recent ``g**2``."""
    momentum, centered = o["momentum"], o["centered"]
    alpha, square = o["alpha"], kept["square_avg"]
    square *= alpha
    square += (1 - alpha) * g * g
    if centered:
        mean = kept["grad_avg"]
        move_towards(mean, g, 1 - alpha)
        square = square - mean * mean
    scale = xp.sqrt(square) + o["eps"]
    if momentum > 0:
        direction = kept["momentum_buffer"]
        direction *= momentum
        direction += g / scale
        p += -lr * direction
    else:
        p += -lr * g / scale


def _start_of_rmsprop(kept: ParameterState, o: Group) -> None:
    also = {"momentum_buffer": o["momentum"] > 0, "grad_avg": o["centered"]}
    kept.begin("square_avg", *[name for name, wanted in also.items() if wanted])


RMSprop = optimizer(
    "RMSprop", rmsprop,
    "lr momentum alpha eps centered weight_decay capturable foreach maximize "
    "differentiable",
    takes="lr alpha eps weight_decay momentum centered capturable foreach maximize "
    "differentiable",
    lr=1e-2, alpha=0.99, start=_start_of_rmsprop,
)  # fmt: skip


LBFGS = optimizer(
    "LBFGS", None,
    "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
    base=QuasiNewton, lr=1,
)  # fmt: skip
