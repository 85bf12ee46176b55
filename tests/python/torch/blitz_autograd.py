import torch

a = torch.tensor([2., 3.], requires_grad=True)
b = torch.tensor([6., 4.], requires_grad=True)

Q = 3*a**3 - b**2

external_grad = torch.tensor([1., 1.])
Q.backward(gradient=external_grad)

# check if collected gradients are correct
print(9*a**2 == a.grad)
print(-2*b == b.grad)

x = torch.rand(5, 5)
y = torch.rand(5, 5)
z = torch.rand((5, 5), requires_grad=True)

a = x + y
print(f"Does `a` require gradients?: {a.requires_grad}")
b = x + z
print(f"Does `b` require gradients?: {b.requires_grad}")

from torch import nn, optim

model = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 512))

# Freeze all the parameters in the network
for param in model.parameters():
    param.requires_grad = False

model[2] = nn.Linear(6, 10)

# Optimize only the classifier
optimizer = optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
data, labels = torch.rand(1, 8), torch.rand(1, 10)
prediction = model(data)
loss = (prediction - labels).sum()
loss.backward()
optimizer.step()
print(loss)
print([param.grad is None for param in model.parameters()])
