"""A matrix written with computed entries is a stack, in every function that takes one,
with the derivatives of the stack."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from gradcli.lang.compiled import compile

MATRIX, OTHER, ROW = "[[x + 5, 1], [a, 7]]", "[[1, 0], [x, 2]]", "[x, 1]"

CALLS = [
    "inverse({m})",
    "logdet({m})",
    "det({m})",
    "trace({m})",
    "sum({m})",
    "mean({m})",
    "norm({m})",
    "{m}.T",
    "linalg.eigvalsh({m})",
    "linalg.eigh({m})[0]",
    "linalg.svd({m})[1]",
    "linalg.qr({m})[1]",
    "linalg.solve({m},{r})",
    "solve({m},{r})",
    "cholesky({m}@[[1,0],[0,1]])",
    "pinverse({m})",
    "matmul({m},{o})",
    "kron({m},{o})",
    "mv({m},{r})",
    "matrix_power({m},2)",
    "matrix_exp({m})",
    "tril({m})",
    "triu({m})",
    "transpose({m},0,1)",
    "permute({m},[1,0])",
    "flip({m},[0])",
    "exp({m})",
    "cat({m})",
    "stack({m})",
    "vstack({m})",
    "cdist({m},{o})",
    "cov({m})",
    "log_softmax({m},dim=1)",
    "cross_entropy({m},[0,1])",
    "addmm({m},{o},{m})",
    "einsum('ij,jk->ik',{m},{o})",
    "tensordot({m},{o},dims=1)",
    "linalg.cond({m})",
    "bmm([{m}],[{o}])",
    "conv1d([[{r}]],[[[x]]])",
    "lerp({m},{o},0.5)",
    "where({m}>2,{m},0)",
    "linalg.norm({m})",
    "slogdet({m})[1]",
    "diagonal({m})",
    "roll({m},1)",
    "outer({r},{r})",
    "mse_loss({m},{o})",
    "linalg.lstsq({m},{o})[0]",
    "batch_norm({m},[0,0],[1,1])",
    "avg_pool1d([{m}],2)",
    "embedding([0,1],{m})",
    "atan2({r},[1,2])",
]

NAMED = {"m": "M", "o": "O", "r": "R"}


def stacked(written: str) -> str:
    """The same matrix, put together by `stack`."""
    inner = re.sub(r"\[([^\[\]]*)\]", lambda found: entries(found[1]), written)
    return f"stack({inner})" if inner.startswith("[") else inner


def entries(text: str) -> str:
    return "stack([" + ", ".join(f"0*x + {e}" for e in text.split(",")) + "])"


@pytest.mark.parametrize("call", CALLS)
def test_a_written_matrix_is_a_stack(call: str) -> None:
    written = {"m": MATRIX, "o": OTHER, "r": ROW}
    before = "; ".join(f"{NAMED[k]} = {stacked(text)}" for k, text in written.items())
    text = call.format(**written)
    other = f"{before}; {call.format(**NAMED)}"
    values: dict[str, Any] = {"x": 1.5, "a": 1.25}
    found, wanted = (
        compile(each).jacobian(**{n: values[n] for n in compile(each).inputs})
        for each in (text, other)
    )
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-12)
    for name, block in found.blocks.items():
        np.testing.assert_allclose(block, wanted.blocks[name], rtol=1e-9, atol=1e-12)


ENTRIES = ("x", "a", "x*a", "2", "sin(x)", "-a", "0.5", "x + 1", "a/2", "1")


def test_constructors_and_grids_take_lists_with_names() -> None:
    for text, wanted in (
        ("tensor([[x, a], [1, 2]])", [[1.5, 2.5], [1, 2]]),
        ("meshgrid([x, a], [1, 2])[0]", [[1.5, 1.5], [2.5, 2.5]]),
    ):
        np.testing.assert_array_equal(compile(text)(x=1.5, a=2.5), wanted)


def test_nested_lists_of_names_and_numbers_are_tensors() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        rows, columns = rng.choice([(2, 2), (2, 3), (3, 3), (1, 2), (3, 1)])
        texts = [[rng.choice(ENTRIES) for _ in range(columns)] for _ in range(rows)]
        text = "[" + ", ".join(f"[{', '.join(row)}]" for row in texts) + "]"
        flat = [entry for row in texts for entry in row]
        weights = [rng.randint(1, 9) for _ in flat]
        wanted = " + ".join(f"{w}*({e})" for w, e in zip(weights, flat, strict=True))
        call = rng.choice(["sum({}*{})", "(exp(0*x)*{}*{}).sum()", "dot({}, {})"])
        shaped = str(np.reshape(weights, (rows, columns)).tolist())
        if call.startswith("dot"):
            made = f"dot(flatten({text}), flatten({shaped}))"
        else:
            made = call.format(text, shaped)
        values = {"x": rng.uniform(0.5, 2), "a": rng.uniform(0.5, 2)}
        found, plain = (compile(each + " + 0*x + 0*a") for each in (made, wanted))
        ours, theirs = found.grad(**values), plain.grad(**values)
        np.testing.assert_allclose(ours.value, theirs.value, 1e-12, err_msg=made)
        for name, g in ours.grads.items():
            np.testing.assert_allclose(g, theirs.grads[name], 1e-12, err_msg=made)
