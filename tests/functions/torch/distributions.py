import torch
import torch.distributions as D
from torch.distributions import kl_divergence

torch.manual_seed(0)
loc, scale = torch.randn(3), torch.rand(3) + 0.5
for d in (
    D.Normal(loc, scale),
    D.Normal(0.0, 1.0),
    D.Bernoulli(probs=scale / 3),
    D.Bernoulli(logits=loc),
    D.Categorical(probs=scale),
    D.Categorical(logits=torch.randn(2, 3)),
):
    print(d, d.batch_shape, d.event_shape, d.has_rsample)
    x = d.sample((2,))
    print(x, x.shape, d.log_prob(x))
    for what in ("mean", "variance", "stddev"):
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
):
    print(kl_divergence(p, q))
for f in (
    lambda: D.Normal(0.0, -1.0),
    lambda: D.Categorical(),
    lambda: D.Normal(loc, scale).log_prob(3),
    lambda: D.Categorical(scale).log_prob(torch.tensor(5)),
    lambda: D.Bernoulli(torch.tensor([2.0, 0.5])),
):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__)
m = D.Normal(loc.clone().requires_grad_(), scale.clone().requires_grad_())
(m.rsample((4,)) ** 2).mean().backward()
print(m.loc.grad if m.loc.is_leaf else None)
