"""Fifteen custom Functions whose backwards are right, as users write them."""

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


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.transpose(-1, -2), a.transpose(-1, -2) @ g


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


# More that people write.
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
    (MyReLU, [real(5)]),
    (LinearFunction, [real(3, 4), real(2, 4), real(2)]),
    (Mish, [real(3)]),
    (Softmax, [real(2, 4)]),
    (LayerNorm, [real(3, 4), real(4), real(4)]),
    (MatMul, [real(2, 3), real(3, 4)]),
    (SinCos, [real(3)]),
    (SinCosUnmaterialized, [real(3)]),
    (scale_in_place, [real(3)]),
    (CrossEntropy, [real(3, 4), ("index", [0, 3, 1])]),
    (relu_in_place, [real(6)]),
    (Conv2dIm2Col, [real(2, 2, 4, 4), real(3, 2, 2, 2), 1]),
    (Largest, [real(3, 4), 1]),
    (SafeBCE, [("real", (4,), 0.1, 0.9), ("real", (4,), 0.1, 0.9)]),
]
