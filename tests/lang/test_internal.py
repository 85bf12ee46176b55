"""What the table keeps to itself: nobody is offered it, in any face."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradcli
from gradcli.answers.catalog import catalog, find, known_names
from gradcli.lang.tensor_library import is_function
from gradcli.ops import FUNCTIONS, offered

INTERNAL = sorted(set(FUNCTIONS) - set(offered()))
STUBS = Path(gradcli.__file__).parent / "__init__.pyi"


def test_some_functions_are_steps_of_others() -> None:
    assert "as_type_of" in INTERNAL


@pytest.mark.parametrize("name", INTERNAL)
def test_an_internal_function_is_not_offered(name: str) -> None:
    assert not is_function(name)
    assert name not in known_names()
    assert find(name) is None
    assert name not in {each.name for each in catalog()}
    assert not hasattr(gradcli, name)
    assert f"def {name}(" not in STUBS.read_text(encoding="utf-8")
