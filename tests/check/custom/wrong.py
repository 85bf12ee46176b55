"""Twenty-seven custom Functions whose backwards are wrong, in ways that people meet."""

import torch
import torch.nn.functional as F
from torch.autograd import Function


def backward_of(forward):
    """Make a Function of a backward, whose forward saves its tensors and keeps the
    number that may come after them."""

    def run(ctx, *given):
        tensors = [each for each in given if isinstance(each, torch.Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.number = None if len(tensors) == len(given) else given[-1]
        return forward(*given)

    def made(backward):
        body = {"forward": staticmethod(run), "backward": staticmethod(backward)}
        return type(backward.__name__, (Function,), body)

    return made


# A sign.
@backward_of(lambda x: torch.cos(x))
def Cosine(ctx, g):
    (x,) = ctx.saved_tensors
    return g * torch.sin(x)


# A factor.
@backward_of(lambda pred, target: ((pred - target) ** 2).mean())
def MeanSquaredError(ctx, g):
    pred, target = ctx.saved_tensors
    d = 2 * (pred - target)
    return g * d, -g * d


@backward_of(lambda x: (x**2).sum(1))
def IgnoresCotangent(ctx, g):
    """Right as long as it is the loss itself."""
    (x,) = ctx.saved_tensors
    return 2 * x


# The sum over the batch.
@backward_of(lambda x, weight, bias: x @ weight.t() + bias)
def BiasMean(ctx, g):
    x, weight, _ = ctx.saved_tensors
    return g @ weight, g.t() @ x, g.mean(0)


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
@backward_of(lambda a, b: a @ b)
def SquareMatMul(ctx, g):
    a, b = ctx.saved_tensors
    return a.t() @ g, g @ b.t()


# Another tensor was saved than the one that is meant.
@backward_of(lambda x: torch.tanh(x))
def TanhSavesInput(ctx, g):
    (y,) = ctx.saved_tensors
    return g * (1 - y * y)


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


# A saved tensor is changed in place.
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


@backward_of(lambda x, y: x + 3 * y)
def ChangesCotangent(ctx, g):
    """The cotangent belongs to others, too."""
    a = g
    g *= 3
    return a, g


# What needs a gradient is not what is asked.
@backward_of(lambda x, weight: x @ weight)
def WrongIndexOfNeeds(ctx, g):
    x, weight = ctx.saved_tensors
    dx = dw = None
    if ctx.needs_input_grad[0]:
        dx = g @ weight.t()
        dw = x.t() @ g
    return dx, dw


# Cotangents that do not lie in one piece.
@backward_of(lambda x: 2 * x)
def ReadsMemory(ctx, g):
    rows, columns = g.shape
    return 2 * g.as_strided((rows, columns), (columns, 1))


# Right once, wrong twice.
@backward_of(lambda x: x**3)
def CubeDetached(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 3 * x.detach() ** 2


@backward_of(lambda x: torch.log(1 + torch.exp(x)))
def SoftplusNoGrad(ctx, g):
    (x,) = ctx.saved_tensors
    with torch.no_grad():
        slope = torch.sigmoid(x)
    return g * slope


# The part of a gradient that goes one way through forward.
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


@backward_of(lambda x: 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3))))
def FastGelu(ctx, g):
    (x,) = ctx.saved_tensors
    t = torch.tanh(0.7978845608 * (x + 0.044715 * x**3))
    return g * (
        0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 0.044715 * x**2)
    )


# An inner derivative.
@backward_of(lambda x, a: x + torch.sin(a * x) ** 2 / a)
def SnakeActivation(ctx, g):
    (x,) = ctx.saved_tensors
    a = ctx.number
    return g * (1 + 2 * torch.sin(a * x) / a), None


# A matrix for its transpose.
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


@backward_of(lambda x, top: torch.where(x > top, x, torch.log1p(x.exp())))
def SoftplusThreshold(ctx, g):
    (x,) = ctx.saved_tensors
    top = ctx.number
    return torch.where(x > top, torch.zeros_like(g), g * torch.sigmoid(x)), None


# The small number that forward adds.
@backward_of(lambda x, eps: x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps))
def RMSNormEps(ctx, g):
    (x,) = ctx.saved_tensors
    r = 1 / torch.sqrt(x.pow(2).mean(-1, keepdim=True))
    return r * (g - x * r**2 * (g * x).mean(-1, keepdim=True)), None


# As many values as forward has arguments.
@backward_of(lambda x, k: x * k)
def ScaleBy(ctx, g):
    return g * ctx.number


# What is meant to be another gradient.
@backward_of(lambda x, lam: x.view_as(x))
def GradReverse(ctx, g):
    return -ctx.number * g, None


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


@backward_of(lambda x: (x.sin(), x.exp()))
def TwoOut(ctx, a, b):
    (x,) = ctx.saved_tensors
    return a * x.cos()


@backward_of(lambda x, w: x.unfold(0, 3, 1) @ w)
def ConvNoFlip(ctx, g):
    x, w = ctx.saved_tensors
    return (F.pad(g, (2, 2)).unfold(0, 3, 1) @ w, x.unfold(0, 3, 1).t() @ g)


@backward_of(lambda a, b, m: (m - (a - b)).clamp(min=0).sum())
def Hinge(ctx, g):
    a, b = ctx.saved_tensors
    k = (a - b < 0).to(a.dtype) * g
    return (-k, k, None)


def real(*shape, low=-2.0, high=2.0):
    return ("real", shape, low, high)


def positive(*shape):
    return ("real", shape, 0.5, 3.0)


CASES = [
    (Cosine, [real(3)], "sign"),
    (MeanSquaredError, [real(3, 2), real(3, 2)], "factor"),
    (IgnoresCotangent, [real(3, 2)], "cotangent"),
    (BiasMean, [real(3, 4), real(2, 4), real(2)], "batch"),
    (GatherOverwrites, [real(4, 2), ("index", [1, 1, 3])], "batch"),
    (SquareMatMul, [real(3, 3), real(3, 3)], "swapped"),
    (TanhSavesInput, [real(3)], "saved"),
    (LogSavesOutput, [positive(3)], "saved"),
    (ExpThenShift, [real(3)], "in-place"),
    (ChangesCotangent, [real(3), real(3)], "in-place"),
    (WrongIndexOfNeeds, [real(2, 3), real(3, 2)], "needs_input_grad"),
    (ReadsMemory, [real(2, 3)], "non-contiguous"),
    (CubeDetached, [real(3)], "double backward"),
    (SoftplusNoGrad, [real(3)], "double backward"),
    (L2Normalise, [real(3, 4)], "path"),
    (FastGelu, [real(5)], "factor"),
    (SnakeActivation, [real(5), 3.0], "inner"),
    (SolveSame, [("dominant", 3), real(3, 2)], "transpose"),
    (Elu, [real(8), 1.5], "region"),
    (SoftplusThreshold, [real(4, low=-0.5, high=0.5), 2.0], "another branch"),
    (RMSNormEps, [real(3, 4, low=-0.3, high=0.3), 1e-2], "eps"),
    (ScaleBy, [real(4), 2.0], "count"),
    (GradReverse, [real(5), 0.5], "identity"),
    (SoftmaxDiag, [real(3, 4)], "path"),
    (TwoOut, [real(4)], "output"),
    (ConvNoFlip, [real(6), real(3)], "transpose"),
    (Hinge, [real(9, low=-0.6, high=0.6), real(9, low=-0.6, high=0.6), 0.5], "region"),
]
