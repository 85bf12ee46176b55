"""Forty-nine custom Functions whose backwards are wrong, in ways that people meet."""

import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


# A sign.
class Cosine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.cos(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.sin(x)


class Subtract(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a - b

    @staticmethod
    def backward(ctx, g):
        return g, g


class InverseMatrix(Function):
    @staticmethod
    def forward(ctx, a):
        y = torch.linalg.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y.mT @ g @ y.mT


class Reciprocal(Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * y


# A factor.
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class MeanSquaredError(Function):
    @staticmethod
    def forward(ctx, pred, target):
        ctx.save_for_backward(pred, target)
        return ((pred - target) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        pred, target = ctx.saved_tensors
        d = 2 * (pred - target)
        return g * d, -g * d


class SigmoidTemperature(Function):
    @staticmethod
    def forward(ctx, x, temperature):
        y = torch.sigmoid(x / temperature)
        ctx.save_for_backward(y)
        ctx.temperature = temperature
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y), None


class Log10(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log10(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / x


class IgnoresCotangent(Function):
    """Right as long as it is the loss itself."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x**2).sum(1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x


# The sum over the batch.
class BiasFirstRow(Function):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g[0]


class BiasMean(Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight, g.t() @ x, g.mean(0)


class ScaleWrongDim(Function):
    """The batch is as large as the number of features."""

    @staticmethod
    def forward(ctx, x, gamma):
        ctx.save_for_backward(x, gamma)
        return x * gamma

    @staticmethod
    def backward(ctx, g):
        x, gamma = ctx.saved_tensors
        return g * gamma, (g * x).sum(dim=1)


class GatherOverwrites(Function):
    """Rows that are taken twice are counted once."""

    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, g):
        (index,) = ctx.saved_tensors
        out = torch.zeros(ctx.shape, dtype=g.dtype)
        out[index] = g
        return out, None


# Inputs in the wrong order.
class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * a, g * b


class Divide(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return -g * a / (b * b), g / b


class SquareMatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return a.t() @ g, g @ b.t()


# Another tensor was saved than the one that is meant.
class TanhSavesInput(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)


class SigmoidSavesInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


class LogSavesOutput(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.log(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / x


class ExpSavesInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.exp(x)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


# A saved tensor is changed in place.
class SquareThenScale(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        ctx.y = y
        out = y * y
        y.mul_(3)
        return out

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.y * g


class ExpThenShift(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.y = y
        y -= 1
        return y.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


class ChangesCotangent(Function):
    """The cotangent belongs to others, too."""

    @staticmethod
    def forward(ctx, x, y):
        return x + 3 * y

    @staticmethod
    def backward(ctx, g):
        a = g
        g *= 3
        return a, g


# What needs a gradient is not what is asked.
class WrongIndexOfNeeds(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        dx = dw = None
        if ctx.needs_input_grad[0]:
            dx = g @ weight.t()
            dw = x.t() @ g
        return dx, dw


class NeverAsksNeeds(Function):
    """Saves only what the first input needs, then computes both."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.a = a.clone() if ctx.needs_input_grad[1] else None
        ctx.b = b.clone() if ctx.needs_input_grad[0] else None
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g * ctx.b, g * ctx.a


# Cotangents that do not lie in one piece.
class FlattensCotangent(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (g.view(-1) * torch.cos(x).view(-1)).view(x.shape)


class ReadsMemory(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        rows, columns = g.shape
        return 2 * g.as_strided((rows, columns), (columns, 1))


# Right once, wrong twice.
class CubeDetached(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x.detach() ** 2


class SinSavesDerivative(Function):
    """What is computed in forward is a constant to backward's graph."""

    @staticmethod
    def forward(ctx, x):
        ctx.derivative = torch.cos(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.derivative


class SoftplusNoGrad(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log(1 + torch.exp(x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.no_grad():
            slope = torch.sigmoid(x)
        return g * slope


# The part of a gradient that goes one way through forward.
class Centre(Function):
    @staticmethod
    def forward(ctx, x):
        return x - x.mean(0, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        return g


class L2Normalise(Function):
    @staticmethod
    def forward(ctx, x):
        n = x.norm(dim=1, keepdim=True)
        ctx.save_for_backward(n)
        return x / n

    @staticmethod
    def backward(ctx, g):
        (n,) = ctx.saved_tensors
        return g / n


class FastGelu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        t = torch.tanh(0.7978845608 * (x + 0.044715 * x**3))
        return g * (
            0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 0.044715 * x**2)
        )


class ElmanScan(Function):
    @staticmethod
    def forward(ctx, x, w, h0):
        h = h0
        hs = [h0]
        for t in range(x.shape[0]):
            h = torch.tanh(w * h + x[t])
            hs.append(h)
        ctx.hs = hs
        ctx.save_for_backward(w)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        hs = ctx.hs
        gx = []
        gw = None
        for t in range(len(hs) - 1, 0, -1):
            gz = g * (1 - hs[t] ** 2)
            gx.append(gz)
            gw = gz * hs[t - 1]  # overwritten, not accumulated
            g = gz * w
        return torch.stack(gx[::-1]), gw, g


# An inner derivative.
class LogSigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(s)
        return s.log()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g / s


class SnakeActivation(Function):
    """x + sin(ax)^2 / a"""

    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x)
        ctx.a = a
        return x + torch.sin(a * x) ** 2 / a

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        a = ctx.a
        return g * (1 + 2 * torch.sin(a * x) / a), None


# A matrix for its transpose.
class LinearSquare(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w.t()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.t(), g.t() @ x


class SolveSame(Function):
    @staticmethod
    def forward(ctx, a, b):
        x = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        gb = torch.linalg.solve(a, g)
        return -gb @ x.t(), gb


# One side of a threshold, which the inputs reach or do not.
class Elu(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        y = torch.where(x > 0, x, alpha * (x.exp() - 1))
        ctx.save_for_backward(x, y)
        ctx.alpha = alpha
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return torch.where(x > 0, g, g * (y + 1)), None


class ClampOneEdge(Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.lo = lo
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x >= ctx.lo).to(g.dtype), None, None


class SoftplusThreshold(Function):
    @staticmethod
    def forward(ctx, x, threshold):
        ctx.save_for_backward(x)
        ctx.t = threshold
        return torch.where(x > threshold, x, torch.log1p(x.exp()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > ctx.t, torch.zeros_like(g), g * torch.sigmoid(x)), None


# The small number that forward adds.
class RMSNormEps(Function):
    @staticmethod
    def forward(ctx, x, eps):
        ctx.save_for_backward(x)
        ctx.eps = eps
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        r = 1 / torch.sqrt(x.pow(2).mean(-1, keepdim=True))
        return r * (g - x * r**2 * (g * x).mean(-1, keepdim=True)), None


# As many values as forward has arguments.
class ScaleBy(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k


# An argument that is changed.
class SquareInplace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        x.mul_(x)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return 2 * ctx.x * g


# What is meant to be another gradient.
class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


# Entries, outputs and orders that are left out or taken for others.
class SoftmaxDiag(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)


class TwoOut(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x.sin(), x.exp())

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return a * x.cos()


class ConvNoFlip(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.unfold(0, 3, 1) @ w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (F.pad(g, (2, 2)).unfold(0, 3, 1) @ w, x.unfold(0, 3, 1).t() @ g)


class Hinge(Function):
    @staticmethod
    def forward(ctx, a, b, m):
        ctx.save_for_backward(a, b)
        ctx.m = m
        return (m - (a - b)).clamp(min=0).sum()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        k = (a - b < 0).to(a.dtype) * g
        return (-k, k, None)


def real(*shape, low=-2.0, high=2.0):
    return ("real", shape, low, high)


def positive(*shape):
    return ("real", shape, 0.5, 3.0)


CASES = [
    (Cosine, [real(3)], "sign"),
    (Subtract, [real(3), real(3)], "sign"),
    (InverseMatrix, [("dominant", 3)], "sign"),
    (Reciprocal, [positive(3)], "sign"),
    (Square, [real(3)], "factor"),
    (MeanSquaredError, [real(3, 2), real(3, 2)], "factor"),
    (SigmoidTemperature, [real(4), 0.5], "factor"),
    (Log10, [positive(3)], "factor"),
    (IgnoresCotangent, [real(3, 2)], "cotangent"),
    (BiasFirstRow, [real(3, 2), real(2)], "batch"),
    (BiasMean, [real(3, 4), real(2, 4), real(2)], "batch"),
    (ScaleWrongDim, [real(3, 3), real(3)], "batch"),
    (GatherOverwrites, [real(4, 2), ("index", [1, 1, 3])], "batch"),
    (Product, [real(3), real(3)], "swapped"),
    (Divide, [positive(3), positive(3)], "swapped"),
    (SquareMatMul, [real(3, 3), real(3, 3)], "swapped"),
    (TanhSavesInput, [real(3)], "saved"),
    (SigmoidSavesInput, [real(3)], "saved"),
    (LogSavesOutput, [positive(3)], "saved"),
    (ExpSavesInput, [real(3)], "saved"),
    (SquareThenScale, [real(3)], "in-place"),
    (ExpThenShift, [real(3)], "in-place"),
    (ChangesCotangent, [real(3), real(3)], "in-place"),
    (WrongIndexOfNeeds, [real(2, 3), real(3, 2)], "needs_input_grad"),
    (NeverAsksNeeds, [real(3), real(3)], "needs_input_grad"),
    (FlattensCotangent, [real(2, 3)], "non-contiguous"),
    (ReadsMemory, [real(2, 3)], "non-contiguous"),
    (CubeDetached, [real(3)], "double backward"),
    (SinSavesDerivative, [real(3)], "double backward"),
    (SoftplusNoGrad, [real(3)], "double backward"),
    (Centre, [real(4, 3)], "path"),
    (L2Normalise, [real(3, 4)], "path"),
    (FastGelu, [real(5)], "factor"),
    (ElmanScan, [real(4, 3), real(3), real(3)], "batch"),
    (LogSigmoid, [real(5)], "inner"),
    (SnakeActivation, [real(5), 3.0], "inner"),
    (LinearSquare, [real(2, 3), real(3, 3)], "transpose"),
    (SolveSame, [("dominant", 3), real(3, 2)], "transpose"),
    (Elu, [real(8), 1.5], "region"),
    (ClampOneEdge, [real(8), -0.5, 0.8], "region"),
    (SoftplusThreshold, [real(4, low=-0.5, high=0.5), 2.0], "another branch"),
    (RMSNormEps, [real(3, 4, low=-0.3, high=0.3), 1e-2], "eps"),
    (ScaleBy, [real(4), 2.0], "count"),
    (SquareInplace, [real(6)], "in-place"),
    (GradReverse, [real(5), 0.5], "identity"),
    (SoftmaxDiag, [real(3, 4)], "path"),
    (TwoOut, [real(4)], "output"),
    (ConvNoFlip, [real(6), real(3)], "transpose"),
    (Hinge, [real(9, low=-0.6, high=0.6), real(9, low=-0.6, high=0.6), 0.5], "region"),
]
