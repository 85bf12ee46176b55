"""Random programs over the language, each with two points of the same shapes.

Invariant: a program runs at every point of its inputs' shapes, and its output is one
number.

    random_program(7)       # Drawn("v1 = sin(x)\\nv1.sum()", {...}, {...})
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

Shape = tuple[int, ...]

NAMES = ["x", "w", "A", "t1", "x_grad", "e", "I", "lambda_", "θ", "np", "out", "F"]
SHAPES: list[Shape] = [(3,), (4,), (2, 3), (3, 3), (3, 1), (1,), ()]

OF_ONE = [
    "exp({0}/2)", "tanh({0})", "{0}*{0}", "{0}**3", "({0}**2 + 0.1)**-0.5", "{0}**0",
    "-{0}", "relu({0})", "abs({0})", "log(1 + {0}**2)", "softplus({0})", "gelu({0})",
    "clamp({0}, -0.5, 0.8)", "1 - -0.2*{0}", "(0.1*{0})*(3*{0})", "-(-{0}*2)/4",
    "where({0} > 0.1, {0}, 0.5*{0})", "{0}*({0} > 0)", "{0}.detach()*{0}", "2**{0}",
    "({0} >= 0)*2.0 - 1 + {0}", "{0} + -2", "-0.0*{0}", "where({0} > 0, {0}, inf)",
    "nan_to_num({0}*inf)", "{0}*1e300*1e-300", "floor({0})*{0}", "{0} % 2",
]  # fmt: skip
OF_TWO = [
    "{0} + {1}", "{0} - {1}", "{0}*{1}", "{0}/(1 + {1}**2)", "maximum({0}, {1})",
    "where({0} > {1}, {0}, {1}*2)", "hypot({0}, 1 + {1}**2)", "-{0}*-{1}",
    "({0}/2)*({1}/3)", "({0} < {1})*{0} + {1}", "(1 + {0}**2)**tanh({1})",
]  # fmt: skip
OF_ALL = [
    "{0}.{1}()", "{0}[{0} > 0].sum()", "({0}[{0} > 0.1]**2).sum()", "{0}.max().item()",
]  # fmt: skip
ALONG = [
    "cumsum({0}, {1})", "cumprod({0}, {1})", "softmax({0}, dim={1})",
    "log_softmax({0}, {1})", "{0}.flip({1})", "{0}.roll(1, {1})",
    "sort({0}, dim={1})[0]", "{0}.sort(dim={1}, descending=True).values",
    "{0}.gather({1}, argsort({0}, {1}))", "cummax({0}, {1})[0]",
    "normalize({0}, dim={1})", "{0}*{0}.sum(dim={1}, keepdim=True)",
    "{0} - {0}.mean({1}, keepdim=True)",
]  # fmt: skip
OVER = ["sum", "mean", "amax", "prod", "logsumexp", "norm"]
AT = ["{0}[0]", "{0}[-1]", "{0}[argmax({0}.flatten()) % {1}]", "{0}.min(dim=0).values"]
OF_MATRIX = ["{0}.T @ {0}", "einsum('ij,ik->jk', {0}, {0})"]
OF_SQUARE = ["inverse({0} @ {0}.T + eye({1}))", "solve({0} @ {0}.T + eye({1}), {0})"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program, and two points."""

    source: str
    here: dict[str, Any]
    there: dict[str, Any]


@dataclass(slots=True)
class Draft:
    """Lines, and the shapes of the names that they can read."""

    random: Random
    inputs: dict[str, Shape]
    shapes: dict[str, Shape]
    lines: list[str] = field(default_factory=list)

    def pick(self) -> str:
        return self.random.choice(list(self.shapes))

    def add(self, text: str, shape: Shape) -> None:
        made = [name for name in self.shapes if name not in self.inputs]
        again = made and self.random.random() < 0.25
        name = self.random.choice(made) if again else f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape

    def step(self) -> None:
        a = self.pick()
        shape = self.shapes[a]
        steps = [self.of_one, self.of_two, self.of_all, self.branch]
        if shape:
            steps += [self.along, self.over, self.at, self.loop]
        if len(shape) == 2:
            steps += [self.of_matrix, self.of_matrix]
        self.random.choice(steps)(a, shape)

    def of_one(self, a: str, shape: Shape) -> None:
        self.add(self.random.choice(OF_ONE).format(a), shape)

    def of_two(self, a: str, shape: Shape) -> None:
        b = self.pick()
        try:
            both = np.broadcast_shapes(shape, self.shapes[b])
        except ValueError:
            return
        self.add(self.random.choice(OF_TWO).format(a, b), both)

    def of_all(self, a: str, shape: Shape) -> None:
        name = self.random.choice(["sum", "mean", "amax"])
        text = self.random.choice(OF_ALL if shape else OF_ALL[:1]).format(a, name)
        self.add(f"{a}*{text}", shape)

    def branch(self, a: str, shape: Shape) -> None:
        self.add(f"{a}*2 if {a}.sum() > 0 else {a}*{a}", shape)

    def loop(self, a: str, shape: Shape) -> None:
        self.add(f"{a}*1.0", shape)
        name = self.lines[-1].partition(" ")[0]
        self.lines.append(f"for i in range(2): {name} = sin({name})*{a} + i")

    def along(self, a: str, shape: Shape) -> None:
        dim = self.random.randrange(len(shape))
        self.add(self.random.choice(ALONG).format(a, dim), shape)

    def over(self, a: str, shape: Shape) -> None:
        dim = self.random.randrange(len(shape))
        name = self.random.choice(OVER)
        self.add(f"{name}({a}, dim={dim})", (*shape[:dim], *shape[dim + 1 :]))

    def at(self, a: str, shape: Shape) -> None:
        self.add(self.random.choice(AT).format(a, shape[0]), shape[1:])

    def of_matrix(self, a: str, shape: Shape) -> None:
        if shape[0] == shape[1] and self.random.random() < 0.5:
            self.add(self.random.choice(OF_SQUARE).format(a, shape[0]), shape)
        else:
            self.add(self.random.choice(OF_MATRIX).format(a), (shape[1], shape[1]))


def random_program(seed: int) -> Drawn:
    """The program of a number."""
    random = Random(seed)
    names = random.sample(NAMES, random.randint(1, 3))
    inputs = {name: random.choice(SHAPES) for name in names}
    draft = Draft(random, inputs, dict(inputs))
    for _ in range(random.randint(2, 8)):
        draft.step()
    read = random.sample(list(draft.shapes), min(3, len(draft.shapes)))
    terms = [f"({name}*{name}).sum()" for name in {*read, names[0]}]
    draft.lines.append(" + ".join(sorted(terms)))
    numbers = np.random.default_rng(seed)
    here, there = (
        {name: numbers.normal(size=shape) for name, shape in inputs.items()}
        for _ in range(2)
    )
    return Drawn("\n".join(draft.lines), here, there)
