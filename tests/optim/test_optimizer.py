"""What holds for every optimizer: states, groups, closures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli as torch
from gradcli import optim

MAKERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
    "RMSprop": lambda p: optim.RMSprop(p, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "LBFGS": lambda p: optim.LBFGS(p, lr=0.1, max_iter=2),
}
every = pytest.mark.parametrize("name", MAKERS)


def problem() -> tuple[Any, Any]:
    """Parameters away from the minimum of a function, and the function."""
    w = torch.tensor([1.5, -0.5, 2.0], dtype=torch.float64, requires_grad=True)
    b = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    return [w, b], lambda: ((w - b) ** 2).sum() + (b - 1) ** 4 + w.cos().sum()


def take_steps(optimizer: Any, loss: Any, count: int) -> None:
    def closure() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(count):
        optimizer.step(closure)


def values(parameters: Any) -> list[Any]:
    return [p.tolist() for p in parameters]


@every
def test_a_saved_state_continues_as_if_never_interrupted(name: str) -> None:
    parameters, loss = problem()
    optimizer = MAKERS[name](parameters)
    take_steps(optimizer, loss, 5)
    state, kept = optimizer.state_dict(), [p.detach().clone() for p in parameters]
    others, other_loss = problem()
    resumed = MAKERS[name](others)
    resumed.load_state_dict(state)
    with torch.no_grad():
        for p, value in zip(others, kept, strict=True):
            p.copy_(value)
    take_steps(optimizer, loss, 5)
    take_steps(resumed, other_loss, 5)
    assert values(others) == values(parameters)


@every
def test_a_loaded_state_shares_no_memory(name: str) -> None:
    parameters, loss = problem()
    optimizer = MAKERS[name](parameters)
    take_steps(optimizer, loss, 2)
    others, other_loss = problem()
    resumed = MAKERS[name](others)
    resumed.load_state_dict(optimizer.state_dict())
    before = repr(optimizer.state_dict()["state"])
    take_steps(resumed, other_loss, 3)
    assert repr(optimizer.state_dict()["state"]) == before


@every
def test_steps_go_downhill(name: str) -> None:
    parameters, loss = problem()
    first = loss().item()
    take_steps(MAKERS[name](parameters), loss, 20)
    assert loss().item() < first


@every
def test_a_step_records_nothing_and_keeps_leaves_and_memory(name: str) -> None:
    parameters, loss = problem()
    seen = [p.detach() for p in parameters]
    take_steps(MAKERS[name](parameters), loss, 3)
    assert all(p.is_leaf and p.requires_grad for p in parameters)
    assert values(seen) == values(parameters)


@every
def test_a_step_is_a_change_in_place_that_backward_notices(name: str) -> None:
    parameters, loss = problem()
    optimizer = MAKERS[name](parameters)
    recorded = (parameters[0] * parameters[0]).sum()
    take_steps(optimizer, loss, 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        recorded.backward()


@pytest.mark.parametrize("name", [n for n in MAKERS if n != "LBFGS"])
def test_maximising_is_minimising_the_negative(name: str) -> None:
    up, down = problem()[0], problem()[0]
    rising = MAKERS[name](up)
    for group in rising.param_groups:
        group["maximize"] = True
    falling = MAKERS[name](down)
    for _ in range(5):
        for optimizer, (w, b), sign in ((rising, up, 1), (falling, down, -1)):
            optimizer.zero_grad()
            (sign * (w.sin().sum() + w.sum() * b)).backward()
            optimizer.step()
    assert values(up) == values(down)


def test_a_later_group_gets_the_defaults_it_does_not_name() -> None:
    w, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    optimizer.add_param_group({"params": b, "lr": 1.0})
    assert optimizer.param_groups[1]["momentum"] == 0.5
    (w + b).sum().backward()
    optimizer.step()
    assert (w.item(), b.item()) == (pytest.approx(0.9), 0.0)


def test_a_state_of_another_shape_is_refused() -> None:
    w = torch.ones(1, requires_grad=True)
    optimizer = optim.SGD([w])
    with pytest.raises(ValueError, match="parameter groups of the sizes"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="parameter groups of the sizes"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_a_saved_schedule_goes_on_where_it_was() -> None:
    optimizer = optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    optimizer.step()
    schedule.step()
    other = optim.lr_scheduler.LambdaLR(
        optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0), lambda epoch: 0.5**epoch
    )
    other.load_state_dict(schedule.state_dict())
    other.optimizer.step()
    other.step()
    assert (other.last_epoch, other.get_last_lr()) == (2, [0.25])
