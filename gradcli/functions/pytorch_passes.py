"""The backward passes of a script as PyTorch itself runs it, in a process of its own.

Invariants: this process never takes gradcli for torch; the script runs as Python runs
it, and each line's first pass is written before it starts, as one line of JSON, so that
what was reached is known even if the script fails.

    passes = PyTorchRun.of(Path("train.py"), ["--epochs", "1"])
    passes.views[("/home/me/train.py", 12)].nodes[0].name
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Any, Final, TextIO

from ..answers.callers import is_internal, variables
from ..answers.graph_view import GraphView, NodeView
from ..answers.pytorch_graph import PyTorchGraph
from ..engine.extras import how_to_install
from ..lang.errors import ProgramError

PYTORCH: Final = "torch"
"""Name of the package of PyTorch."""

NO_PYTORCH: Final = 3
"""Exit status of the process if there is no PyTorch."""

_START: Final = (
    "import sys; root = sys.argv[1]; root in sys.path or sys.path.insert(0, root); "
    "from gradcli.functions.pytorch_passes import main; main(*sys.argv[2:])"
)

Place = tuple[str, int]
"""Type of a line: the path of its file, and its number."""


@dataclass(frozen=True, slots=True)
class PyTorchRun:
    """A script's run by PyTorch.

    views  the graph of each line's first pass
    error  the last line of what the script wrote as it failed; empty: it did not
    """

    views: Mapping[Place, GraphView]
    error: str

    @classmethod
    def of(cls, script: Path, arguments: Sequence[str], ends: list[Any]) -> PyTorchRun:
        """Run a script by PyTorch and return what was reached; a function that stops it
        is added to ``ends`` while it runs.

        Raises:
            ProgramError: there is no PyTorch.
        """
        root = str(Path(__file__).resolve().parents[2])
        with TemporaryDirectory() as folder:
            out = Path(folder, "passes.jsonl")
            process = Popen(
                [sys.executable, "-X", "utf8", "-c", _START, root, str(out),
                 str(script.resolve()), *arguments],
                stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, text=True,
            )  # fmt: skip
            ends.append(process.kill)
            try:
                _, told = process.communicate()
            finally:
                ends.remove(process.kill)
            if process.returncode == NO_PYTORCH and not out.exists():
                hint = f"install it beside gradcli: {how_to_install('torch')}"
                raise ProgramError("E590", "there is no PyTorch here", hint=hint)
            lines = out.read_text(encoding="utf-8").splitlines()
        views = dict(map(_read, lines))
        last = told.strip().splitlines()[-1:] if process.returncode else []
        return cls(views, "".join(last))


def _read(line: str) -> tuple[Place, GraphView]:
    file, number, name, shape, output_nr, rows = json.loads(line)
    nodes = tuple(
        NodeView(
            id=nr,
            name=kind,
            address=nr,
            variable=variable,
            output=output,
            shape=tuple(sizes),
            source=None,
            line=None,
            column=None,
            span=None,
            next_functions=tuple((end, place) for end, place in edges),
            local_gradients=(None,) * len(edges),
        )
        for nr, (kind, variable, output, sizes, edges) in enumerate(rows)
    )
    view = GraphView("", name, tuple(shape), output_nr, 0 if nodes else None, nodes)
    return (file, number), view


def main(out: str, script: str, *arguments: str) -> None:
    """Run a script by PyTorch; write its passes to a file."""
    try:
        torch: Any = import_module(PYTORCH)
    except ImportError:
        sys.exit(NO_PYTORCH)
    package = str(Path(torch.__file__).parent)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    with open(out, "w", encoding="utf-8") as file:
        _watch(torch, package, file)
        runpy.run_path(script, run_name="__main__")


def _watch(torch: Any, package: str, file: TextIO) -> None:
    """Let PyTorch write each line's first pass to a file."""
    plain = torch.autograd.backward
    met: set[Place] = set()

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        roots = tensors if isinstance(tensors, tuple | list) else (tensors,)
        frame = sys._getframe(1)
        while frame.f_back is not None and (
            is_internal(frame.f_code.co_filename)
            or frame.f_code.co_filename.startswith(package)
        ):
            frame = frame.f_back
        place = frame.f_code.co_filename, frame.f_lineno
        if len(roots) == 1 and roots[0].grad_fn is not None and place not in met:
            met.add(place)
            view = PyTorchGraph(roots[0], variables(frame), numbers=False).view
            rows = [
                (n.name, n.variable, n.output, n.shape, n.next_functions)
                for n in view.nodes
            ]
            line = (*place, view.name, view.shape, view.output_nr, rows)
            file.write(json.dumps(line) + "\n")
            file.flush()
        return plain(tensors, *args, **kwargs)

    torch.autograd.backward = backward
