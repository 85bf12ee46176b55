"""Thirty custom Functions whose backwards are wrong, in ways that people meet."""

import torch
from torch.autograd import Function


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
]
