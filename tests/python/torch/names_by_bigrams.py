import torch, random, torch.nn.functional as F

words = "emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily".split()
chars = sorted(list(set("".join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
V = len(itos)
N = torch.zeros((V, V), dtype=torch.int32)
for w in words:
    cs = ["."] + list(w) + ["."]
    for a, b in zip(cs, cs[1:]):
        N[stoi[a], stoi[b]] += 1
P = (N + 1).float()
P /= P.sum(1, keepdims=True)
g = torch.Generator().manual_seed(2147483647)
for i in range(3):
    out, ix = [], 0
    while True:
        ix = torch.multinomial(
            P[ix], num_samples=1, replacement=True, generator=g
        ).item()
        out.append(itos[ix])
        if ix == 0:
            break
    print("".join(out))


def build(words, bs=3):
    X, Y = [], []
    for w in words:
        ctx = [0] * bs
        for ch in w + ".":
            ix = stoi[ch]
            X.append(ctx)
            Y.append(ix)
            ctx = ctx[1:] + [ix]
    X, Y = torch.tensor(X), torch.tensor(Y)
    print(X.shape, Y.shape)
    return X, Y


random.seed(42)
X, Y = build(words)


class Linear:
    def __init__(self, i, o, bias=True):
        self.weight = torch.randn((i, o), generator=g) / i**0.5
        self.bias = torch.zeros(o) if bias else None

    def __call__(self, x):
        self.out = x @ self.weight
        if self.bias is not None:
            self.out += self.bias
        return self.out

    def parameters(self):
        return [self.weight] + ([] if self.bias is None else [self.bias])


class BatchNorm1d:
    def __init__(self, dim, eps=1e-5, momentum=0.1):
        self.eps, self.momentum, self.training = eps, momentum, True
        self.gamma, self.beta = torch.ones(dim), torch.zeros(dim)
        self.running_mean, self.running_var = torch.zeros(dim), torch.ones(dim)

    def __call__(self, x):
        if self.training:
            xmean, xvar = x.mean(0, keepdim=True), x.var(0, keepdim=True)
        else:
            xmean, xvar = self.running_mean, self.running_var
        self.out = self.gamma * (x - xmean) / torch.sqrt(xvar + self.eps) + self.beta
        if self.training:
            with torch.no_grad():
                self.running_mean = (
                    1 - self.momentum
                ) * self.running_mean + self.momentum * xmean
                self.running_var = (
                    1 - self.momentum
                ) * self.running_var + self.momentum * xvar
        return self.out

    def parameters(self):
        return [self.gamma, self.beta]


class Tanh:
    def __call__(self, x):
        self.out = torch.tanh(x)
        return self.out

    def parameters(self):
        return []


C = torch.randn((V, 4), generator=g)
layers = [
    Linear(12, 10, bias=False),
    BatchNorm1d(10),
    Tanh(),
    Linear(10, V, bias=False),
    BatchNorm1d(V),
]
with torch.no_grad():
    layers[-1].gamma *= 0.1
    for l in layers[:-1]:
        if isinstance(l, Linear):
            l.weight *= 5 / 3
parameters = [C] + [p for l in layers for p in l.parameters()]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True
for i in range(6):
    ix = torch.randint(0, X.shape[0], (16,), generator=g)
    Xb, Yb = X[ix], Y[ix]
    emb = C[Xb]
    x = emb.view(emb.shape[0], -1)
    for l in layers:
        x = l(x)
    loss = F.cross_entropy(x, Yb)
    for l in layers:
        l.out.retain_grad()
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -0.1 * p.grad
    if i % 2 == 0:
        print(f"{i:7d}/{6:7d}: {loss.item():.4f}")
for i, l in enumerate(layers[:-1]):
    if isinstance(l, Tanh):
        t = l.out
        print(
            "layer %d (%10s): mean %+.2f, std %.2f, saturated: %.2f%%"
            % (
                i,
                l.__class__.__name__,
                t.mean(),
                t.std(),
                (t.abs() > 0.97).float().mean() * 100,
            )
        )
        hy, hx = torch.histogram(l.out.grad, density=True, bins=5)
        print(hy.shape)
logits = torch.randn(4, 5, requires_grad=True)
yb = torch.tensor([1, 0, 3, 4])
lg = logits - logits.max(1, keepdim=True).values
probs = lg.exp() / lg.exp().sum(1, keepdim=True)
l = -probs.log()[range(4), yb].mean()
l.backward()
d = F.softmax(logits, 1)
d = d.detach().clone()
d[range(4), yb] -= 1
d /= 4


def cmp(s, dt, t):
    print(
        f"{s:15s} | exact: {str(torch.all(dt == t.grad).item()) in ('True', 'False')} | approximate: {str(torch.allclose(dt, t.grad)):5s}"
    )


cmp("logits", d, logits)
