"""Trees of the basis in NumPy's words.

Invariant: every word of the array vocabulary has a spelling: as the table of array
functions says, or here. What takes more than an expression is a helper that stands
above the code that uses it.

    NUMPY_WORDS.text(tree, texts)       # np.sum(x * x, axis=0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Final

from ..engine.arrays import SPECIAL, UFUNCS
from ..views.spelling import Text
from .dialect import PLAIN, Dialect, Unwritable, listed
from .tree import NUMBER, Tree

_PARAMETERS: Final = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "dim1": "axis1",
    "dim2": "axis2", "diagonal": "k",
}  # fmt: skip
"""What NumPy calls the parameters of these functions."""

CALLS: Final = {
    "sign": "np.sign", "floor_divide": "np.floor_divide", "remainder": "np.remainder",
    "fmod": "np.fmod", "xlogy": "special.xlogy", "polygamma": "special.polygamma",
    "sum": "np.sum", "mean": "np.mean", "prod": "np.prod", "amax": "np.max",
    "amin": "np.min", "all": "np.all", "any": "np.any", "argmax": "np.argmax",
    "argmin": "np.argmin", "argsort": "argsort", "cumsum": "np.cumsum",
    "cumprod": "np.cumprod", "reshape": "np.reshape", "expand": "np.broadcast_to",
    "permute": "np.transpose", "transpose": "np.swapaxes",
    "unsqueeze": "np.expand_dims", "cat": "np.concatenate", "stack": "np.stack",
    "flip": "np.flip", "roll": "np.roll", "tril": "np.tril", "triu": "np.triu",
    "diagonal": "np.diagonal", "put_add": "put_add", "put_view": "put",
    "matmul": "np.matmul", "einsum": "np.einsum", "inverse": "np.linalg.inv",
    "solve": "np.linalg.solve", "det": "np.linalg.det",
    "slogdet": "np.linalg.slogdet", "cholesky": "np.linalg.cholesky", "eye": "np.eye",
    "arange": "np.arange", "linspace": "np.linspace",
    **{name: f"np.{theirs}" for name, theirs in UFUNCS.items()},
    **{name: f"special.{theirs}" for name, theirs in SPECIAL.items()},
    "lgamma": "special.gammaln", "sinc": "np.sinc",
}  # fmt: skip
"""What NumPy and SciPy call the words of the array vocabulary."""

HELPERS: Final = {
    "put": '''
def put(shape, index, g):
    """Zeros with g at an index."""
    out = np.zeros(shape)
    out[index] = g
    return out
''',
    "put_add": '''
def put_add(shape, index, g):
    """Zeros with g added at an index."""
    out = np.zeros(shape)
    np.add.at(out, index, g)
    return out
''',
    "argsort": '''
def argsort(x, axis=-1, descending=False):
    """The order of the entries; equal ones keep theirs."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    order = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - order, axis)
''',
}


class NumpyWords(Dialect):
    """NumPy's functions, as ``np``, and SciPy's special functions, as ``special``."""

    def call(self, name: str, args: list[Any], params: dict[str, str]) -> str:
        called = CALLS.get(name)
        if called is None:
            raise Unwritable(f"NumPy has no function for {name}")
        renamed = {_PARAMETERS.get(key, key): text for key, text in params.items()}
        return f"{called}({listed(args, renamed)})"

    def number(self, value: float) -> str:
        return "np.nan" if isnan(value) else "np.inf"

    def kind_of(self, tree: Tree) -> dict[str, str]:
        return {"dtype": "float"} if tree.head == "arange" else {}

    def returned(self, value: Any) -> str:
        return f"np.float64({super().returned(value)})"

    def taken(self, names: Sequence[str]) -> list[str]:
        if len(names) == 1:
            return [f"{names[0]} = np.asarray({names[0]}, dtype=float)"]
        each = ", ".join(names)
        return [f"{each} = (np.asarray(a, dtype=float) for a in ({each}))"]

    def filled(self, value: Any, shape: tuple[int, ...]) -> str:
        plain = PLAIN.get(value) if isinstance(value, float) else None
        written = repr(value) if isinstance(value, bool) else self.entry(value)
        return f"np.{plain}({shape})" if plain else f"np.full({shape}, {written})"

    def entry(self, value: Any) -> str:
        """A number that an array is made of."""
        written = self.plain(value).written
        whole = isinstance(value, float) and written.lstrip("-").isdecimal()
        return f"{written}.0" if whole else written

    def literal(self, array: Any) -> Text:
        kind = ", dtype=float" if array.dtype.kind == "f" else ""
        return Text(f"np.array({self.nested(array)}{kind})")

    def argument(self, value: Any, texts: Mapping[int, Text]) -> str:
        if isinstance(value, Tree) and value.head == NUMBER:
            return self.entry(value.args[0])
        if isinstance(value, tuple) and any(_is_index(v) for v in value):
            return f"np.s_[{self.index(value, texts)}]"
        if isinstance(value, tuple | list):
            items = [self.argument(v, texts) for v in value]
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        return super().argument(value, texts)


def _is_index(value: Any) -> bool:
    return isinstance(value, slice) or value is ...


NUMPY_WORDS: Final = NumpyWords({
    "T": lambda x: f"{x.primary}.T",
    "mT": lambda x: f"{x.primary}.swapaxes(-1, -2)",
    "detach": lambda x: x,
    "as_numbers": lambda x: f"{x.primary}.astype(float)",
    "as_index": lambda x: f"{x.primary}.astype(int)",
    "nan_to_num": lambda x, nan, posinf, neginf: (
        f"np.nan_to_num({x}, nan={nan}, posinf={posinf}, neginf={neginf})"
    ),
    "part": lambda x, i: f"{x.primary}[{i}]",
})  # fmt: skip
