"""``strict=True`` refuses what PyTorch refuses."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.autograd import functional

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

PARTS = [
    "x",
    "y",
    "x*y",
    "x.sin()",
    "x+y",
    "2*x",
    "x*x",
    "x.exp()*y",
    "x.sign()",
    "y.pow(3)",
    "x.detach()*y",
    "x.detach()",
    "x.floor()",
    "c*x",
    "c",
    "x*0",
    "x.abs()",
    "x.pow(1)",
    "x/y",
    "x.clone()",
    "x-y",
    "-x",
    "x.pow(2)+y",
    "x.round()*y",
    "x.max()",
    "x.prod()",
    "w*x",
    "w*x*x",
    "w",
]
COUNT = 300
KINDS = ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp")


def outcome(library: Any, name: str, case: dict[str, Any]) -> tuple[str, Any]:
    """The numbers that a function gives, or its refusal."""

    def tensor(values: list[float], followed: bool = False) -> Any:
        made = library.tensor(values, dtype=library.float64)
        return made.requires_grad_(followed)

    known = {"w": tensor([0.5, 1.5], case["w"]), "c": tensor([2.0, 3.0])}
    known |= {"y": tensor(case["at"][1])}
    x, y = (tensor(at, case["followed"]) for at in case["at"])
    inputs = (x, y) if case["two"] else x

    def function(*given: Any) -> Any:
        return eval(case["text"], known | dict(zip("xy", given, strict=False)))

    vectors = {} if name in ("jacobian", "hessian") else {"v": library.ones_like(x)}
    if name == "vjp":
        y = function(*inputs) if case["two"] else function(inputs)
        several = isinstance(y, tuple)
        ones = library.ones_like
        vectors["v"] = tuple(map(ones, y)) if several else ones(y)
    elif vectors and case["two"]:
        vectors["v"] = tuple(map(library.ones_like, inputs))
    face = functional if library is gradcli else torch.autograd.functional
    options = {"create_graph": case["create_graph"], "strict": True, **vectors}
    try:
        found = getattr(face, name)(function, inputs, **options)
    except RuntimeError as error:
        return "refused", str(error)
    return "numbers", flat(found)


def flat(found: Any) -> list[float]:
    if isinstance(found, tuple):
        return [number for part in found for number in flat(part)]
    numbers: list[float] = np.asarray((found.detach() + 0).numpy()).ravel().tolist()
    return numbers


def drawn(seed: int, name: str) -> dict[str, Any]:
    rng = random.Random(seed)
    scalar = name in ("hessian", "vhp", "hvp")
    texts = []
    for _ in range(1 if scalar else rng.choice([1, 1, 2])):
        text = f"({' + '.join(rng.choices(PARTS, k=rng.choice([1, 1, 2])))})"
        texts.append(f"{text}.sum()" if scalar or rng.random() < 0.3 else text)
    return {
        "text": texts[0] if len(texts) == 1 else f"({', '.join(texts)},)",
        "at": [[round(rng.uniform(0.5, 2), 2) for _ in range(2)] for _ in range(2)],
        "two": rng.random() < 0.6,
        **{key: rng.random() < 0.5 for key in ("create_graph", "w", "followed")},
    }


@pytest.mark.parametrize("name", KINDS)
def test_strict_refuses_what_pytorch_refuses(name: str) -> None:
    refused = 0
    for seed in range(COUNT // len(KINDS)):
        case = drawn(seed, name)
        ours, theirs = (outcome(lib, name, case) for lib in (gradcli, torch))
        # PyTorch differentiates twice where gradcli pushes tangents, and asks both.
        if name not in ("jvp", "hvp"):
            assert ours[0] == theirs[0], (case, ours, theirs)
        refused += ours[0] == "refused"
        if ours[0] == theirs[0] == "numbers":
            np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-12)
    assert 0 < refused < COUNT // len(KINDS)


def test_strict_is_for_neither_forward_mode_nor_vectors_of_rows() -> None:
    for options in ({"strategy": "forward-mode"}, {"vectorize": True}):
        with pytest.raises(RuntimeError, match="are not supported together"):
            functional.jacobian(
                lambda x: x * x, gradcli.ones(2), strict=True, **options
            )
