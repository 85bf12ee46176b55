import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
a = torch.randn((3,3), requires_grad = True)

w1 = torch.randn((3,3), requires_grad = True)
w2 = torch.randn((3,3), requires_grad = True)
w3 = torch.randn((3,3), requires_grad = True)
w4 = torch.randn((3,3), requires_grad = True)

b = w1*a
c = w2*a

d = w3*b + w4*c

L = 10 - d

print("The grad fn for a is", a.grad_fn)
print("The grad fn for d is", str(d.grad_fn).split(" ")[0])
try:
    L.backward()
except RuntimeError as error:
    print(error)

# Replace L = (10 - d) by
L = (10 -d).sum()

L.backward(retain_graph=True)
print(w1.grad, w2.grad)

# Replace L.backward() with
L = 10 - d
L.backward(torch.ones(L.shape))
learning_rate = 0.1
w1 = w1 - learning_rate * w1.grad
print(w1)

net = nn.Linear(3, 4)
input = Variable(torch.randn(2, 3), requires_grad=True)
output = net(input)
loss = torch.sum(output)
loss.backward(retain_graph=True)
loss.backward()
print(input.grad)
try:
    loss.backward()
except RuntimeError as error:
    print("freed" in str(error))

x = torch.FloatTensor([[1, 2]])
x.requires_grad = True
y = torch.FloatTensor([[3, 4], [5, 6]])
y.requires_grad = True
loss = torch.mm(x, y)
loss.backward(torch.FloatTensor([[1, 0]]), retain_graph=True)
print(x.grad.data)
x.grad.data.zero_()
loss.backward(torch.FloatTensor([[0, 1]]))
print(x.grad.data)

x = torch.randn(1, 10, requires_grad=True)
W_x = torch.randn(20, 10, requires_grad=True)
h = torch.randn(1, 20, requires_grad=True)
W_h = torch.randn(20, 20, requires_grad=True)
i2h = torch.mm(W_x, x.t())
h2h = torch.mm(W_h, h.t())
next_h = h2h + i2h
next_next_h = next_h.tanh()
print(next_next_h.grad_fn.name())
print([f[0].name() for f in next_next_h.grad_fn.next_functions])
print([f[0].name() for f in next_next_h.grad_fn.next_functions[0][0].next_functions])
print(W_h.grad_fn == None)
next_next_h.sum().backward()
print(h.grad)
