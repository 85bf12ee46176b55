"""`gradcli run`: PyTorch scripts as they stand, and what is said of their passes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradcli.cli.app import run
from tests.processes import HANGS

from .conftest import COMMAND, environment

TRAIN = """
import sys
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
import torch.optim as optim


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0] * float(sys.argv[1])


x = torch.linspace(-1, 1, 4).unsqueeze(1)
model = nn.Linear(1, 1)
nn.init.ones_(model.weight)
nn.init.zeros_(model.bias)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for xb, yb in DataLoader(TensorDataset(x, x**2), batch_size=2):
    optimizer.zero_grad()
    loss = Square.apply(model(xb) - yb).sum()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
print(sys.argv[1:])
"""

Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Runs the command in this process on a script with this text."""

    def ran(text: str, *words: str, options: tuple[str, ...] = ()) -> Any:
        path = tmp_path / "train.py"
        path.write_text(text)
        status = run(["run", *options, str(path), *words])
        out, err = capsys.readouterr()
        return status, out, err

    return ran


def test_a_script_prints_what_it_prints_and_has_its_own_arguments(script: Ran) -> None:
    before = sys.argv[:], sys.modules.get("torch")
    status, out, err = script(TRAIN, "2", "--graph", "-x")
    assert (status, err) == (0, "")
    assert out.splitlines() == ["4.1975", "0.3260", "['2', '--graph', '-x']"]
    assert (sys.argv, sys.modules.get("torch")) == before


def test_passes_are_drawn_with_file_and_line(script: Ran) -> None:
    status, out, err = script(TRAIN, "2", options=("--graph",))
    assert status == 0
    assert out.splitlines()[-1] == "['2']"
    lines = err.splitlines()
    assert lines[0] == "train.py:27: loss.backward()"
    assert lines[1:3] == ["SumBackward0  loss", "└─ g ─ SquareBackward  [2, 1]"]
    assert "AccumulateGrad model.weight  [1, 1]" in err
    assert lines[-1] == "backward() ran at train.py:27: 2 times"


def test_passes_are_explained(script: Ran) -> None:
    status, out, err = script(TRAIN, "2", options=("--explain",))
    assert status == 0
    assert out.splitlines()[:2] == ["4.1975", "0.3260"]
    assert "the pass starts with dloss/dloss = 1.0" in err
    assert "model.weight.grad" in err
    assert "g = [[1.0], [1.0]]  (sum(x): x gets g)" in err
    assert "by the node's own rule" in err


def test_verifying_takes_no_longer_than_it_may(script: Ran) -> None:
    status, _, err = script(TRAIN, "2", options=("--verify", "--verify-seconds=0"))
    assert status == 0
    assert "train.py:27: loss: unknown" in err
    assert "time-out after 0 s: to run it again takes longer than that" in err


def test_passes_are_verified(script: Ran) -> None:
    patience = ("--verify", "--verify-seconds", "600")
    status, _, err = script(TRAIN, "2", options=patience)
    assert status == 0, err
    assert "model.weight: proved" in err
    status, _, err = script(TRAIN, "3", options=patience)
    assert status == 1
    assert "train.py:27: loss: refuted" in err
    assert "in Square.backward, the gradient by x lacks the factor 2/3" in err


def test_programs_of_python_may_say_import_torch(tmp_path: Path) -> None:
    import gradcli
    from gradcli.functions.torch_names import NotHere, as_torch

    before = sys.modules.get("torch")
    with as_torch():
        import torch
        import torch.nn as nn
        from torch.optim import lr_scheduler

        assert torch is gradcli
        assert nn is gradcli.nn
        assert lr_scheduler is gradcli.optim.lr_scheduler
        said = ""
        try:
            import torch.nosuch
        except ModuleNotFoundError as error:
            said = str(error)
        import torch.linlag
        from torch.fft import fft

        with pytest.raises(NotHere, match=r"nearest that there is: torch\.linalg"):
            torch.linlag.solve(torch.eye(2), torch.ones(2))
        with pytest.raises(NotHere, match=r"no torch\.fft\.fft; there are no complex"):
            fft(torch.ones(2))
    assert "gradcli has no torch.nosuch" in said
    assert not hasattr(gradcli, "fft")
    assert not hasattr(gradcli, "linlag")
    assert sys.modules.get("torch") is before
    assert gradcli.nn.__spec__.name == "gradcli.nn"


def test_the_option_that_gives_more_time_is_named(script: Ran) -> None:
    text = (
        "import torch\nx = torch.ones(30, 30, requires_grad=True)\ny = x\n"
        "for _ in range(30): y = torch.tanh(y @ x)\ny.sum().backward()\n"
    )
    _, _, err = script(text, options=("--verify", "--verify-seconds", "0.2"))
    assert "--verify-seconds N gives more" in err


ENDS = """
import atexit, sys, threading, time, weakref
file = open("out.txt", "w")
def late():
    time.sleep(0.1)
    file.write("by a thread")
class Thing: pass
thing = Thing()
weakref.finalize(thing, print, "finalized")
atexit.register(lambda: print("at exit", thing is not None, sys.argv, __name__))
threading.Thread(target=late).start()
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()
file.write("written ")
print("out")
"""

LAST_LINES = {
    "pass": None,
    "sys.exit(5)": None,
    "sys.exit('words')": None,
    "sys.stdout.close()": None,
    "sys.stdout = open('printed', 'w'); print(1)": None,
    "sys.excepthook = lambda *error: print(error[0]); 1/0": None,
    "import os; os._exit(7)": None,
    "raise KeyboardInterrupt": 130,
    "import os, signal; os.kill(os.getpid(), signal.SIGINT)": 130,
    "try: raise KeyboardInterrupt\nexcept KeyboardInterrupt: print('caught')": None,
    "1/0": 3,
    "raise BrokenPipeError": 3,
    "x = (": 3,
}
"""Last lines of scripts, with their status here; None: it is Python's."""


@pytest.mark.parametrize("last", LAST_LINES)
def test_a_script_ends_as_python_ends_it(last: str, tmp_path: Path) -> None:
    kinds = {"python": [sys.executable], "gradcli": [*COMMAND, "run"]}
    kept = {k: v for k, v in environment().items() if k != "PYTHONWARNINGS"}
    found, statuses = {}, {}
    for kind, command in kinds.items():
        folder = tmp_path / kind
        folder.mkdir()
        (folder / "train.py").write_text(ENDS + last + "\n")
        ended = subprocess.run(
            [*command, "train.py", "a"], cwd=folder, env=kept, timeout=HANGS,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        files = {p.name: p.read_text() for p in folder.glob("*") if p.suffix != ".py"}
        found[kind], statuses[kind] = (files, ended.stdout), ended.returncode
    meant = LAST_LINES[last]
    assert statuses["gradcli"] == (statuses["python"] if meant is None else meant)
    assert found["gradcli"] == found["python"]


def test_passes_of_threads_are_reported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import threading, time, torch\nx = torch.ones(2, requires_grad=True)\n"
        "def late():\n    time.sleep(0.1)\n    (x*x).sum().backward()\n"
        "threading.Thread(target=late).start()\n"
    )
    ended = subprocess.run(
        [*COMMAND, "run", "--graph", "train.py"], cwd=tmp_path, env=environment(),
        timeout=HANGS, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "train.py:5: once" in ended.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from torch.fft import fft\nfft(3)", "torch.fft.fft; there are no complex"),
        ("from torch import stft\nstft(3)", "torch.stft; there are no complex"),
        ("from torch import vander as v\n3 * v", "gradcli has no torch.vander"),
        ("import torch.onnx\ntorch.onnx.export(3)", "torch.onnx.export; models are"),
        ("import torch.no.such as t\nt.f()", "gradcli has no torch.no"),
        ("from torch.nn import Lineer\nclass A(Lineer): pass", "torch.nn.Lineer; the"),
        (
            "from torch.distributions import Beta\nisinstance(3, Beta)",
            "torch.distributions.Beta",
        ),
        (
            "import torch\nfrom torch.signal import windows\nwindows.hann(3)",
            "has no torch.signal",
        ),
    ],
)
def test_what_is_missing_raises_when_it_is_used(
    script: Ran, text: str, said: str
) -> None:
    *imports, use = text.splitlines()
    kept = "\n".join([*imports, "print(1)"])
    assert script(kept) == (0, "1\n", "")
    status, out, err = script(f"{kept}\n{use}")
    assert (status, out) == (3, "1\n")
    assert err.startswith("error[E101]")
    assert said in err


def test_an_import_error_that_the_script_catches_is_raised(
    script: Ran, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("from torch.special import nosuch\n")
    text = (
        "import contextlib\nwith contextlib.nullcontext():\n    import torch.signal\n"
        "for line in ('import torch.no_such', 'from torch import no_such', "
        "'import helper'):\n"
        "    try: exec(line)\n    except ImportError as error: print(error)\n"
        "try:\n    from torch._six import inf\nexcept ImportError:\n"
        "    from math import inf\nprint(inf)\n"
        "try:\n    import helper\nexcept ImportError:\n    print('without')\n"
    )
    status, out, err = script(text)
    assert (status, err) == (0, "")
    assert out.endswith("inf\nwithout\n")
