"""Modules: where members are found, what a state holds, when hooks run."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

import gradcli as torch
from gradcli import nn


class Net(nn.Module):
    """Two layers, one of them in a row, a scale and two buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
        self.head = nn.Linear(3, 1)
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("shift", torch.tensor(1.0))
        self.register_buffer("cache", torch.zeros(2), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x)) * self.scale + self.shift


def test_walks_name_every_member_once_in_the_order_of_assignment() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "scale", "body.0.weight", "body.0.bias", "head.weight", "head.bias",
    ]  # fmt: skip
    assert [n for n, _ in net.named_modules()] == [
        "", "body", "body.0", "body.1", "head",
    ]  # fmt: skip
    assert [n for n, _ in net.named_buffers()] == ["shift", "cache"]
    assert len(list(net.parameters(recurse=False))) == 1


def test_assignment_moves_a_name_from_table_to_table() -> None:
    module = nn.Module()
    module.a = 3
    module.a = nn.Parameter(torch.ones(1))
    assert [n for n, _ in module.named_parameters()] == ["a"]
    module.a = None
    assert list(module.parameters()) == []
    del module.a
    module.a = nn.ReLU()
    assert [n for n, _ in module.named_children()] == ["a"]
    del module.a
    module.a = "text"
    assert module.a == "text"


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda m: m.register_parameter("a.b", None), KeyError, 'contain "."'),
        (lambda m: m.register_parameter("", None), KeyError, "empty string"),
        (lambda m: m.register_buffer("forward", None), KeyError, "already exists"),
        (lambda m: m.add_module("scale", nn.ReLU()), KeyError, "already exists"),
        (lambda m: m.add_module("x", 3), TypeError, "'int' as child module 'x'"),
        (lambda m: m.register_parameter("x", torch.ones(1)), TypeError,
         "cannot assign 'torch.FloatTensor' as parameter 'x'"),
        (lambda m: m.register_buffer("x", 3), TypeError, "as buffer 'x'"),
        (lambda m: setattr(m, "head", 3), TypeError, "as child module 'head'"),
        (lambda m: setattr(m, "shift", 3), TypeError, "as buffer 'shift'"),
        (lambda m: m.get_submodule("body.7"), AttributeError, "no attribute `7`"),
        (lambda m: m.get_parameter("body"), AttributeError, "is not a parameter"),
        (lambda m: m.train(3), ValueError, "expected to be boolean"),
        (lambda m: m.to(torch.int64), TypeError, "only accepts floating point"),
        (lambda m: m.load_state_dict(3), TypeError, "to be dict-like"),
        (lambda m: m.body[9], IndexError, "index 9 is out of range"),
    ],
)  # fmt: skip
def test_what_a_module_cannot_take_is_refused(
    act: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message.replace(".", r"\.")):
        act(Net())


def test_a_state_makes_two_modules_equal_and_keeps_them_apart() -> None:
    a, b = Net(), Net()
    b.load_state_dict(a.state_dict())
    x = torch.randn(4, 2)
    assert torch.equal(a(x), b(x))
    with torch.no_grad():
        a.scale.mul_(3.0)
    assert b.scale.item() == 2.0


def test_a_state_shares_the_modules_memory() -> None:
    net = Net()
    state = net.state_dict()
    with torch.no_grad():
        net.scale.fill_(5.0)
    assert state["scale"].item() == 5.0
    assert "cache" not in state


def test_loading_lists_every_problem_at_once() -> None:
    state = Net().state_dict()
    del state["head.bias"]
    state["more"] = torch.ones(1)
    state["scale"] = torch.ones(2)
    state["shift"] = 3
    with pytest.raises(RuntimeError) as raised:
        Net().load_state_dict(state)
    lines = str(raised.value).split("\n\t")
    assert [line.split(":")[0] for line in lines] == [
        "Error(s) in loading state_dict for Net",
        "Missing key(s) in state_dict",
        "Unexpected key(s) in state_dict",
        "size mismatch for scale",
        'While copying the parameter named "shift", expected torch.Tensor or '
        "Tensor-like object from checkpoint but received <class 'int'>",
    ]


def test_assigning_a_state_puts_the_given_tensors_in_place() -> None:
    net, state = Net(), Net().state_dict()
    net.load_state_dict(state, assign=True)
    with torch.no_grad():
        state["scale"].fill_(9.0)
    assert net.scale.item() == 9.0
    assert isinstance(net.scale, nn.Parameter)


def test_a_copy_is_deep() -> None:
    net = Net()
    net.register_forward_hook(lambda m, args, out: out + 1)
    twin = copy.deepcopy(net)
    x = torch.ones(1, 2)
    assert torch.equal(net(x), twin(x))
    assert isinstance(twin.scale, nn.Parameter)
    with torch.no_grad():
        twin.scale.fill_(0.0)
    assert net.scale.item() == 2.0


def test_a_parameter_shared_by_two_modules_stays_shared_in_a_copy() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    twin = copy.deepcopy(net)
    assert twin[1].weight is twin[0].weight
    assert twin[0].weight is not net[0].weight


def test_conversion_keeps_the_parameters_themselves_and_integer_buffers() -> None:
    net = nn.BatchNorm1d(2)
    weight = net.weight
    net(torch.randn(4, 2)).sum().backward()
    net.double()
    assert net.weight is weight
    assert weight.grad is not None
    assert {str(t.dtype) for t in (weight, weight.grad, net.running_mean)} == {
        "torch.float64"
    }
    assert net.num_batches_tracked.dtype is torch.int64


def test_zeroing_gradients_may_keep_their_memory() -> None:
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    held = net.head.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.head.weight.grad is not None
    assert held.tolist() == [[0.0, 0.0, 0.0]]
    net.zero_grad()
    assert net.head.weight.grad is None


def test_names_of_members_are_offered_for_completion() -> None:
    assert {"scale", "shift", "head", "forward"} <= set(dir(Net()))


# hooks


def test_hooks_run_in_order_and_a_first_one_before_them() -> None:
    log: list[str] = []
    module = nn.Identity()
    module.register_forward_hook(lambda *_: log.append("second"))
    module.register_forward_hook(lambda *_: log.append("first"), prepend=True)
    module.register_forward_pre_hook(lambda *_: log.append("before"))
    module(torch.ones(1))
    assert log == ["before", "first", "second"]


def test_hooks_may_replace_arguments_and_results() -> None:
    module = nn.ReLU()
    module.register_forward_pre_hook(lambda m, args: args[0] - 1)
    module.register_forward_hook(lambda m, args, out: out * 10)
    assert module(torch.tensor([0.5, 3.0])).tolist() == [0.0, 20.0]


def test_hooks_see_keyword_arguments_where_asked() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Any, by: float = 1.0) -> Any:
            return x * by

    module = Scaled()
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(
        lambda m, args, kwargs, out: out + kwargs["by"], with_kwargs=True
    )
    assert module(torch.tensor(2.0), by=3.0).item() == 12.0


def test_a_hook_that_asked_for_it_is_called_after_a_failure() -> None:
    log: list[Any] = []
    module = nn.Linear(2, 1)
    module.register_forward_hook(lambda *_: log.append("usual"))
    module.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        module(torch.ones(1, 3))
    assert log == [None]


def test_a_backward_hook_sees_both_sides_and_replaces_the_inputs_gradient() -> None:
    seen: list[Any] = []
    module = nn.Bilinear(1, 1, 1, bias=False)
    nn.init.constant_(module.weight, 3.0)
    module.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))

    def after(m: Any, gi: Any, go: Any) -> Any:
        seen.append(([g.item() for g in gi], [g.item() for g in go]))
        return (gi[0] * 10, gi[1])

    module.register_full_backward_hook(after)
    a, b = (torch.tensor([[v]], requires_grad=True) for v in (2.0, 5.0))
    module(a, b).sum().backward()
    assert seen == [([30.0, 12.0], [2.0])]
    assert (a.grad.item(), b.grad.item()) == (300.0, 12.0)
    assert module.weight.grad.item() == 20.0


def test_a_backward_hook_without_inputs_that_need_gradients_sees_the_outputs() -> None:
    seen: list[Any] = []
    module = nn.Linear(1, 1)
    module.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    module(torch.ones(1, 1)).sum().backward()
    ((inputs, (outgoing,)),) = seen
    assert inputs == (None,)
    assert outgoing.item() == 1.0


# containers


def test_a_sequential_is_changed_like_a_list() -> None:
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Identity()
    net = nn.Sequential(a, b)
    net.insert(1, c)
    assert list(net) == [a, c, b]
    assert net.pop(0) is a
    net[0] = a
    del net[1]
    assert [n for n, _ in net.named_children()] == ["0"]
    assert list(net + nn.Sequential(b)) == [a, b]
    net += [c]
    assert list(net) == [a, c]
    assert isinstance(net[:1], nn.Sequential)


def test_dicts_of_modules_and_parameters_register_their_members() -> None:
    module = nn.Module()
    module.parts = nn.ModuleDict(OrderedDict(a=nn.Linear(1, 1, bias=False)))
    module.parts["b"] = nn.ReLU()
    module.sizes = nn.ParameterDict({"x": torch.ones(1)})
    module.rows = nn.ParameterList([torch.ones(2), torch.ones(3)])
    module.rows.append(torch.zeros(1))
    assert [n for n, _ in module.named_parameters()] == [
        "parts.a.weight", "sizes.x", "rows.0", "rows.1", "rows.2",
    ]  # fmt: skip
    assert list(module.parts) == ["a", "b"]
    assert module.parts.pop("b").forward is not None
    assert [p.numel() for p in module.rows[1:]] == [3, 1]


@pytest.mark.peers
def test_modules_are_shown_as_pytorch_shows_them() -> None:
    theirs = pytest.importorskip("torch")

    def shown(t: Any) -> list[str]:
        n = t.nn
        modules = [
            n.Bilinear(2, 3, 4), n.GELU("tanh"), n.ReLU(True), n.ELU(inplace=True),
            n.LeakyReLU(inplace=True), n.Hardtanh(inplace=True), n.ReLU6(True),
            n.SELU(True), n.SiLU(True), n.Mish(True), n.CELU(), n.GLU(), n.PReLU(3),
            n.Softmin(dim=0), n.LogSoftmax(), n.Hardshrink(0.3), n.Softshrink(),
            n.Tanhshrink(), n.Hardsigmoid(), n.Hardswish(), n.Threshold(0.1, 2),
            n.Softplus(2, 3), n.Unflatten(1, (2, 2)), n.Flatten(0), n.Dropout(0.1),
            n.LayerNorm((2, 3), bias=False), n.LayerNorm(3, elementwise_affine=False),
            n.BatchNorm1d(3, momentum=None, affine=False, track_running_stats=False),
            n.Embedding(4, 2, padding_idx=-1, max_norm=1.0, scale_grad_by_freq=True),
            n.ModuleList(), n.ModuleDict({"a": n.ReLU()}), n.Sequential(),
            n.ModuleList([n.Sequential(n.ReLU(), n.Tanh()) for _ in range(3)]),
            n.ParameterList([t.ones(2), t.ones(2, 3)]),
            n.ParameterDict({"a": t.ones(2)}), n.Dropout2d(0.1),
            n.Conv1d(2, 4, 3, groups=2), n.Conv2d(1, 2, (2, 3), padding="same"),
            n.Conv3d(1, 2, 2, padding=(1, 0, 1), bias=False, dilation=2),
            n.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1, groups=2),
            n.MaxPool1d(2), n.MaxPool2d((2, 1), 3, ceil_mode=True), n.AvgPool1d(2),
            n.AvgPool2d(2, padding=1), n.AdaptiveAvgPool2d((1, None)),
            n.AdaptiveMaxPool1d(2), n.BatchNorm2d(3), n.BatchNorm3d(3, affine=False),
            n.InstanceNorm1d(3), n.GroupNorm(2, 4, affine=False), n.RMSNorm(4),
            n.RMSNorm((2, 3), eps=0.1, elementwise_affine=False), n.RNN(2, 3, 2),
            n.LSTM(3, 4, 2, bidirectional=True, dropout=0.1, batch_first=True),
            n.LSTM(3, 4, proj_size=2), n.GRU(2, 3, bias=False), n.LSTMCell(2, 3),
            n.RNNCell(3, 4, nonlinearity="relu"), n.GRUCell(3, 4, bias=False),
            n.MultiheadAttention(4, 2, bias=False), n.TransformerDecoderLayer(4, 2),
            n.Transformer(4, 2, 1, 1, 8, batch_first=True), n.CosineSimilarity(),
            n.PairwiseDistance(),
            *[getattr(n, name)() for name in LOSSES.split()],
        ]  # fmt: skip
        return [repr(module) for module in modules]

    assert shown(torch) == shown(theirs)


LOSSES = (
    "MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss NLLLoss "
    "CrossEntropyLoss KLDivLoss PoissonNLLLoss GaussianNLLLoss SoftMarginLoss "
    "HingeEmbeddingLoss MarginRankingLoss TripletMarginLoss"
)


def test_older_words_for_a_reduction_still_mean_it() -> None:
    x, y = torch.tensor([1.0, 3.0]), torch.zeros(2)
    with pytest.warns(UserWarning, match="reduction='sum'"):
        loss = nn.MSELoss(size_average=False)
    assert loss(x, y).item() == 10.0
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.functional.l1_loss(x, y, reduce=False).tolist() == [1.0, 3.0]


def test_the_weight_of_a_loss_moves_with_it() -> None:
    loss = nn.CrossEntropyLoss(weight=torch.ones(3)).double()
    assert loss.weight.dtype is torch.float64
    assert list(loss.state_dict()) == ["weight"]
