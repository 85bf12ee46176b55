"""What programs compute with changes in place: PyTorch's numbers, on every device.

Those of the mark `gpu` run on a GPU that CuPy reaches; where there is none, on the
stand-in for CuPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.engine import Tensor
from gradcli.engine.devices import host

# Each program takes the module that it is written against and a function that makes a
# tensor, and uses nothing else, so that it runs on any device, and on PyTorch.

Make = Callable[..., Any]
Program = Callable[[Any, Make], list[Any]]


def view_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = x * 2
    part = y[1:]
    part.mul_(3)
    (y * y).sum().backward()
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


def scalar_changed(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0, 3.0])
    y = (x * 2).sum()
    y.add_(1)
    y.mul_(x[0])
    y.backward()
    return [y, x.grad]


def overwritten(torch: Any, make: Make) -> list[Any]:
    x = make([3.0, 1.0])
    y, z = x * x, x * 3
    y.zero_()
    z.fill_(2)
    (y + z + x).sum().backward()
    return [y, z, x.grad]


def leaf_descended(torch: Any, make: Make) -> list[Any]:
    x = make([1.0, 2.0])
    for _ in range(3):
        x.grad = None
        (x**2).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
    return [x, x.grad]


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
        view_changed,
        view_of_a_view_changed,
        columns_assigned,
        constant_written_to,
        mask_assigned,
        positions_assigned,
        scalar_changed,
        overwritten,
        leaf_descended,
        types_converted,
        hooks_on_the_way,
        hooks_of_a_recorded_pass,
        gradient_kept_in_its_memory,
    )
}


def numbers(results: list[Any]) -> list[Any]:
    return [host(t.detach().raw) for t in results]


def on_the_cpu(values: Any) -> Tensor:
    return gradcli.tensor(values, requires_grad=True)


def on_the_gpu(values: Any) -> Tensor:
    return gradcli.tensor(values, device="cuda", requires_grad=True)


@pytest.mark.gpu
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_gpu_computes_what_the_cpu_computes(program: Program, cuda: Any) -> None:
    results = program(gradcli, on_the_gpu)
    assert {type(t.raw) for t in results} == {cuda.np.ndarray}
    wanted = numbers(program(gradcli, on_the_cpu))
    for found, same in zip(numbers(results), wanted, strict=True):
        assert found.dtype == same.dtype
        np.testing.assert_allclose(found, same, rtol=1e-6)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_a_tensor_of_a_device_is_printed_through_an_explicit_copy() -> None:
    x = on_the_gpu([1.0, 2.5])
    assert repr(x) == "tensor([1.0000, 2.5000], device='cuda:0', requires_grad=True)"


def test_a_device_that_is_not_there_is_an_error_that_says_why() -> None:
    if gradcli.cuda.is_available():
        assert gradcli.cuda.device_count() == 1
        assert gradcli.ones(1).cuda().device == gradcli.device("cuda", 0)
        return
    assert gradcli.cuda.device_count() == 0
    for ask in (gradcli.ones(1).cuda, lambda: gradcli.zeros(1, device="cuda")):
        with pytest.raises(RuntimeError, match="no CUDA device: CuPy"):
            ask()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_a_number_on_the_host_meets_another_device_and_an_array_does_not() -> None:
    x = on_the_gpu([1.0, 2.0])
    assert (x * gradcli.tensor(3.0)).tolist() == [3.0, 6.0]
    with pytest.raises(RuntimeError, match="same device"):
        x * gradcli.ones(2)
