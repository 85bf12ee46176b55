"""The optimizers: options and an update rule each.

Invariant: nothing is computed here. Constructors are PyTorch's, and so is the order of
a group's options, in which it is saved and printed. A default that is not given here is
the option's own, in `options`.
"""

from __future__ import annotations

from . import rules
from .declare import optimizer
from .lbfgs import QuasiNewton
from .muon import OfMatrices, muon, sound
from .options import agreeing_numbers, bounded_factors, clean_nesterov

SGD = optimizer(
    "SGD", rules.sgd,
    "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused",
    takes="lr momentum dampening weight_decay nesterov "
    "* maximize foreach differentiable fused",
    lr=1e-3, check=clean_nesterov,
)  # fmt: skip

ADAM = (
    "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
    "fused decoupled_weight_decay"
)

Adam = optimizer(
    "Adam", rules.adam, ADAM,
    takes="lr betas eps weight_decay amsgrad "
    "* foreach maximize capturable differentiable fused decoupled_weight_decay",
    lr=1e-3, check=agreeing_numbers,
)  # fmt: skip

AdamW = optimizer(
    "AdamW", rules.adam, ADAM, base=Adam,
    takes="lr betas eps weight_decay amsgrad "
    "* maximize foreach capturable differentiable fused",
    lr=1e-3, weight_decay=1e-2, check=agreeing_numbers,
    fixed={"decoupled_weight_decay": True},
)  # fmt: skip

Adamax = optimizer(
    "Adamax", rules.adamax,
    "lr betas eps weight_decay foreach maximize differentiable capturable",
    takes="lr betas eps weight_decay foreach * maximize differentiable capturable",
    lr=2e-3,
)  # fmt: skip

NAdam = optimizer(
    "NAdam", rules.nadam,
    "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
    "capturable differentiable",
    takes="lr betas eps weight_decay momentum_decay decoupled_weight_decay "
    "* foreach maximize capturable differentiable",
    lr=2e-3,
)  # fmt: skip

RAdam = optimizer(
    "RAdam", rules.radam,
    "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
    "differentiable",
    takes="lr betas eps weight_decay decoupled_weight_decay "
    "* foreach maximize capturable differentiable",
    lr=1e-3,
)  # fmt: skip

Adadelta = optimizer(
    "Adadelta", rules.adadelta,
    "lr rho eps weight_decay maximize capturable foreach differentiable",
    takes="lr rho eps weight_decay foreach * capturable maximize differentiable",
    lr=1.0, eps=1e-6,
)  # fmt: skip

Adagrad = optimizer(
    "Adagrad", rules.adagrad,
    "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
    "differentiable fused",
    takes="lr lr_decay weight_decay initial_accumulator_value eps foreach "
    "* maximize differentiable fused",
    base=rules.SummingFromTheStart, lr=1e-2, eps=1e-10,
)  # fmt: skip

Adafactor = optimizer(
    "Adafactor", rules.adafactor,
    "lr beta2_decay eps d weight_decay foreach maximize",
    takes="lr beta2_decay eps d weight_decay * foreach maximize",
    lr=1e-2, eps=(None, 1e-3), weight_decay=0.0,
    unchecked="lr eps weight_decay", check=bounded_factors,
)  # fmt: skip

ASGD = optimizer(
    "ASGD", rules.asgd,
    "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    lr=1e-2, alpha=0.75, unchecked="alpha",
)  # fmt: skip

RMSprop = optimizer(
    "RMSprop", rules.rmsprop,
    "lr momentum alpha eps centered weight_decay capturable foreach maximize "
    "differentiable",
    takes="lr alpha eps weight_decay momentum centered capturable foreach maximize "
    "differentiable",
    lr=1e-2, alpha=0.99,
)  # fmt: skip

Rprop = optimizer(
    "Rprop", rules.rprop,
    "lr etas step_sizes foreach maximize differentiable capturable",
    takes="lr etas step_sizes * capturable foreach maximize differentiable",
    lr=1e-2,
)  # fmt: skip

Muon = optimizer(
    "Muon", muon,
    "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
    base=OfMatrices, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, eps=1e-7,
    unchecked="lr weight_decay momentum eps", check=sound,
)  # fmt: skip

LBFGS = optimizer(
    "LBFGS", None,
    "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
    base=QuasiNewton, lr=1,
)  # fmt: skip
