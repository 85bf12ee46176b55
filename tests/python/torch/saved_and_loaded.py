"""What is packed for the backward pass, and what goes to a file and comes back."""

import io
import warnings

import torch
import torch.functional
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.benchmark import Timer


def told(word):
    def look(tensor):
        print(word, tensor)
        return tensor

    return look


rate = torch.tensor([0.5, 2.0], requires_grad=True)
time = torch.tensor([1.0, 3.0], requires_grad=True)
with saved_tensors_hooks(told("packed"), told("unpacked")):
    decay = torch.hypot(rate * time, time / rate)
decay.sum().backward()
print(rate.grad, time.grad)

# Functions that change their operand.
angle = torch.linspace(0, 3, 4)
print(angle.cos_(), angle.square_(), angle.clamp_(max=0.5), angle)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x * x
        return x**3

    @staticmethod
    def jvp(ctx, tangent):
        pushed = tangent * ctx.slope
        del ctx.slope
        return pushed


x = torch.tensor([1.0, -2.0], dtype=torch.double, requires_grad=True)
print(
    torch.autograd.gradcheck(
        Cube.apply, (x,), check_forward_ad=True, check_backward_ad=False
    )
)


def there_and_back(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


torch.manual_seed(3)
net = nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.ones(4, 2)).square().mean()
    loss.backward()
    optimizer.step()
checkpoint = {
    "epoch": 3,
    "loss": loss.item(),
    "net": net.state_dict(),
    "optimizer": optimizer.state_dict(),
    "best": (float("inf"), None),
}
again = there_and_back(checkpoint)
print(list(again), again["epoch"], again["best"], again["net"])
print(again["optimizer"]["state"][1], again["optimizer"]["param_groups"][0]["betas"])
print(there_and_back(rate), there_and_back([torch.arange(3), "text"]))

# A loader that is asked for workers gives the batches of one that is not.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    loader = torch.utils.data.DataLoader(range(7), 3, shuffle=True, num_workers=1)
torch.manual_seed(0)
print([batch.tolist() for batch in loader])

print(torch.functional.einsum("i,i->", torch.arange(3), torch.arange(3)))

calls = []
took = Timer("calls.append(1)", globals={"calls": calls}).timeit(5)
print(len(calls), took.number_per_run, took.mean == took.median)


@torch.compile(backend="eager")
def doubled(x):
    return 2 * x


print(doubled(torch.ones(2)))
