"""How far one distribution is from another.

Invariant: a pair of kinds has one formula, that of the nearest kinds above them.

    kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.record import call
from .composed import Independent, MultivariateNormal, sum_rightmost
from .continuous import Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, OneHotCategorical

Formula = Callable[[Any, Any], Any]

_FORMULAS: dict[tuple[type, type], Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Enter the formula of a pair of kinds."""

    def entered(formula: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return entered


def kl_divergence(p: Any, q: Any) -> Any:
    """The divergence of Kullback and Leibler of ``q`` from ``p``.

    Raises:
        NotImplementedError: there is no formula for the pair.
    """
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            formula = _FORMULAS.get((a, b))
            if formula is not None:
                return formula(p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
        f"{type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    gap = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + gap - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (call("softplus", -q.logits) - call("softplus", -p.logits))
    none = (1 - p.probs) * (call("softplus", q.logits) - call("softplus", p.logits))
    return one + none


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return (p.probs * (p.logits - q.logits)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p, q)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    gap = (p.loc - q.loc).abs()
    return -ratio.log() + gap / q.scale + ratio * (-gap / p.scale).exp() - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    outside = (q.low > p.low) | (q.high < p.high)
    return found.masked_fill(outside, float("inf"))


@register_kl(MultivariateNormal, MultivariateNormal)
def _vectors(p: Any, q: Any) -> Any:
    half = q._half_log_det() - p._half_log_det()
    turned = call("linalg.solve_triangular", q._tril, p._tril, upper=False)
    gap = (q.loc - p.loc).unsqueeze(-1)
    solved = call("linalg.solve_triangular", q._tril, gap, upper=False).squeeze(-1)
    squares = turned.pow(2).sum((-2, -1)) + solved.pow(2).sum(-1)
    return half + 0.5 * (squares - int(p.event_shape[0]))


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)
