"""The optimizers: options and an update rule each.

Invariant: nothing is computed here. Constructors are PyTorch's, and so is the order of
a group's options, in which it is saved and printed.
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
    lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False,
    maximize=False, foreach=None, differentiable=False, fused=None,
    by_name="maximize foreach differentiable fused", check=clean_nesterov,
)  # fmt: skip

BETAS = (0.9, 0.999)

ADAM = (
    "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
    "fused decoupled_weight_decay"
)

Adam = optimizer(
    "Adam", rules.adam, ADAM,
    lr=1e-3, betas=BETAS, eps=1e-8, weight_decay=0, amsgrad=False, foreach=None,
    maximize=False, capturable=False, differentiable=False, fused=None,
    decoupled_weight_decay=False, check=agreeing_numbers,
    by_name="foreach maximize capturable differentiable fused decoupled_weight_decay",
)  # fmt: skip

AdamW = optimizer(
    "AdamW", rules.adam, ADAM, base=Adam,
    lr=1e-3, betas=BETAS, eps=1e-8, weight_decay=1e-2, amsgrad=False, maximize=False,
    foreach=None, capturable=False, differentiable=False, fused=None,
    check=agreeing_numbers,
    by_name="maximize foreach capturable differentiable fused",
    fixed={"decoupled_weight_decay": True},
)  # fmt: skip

Adamax = optimizer(
    "Adamax", rules.adamax,
    "lr betas eps weight_decay foreach maximize differentiable capturable",
    lr=2e-3, betas=BETAS, eps=1e-8, weight_decay=0, foreach=None, maximize=False,
    differentiable=False, capturable=False,
    by_name="maximize differentiable capturable",
)  # fmt: skip

NAdam = optimizer(
    "NAdam", rules.nadam,
    "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
    "capturable differentiable",
    lr=2e-3, betas=BETAS, eps=1e-8, weight_decay=0, momentum_decay=4e-3,
    decoupled_weight_decay=False, foreach=None, maximize=False, capturable=False,
    differentiable=False, by_name="foreach maximize capturable differentiable",
)  # fmt: skip

RAdam = optimizer(
    "RAdam", rules.radam,
    "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
    "differentiable",
    lr=1e-3, betas=BETAS, eps=1e-8, weight_decay=0, decoupled_weight_decay=False,
    foreach=None, maximize=False, capturable=False, differentiable=False,
    by_name="foreach maximize capturable differentiable",
)  # fmt: skip

Adadelta = optimizer(
    "Adadelta", rules.adadelta,
    "lr rho eps weight_decay maximize capturable foreach differentiable",
    lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, capturable=False,
    maximize=False, differentiable=False,
    by_name="capturable maximize differentiable",
)  # fmt: skip

Adagrad = optimizer(
    "Adagrad", rules.adagrad,
    "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
    "differentiable fused",
    base=rules.SummingFromTheStart,
    lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
    foreach=None, maximize=False, differentiable=False, fused=None,
    by_name="maximize differentiable fused",
)  # fmt: skip

Adafactor = optimizer(
    "Adafactor", rules.adafactor,
    "lr beta2_decay eps d weight_decay foreach maximize",
    lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0,
    foreach=None, maximize=False, by_name="foreach maximize",
    unchecked="lr eps weight_decay", check=bounded_factors,
)  # fmt: skip

ASGD = optimizer(
    "ASGD", rules.asgd,
    "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None,
    maximize=False, differentiable=False, capturable=False, unchecked="alpha",
)  # fmt: skip

RMSprop = optimizer(
    "RMSprop", rules.rmsprop,
    "lr momentum alpha eps centered weight_decay capturable foreach maximize "
    "differentiable",
    lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
    capturable=False, foreach=None, maximize=False, differentiable=False,
)  # fmt: skip

Rprop = optimizer(
    "Rprop", rules.rprop,
    "lr etas step_sizes foreach maximize differentiable capturable",
    lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), capturable=False, foreach=None,
    maximize=False, differentiable=False,
    by_name="capturable foreach maximize differentiable",
)  # fmt: skip

Muon = optimizer(
    "Muon", muon,
    "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
    base=OfMatrices,
    lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
    ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    unchecked="lr weight_decay momentum eps", check=sound,
)  # fmt: skip

LBFGS = optimizer(
    "LBFGS", None,
    "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
    base=QuasiNewton,
    lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
    history_size=100, line_search_fn=None,
)  # fmt: skip
