import torch

x_1 = torch.tensor(2.0, requires_grad=True)
b_1 = torch.tensor(1.0, requires_grad=True)

y_1 = x_1 ** 3 + b_1
y_1.backward()
print(y_1, x_1.grad, b_1.grad)

x_2 = torch.tensor(2.0, requires_grad=True)
b_2 = torch.tensor(1.0, requires_grad=True)
y_2 = x_2 ** 3 + b_2
grads = torch.autograd.grad(y_2, inputs=[x_2, b_2])
print(grads)

a = torch.tensor([[2.0, 3.0], [4.0, 5.0]], requires_grad=True)
b = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)  # 2x2
z = a ** 2 + a * b + b ** 2
grads = torch.autograd.grad(z, inputs=[a, b], grad_outputs=torch.ones_like(z))
print(grads)
print(grads[0].shape, grads[1].shape)

x = torch.ones(5)               # input tensor
y = torch.zeros(3)              # expected output
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)

print('Gradient function for z =', str(z.grad_fn).split(" ")[0])
print('Gradient function for loss =', str(loss.grad_fn).split(" ")[0])

loss.backward()
print(w.grad)
print(b.grad)

z = torch.matmul(x, w)+b
print(z.requires_grad)

with torch.no_grad():
    z = torch.matmul(x, w)+b
print(z.requires_grad)

z = torch.matmul(x, w)+b
z_det = z.detach()
print(z_det.requires_grad)

from torch import nn

# MLP
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 12)  # Hidden layer
        self.act = nn.ReLU()
        self.output = nn.Linear(12, 4)  # Output layer

    def forward(self, x):
        a = self.act(self.hidden(x))
        return self.output(a)

net = MLP()

w1 = net.hidden.weight
b1 = net.hidden.bias
print(w1.shape, b1.shape)

for name, param in net.named_parameters():
    print(name, param.shape)

w1_grad = net.hidden.weight.grad
b1_grad = net.hidden.bias.grad
print(w1_grad, b1_grad)

print(net.hidden.weight.requires_grad)
print(net.hidden.bias.requires_grad)

data = torch.randn(30, 8)
label = torch.randn(30, 4)

dataset = torch.utils.data.TensorDataset(data, label)
dataloder = torch.utils.data.DataLoader(dataset, batch_size=10, shuffle=True)

net.train()

for index, (data, label) in enumerate(dataloder):
    out = net(data)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(out, label)
    loss.backward()
    print(f"step: {index}, loss: {loss}, weight grad for hidden layer: {net.hidden.weight.grad}")
