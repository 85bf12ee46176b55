"""A gradient by one input alone is its part of the gradient by all, for every row; the
rules of the other inputs are not run."""

import numpy as np
import pytest

import gradcli as torch
from gradcli.engine import grad
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, outputs_of, tensors


def gradients(spot, wanted, create_graph):
    """By the leaves of these numbers."""
    leaves, y = spot.run()
    return grad(
        outputs_of(y),
        [leaves[nr] for nr in wanted],
        tensors(cotangents(spot)),
        create_graph=create_graph,
    )


@by_row("at", [at for at in spots() if len(draw(OPS[at[0]], at[1]).free) > 1], ident)
def test_a_gradient_by_one_input_is_its_part_of_all(at):
    spot = draw(OPS[at[0]], at[1])
    numbers = range(len(spot.free))
    for create_graph in (False, True):
        together = gradients(spot, numbers, create_graph)
        for nr in numbers:
            (alone,) = gradients(spot, [nr], create_graph)
            assert (alone is None) == (together[nr] is None)
            if alone is not None:
                assert np.array_equal(alone.raw, together[nr].raw, equal_nan=True)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wanted", [0, 1])
def test_the_rule_of_an_input_that_is_not_asked_for_is_not_run(
    monkeypatch, wanted, create_graph
):
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    y = torch.mm(a, b)
    run = []

    def counted(nr, rule):
        def count(*args, **kwargs):
            run.append(nr)
            return rule(*args, **kwargs)

        return count

    rules = tuple(counted(nr, rule) for nr, rule in enumerate(type(y.grad_fn).rules))
    monkeypatch.setattr(type(y.grad_fn), "rules", rules)
    torch.autograd.grad(y.sum(), [(a, b)[wanted]], create_graph=create_graph)
    assert run == [wanted]
