import torch
import torch.distributions as D
from torch.distributions import kl_divergence

torch.manual_seed(0)
loc, scale = torch.randn(3), torch.rand(3) + 0.5
for d in (
    D.Normal(loc, scale),
    D.Normal(0.0, 1.0),
    D.Uniform(loc, loc + scale),
    D.Bernoulli(probs=scale / 3),
    D.Bernoulli(logits=loc),
    D.Categorical(probs=scale),
    D.Categorical(logits=torch.randn(2, 3)),
    D.MultivariateNormal(loc, torch.eye(3) * 2),
    D.MultivariateNormal(loc, scale_tril=torch.tril(torch.rand(3, 3)) + torch.eye(3)),
    D.MultivariateNormal(loc, precision_matrix=torch.eye(3) * 2),
    D.Independent(D.Normal(loc, scale), 1),
):
    print(d, d.batch_shape, d.event_shape, d.has_rsample)
    x = d.sample((2,))
    print(x, x.shape, d.log_prob(x))
    for what in ("mean", "variance", "stddev", "mode"):
        try:
            print(what, getattr(d, what))
        except NotImplementedError:
            print(what, "none")
    try:
        print("entropy", d.entropy())
    except NotImplementedError:
        print("entropy none")
    if d.has_rsample:
        print(d.rsample().shape)
for p, q in (
    (D.Normal(loc, scale), D.Normal(loc + 1, scale * 2)),
    (D.Bernoulli(scale / 3), D.Bernoulli(scale / 4)),
    (D.Categorical(scale), D.Categorical(scale.flip(0))),
    (D.Uniform(0.0, 1.0), D.Uniform(-1.0, 2.0)),
    (
        D.MultivariateNormal(loc, torch.eye(3)),
        D.MultivariateNormal(loc * 2, torch.eye(3) * 3),
    ),
    (
        D.Independent(D.Normal(loc, scale), 1),
        D.Independent(D.Normal(0 * loc, scale), 1),
    ),
):
    print(kl_divergence(p, q))
for f in (
    lambda: D.Normal(0.0, -1.0),
    lambda: D.Categorical(),
    lambda: D.Normal(loc, scale).log_prob(3),
    lambda: D.Categorical(scale).log_prob(torch.tensor(5)),
    lambda: D.Uniform(1.0, 0.0),
    lambda: D.Bernoulli(torch.tensor([2.0, 0.5])),
):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__)
m = D.Normal(loc.clone().requires_grad_(), scale.clone().requires_grad_())
(m.rsample((4,)) ** 2).mean().backward()
print(m.loc.grad if m.loc.is_leaf else None)
print(
    D.Normal(0.0, 1.0).expand((2,)),
    D.Normal(loc, scale).cdf(loc + 0.1),
    D.Normal(loc, scale).icdf(torch.tensor(0.3)),
    D.Categorical(logits=torch.randn(4, 3)).expand((2, 4)).batch_shape,
)
