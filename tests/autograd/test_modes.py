"""Modes of recording: blocks, decorators, plain calls, and tensors of inference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gradcli as torch


@pytest.fixture
def x() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def test_blocks_nest_and_end_in_order(x: torch.Tensor) -> None:
    seen = []
    with torch.no_grad():
        with torch.enable_grad():
            with torch.set_grad_enabled(False):
                seen.append((x * 2).requires_grad)
            seen.append((x * 2).requires_grad)
        seen.append((x * 2).requires_grad)
    seen.append((x * 2).requires_grad)
    assert seen == [False, True, False, True]


def test_one_block_may_be_entered_again_inside_itself() -> None:
    block = torch.no_grad()
    with block:
        with block:
            pass
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("decorate", [torch.no_grad, torch.no_grad()])
def test_a_function_is_decorated_with_and_without_parentheses(
    decorate,
    x: torch.Tensor,  # type: ignore[no-untyped-def]
) -> None:
    @decorate
    def double(t: torch.Tensor) -> torch.Tensor:
        return t * 2

    assert not double(x).requires_grad
    assert double.__name__ == "double"
    assert torch.is_grad_enabled()


def test_between_the_steps_of_a_decorated_generator_recording_goes_on() -> None:
    @torch.no_grad()
    def states() -> Iterator[bool]:
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    steps = states()
    assert next(steps) is False
    assert torch.is_grad_enabled()
    assert list(steps) == [False]


def test_a_class_is_no_block() -> None:
    with pytest.raises(TypeError), torch.no_grad:
        pass


def test_a_plain_call_takes_effect_at_once_and_a_block_undoes_it() -> None:
    switch = torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    with switch:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_decorating_with_set_grad_enabled_leaves_the_mode_outside_alone(
    x: torch.Tensor,
) -> None:
    @torch.set_grad_enabled(False)
    def double(t: torch.Tensor) -> torch.Tensor:
        return t * 2

    assert torch.is_grad_enabled()
    assert not double(x).requires_grad
    assert torch.is_grad_enabled()


def test_inference_mode_marks_what_is_made_inside(x: torch.Tensor) -> None:
    with torch.inference_mode():
        made = [torch.ones(2), x * 2, x.exp(), x + torch.ones(2), x.sum()]
        assert not torch.is_grad_enabled()
    assert all(t.is_inference() and not t.requires_grad for t in made)
    assert not x.is_inference()
    assert not torch.ones(2).is_inference()


def test_inside_inference_mode_nothing_turns_recording_on(x: torch.Tensor) -> None:
    with torch.inference_mode(), torch.enable_grad():
        assert not (x * 2).requires_grad
    with torch.inference_mode(), torch.inference_mode(False):
        assert (x * 2).requires_grad


def test_inference_tensors_compute_with_others_unless_they_are_saved(
    x: torch.Tensor,
) -> None:
    with torch.inference_mode():
        y = torch.full((2,), 3.0)
    total = x + y
    assert total.requires_grad
    assert not total.is_inference()
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        x * y
    (x * y.clone()).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert not (y * 2).is_inference()


def test_an_inference_tensor_is_left_as_it_is_outside() -> None:
    with torch.inference_mode():
        y = torch.ones(2)
        y.add_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        y.add_(1)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference"):
        y.requires_grad_()
    assert y.tolist() == [2, 2]
