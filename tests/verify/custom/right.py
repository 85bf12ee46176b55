"""Forty-one custom Functions whose backwards are right, as users write them."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


class LegendrePolynomial3(Function):
    """As in PyTorch's examples."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


class MyReLU(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


class LinearFunction(Function):
    """As in PyTorch's page on extending autograd."""

    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class MulConstant(Function):
    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_output * (s * (1 + x * (1 - s)))


class Mish(Function):
    @staticmethod
    def forward(x):
        return x * torch.tanh(torch.log1p(torch.exp(x)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        t = torch.tanh(torch.nn.functional.softplus(x))
        return grad_output * (t + x * torch.sigmoid(x) * (1 - t * t))


class Softmax(Function):
    @staticmethod
    def forward(ctx, x):
        e = torch.exp(x - x.max(dim=1, keepdim=True).values)
        y = e / e.sum(dim=1, keepdim=True)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(dim=1, keepdim=True))


class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x):
        m = x.amax(dim=-1, keepdim=True)
        out = (x - m).exp().sum(dim=-1).log() + m.squeeze(-1)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return g.unsqueeze(-1) * torch.exp(x - out.unsqueeze(-1))


class LayerNorm(Function):
    @staticmethod
    def forward(ctx, x, gamma, beta):
        mean = x.mean(dim=-1, keepdim=True)
        var = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
        inv = torch.rsqrt(var + 1e-5)
        ctx.save_for_backward(x, gamma)
        return (x - mean) * inv * gamma + beta

    @staticmethod
    def backward(ctx, g):
        x, gamma = ctx.saved_tensors
        mean = x.mean(dim=-1, keepdim=True)
        var = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
        inv = torch.rsqrt(var + 1e-5)
        xhat = (x - mean) * inv
        gx = g * gamma
        dx = inv * (
            gx
            - gx.mean(dim=-1, keepdim=True)
            - xhat * (gx * xhat).mean(dim=-1, keepdim=True)
        )
        return dx, (g * xhat).sum(0), g.sum(0)


class BroadcastAdd(Function):
    """Leaves the sum over what was broadcast to the engine."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g


class MSE(Function):
    @staticmethod
    def forward(ctx, y_pred, y):
        ctx.save_for_backward(y_pred, y)
        return ((y_pred - y) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        y_pred, y = ctx.saved_tensors
        d = 2 * (y_pred - y) / y_pred.numel()
        return g * d, -g * d


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.transpose(-1, -2), a.transpose(-1, -2) @ g


class Inverse(Function):
    @staticmethod
    def forward(ctx, a):
        y = torch.linalg.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return -y.mT @ g @ y.mT


class Norm2(Function):
    @staticmethod
    def forward(ctx, x):
        n = torch.sqrt((x * x).sum())
        ctx.save_for_backward(x, n)
        return n

    @staticmethod
    def backward(ctx, g):
        x, n = ctx.saved_tensors
        return g * x / n


class SinCos(Function):
    """Two outputs."""

    @staticmethod
    def forward(ctx, x):
        s, c = torch.sin(x), torch.cos(x)
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, gs, gc):
        s, c = ctx.saved_tensors
        return gs * c - gc * s


class SinCosUnmaterialized(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    @staticmethod
    def backward(ctx, gs, gc):
        (x,) = ctx.saved_tensors
        grad = torch.zeros_like(x)
        if gs is not None:
            grad = grad + gs * torch.cos(x)
        if gc is not None:
            grad = grad - gc * torch.sin(x)
        return grad


class SortDescending(Function):
    """The second output has no derivative."""

    @staticmethod
    def forward(ctx, x):
        values, index = torch.sort(x, descending=True)
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(index)
        return values, index

    @staticmethod
    def backward(ctx, g, _):
        (index,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(0, index, g)


class ScaleInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2.5)
        return x

    @staticmethod
    def backward(ctx, g):
        return 2.5 * g


def scale_in_place(x):
    return ScaleInPlace.apply(x * 1)


class Huber(Function):
    @staticmethod
    def forward(ctx, x, delta):
        ctx.save_for_backward(x)
        ctx.delta = delta
        small = x.abs() <= delta
        return torch.where(small, 0.5 * x * x, delta * (x.abs() - 0.5 * delta))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.clamp(-ctx.delta, ctx.delta), None


class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target):
        p = torch.softmax(logits, dim=1)
        ctx.save_for_backward(p, target)
        n = logits.shape[0]
        return -torch.log(p[torch.arange(n), target]).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, target = ctx.saved_tensors
        n = p.shape[0]
        d = p.clone()
        d[torch.arange(n), target] -= 1
        return g * d / n, None


class Hypot(Function):
    @staticmethod
    def forward(ctx, a, b):
        r = torch.hypot(a, b)
        ctx.save_for_backward(a, b, r)
        return r

    @staticmethod
    def backward(ctx, g):
        a, b, r = ctx.saved_tensors
        return g * a / r, g * b / r


class Attention(Function):
    @staticmethod
    def forward(ctx, q, k, v):
        scale = q.shape[-1] ** -0.5
        p = torch.softmax(q @ k.transpose(-2, -1) * scale, dim=-1)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return p @ v

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dv = p.transpose(-2, -1) @ g
        dp = g @ v.transpose(-2, -1)
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) * ctx.scale
        return ds @ k, ds.transpose(-2, -1) @ q, dv


class CumulativeSum(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.cumsum(x, dim=0)

    @staticmethod
    def backward(ctx, g):
        return torch.flip(torch.cumsum(torch.flip(g, dims=(0,)), dim=0), dims=(0,))


class Conv1d(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        n, k = x.shape[0], w.shape[0]
        return torch.stack([(x[i : i + k] * w).sum() for i in range(n - k + 1)])

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        n, k = x.shape[0], w.shape[0]
        dx = sum(
            torch.nn.functional.pad(g[i] * w, (i, n - k - i)) for i in range(g.shape[0])
        )
        dw = sum(g[i] * x[i : i + k] for i in range(g.shape[0]))
        return dx, dw


class Outer(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a[:, None] * b[None, :]

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, g.t() @ a


class GaussianNLL(Function):
    @staticmethod
    def forward(ctx, x, mu, log_var):
        ctx.save_for_backward(x, mu, log_var)
        return 0.5 * (log_var + (x - mu) ** 2 * torch.exp(-log_var)).sum()

    @staticmethod
    def backward(ctx, g):
        x, mu, log_var = ctx.saved_tensors
        w = torch.exp(-log_var)
        d = (x - mu) * w
        return g * d, -g * d, g * 0.5 * (1 - (x - mu) * d)


class Newton(Function):
    """The square root by an iteration; its backward by the implicit function."""

    @staticmethod
    def forward(ctx, a):
        y = torch.ones_like(a)
        for _ in range(20):
            y = 0.5 * (y + a / y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g / (2 * y)


class GatherRows(Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.rows = table.shape[0]
        return table[index]

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        out = torch.zeros(ctx.rows, g.shape[1], dtype=g.dtype)
        return out.index_add(0, index, g), None


# More that people write.
class LinearRecurrence(Function):
    """h[t] = a[t] h[t-1] + x[t]"""

    @staticmethod
    def forward(ctx, a, x, h0):
        h, hs = h0, []
        for t in range(a.shape[0]):
            h = a[t] * h + x[t]
            hs.append(h)
        out = torch.stack(hs)
        ctx.save_for_backward(a, out, h0)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, out, h0 = ctx.saved_tensors
        ga = torch.empty_like(a)
        gx = torch.empty_like(a)
        acc = torch.zeros_like(h0)
        for t in reversed(range(a.shape[0])):
            acc = acc + g[t]
            gx[t] = acc
            ga[t] = acc * (out[t - 1] if t > 0 else h0)
            acc = acc * a[t]
        return ga, gx, acc


class ReLUInplace(Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y > 0).to(g.dtype)


class PReLU(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.where(x >= 0, x, w.view(1, -1, 1) * x)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        wv = w.view(1, -1, 1)
        gx = torch.where(x >= 0, g, wv * g)
        gw = torch.where(x >= 0, torch.zeros_like(g), x * g).sum((0, 2))
        return gx, gw


class Conv2dIm2Col(Function):
    @staticmethod
    def forward(ctx, x, w, stride):
        n, _, h, wd = x.shape
        o, _, kh, kw = w.shape
        cols = F.unfold(x, (kh, kw), stride=stride)
        out = w.reshape(o, -1) @ cols
        ctx.save_for_backward(x, w)
        ctx.stride = stride
        return out.view(n, o, (h - kh) // stride + 1, (wd - kw) // stride + 1)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        o, _, kh, kw = w.shape
        g = g.reshape(g.shape[0], o, -1)
        cols = F.unfold(x, (kh, kw), stride=ctx.stride)
        gw = (g @ cols.transpose(1, 2)).sum(0).view_as(w)
        gcols = w.reshape(o, -1).t() @ g
        gx = F.fold(gcols, x.shape[2:], (kh, kw), stride=ctx.stride)
        return gx, gw, None


class Largest(Function):
    @staticmethod
    def forward(ctx, x, dim):
        values, idx = x.max(dim)
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(idx)
        ctx.dim, ctx.shape = dim, x.shape
        return values, idx

    @staticmethod
    def backward(ctx, g, _):
        (idx,) = ctx.saved_tensors
        out = g.new_zeros(ctx.shape)
        return out.scatter(ctx.dim, idx.unsqueeze(ctx.dim), g.unsqueeze(ctx.dim)), None


class Triplet(Function):
    @staticmethod
    def forward(ctx, a, p, n, margin):
        d = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + margin
        ctx.save_for_backward(a, p, n, d)
        return d.clamp(min=0).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        a, p, n, d = ctx.saved_tensors
        m = (d > 0).to(a.dtype)[:, None] * g / a.shape[0]
        return 2 * m * (n - p), 2 * m * (p - a), 2 * m * (a - n), None


class PNorm(Function):
    @staticmethod
    def forward(ctx, x, p):
        y = x.abs().pow(p).sum(-1).pow(1.0 / p)
        ctx.p = p
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        p = ctx.p
        return (g / y ** (p - 1)).unsqueeze(-1) * x.sign() * x.abs() ** (p - 1), None


class Bilinear(Function):
    @staticmethod
    def forward(ctx, x1, w, x2):
        ctx.save_for_backward(x1, w, x2)
        return torch.einsum("bi,oij,bj->bo", x1, w, x2)

    @staticmethod
    def backward(ctx, g):
        x1, w, x2 = ctx.saved_tensors
        g1 = torch.einsum("bo,oij,bj->bi", g, w, x2)
        gw = torch.einsum("bo,bi,bj->oij", g, x1, x2)
        g2 = torch.einsum("bo,bi,oij->bj", g, x1, w)
        return g1, gw, g2


class BatchNormTrain(Function):
    @staticmethod
    def forward(ctx, x, gamma, beta, eps):
        mean, var = x.mean(0), x.var(0, unbiased=False)
        inv = 1 / (var + eps).sqrt()
        xhat = (x - mean) * inv
        ctx.save_for_backward(xhat, gamma, inv)
        return gamma * xhat + beta

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        xhat, gamma, inv = ctx.saved_tensors
        n = dy.shape[0]
        dbeta = dy.sum(0)
        dgamma = (dy * xhat).sum(0)
        dx = gamma * inv / n * (n * dy - dbeta - xhat * dgamma)
        return dx, dgamma, dbeta, None


class SoftplusBeta(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        bx = beta * x
        return (bx.clamp(min=0) + torch.log1p(torch.exp(-bx.abs()))) / beta

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.sigmoid(ctx.beta * x), None


class SafeBCE(Function):
    @staticmethod
    def forward(ctx, p, t):
        ctx.save_for_backward(p, t)
        return -(
            t * p.clamp(min=1e-07).log() + (1 - t) * (1 - p).clamp(min=1e-07).log()
        ).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        p, t = ctx.saved_tensors
        return (
            g * (p - t) / (p * (1 - p)) / p.numel(),
            g * ((1 - p).log() - p.log()) / p.numel(),
        )


def relu_in_place(x):
    return ReLUInplace.apply(x * 1)


def real(*shape, low=-2.0, high=2.0):
    return ("real", shape, low, high)


def positive(*shape):
    return ("real", shape, 0.5, 3.0)


CASES = [
    (Cube, [real(3)]),
    (LegendrePolynomial3, [real(2, 3)]),
    (Exp, [real(4)]),
    (MyReLU, [real(5)]),
    (LinearFunction, [real(3, 4), real(2, 4), real(2)]),
    (MulConstant, [real(3), 5.0]),
    (Swish, [real(3)]),
    (Mish, [real(3)]),
    (Softmax, [real(2, 4)]),
    (LogSumExp, [real(3, 4)]),
    (LayerNorm, [real(3, 4), real(4), real(4)]),
    (BroadcastAdd, [real(3, 2), real(2)]),
    (MSE, [real(3, 2), real(3, 2)]),
    (MatMul, [real(2, 3), real(3, 4)]),
    (Inverse, [("dominant", 3)]),
    (Norm2, [real(4)]),
    (SinCos, [real(3)]),
    (SinCosUnmaterialized, [real(3)]),
    (SortDescending, [real(5)]),
    (scale_in_place, [real(3)]),
    (Huber, [real(6), 0.7]),
    (CrossEntropy, [real(3, 4), ("index", [0, 3, 1])]),
    (Hypot, [positive(3), positive(3)]),
    (Attention, [real(2, 3), real(4, 3), real(4, 3)]),
    (CumulativeSum, [real(5)]),
    (Conv1d, [real(6), real(3)]),
    (Outer, [real(3), real(2)]),
    (GaussianNLL, [real(3), real(3), real(3)]),
    (Newton, [positive(3)]),
    (GatherRows, [real(4, 2), ("index", [1, 1, 3])]),
    (LinearRecurrence, [real(4, 2), real(4, 2), real(2)]),
    (relu_in_place, [real(6)]),
    (PReLU, [real(2, 3, 4), real(3)]),
    (Conv2dIm2Col, [real(2, 2, 4, 4), real(3, 2, 2, 2), 1]),
    (Largest, [real(3, 4), 1]),
    (Triplet, [real(4, 3), real(4, 3), real(4, 3), 1.0]),
    (PNorm, [real(3, 4), 3]),
    (Bilinear, [real(3, 4), real(2, 4, 5), real(3, 5)]),
    (BatchNormTrain, [real(5, 3), real(3), real(3), 1e-5]),
    (SoftplusBeta, [real(6), 2.0]),
    (SafeBCE, [("real", (4,), 0.1, 0.9), ("real", (4,), 0.1, 0.9)]),
]
