"""Written code brought to run: C in one compilation, Python in a namespace."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.formulas.c import helpers
from gradcli.formulas.dialect import ReturnedArray
from gradcli.formulas.dialect import Written as Text
from gradcli.formulas.programs import DIALECTS, CodePage, WantedCode
from gradcli.formulas.tree import FreshNames, Tree
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, prepare
from gradcli.large.blocks import hessian, jacobian

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]


@dataclass(frozen=True, slots=True)
class Written:
    """A program at a point, and what the engine gives for it."""

    run: Run
    kind: str
    inputs: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]

    def text(self, language: str) -> str:
        return "\n".join(self._wanted(language).lines()) + "\n"

    def result_names(self, language: str) -> list[str]:
        made = self._wanted(language).written()
        return [result.name for result in made.results]

    def _wanted(self, language: str) -> WantedCode:
        return WantedCode(self.run, language, self.kind, self._ones, by_entries=True)

    @property
    def holds(self) -> tuple[str, ...]:
        """The conditions under which the code holds."""
        return self._wanted("c").written().holds

    @property
    def _ones(self) -> Tensor:
        return Tensor(np.ones(self.run.output.shape), NUMPY)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [result.shape for result in self.results]


def written(
    source: str,
    values: Mapping[str, Any],
    kind: str = "gradient",
    wrt: Sequence[str] | None = None,
) -> Written:
    """The program's derivative, beside the engine's own numbers."""
    words = [f"{name}={_text(value)}" for name, value in values.items()]
    prepared = prepare(
        source, read_bindings(words), wrt=None if wrt is None else list(wrt), seed=0,
        strict=True, dtype="float64", device="cpu",
    )  # fmt: skip
    run = Session(prepared, of=None, trace=None).run()
    asked = [i.tensor for i in run.inputs if i.requires_grad]
    inputs = tuple(np.asarray(i.tensor.raw, np.float64) for i in run.inputs)
    blocks = [_array(run.output), *_ENGINE[kind](run.output, asked)]
    return Written(run, kind, inputs, tuple(blocks))


def _text(value: Any) -> str:
    return repr(np.asarray(value).tolist())


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.raw, np.float64)


def _gradients(output: Tensor, asked: list[Tensor]) -> list[np.ndarray]:
    ones = Tensor(output.xp.ones_like(output.raw), output.xp)
    found = grad([output], asked, [ones])
    return [
        np.zeros(t.shape) if g is None else _array(g)
        for t, g in zip(asked, found, strict=True)
    ]


_ENGINE = {
    "gradient": _gradients,
    "jacobian": lambda y, xs: [_array(b.dense()) for b in jacobian(y, xs).blocks],
    "hessian": lambda y, xs: [_array(b.dense()) for row in hessian(y, xs) for b in row],
}


class Library:
    """C texts compiled together; each function has its number for a name."""

    def __init__(self, texts: Sequence[str], folder: Path, *flags: str) -> None:
        lines = []
        for number, text in enumerate(texts):
            (folder / f"part{number}.c").write_text(text)
            names = (*helpers(), "gradient", "jacobian", "hessian")
            lines += [f"#define {name} {name}_{number}" for name in names]
            lines += [f'#include "part{number}.c"']
            lines += [f"#undef {name}" for name in names]
        whole = folder / "whole.c"
        whole.write_text("\n".join(lines) + "\n")
        library = folder / "whole.so"
        subprocess.run(
            ["cc", *FLAGS, *flags, "-shared", "-fPIC", str(whole), "-o", str(library),
             "-lm"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        self._library = ctypes.CDLL(str(library))

    def run(
        self, number: int, kind: str, shapes: Sequence[tuple[int, ...]],
        inputs: Sequence[np.ndarray],
    ) -> list[np.ndarray]:  # fmt: skip
        """The results of the function with this number."""
        function = getattr(self._library, f"{kind}_{number}")
        function.restype = None
        # What is not written must not pass for right.
        results = [np.full(shape, np.nan) for shape in shapes]
        given = [
            _pointer(array) if array.shape else ctypes.c_double(float(array))
            for array in (np.ascontiguousarray(a) if a.shape else a for a in inputs)
        ]
        function(*given, *[_pointer(array) for array in results])
        return results


def _pointer(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def function_of(
    blocks: Sequence[tuple[str, tuple[int, ...], Sequence[Tree]]],
    inputs: Sequence[tuple[str, tuple[int, ...]]],
    language: str,
) -> str:
    """A function ``gradient`` that computes arrays of entries."""
    dialect = DIALECTS[language](inputs[0][0])
    page = CodePage(
        dialect, FreshNames(dialect.reserved), [t for *_, ts in blocks for t in ts]
    )
    page.write({})
    results = tuple(
        ReturnedArray(name, shape, tuple(page.entry(tree) for tree in trees))
        for name, shape, trees in blocks
    )
    lines = dialect.program(
        Text("gradient", ("",), (), (), (), tuple(inputs), tuple(page.steps), results,
             on_arrays=False)
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def run_python(text: str, kind: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a Python text, in a namespace of its own."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "<written>", "exec"), namespace)
    with np.errstate(all="ignore"):
        found = namespace[kind](*[a if a.shape else float(a) for a in inputs])
    value, derivatives = found
    return [np.asarray(each) for each in (value, *derivatives)]


def same(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """All results agree to 1e-12, shapes and what is not finite included."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True)
