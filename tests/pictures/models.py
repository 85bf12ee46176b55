"""Losses as people write them, from modules and by hand, for PyTorch and for gradcli:
each is a function of the library that it is built with.

    LOSSES["mlp"](torch)        # a tensor of one entry, with a graph
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Build = Callable[[Any], Any]

LOSSES: dict[str, Build] = {}


def loss(function: Build) -> Build:
    """Enter a loss under its function's name."""
    LOSSES[function.__name__] = function
    return function


def leaf(torch: Any, *sizes: int) -> Any:
    """Return numbers of these sizes, the same in both libraries, with a gradient."""
    count = 1
    for size in sizes:
        count *= size
    row = torch.linspace(-0.9, 1.1, count) if count > 1 else torch.tensor([0.7])
    return row.reshape(sizes).clone().requires_grad_()


def data(torch: Any, *sizes: int) -> Any:
    return leaf(torch, *sizes).detach()


# Modules of torch.nn


@loss
def mlp(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return nn.functional.cross_entropy(model(data(torch, 5, 3)), torch.arange(5) % 2)


@loss
def deep_mlp(torch: Any) -> Any:
    nn = torch.nn
    layers = [part for _ in range(6) for part in (nn.Linear(3, 3), nn.Tanh())]
    return nn.Sequential(*layers)(data(torch, 2, 3)).pow(2).mean()


@loss
def convnet(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )
    logits = model(data(torch, 2, 1, 6, 6))
    return nn.functional.nll_loss(torch.log_softmax(logits, 1), torch.tensor([0, 2]))


@loss
def lenet(torch: Any) -> Any:
    nn, f = torch.nn, torch.nn.functional

    class LeNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 3, 3)
            self.fc1, self.fc2 = nn.Linear(12, 5), nn.Linear(5, 3)

        def forward(self, x: Any) -> Any:
            x = f.max_pool2d(f.relu(self.conv1(x)), 2)
            x = f.max_pool2d(f.relu(self.conv2(x)), 2)
            x = x.view(-1, 12)
            return f.log_softmax(self.fc2(f.relu(self.fc1(x))), dim=1)

    model = LeNet()
    return f.nll_loss(model(data(torch, 1, 1, 14, 14)), torch.tensor([1]))


@loss
def batch_norm(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.SiLU())
    return model(data(torch, 2, 1, 4, 4)).sum()


@loss
def batch_norm_of_features(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.LeakyReLU(0.2))
    return model(data(torch, 4, 2)).abs().sum()


@loss
def residual_block(torch: Any) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(2, 2, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(2)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(2, 2, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(2)

        def forward(self, x: Any) -> Any:
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += x
            return self.relu(out)

    model = nn.Sequential(Block(), Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return model(leaf(torch, 1, 2, 4, 4)).sum()


@loss
def unet(torch: Any) -> Any:
    nn = torch.nn
    down, up = nn.Conv2d(1, 2, 3, padding=1), nn.ConvTranspose2d(2, 1, 2, stride=2)
    last = nn.Conv2d(2, 1, 1)
    x = data(torch, 1, 1, 4, 4)
    inner = nn.functional.max_pool2d(torch.relu(down(x)), 2)
    return torch.sigmoid(last(torch.cat([up(inner), x], dim=1))).mean()


@loss
def upsampling(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.Upsample(scale_factor=2))
    return model(data(torch, 1, 1, 2, 2)).norm()


@loss
def lstm(torch: Any) -> Any:
    model = torch.nn.LSTM(2, 3)
    out, (h, c) = model(data(torch, 4, 1, 2))
    return out.sum() + h.sum() + c.sum()


@loss
def lstm_cell(torch: Any) -> Any:
    cell = torch.nn.LSTMCell(2, 3)
    h = c = torch.zeros(1, 3)
    for x in data(torch, 3, 1, 2):
        h, c = cell(x, (h, c))
    return h.sum()


@loss
def gru(torch: Any) -> Any:
    out, _ = torch.nn.GRU(2, 2)(data(torch, 3, 1, 2))
    return out[-1].sum()


@loss
def gru_cell(torch: Any) -> Any:
    cell = torch.nn.GRUCell(2, 2)
    h = torch.zeros(1, 2)
    for x in data(torch, 2, 1, 2):
        h = cell(x, h)
    return h.pow(2).sum()


@loss
def plain_rnn(torch: Any) -> Any:
    out, h = torch.nn.RNN(2, 3, batch_first=True)(data(torch, 1, 4, 2))
    return out.mean() + h.mean()


@loss
def embedding(torch: Any) -> Any:
    nn = torch.nn
    table = nn.Embedding(7, 3)
    words = torch.tensor([[1, 2, 3], [4, 5, 6]])
    return nn.Linear(3, 1)(table(words).mean(dim=1)).sum()


@loss
def transformer_layer(torch: Any) -> Any:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    return layer(data(torch, 1, 3, 4)).sum()


@loss
def multihead_attention(torch: Any) -> Any:
    model = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    x = data(torch, 1, 3, 4)
    out, _ = model(x, x, x)
    return out.sum()


@loss
def layer_norm(torch: Any) -> Any:
    nn = torch.nn
    return nn.GELU()(nn.LayerNorm(3)(leaf(torch, 2, 3))).sum()


@loss
def group_norm(torch: Any) -> Any:
    nn = torch.nn
    return nn.GroupNorm(2, 4)(leaf(torch, 1, 4, 3)).pow(3).sum()


@loss
def prelu(torch: Any) -> Any:
    return torch.nn.PReLU()(leaf(torch, 4)).sum()


@loss
def average_pooling(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Conv1d(1, 2, 3), nn.ELU(), nn.AvgPool1d(2))
    return model(data(torch, 1, 1, 8)).sum()


@loss
def bilinear(torch: Any) -> Any:
    return torch.nn.Bilinear(2, 3, 1)(data(torch, 2, 2), data(torch, 2, 3)).sum()


# Models written out


@loss
def attention(torch: Any) -> Any:
    q, k, v = leaf(torch, 1, 3, 4), leaf(torch, 1, 3, 4), leaf(torch, 1, 3, 4)
    weights = torch.softmax(q @ k.transpose(-2, -1) / 2.0, dim=-1)
    return (weights @ v).sum()


@loss
def causal_attention(torch: Any) -> Any:
    nn = torch.nn
    x, width = data(torch, 1, 3, 4), 4
    q, k, v = nn.Linear(width, 3 * width)(x).split(width, dim=2)
    q, k, v = (t.view(1, 3, 2, 2).transpose(1, 2) for t in (q, k, v))
    score = (q @ k.transpose(-2, -1)) * 0.5
    mask = torch.tril(torch.ones(3, 3)) == 0
    score = score.masked_fill(mask, float("-inf"))
    out = (torch.softmax(score, dim=-1) @ v).transpose(1, 2).contiguous()
    return out.view(1, 3, 4).sum()


@loss
def vae(torch: Any) -> Any:
    nn, f = torch.nn, torch.nn.functional
    encoder, decoder = nn.Linear(4, 6), nn.Linear(3, 4)
    x = torch.sigmoid(data(torch, 2, 4))
    mu, logvar = encoder(x).chunk(2, dim=1)
    z = mu + data(torch, 2, 3) * torch.exp(0.5 * logvar)
    again = torch.sigmoid(decoder(z))
    divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return f.binary_cross_entropy(again, x, reduction="sum") + divergence


@loss
def autoencoder(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 4), nn.Sigmoid())
    x = data(torch, 3, 4)
    return nn.MSELoss()(model(x), x)


@loss
def denoiser(torch: Any) -> Any:
    nn = torch.nn
    x, noise, t = data(torch, 2, 3), data(torch, 2, 3), torch.tensor([[0.3], [0.8]])
    model = nn.Sequential(nn.Linear(4, 5), nn.SiLU(), nn.Linear(5, 3))
    noisy = t.sqrt() * x + (1 - t).sqrt() * noise
    return ((model(torch.cat([noisy, t], dim=1)) - noise) ** 2).mean()


@loss
def gan_discriminator(torch: Any) -> Any:
    nn = torch.nn
    g, d = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
    rule = nn.BCELoss()
    ours = rule(d(data(torch, 4, 3)), torch.ones(4, 1))
    return ours + rule(d(g(data(torch, 4, 2)).detach()), torch.zeros(4, 1))


@loss
def gan_generator(torch: Any) -> Any:
    nn = torch.nn
    g, d = nn.Linear(2, 3), nn.Linear(3, 1)
    logits = d(torch.tanh(g(data(torch, 4, 2))))
    return nn.functional.binary_cross_entropy_with_logits(logits, torch.ones(4, 1))


@loss
def hinge_gan(torch: Any) -> Any:
    d = torch.nn.Linear(3, 1)
    high, low = d(data(torch, 2, 3)), d(-data(torch, 2, 3))
    return torch.relu(1 - high).mean() + torch.relu(1 + low).mean()


@loss
def gradient_penalty(torch: Any) -> Any:
    nn = torch.nn
    d = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = leaf(torch, 2, 3)
    (g,) = torch.autograd.grad(d(x).sum(), x, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


@loss
def squared_gradient(torch: Any) -> Any:
    x = leaf(torch, 3)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return (g**2).sum()


@loss
def third_derivative(torch: Any) -> Any:
    x = leaf(torch, 1)
    y = torch.sin(x) * x
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return y.sum()


@loss
def heat_equation(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x, t = leaf(torch, 4, 1), leaf(torch, 4, 1)
    u = model(torch.cat([x, t], dim=1))
    one = torch.ones_like(u)
    u_t = torch.autograd.grad(u, t, one, create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, one, create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, one, create_graph=True)[0]
    return ((u_t - u_xx) ** 2).mean()


@loss
def maml(torch: Any) -> Any:
    w, x = leaf(torch, 3, 1), data(torch, 4, 3)
    inner = ((x @ w - 1) ** 2).mean()
    (g,) = torch.autograd.grad(inner, w, create_graph=True)
    return ((x @ (w - 0.1 * g) - 1) ** 2).mean()


@loss
def hessian_times_vector(torch: Any) -> Any:
    x, v = leaf(torch, 3), data(torch, 3)
    (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    return (g * v).sum()


@loss
def loop_of_1000_steps(torch: Any) -> Any:
    w, y = leaf(torch, 1), torch.tensor([0.1])
    for _ in range(1000):
        y = torch.sin(w * y) + 0.1
    return y.sum()


@loss
def loop_with_two_variables(torch: Any) -> Any:
    a, b = leaf(torch, 1), leaf(torch, 1)
    x = y = torch.ones(1)
    for _ in range(20):
        x, y = x + 0.1 * a * y, y - 0.1 * b * x
    return (x * y).sum()


@loss
def while_loop(torch: Any) -> Any:
    x = leaf(torch, 1)
    y = x
    while y.item() < 100:
        y = y * y + 1
    return y.log().sum()


@loss
def branches(torch: Any) -> Any:
    x = leaf(torch, 4)
    return torch.where(x > 0, x.sqrt(), x * 0.1).nansum()


@loss
def shared_weight(torch: Any) -> Any:
    layer = torch.nn.Linear(3, 3)
    x = data(torch, 2, 3)
    for _ in range(3):
        x = torch.tanh(layer(x))
    return x.sum()


@loss
def tied_embedding(torch: Any) -> Any:
    nn = torch.nn
    table, out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    out.weight = table.weight
    words = torch.tensor([0, 2, 4])
    return nn.functional.cross_entropy(out(table(words)), words)


@loss
def one_tensor_twice(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x * x
    return (y + y * x).sum() + y.mean()


@loss
def siamese(torch: Any) -> Any:
    nn = torch.nn
    net = nn.Sequential(nn.Linear(3, 2), nn.Sigmoid())
    a, b = net(data(torch, 2, 3)), net(-data(torch, 2, 3))
    apart = (a - b).pow(2).sum(dim=1).sqrt()
    return torch.clamp(1.0 - apart, min=0).pow(2).mean()


@loss
def triplet(torch: Any) -> Any:
    net = torch.nn.Linear(3, 2)
    a, p, n = (net(data(torch, 2, 3) * s) for s in (1.0, 0.9, -1.0))
    return torch.relu((a - p).norm(dim=1) - (a - n).norm(dim=1) + 1).mean()


@loss
def contrastive(torch: Any) -> Any:
    f = torch.nn.functional
    a, b = leaf(torch, 3, 4), leaf(torch, 3, 4)
    logits = f.normalize(a, dim=1) @ f.normalize(b, dim=1).T / 0.1
    return f.cross_entropy(logits, torch.arange(3))


@loss
def changed_in_place(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x * 2
    y.add_(1)
    y *= x
    return y.sum()


@loss
def written_into_a_row(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = torch.zeros(2, 3)
    y[0] = x
    y[1] = x * x
    return y.sum()


@loss
def written_into_a_view(torch: Any) -> Any:
    x = leaf(torch, 2, 3)
    y = x.clone()
    y[:, 0].mul_(2)
    return (y * y).sum()


@loss
def relu_in_place(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 3), nn.ReLU(True))(data(torch, 1, 3)).sum()


@loss
def custom_function(torch: Any) -> Any:
    class Cube(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    return Cube.apply(leaf(torch, 3)).sum()


@loss
def custom_function_of_two(torch: Any) -> Any:
    class Affine(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any, times: float) -> Any:
            ctx.save_for_backward(x, w)
            ctx.times = times
            return x @ w * times, x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any, s: Any) -> Any:
            x, w = ctx.saved_tensors
            return g @ w.T * ctx.times + s, x.T @ g * ctx.times, None

    y, total = Affine.apply(leaf(torch, 2, 3), leaf(torch, 3, 2), 0.5)
    return y.sum() * total


@loss
def straight_through(torch: Any) -> Any:
    class Round(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.round()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = leaf(torch, 4)
    return (Round.apply(x * 3) / 3 - x.detach()).pow(2).sum()


@loss
def custom_second_order(torch: Any) -> Any:
    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = leaf(torch, 2)
    (g,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return (g * g).sum()


@loss
def policy_gradient(torch: Any) -> Any:
    net = torch.nn.Linear(3, 2)
    chances = torch.log_softmax(net(data(torch, 4, 3)), dim=-1)
    chosen = chances.gather(1, torch.tensor([[0], [1], [1], [0]])).squeeze(1)
    return -(chosen * torch.tensor([1.0, 0.5, -1.0, 2.0])).mean()


@loss
def soft_q_target(torch: Any) -> Any:
    nn = torch.nn
    net, target = nn.Linear(3, 2), nn.Linear(3, 2)
    q = net(data(torch, 4, 3)).max(dim=1).values
    with torch.no_grad():
        goal = target(data(torch, 4, 3)).max(dim=1).values
    return nn.functional.smooth_l1_loss(q, goal)


@loss
def mixture_of_gaussians(torch: Any) -> Any:
    mu, scale, weight = leaf(torch, 2), leaf(torch, 2), leaf(torch, 2)
    x = data(torch, 5, 1)
    log = -0.5 * ((x - mu) / scale.exp()) ** 2 - scale
    return -torch.logsumexp(log + torch.log_softmax(weight, dim=0), dim=1).mean()


@loss
def gaussian_process(torch: Any) -> Any:
    x, width = data(torch, 3, 1), leaf(torch, 1)
    k = torch.exp(-((x - x.T) ** 2) / width.exp()) + 0.1 * torch.eye(3)
    low = torch.linalg.cholesky(k)
    return torch.log(torch.diagonal(low)).sum() + (low @ data(torch, 3, 1)).sum()


@loss
def least_squares(torch: Any) -> Any:
    a, b = leaf(torch, 3, 3), data(torch, 3)
    return torch.linalg.solve(a @ a.T + torch.eye(3), b).sum()


@loss
def style(torch: Any) -> Any:
    x = leaf(torch, 2, 6)
    gram = x @ x.t() / 12
    return ((gram - torch.eye(2)) ** 2).sum()


@loss
def total_variation(torch: Any) -> Any:
    x = leaf(torch, 1, 1, 3, 3)
    return (x[..., 1:, :] - x[..., :-1, :]).abs().mean() + x[..., 0].std()


@loss
def einsum(torch: Any) -> Any:
    a, b = leaf(torch, 2, 3), leaf(torch, 3, 2)
    return torch.einsum("ij,jk->ik", a, b).sum()


@loss
def weight_decay(torch: Any) -> Any:
    net = torch.nn.Linear(3, 2)
    first = net(data(torch, 2, 3)).sum()
    return first + 0.01 * sum(p.pow(2).sum() for p in net.parameters())


@loss
def stack_and_unbind(torch: Any) -> Any:
    a, b = leaf(torch, 3), leaf(torch, 3)
    first, second = torch.stack([a, b]).unbind(0)
    return (first * second).sum() + torch.cat([a, b]).max()


@loss
def sorted_values(torch: Any) -> Any:
    values, _ = torch.sort(leaf(torch, 5), descending=True)
    return values[:2].prod() + torch.topk(leaf(torch, 4), 2).values.sum()
