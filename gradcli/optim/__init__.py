"""Optimizers and schedules of their learning rates, as PyTorch's ``optim`` has them.

optimizer = optim.Adam(net.parameters(), lr=1e-3)
optimizer.zero_grad()
loss(net(x), y).backward()
optimizer.step()
"""

from ..engine.absent import Path, offer, offered
from . import lr_scheduler, table
from .optimizer import Optimizer

for _name in offered(table, kind=Optimizer):  # each is found at PyTorch's path as well
    globals()[_name.lower()] = Path.at(f"{__name__}.{_name.lower()}", table)
offer(
    __name__, table, kind=Optimizer,
    also={"Optimizer": Optimizer, "lr_scheduler": lr_scheduler},
)  # fmt: skip
