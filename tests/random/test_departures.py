"""Each departure explains a difference that is there: a small program shows it.

A departure without an example has to be among the few that only large programs show.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.random.compare import difference
from tests.random.departures import DEPARTURES, departure
from tests.random.program import Line, Program

pytestmark = pytest.mark.peers

nan, inf = float("nan"), float("inf")

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "in place": (
        "v0 = exp(x); v0 *= 2; v0",
        {"x": [1.0]},
    ),
    "one place of memory": (
        "v0 = x*1; v0 += v0[0]; v0",
        {"x": [[1.0, 2.0], [3.0, 4.0]]},
    ),
    "written over itself": (
        "v0 = x*1; v1 = unfold(v0,0,2,1); v1 *= 2; v0.sum()",
        {"x": [1.0, 2.0, 3.0]},
    ),
    "no derivative": (
        "(x // w).sum()",
        {"x": [1.5], "w": [2.0]},
    ),
    "derivative not written": (
        "heaviside(x,w)",
        {"x": [1.0], "w": [2.0]},
    ),
    "no second derivative": (
        "hardsigmoid(x)",
        {"x": [0.3]},
    ),
    "no node": (
        "x % 2 + (3 % x)",
        {"x": [1.3]},
    ),
    "exponent 0": (
        "x**w",
        {"x": [2.0], "w": [0.0]},
    ),
    "NaN in a factor": (
        "cholesky(x)[1][1]*nan",
        {"x": [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 4.0]]},
    ),
    "ways to call": (
        "sin(2)*x",
        {"x": [1.0]},
    ),
    "whole numbers": (
        "tensor([1,2])*2",
        {},
    ),
    "whole targets": (
        "cross_entropy(x,tensor([0,3,1]))",
        {"x": [1.0, 2.0, 3.0]},
    ),
    "truth values": (
        "x**(x > 0)",
        {"x": [1.0, 2.0]},
    ),
    "broken rule": (
        "scatter(x,0,tensor([[2,0]]),w)",
        {"x": [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]], "w": [[1.0, 2.0], [1.0, 2.0]]},
    ),
    "einsum": (
        "einsum('i,i->',x,w)",
        {"x": [1.0, 2.0], "w": [3.0, 4.0]},
    ),
    "numbers of outputs": (
        "linalg.lu(x)[1]",
        {"x": [[1.0, 2.0], [3.0, 5.0]]},
    ),
    "view read anew": (
        "v0 = x*1; v1 = v0[0]; v2 = v0.detach(); v2 *= 2; v1",
        {"x": [[1.0, 2.0]]},
    ),
    "product of nothing in the graph": (
        "addmv(x,w,A).flatten()",
        {"x": 1.0, "w": [[]], "A": []},
    ),
    "after an infinity": (
        "atanh(x)/w",
        {"x": [1.0], "w": [2.0]},
    ),
    "ties": (
        "fmax(x,w)",
        {"x": [1.0], "w": [1.0]},
    ),
    "prelu at 0": (
        "v0 = prelu(x,w); v0*v0",
        {"x": [[0.0, 1.0]], "w": [0.25]},
    ),
    "norm of 0": (
        "v1 = pdist(w,3.0); v3 = norm(A); v1.sum() + v3*v3",
        {"w": [[1.0, 1.0], [2.0, 1.5]], "A": [-0.0, -0.0]},
    ),
    "trigamma": (
        "digamma(x)",
        {"x": [0.3]},
    ),
    "few digits": (
        "bessel_j0(detach(x))",
        {"x": [5.5]},
    ),
    "derivatives that PyTorch drops": (
        "bessel_j0(x)",
        {"x": [0.5]},
    ),
    "sinc at 0": (
        "sinc(x)",
        {"x": [0.0]},
    ),
    "products": (
        "prod(x)",
        {"x": [nan, 0.0, 2.0]},
    ),
    "cross entropy of probabilities": (
        "binary_cross_entropy(x,w)",
        {"x": [0.5], "w": [0.3]},
    ),
    "tails": (
        "gelu(x)",
        {"x": [-12.0]},
    ),
    "repeated places": (
        "index_put(x,(tensor([0,0]),),w).sum()",
        {"x": [1.0, 2.0], "w": [3.0, 4.0]},
    ),
    "symmetric part": (
        "linalg.pinv(x,hermitian=True)[0,1]",
        {"x": [[4.0, 0.5], [0.5, 3.0]]},
    ),
    "triangle not read": (
        "cholesky_inverse(x).sum()",
        {"x": [[4.0, 1.0], [0.5, 3.0]]},
    ),
    "determinant of a singular matrix": (
        "det(x)",
        {"x": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]},
    ),
    "factor of an indefinite matrix": (
        "linalg.cholesky_ex(x)[0]",
        {"x": [[1.0, 1.0], [1.0, 1.0]]},
    ),
    "reciprocal of a pivot": (
        "slogdet(x)[1]",
        {"x": [[-1.784, -1.784], [-1.784, -1.784]]},
    ),
    "outside the domain": (
        "acosh(x)",
        {"x": [-2.0]},
    ),
    "mean beside a variance": (
        "var_mean(x)[1]",
        {"x": [inf, 1.0]},
    ),
    "extremum": (
        "amax(x)*w",
        {"x": [1.0, 2.0], "w": nan},
    ),
    "product of nothing": (
        "addmv(x,w,A)",
        {"x": 1.0, "w": [[], []], "A": []},
    ),
    "overflow on the way": (
        "logaddexp(x,w)",
        {"x": [1e308], "w": [-inf]},
    ),
    "bends of a cubic": (
        "grid_sample(x,w,'bicubic','border',True)",
        {
            "x": [
                [
                    [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],
                    [[2.0, 1.0], [4.0, 4.0], [3.0, 1.0]],
                ]
            ],
            "w": [[[[-2.0, 1.0], [0.5, 0.0]], [[1.0, -0.5], [0.0, -0.5]]]],
        },
    ),
    "places at infinity": (
        "grid_sample(x,w,'bicubic','zeros',True)",
        {"x": [[[[1.0, 2.0], [3.0, 4.0]]]], "w": [[[[inf, 0.0]]]]},
    ),
    "singular value 0": (
        "linalg.svdvals(x)",
        {"x": [[-0.0], [0.0]]},
    ),
    "polynomials of NaN": (
        "legendre_polynomial_p(log(detach(x)),3)*w",
        {"x": [-1.0, 2.0], "w": 1.0},
    ),
    "sign of a sum": (
        "1/cumsum(x,0)",
        {"x": [-0.0, 1.0]},
    ),
    "dimension left out": (
        "softmin(x)",
        {"x": [1.0, 2.0]},
    ),
    "tensors among numbers": (
        "reshape((),x)",
        {"x": [[0.0]]},
    ),
    "kron of a transpose": (
        "kron(x.T,w)",
        {"x": [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 5.0]]], "w": [[1.0, 2.0]]},
    ),
    "powers of 0": (
        "0**x",
        {"x": [0.4]},
    ),
    "equal entries in order": (
        "topk(x,1)[1]",
        {"x": [1.0, 1.0, 1.0, 0.0]},
    ),
    "commonest beside NaN": (
        "mode(x)[0]",
        {"x": [nan, nan, 1.0, 2.0]},
    ),
    "one by one": (
        "hardshrink(x)",
        {"x": [nan, nan, nan, nan, nan, nan, nan, nan]},
    ),
    "roots of -0": (
        "x**0.5",
        {"x": [-0.0]},
    ),
    "vectors without entries": (
        "block_diag(x,w).tan().sum()",
        {"x": [], "w": 1.0},
    ),
    "singular matrix": (
        "logdet(x)*w",
        {"x": [[0.0, 0.0], [0.0, 0.0]], "w": [1.0]},
    ),
    "one value": (
        "batch_norm(x,None,None,None,None,True)",
        {"x": [[1.0]]},
    ),
    "no channels": (
        "batch_norm(x,None,None,w,None,True)",
        {"x": [[], []], "w": []},
    ),
    "channels": (
        "batch_norm(x,None,None,None,None,True)",
        {"x": []},
    ),
    "vector without entries": (
        "cholesky(x)",
        {"x": []},
    ),
    "masked": (
        "v0 = logit(x,0.1); v0*v0",
        {"x": [inf, 0.01]},
    ),
    "beyond the range": (
        "layer_norm(x,(2,),None,None)",
        {"x": [1e200, 1.0]},
    ),
}
"""By the departure's name: a program, and its inputs."""

IN_LARGE_PROGRAMS = {
    "order in memory", "distance of infinities", "equal entries", "fused products",
    "step by step", "no number", "beside an infinity", "slope of the values",
    "rounding in one order", "signs of vectors",
}  # fmt: skip
"""What rounding or several infinities have to come together for."""


def program(text: str, inputs: dict[str, Any]) -> Program:
    *first, last = text.split("; ")
    lines = [Line(line, line.partition(" ")[0]) for line in first]
    return Program((*lines, Line(last)), inputs, "float64")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_departure_explains_its_example(name: str) -> None:
    example = program(*EXAMPLES[name])
    found = difference(example)
    assert found is not None, f"nothing differs in {example.text}"
    explained = departure(example, found)
    assert explained is not None, str(found)
    assert explained.name == name


def test_every_departure_has_an_example() -> None:
    names = {each.name for each in DEPARTURES}
    assert names - set(EXAMPLES) == IN_LARGE_PROGRAMS
    assert set(EXAMPLES) <= names
