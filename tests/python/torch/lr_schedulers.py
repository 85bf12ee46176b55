import torch
from torch import nn
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    StepLR,
)

torch.manual_seed(1)


def fresh(kind=SGD, **options):
    model = nn.Linear(2, 1)
    return model, kind(model.parameters(), lr=0.1, **options)


x = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
y = torch.tensor([[1.0], [0.0], [0.5]])

for name, make in {
    "StepLR": lambda o: StepLR(o, step_size=3, gamma=0.1),
    "MultiStepLR": lambda o: MultiStepLR(o, milestones=[2, 5], gamma=0.5),
    "ExponentialLR": lambda o: ExponentialLR(o, gamma=0.9),
    "CosineAnnealingLR": lambda o: CosineAnnealingLR(o, T_max=8),
    "LambdaLR": lambda o: LambdaLR(o, lr_lambda=lambda epoch: 0.95**epoch),
    "OneCycleLR": lambda o: OneCycleLR(o, max_lr=0.1, total_steps=10),
}.items():
    model, optimizer = fresh(momentum=0.9)
    scheduler = make(optimizer)
    for epoch in range(8):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(name, epoch, loss.item(), scheduler.get_last_lr())

model, optimizer = fresh(Adam)
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=1)
for epoch, validation in enumerate([1.0, 0.8, 0.9, 0.85, 0.84, 0.83]):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step(validation)
    print("ReduceLROnPlateau", epoch, loss.item(), optimizer.param_groups[0]["lr"])
