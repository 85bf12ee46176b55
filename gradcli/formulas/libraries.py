"""NumPy and PyTorch: trees as Python functions.

Invariant: a function is complete: it has its imports and helpers, and returns the value
and the derivatives. NumPy's numbers are float64; PyTorch's constants are made from an
input, so that a function on arrays runs in the input's dtype and on its device.

    NumPy().text(tree, texts)           # np.sum(x * x, axis=0)
    PyTorch("x").text(tree, texts)      # torch.sum(x * x, dim=0)
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ..ops import KEYWORDS, OPS
from .dialect import INDENT, PLAIN, Dialect, Written, listed, with_point
from .texts import Text
from .tree import NUMBER, Tree, below

if TYPE_CHECKING:
    from ..engine.raw import Host

HELPERS: Final = {
    "put": '''def put(shape, index, g):
    """Zeros with g at an index."""
    out = np.zeros(shape)
    out[index] = g
    return out''',
    "put_add": '''def put_add(shape, index, g):
    """Zeros with g added at an index."""
    out = np.zeros(shape)
    np.add.at(out, index, g)
    return out''',
    "argsort": '''def argsort(x, axis=-1, descending=False):
    """The order of the entries; equal ones keep theirs."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    order = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - order, axis)''',
}
"""Functions that NumPy lacks, as source text by name."""

_PARAMETERS: Final = {ours: theirs for theirs, ours in KEYWORDS.items()} | {
    "dims": "axis", "dim1": "axis1", "dim2": "axis2", "diagonal": "k",
}  # fmt: skip
"""NumPy's names of the parameters of its functions, by gradcli's names."""


class Python(Dialect):
    """The dialect of a library's functions, in a function of Python.

    imports  the import line of each name that may occur in the text
    helpers  source texts of helpers by name; used ones stand above the function
    """

    imports: ClassVar[Mapping[str, str]] = {}
    helpers: ClassVar[Mapping[str, str]] = {}
    reserved = frozenset(
        {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *HELPERS, "np", "torch",
         "scipy", "special", "F"}
    )  # fmt: skip

    def taken(self, names: Sequence[str], on_arrays: bool) -> Iterator[str]:
        """Yield the lines that convert a function's arguments to arrays."""
        return iter(())

    def program(self, written: Written) -> Iterator[str]:
        names = [name for name, _ in written.inputs]
        title, *about = map(_quoted, written.description())
        lines = [
            f'"""{title}',
            *about,
            '"""',
            *self.taken(names, written.on_arrays),
            *(self.assigned(*step) for step in written.steps),
            *(line for result in written.results for line in self.gathered(result)),
        ]
        value, *rest = [result.name for result in written.results]
        comma = "," if len(rest) == 1 else ""
        lines.append(f"return {value}, ({', '.join(rest)}{comma})")
        code = indent("\n".join(lines), INDENT)
        function = f"def {written.function}({', '.join(names)}):\n{code}"
        helpers = [
            text
            for name, text in self.helpers.items()
            if re.search(rf"(?<![\w.]){name}\(", code)
        ]
        below = "\n\n\n".join([*helpers, function])
        head = [line for word, line in self.imports.items() if word in below]
        yield from "\n\n\n".join(filter(None, ["\n".join(head), below])).split("\n")


def _quoted(line: str) -> str:
    """Return a line with backslashes and quotes escaped for a docstring."""
    return line.replace("\\", r"\\").replace('"""', r"\"\"\"")


class NumPy(Python):
    """NumPy's functions, as ``np``, and SciPy's special functions, as ``special``."""

    column = "numpy"
    nan, inf = "np.nan", "np.inf"
    number = "np.float64({0})"
    words = False
    imports: ClassVar = {
        "np.": "import numpy as np", "scipy.linalg.": "import scipy.linalg",
        "special.": "from scipy import special",
    }  # fmt: skip
    helpers = HELPERS
    entries = "np.array"

    def called(self, name: str, args: Sequence[str], params: Mapping[str, str]) -> str:
        renamed = {_PARAMETERS.get(key, key): text for key, text in params.items()}
        return f"{name}({listed(args, renamed)})"

    def kind_of(self, tree: Tree) -> dict[str, str]:
        return {"dtype": "float"} if tree.head == "arange" else {}

    def taken(self, names: Sequence[str], on_arrays: bool) -> Iterator[str]:
        if len(names) == 1:
            yield f"{names[0]} = np.asarray({names[0]}, dtype=float)"
        else:
            each = ", ".join(names)
            yield f"{each} = (np.asarray(a, dtype=float) for a in ({each}))"

    def filled(self, value: object, shape: tuple[int, ...]) -> Text:
        if isinstance(value, bool):
            return Text(f"np.full({shape}, {value!r})")
        if isinstance(value, float) and value in PLAIN:
            return Text(f"np.{PLAIN[value]}({shape})")
        return Text(f"np.full({shape}, {self.entry(value)})")

    def entry(self, value: object) -> str:
        """Return a number for an array's entry: an integer gets a decimal point."""
        written = self.plain(value).written
        return with_point(written) if isinstance(value, float) else written

    def literal(self, array: Host) -> Text:
        kind = ", dtype=float" if array.dtype.kind == "f" else ""
        return Text(f"np.array({self.nested(array)}{kind})")

    def argument(self, value: object, texts: Mapping[int, Text]) -> str:
        if isinstance(value, Tree) and value.head == NUMBER:
            return self.entry(value.args[0])
        if not isinstance(value, tuple | list):
            return super().argument(value, texts)
        slices = any(isinstance(v, slice) or v is ... for v in value)
        if isinstance(value, tuple) and slices:
            return f"np.s_[{self.index(value, (), texts)}]"
        items = [self.argument(v, texts) for v in value]
        return f"({', '.join(items)}{',' * (len(items) == 1)})"


class PyTorch(Python):
    """PyTorch's functions, as ``torch`` and ``F``."""

    column = "torch"
    nan, inf = "torch.nan", "torch.inf"
    number = "{like}.new_tensor({0})"
    imports: ClassVar = {
        "torch.": "import torch", "F.": "import torch.nn.functional as F"
    }  # fmt: skip
    entries = "torch.stack"

    @classmethod
    def lacks(cls) -> frozenset[str]:
        return frozenset(op.base for op in OPS.values() if op.ours)

    def taken(self, names: Sequence[str], on_arrays: bool) -> Iterator[str]:
        if not on_arrays:
            for name in names:
                yield f"{name} = torch.as_tensor({name}, dtype=torch.float64)"

    def kind_of(self, tree: Tree) -> dict[str, str]:
        made = not below(tree) and tree.dtype.kind == "f"
        return {"dtype": f"{self.like}.dtype"} if made else {}

    def filled(self, value: object, shape: tuple[int, ...]) -> Text:
        if not isinstance(value, float):
            return Text(f"torch.full({shape}, {value!r})")
        if value in PLAIN:
            return Text(f"{self.like}.new_{PLAIN[value]}({shape})")
        return Text(f"{self.like}.new_full({shape}, {self.plain(value)})")

    def literal(self, array: Host) -> Text:
        return self.made(self._tensor(self.nested(array), array.dtype.kind in "biu"))

    def argument(self, value: object, texts: Mapping[int, Text]) -> str:
        written = super().argument(value, texts)
        if isinstance(value, Tree) and value.head == NUMBER:
            return self._tensor(written, isinstance(value.args[0], int))
        if not isinstance(value, tuple | list):
            return written
        if not any(isinstance(v, list) for v in value):
            return written
        # Lists of indices are tensors.
        items = [
            self._tensor(self.nested(np.asarray(v)), True) if isinstance(v, list)
            else self.argument(v, texts)
            for v in value
        ]  # fmt: skip
        return f"[{', '.join(items)}]"

    def _tensor(self, written: str, integer: bool) -> str:
        made = "torch.tensor" if integer else f"{self.like}.new_tensor"
        return f"{made}({written})"
