"""Optimizers and schedules of their learning rates, as PyTorch's ``optim`` has them.

optimizer = optim.Adam(net.parameters(), lr=1e-3)
optimizer.zero_grad()
loss(net(x), y).backward()
optimizer.step()
"""

from ..torch.absent import Path, offer, offered
from . import lbfgs, lr_scheduler, optimizer

for _name in offered(optimizer, lbfgs, kind=optimizer.Descent):
    # Each class can also be imported from PyTorch's path.
    globals()[_name.lower()] = Path.at(f"{__name__}.{_name.lower()}", optimizer)
offer(
    __name__, optimizer, lbfgs, kind=optimizer.Optimizer, but=("Descent",),
    also={"lr_scheduler": lr_scheduler},
)  # fmt: skip
