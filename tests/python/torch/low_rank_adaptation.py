import torch, torch.nn as nn, torch.nn.functional as F, math
import torch.nn.utils.parametrize as parametrize

_ = torch.manual_seed(0)


class LoRALayer:
    def __init__(self, r, lora_alpha, lora_dropout, merge_weights):
        self.r, self.lora_alpha, self.merge_weights, self.merged = (
            r,
            lora_alpha,
            merge_weights,
            False,
        )
        self.lora_dropout = (
            nn.Dropout(p=lora_dropout) if lora_dropout > 0.0 else (lambda x: x)
        )


class Linear(nn.Linear, LoRALayer):
    def __init__(
        self, i, o, r=0, lora_alpha=1, lora_dropout=0.0, merge_weights=True, **kw
    ):
        nn.Linear.__init__(self, i, o, **kw)
        LoRALayer.__init__(self, r, lora_alpha, lora_dropout, merge_weights)
        self.lora_A = nn.Parameter(self.weight.new_zeros((r, i)))
        self.lora_B = nn.Parameter(self.weight.new_zeros((o, r)))
        self.scaling = lora_alpha / r
        self.weight.requires_grad = False
        self.reset_parameters()

    def reset_parameters(self):
        nn.Linear.reset_parameters(self)
        if hasattr(self, "lora_A"):
            nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
            nn.init.zeros_(self.lora_B)

    def train(self, mode=True):
        nn.Linear.train(self, mode)
        if mode and self.merge_weights and self.merged:
            self.weight.data -= self.lora_B @ self.lora_A * self.scaling
            self.merged = False
        elif not mode and self.merge_weights and not self.merged:
            self.weight.data += self.lora_B @ self.lora_A * self.scaling
            self.merged = True
        return self

    def forward(self, x):
        if self.r > 0 and not self.merged:
            return (
                F.linear(x, self.weight, bias=self.bias)
                + (
                    self.lora_dropout(x)
                    @ self.lora_A.transpose(0, 1)
                    @ self.lora_B.transpose(0, 1)
                )
                * self.scaling
            )
        return F.linear(x, self.weight, bias=self.bias)


class LoRAParametrization(nn.Module):
    def __init__(self, i, o, rank=1, alpha=1):
        super().__init__()
        self.lora_A = nn.Parameter(torch.zeros((rank, o)))
        self.lora_B = nn.Parameter(torch.zeros((i, rank)))
        nn.init.normal_(self.lora_A, mean=0, std=1)
        self.scale = alpha / rank
        self.enabled = True

    def forward(self, W):
        return (
            W + torch.matmul(self.lora_B, self.lora_A).view(W.shape) * self.scale
            if self.enabled
            else W
        )


net = nn.Sequential(
    Linear(6, 8, r=2, lora_alpha=4), nn.ReLU(), Linear(8, 3, r=2, lora_alpha=4)
)
print(net)
x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
opt = torch.optim.AdamW([p for n, p in net.named_parameters() if "lora_" in n], lr=1e-2)
for e in range(4):
    loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(e, loss.item())
a = net(x)
net.eval()
b = net(x)
print(
    torch.allclose(a, b, atol=1e-5),
    net[0].merged,
    sum(p.numel() for p in net.parameters() if p.requires_grad),
)
lin = nn.Linear(4, 3)
parametrize.register_parametrization(lin, "weight", LoRAParametrization(3, 4))
print(lin)
print(lin.parametrizations["weight"][0].lora_B.shape, lin.weight.shape)
for name, p in lin.named_parameters():
    if "lora" not in name:
        p.requires_grad = False
out = lin(torch.ones(2, 4)).sum()
out.backward()
print({n: p.grad is not None for n, p in lin.named_parameters()})
lin.parametrizations["weight"][0].enabled = False
print(torch.equal(lin.weight, lin.parametrizations.weight.original))
