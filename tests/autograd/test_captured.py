"""A function that is transformed changes its arguments and its own tensors alone."""

import copy
from itertools import product

import pytest

import gradcli as torch
from gradcli import func, nn
from gradcli.engine.errors import EngineError
from tests.grouped import by_row

CHANGES = {
    "add_": lambda acc, w: acc.add_(w**2),
    "+=": lambda acc, w: acc.__iadd__(w),
    "copy_": lambda acc, w: acc.copy_(w),
    "entry": lambda acc, w: acc.__setitem__(0, w[1]),
    "positions": lambda acc, w: acc.__setitem__(torch.tensor([0, 2]), w[:2]),
    "constant": lambda acc, w: acc.add_(1),
    "constant entry": lambda acc, w: acc.__setitem__(0, 1.0),
    "detached": lambda acc, w: acc.add_(w.detach()),
    "zero_": lambda acc, w: acc.zero_(),
    "masked": lambda acc, w: acc.masked_fill_(acc == 0, 2.0),
    "part": lambda acc, w: acc[:2].add_(w[:2]),
    "alias": lambda acc, w: acc.view(3).add_(w),
    "same": lambda acc, w: acc.contiguous().reshape(3).add_(w),
    "detach()": lambda acc, w: acc.detach().add_(w.detach()),
    "data": lambda acc, w: acc.data.add_(w.detach()),
    "no_grad": lambda acc, w: torch.no_grad()(acc.add_)(w),
}
TRANSFORMS = {
    "grad": lambda f, w: func.grad(f)(w),
    "vjp": lambda f, w: func.vjp(f, w),
    "jvp": lambda f, w: func.jvp(f, (w,), (w,)),
    "jacrev": lambda f, w: func.jacrev(f)(w),
    "jacfwd": lambda f, w: func.jacfwd(f)(w),
    "hessian": lambda f, w: func.hessian(f)(w),
    "linearize": lambda f, w: func.linearize(f, w),
    "vmap": lambda f, w: func.vmap(f)(torch.stack([w, w])),
}


@by_row(
    "change, transform, recorded", product(CHANGES, TRANSFORMS, [False, True]), str, str
)
def test_nothing_older_than_a_transform_is_changed_in_it(change, transform, recorded):
    acc = torch.zeros(3, requires_grad=recorded) * 1
    before = acc.grad_fn

    def f(w):
        CHANGES[change](acc, w)
        return (w**2).sum()

    with pytest.raises(EngineError, match=r"inplace|in-place"):
        TRANSFORMS[transform](f, torch.tensor([1.0, 2.0, 3.0]))
    assert acc.tolist() == [0, 0, 0]
    assert acc.grad_fn is before
    acc.add_(1)
    assert acc.tolist() == [1, 1, 1]


def gradient_of(leaf):
    return torch.autograd.grad((leaf * leaf).sum(), leaf)[0]


MADE = {
    "zeros": lambda w: torch.zeros(3),
    "like": lambda w: torch.zeros_like(w),
    "tensor": lambda w: torch.tensor([1.0, 2.0, 3.0]),
    "draw": lambda w: torch.empty(3).fill_(2.0),
    "clone": lambda w: CONSTANT.clone(),
    "deepcopy": lambda w: copy.deepcopy(CONSTANT),
    "sum": lambda w: CONSTANT + 1,
    "result": lambda w: w * w,
    "part": lambda w: torch.cat([w, w])[:3],
    "entries": lambda w: CONSTANT[torch.tensor([0, 1, 2])],
    "detached": lambda w: (w * w).detach(),
    "data": lambda w: (w * w).data,
    "scalar": lambda w: (w * w).sum().detach(),
    "number": lambda w: torch.tensor(1.0).add_(1),
    "argument's view": lambda w: (w * 1).view(3),
    "new": lambda w: w.new_zeros(3),
    "parameter": lambda w: nn.Parameter(torch.ones(3)).detach(),
    "cast": lambda w: CONSTANT.double().float(),
    "several": lambda w: torch.sort(CONSTANT)[0],
    "transposed": lambda w: torch.stack([w, w, w]).t()[0],
    "gradient": lambda w: gradient_of(w.detach().requires_grad_()),
    "nested": lambda w: func.grad(lambda v: (v * v).sum())(w),
    "inner": lambda w: func.vjp(lambda v: v.detach() * 2, w)[0],
}
CONSTANT = torch.tensor([3.0, 1.0, 2.0])


@by_row("made, transform", product(MADE, TRANSFORMS), str, str)
def test_what_a_function_makes_it_may_change(made, transform):
    def f(w):
        own = MADE[made](w)
        own += 1
        own.mul_(2)
        own.detach().add_(1)
        own[0 if own.ndim else ...] = 0.5
        return (own * w).sum()

    TRANSFORMS[transform](f, torch.tensor([1.0, 2.0, 3.0]))
    assert CONSTANT.tolist() == [3, 1, 2]


def test_no_draw_is_written_to_what_is_older():
    acc = torch.zeros(3)
    with pytest.raises(EngineError, match="captured"):
        func.grad(lambda w: (acc.normal_(), w.sum())[1])(torch.ones(3))


def test_arguments_that_are_not_differentiated_by_may_be_changed():
    acc = torch.zeros(3)

    def f(w, acc, *, more):
        acc.add_(1)
        more.add_(w.detach())
        return (w**2).sum()

    more = torch.zeros(3)
    func.grad(f)(torch.ones(3), acc, more=more)
    assert acc.tolist() == more.tolist() == [1, 1, 1]


def test_an_inner_transform_refuses_what_the_outer_function_made():
    def f(w):
        acc = torch.zeros(3)
        func.grad(lambda v: (acc.add_(v), (v * v).sum())[1])(w)
        return (w * acc).sum()

    with pytest.raises(EngineError, match="captured"):
        func.grad(f)(torch.ones(3))


def test_a_sample_changes_its_part_of_the_batch():
    batch = torch.arange(6.0).reshape(2, 3)
    func.vmap(lambda x: x.mul_(2))(batch)
    assert batch.tolist() == [[0, 2, 4], [6, 8, 10]]
