"""Small programs against the face: each returns tensors that tests look at.

Invariant: a program takes the module that it is written against and a function that
makes a tensor, and uses nothing else, so that it runs on any device, and on PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Make = Callable[..., Any]
Program = Callable[[Any, Make], list[Any]]


def view_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = x * 2
    part = y[1:]
    part.mul_(3)
    (y * y).sum().backward()
    return [y, part, x.grad]


def base_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = x * 2
    part = y[1:]
    y.mul_(3)
    (part * part).sum().backward()
    return [y, part, x.grad]


def view_of_a_view_changed(torch: Any, make: Make) -> list[Any]:
    x = make([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x * 2
    y.t()[0].add_(x[0, 0])
    (y * y).sum().backward()
    return [y, x.grad]


def columns_assigned(torch: Any, make: Make) -> list[Any]:
    x = make([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x * 2
    y[:, 1:] *= x[:, :2]
    y[0] = x[1] * x[0]
    (y * y).sum().backward()
    return [y, x.grad]


def constant_written_to(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = torch.zeros_like(x.detach())
    part = y[1:]
    part.copy_(x[:2] * 2)
    (y * y).sum().backward()
    return [y, part, x.grad]


def constant_base_added_to(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = torch.zeros_like(x.detach())
    part = y[1:]
    y.add_(x)
    (part * part).sum().backward()
    return [part, x.grad]


def mask_assigned(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = x * 2
    y[y > 3] = 0.5
    (y * x).sum().backward()
    return [y, x.grad]


def positions_assigned(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = x * 2
    y[[0, 2]] = x[:2] * x[1:]
    (y * y).sum().backward()
    return [y, x.grad]


def entries_from_one_another(torch: Any, make: Make) -> list[Any]:
    x = make([1.5, 2.0, 3.0])
    y = x.clone()
    y[0] = x[1] * x[2]
    y[1] = y[0].clone() * 2
    y[2] = y[1].clone() * y[0].clone()
    y.sum().backward()
    return [y, x.grad]


def scalar_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = (x * 2).sum()
    y.add_(1)
    y.mul_(x[0])
    y.backward()
    return [y, x.grad]


def chain_of_changes(torch: Any, make: Make) -> list[Any]:
    x = make([3.0, 1.0])
    y = x * x
    y.sin_().add_(2).cos_().neg_().abs_().log_().pow_(2).clamp_(0.0, 5.0)
    y.div_(x).sub_(x).add_(x, alpha=3).exp_()
    y.sum().backward()
    return [y, x.grad]


def overwritten(torch: Any, make: Make) -> list[Any]:
    x = make([3.0, 1.0])
    y, z = x * x, x * 3
    y.zero_()
    z.fill_(2)
    (y + z + x).sum().backward()
    return [y, z, x.grad]


def retained_and_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    return [y, y.grad, x.grad]


def leaf_descended(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    for _ in range(3):
        x.grad = None
        (x**2).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
    return [x, x.grad]


def diagonal_filled(torch: Any, make: Make) -> list[Any]:
    x = make([[1.0, 2.0], [3.0, 4.0]])
    y = x * 2
    y.diagonal().copy_(x[0])
    (y * y).sum().backward()
    return [y, x.grad]


def types_converted(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    y = x.double() * 2
    z = y.to(torch.float32) * x
    z.sum().backward()
    return [y, z, x.grad]


def hooks_on_the_way(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: g * 10)
    a, b = y.split(1)
    a.register_hook(lambda g: g + 1)
    (a * 3 + b * x[0]).sum().backward()
    return [x.grad]


def result_changed_before_its_use(torch: Any, make: Make) -> list[Any]:
    y = make([3.0, 1.0]).sqrt()
    y.add_(1)
    y.sum().backward()
    return []


def result_of_a_change_changed(torch: Any, make: Make) -> list[Any]:
    y = make([3.0, 1.0]) * 1
    y.exp_()
    y.add_(1)
    y.sum().backward()
    return []


def factor_changed_in_part(torch: Any, make: Make) -> list[Any]:
    x = make([3.0, 1.0])
    w = torch.ones_like(x.detach())
    y = x * w
    w[0] = 5.0
    y.sum().backward()
    return []


def entry_read_then_overwritten(torch: Any, make: Make) -> list[Any]:
    x = make([3.0, 1.0])
    y = x.clone()
    y[1] = y[0] * y[1]
    y.sum().backward()
    return []


def scalar_changed_before_its_use(torch: Any, make: Make) -> list[Any]:
    y = make([3.0, 1.0]).sum().exp()
    y.add_(1)
    y.backward()
    return []


def matrix_changed_under_no_grad(torch: Any, make: Make) -> list[Any]:
    x, w = make([[1.0, 2.0]]), make([[1.0], [2.0]])
    y = x @ w
    with torch.no_grad():
        w.mul_(2)
    y.backward()
    return []


def leaf_changed(torch: Any, make: Make) -> list[Any]:
    make([1.0, 2.0]).mul_(2)
    return []


def view_of_a_leaf_changed(torch: Any, make: Make) -> list[Any]:
    make([1.0, 2.0])[0].mul_(2)
    return []


def part_of_a_leaf_assigned(torch: Any, make: Make) -> list[Any]:
    make([1.0, 2.0])[:1] = 0.0
    return []


def one_of_several_views_changed(torch: Any, make: Make) -> list[Any]:
    a, _ = make([1.0, 2.0]) * 2
    a.mul_(2)
    return []


def expanded_memory_changed(torch: Any, make: Make) -> list[Any]:
    x = torch.zeros_like(make([1.0]).detach())
    x.expand(3).add_(1)
    return []


def value_that_does_not_fit(torch: Any, make: Make) -> list[Any]:
    make([[1.0, 2.0, 3.0]]).detach()[0] = torch.ones(4)
    return []


REFUSED: dict[str, Program] = {
    program.__name__: program
    for program in (
        result_changed_before_its_use, result_of_a_change_changed,
        factor_changed_in_part, entry_read_then_overwritten,
        scalar_changed_before_its_use, matrix_changed_under_no_grad, leaf_changed,
        view_of_a_leaf_changed, part_of_a_leaf_assigned, one_of_several_views_changed,
        expanded_memory_changed, value_that_does_not_fit,
    )
}  # fmt: skip
"""Programs that end with an error."""


def hooks_on_nodes_and_leaves(torch: Any, make: Make) -> list[Any]:
    seen: list[Any] = []
    x = make([1.0, 2.0])
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend([*inputs, *outputs]))
    x.register_hook(lambda g: g + 1)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.clone()))
    with y.register_hook(lambda g: g * 3):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [*seen, x.grad]


def hooks_of_a_recorded_pass(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    y = x**3
    y.register_hook(lambda g: g * x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    first.sum().backward()
    return [first, x.grad]


def gradient_kept_in_its_memory(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    (x * x).sum().backward()
    held = x.grad
    (x * x).sum().backward()
    return [held, x.grad]


PROGRAMS: dict[str, Program] = {
    program.__name__: program
    for program in (
        view_changed, base_changed, view_of_a_view_changed, columns_assigned,
        constant_written_to, constant_base_added_to, mask_assigned,
        positions_assigned, entries_from_one_another, scalar_changed,
        chain_of_changes, overwritten, retained_and_changed, leaf_descended,
        diagonal_filled, types_converted, hooks_on_the_way,
        hooks_on_nodes_and_leaves, hooks_of_a_recorded_pass,
        gradient_kept_in_its_memory,
    )
}  # fmt: skip
