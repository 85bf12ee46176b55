"""`gradcli run`: PyTorch scripts as they stand, and what is said of their passes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradcli.cli.app import run

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
    assert lines[1:3] == ["SumBackward0  loss", "└─ SquareBackward  [2, 1]"]
    assert "AccumulateGrad model.weight  [1, 1]" in err
    assert lines[-1] == "backward() ran at train.py:27: 2 times"


def test_passes_are_explained(script: Ran) -> None:
    status, out, err = script(TRAIN, "2", options=("--explain",))
    assert status == 0
    assert out.splitlines()[:2] == ["4.1975", "0.3260"]
    assert "the pass starts with dloss/dloss = 1.0" in err
    assert "model.weight.grad" in err


TWICE = (
    "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "w = torch.tensor(3.0, requires_grad=True)\ny = (x * w).pow(2).sum()\n"
    "y.backward(retain_graph=True)\ny.backward(inputs=[x], retain_graph=True)\n"
    "torch.autograd.backward(y, torch.tensor(2.0), create_graph=True)\n"
    "print(x.grad.requires_grad, x.grad.tolist(), w.grad.item())\n"
)
"""A script that goes through one graph three times, each time with other options."""


@pytest.mark.parametrize("option", ["--graph", "--explain", "--verify-seconds=600"])
def test_a_pass_that_is_reported_is_the_one_that_the_script_asks_for(
    script: Ran, option: str
) -> None:
    verify = ["--verify"] if option.startswith("--verify") else []
    status, out, err = script(TWICE, options=(*verify, option))
    assert (status, out) == (0, "True [72.0, 144.0] 90.0\n")
    assert err.count("y.backward()") == 3
    assert "unknown" not in err


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


def test_a_pass_that_cannot_be_computed_again_is_unknown(script: Ran) -> None:
    text = (
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 1\n"
        "z = y * 2\ny[0] = 5\n(y.sum() + z.sum()).backward()\nprint(x.grad)"
    )
    status, out, err = script(text, options=("--verify",))
    assert (status, out) == (0, "tensor([2., 3.])\n")
    assert "unknown" in err


def test_what_a_script_will_miss_is_listed_before_it_runs(script: Ran) -> None:
    text = (
        "import torch\nfrom torch import fft\nimport torchvision\nprint(1)\n"
        "torch.nn.Lineer(3)\ntorch.nn.functional.gelu2\nlog = torch.lgo\n"
        "torch.fft.rfft(3)\nx = torch.zeros(3)\nx.foo()\ntorch.float32.is_complex\n"
        "torch.ones(2, device='meta')\n"
    )
    status, out, err = script(text, options=("--check",))
    assert (status, err.count("\n")) == (3, 1)
    assert out.splitlines() == [
        "train.py:2: gradcli has no torch.fft; there are no complex numbers: compute "
        "with the real and imaginary parts",
        "train.py:3: torchvision is built on PyTorch itself and does not run on "
        "gradcli; make the data with torch or NumPy, and the model with torch.nn",
        "train.py:5: gradcli has no torch.nn.Lineer; the nearest that there is: "
        "torch.nn.Linear",
        "train.py:6: gradcli has no torch.nn.functional.gelu2; the nearest that there "
        "is: torch.nn.functional.gelu",
        "train.py:7: gradcli has no torch.lgo; the nearest that there is: torch.log",
        "train.py:10: gradcli has no torch.Tensor.foo; the nearest that there is: "
        "torch.Tensor.floor",
        "train.py:12: gradcli has no device 'meta': there are no tensors without "
        "values here, leave the device out",
    ]
    status, out, err = script(TRAIN, options=("--check",))
    assert status == 0
    assert out == "train.py: gradcli has every name that is asked of torch\n"
    assert "only a run shows what is asked of objects" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import torch\ntorch.nn.Lineer(3)", "torch.nn.Lineer; the nearest that there "
         "is: torch.nn.Linear (train.py:2: torch.nn.Lineer(3))"),
        ("from torch import fft", "gradcli has no torch.fft; there are no complex"),
        ("import functorch\nfunctorch.dim", "functorch is not part of gradcli"),
        ("import torch\ntorch.signal.windows.hann(3)",
         "torch.signal is not part of gradcli (train.py:2"),
        ("import torchaudio", "torchaudio is built on PyTorch itself"),
        ("import torch.nn.functionl", "the nearest that there is: torch.nn.functional"),
        ("import torch\ntorch.ones(2).sinn()", "gradcli has no torch.Tensor.sinn"),
        ("x = 1\nprint(x / 0)", "the script raises ZeroDivisionError: division by zero "
         "(train.py:2: print(x / 0))"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_with_its_place(script: Ran, text: str, said: str) -> None:
    status, _, err = script(text)
    assert status == 3
    assert said in err
    assert "Traceback" not in err


def test_a_script_ends_as_it_says(script: Ran) -> None:
    assert script("import sys\nsys.exit(5)")[0] == 5
    assert script("import sys\nsys.exit()")[0] == 0
    status, _, err = script("import sys\nsys.exit('so it is')")
    assert (status, err) == (1, "so it is\n")
    assert run(["run", "nowhere.py"]) == 3


def test_programs_of_python_may_say_import_torch(tmp_path: Path) -> None:
    import gradcli
    from gradcli.python.torch_names import as_torch

    before = sys.modules.get("torch")
    with as_torch():
        import torch
        import torch.nn as nn
        from torch.optim import lr_scheduler

        assert torch is gradcli
        assert nn is gradcli.nn
        assert lr_scheduler is gradcli.optim.lr_scheduler
        with pytest.raises(ModuleNotFoundError, match="nearest that there is"):
            import torch.linlag
    assert sys.modules.get("torch") is before
    assert gradcli.nn.__spec__.name == "gradcli.nn"


def test_a_scripts_own_files_are_read_as_well(script: Ran, tmp_path: Path) -> None:
    package = tmp_path / "nets"
    package.mkdir()
    (package / "__init__.py").write_text("from . import blocks\n")
    (package / "blocks.py").write_text("import torch\nB = torch.fft.fft\n")
    (tmp_path / "helper.py").write_text("import torch\ntorch.jit.trace\n")
    text = "import torch, helper\nfrom nets.blocks import B\n"
    status, out, _ = script(text, options=("--check",))
    assert status == 3
    assert "helper.py:2: gradcli has no torch.jit" in out
    assert "blocks.py:2: gradcli has no torch.fft" in out


UNUSED = """
import torch, torch.onnx, torch.fx, torch.quantization, torch.multiprocessing as mp
import torch.distributed as dist, torch.backends.cudnn as cudnn
from torch.distributed import init_process_group, rpc
from torch.utils.tensorboard import SummaryWriter
from torch.cuda.amp import autocast, GradScaler, custom_fwd
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler
cudnn.benchmark = True


@torch.jit.script
def doubled(x):
    return 2 * x


@torch.jit.ignore(drop=True)
def negative(x):
    return -x


lower = False
x = torch.ones(2, requires_grad=True)
scaler, optimizer = GradScaler(enabled=lower), torch.optim.SGD([x], lr=0.5)
with autocast(lower), torch.autocast("cpu", enabled=lower), torch.amp.autocast(
    "cuda", torch.float16, False
):
    loss = doubled(negative(x)).sum()
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
scaler.step(optimizer)
scaler.update()
print(x.tolist(), dist.is_available(), torch.jit.is_scripting())
"""


def test_imports_without_use_and_what_is_turned_off_change_nothing(script: Ran) -> None:
    text = UNUSED.replace("autocast(lower)", "autocast(enabled=lower)")
    assert script(text, options=("--check",))[0] == 0
    for each in (text, UNUSED):
        assert script(each) == (0, "[2.0, 2.0] False False\n", "")


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("init_process_group('gloo')", "torch.distributed.init_process_group; every"),
        ("dist.all_reduce(x)", "torch.distributed.all_reduce; everything runs in one"),
        ("for each in rpc.workers: pass", "torch.distributed.rpc"),
        ("SummaryWriter()", "torch.utils.tensorboard.SummaryWriter; nothing is logged"),
        ("with autocast(): pass", "autocast; numbers have one precision"),
        ("torch.amp.GradScaler('cpu')", "GradScaler; numbers have one precision"),
        ("class S(torch.jit.ScriptModule): pass", "torch.jit.ScriptModule; nothing is"),
        ("isinstance(x, torch.fx.Proxy)", "torch.fx.Proxy; programs are not traced"),
        ("torch.onnx.export(doubled, x, 'x')", "torch.onnx.export; models are not"),
        ("mp.spawn(doubled)", "torch.multiprocessing.spawn; everything runs in one"),
        ("DDP(x)", "torch.nn.parallel"),
    ],
)
def test_what_is_done_with_a_placeholder_is_refused_and_told_before(
    script: Ran, use: str, said: str
) -> None:
    text = f"{UNUSED.replace('autocast(lower)', 'autocast(enabled=lower)')}{use}\n"
    status, out, _ = script(text, options=("--check",))
    assert status == 3
    assert len(out.splitlines()) == 1
    assert said in out
    status, _, err = script(text)
    assert status == 3
    assert said.partition(";")[0] in err
    assert use.partition(":")[0] in err


def test_what_may_be_a_tensor_is_told_apart_from_what_is(script: Ran) -> None:
    text = "import torch\ndef f(a):\n    return a.storage()\n"
    status, out, _ = script(text, options=("--check",))
    assert status == 0
    assert "train.py:3: if that is a tensor: gradcli has no torch.Tensor.stor" in out
    status, out, _ = script(
        "import torch\ntorch.ones(2).storage()", options=("--check",)
    )
    assert status == 3


def test_the_option_that_gives_more_time_is_named(script: Ran) -> None:
    text = (
        "import torch\nx = torch.ones(30, 30, requires_grad=True)\ny = x\n"
        "for _ in range(30): y = torch.tanh(y @ x)\ny.sum().backward()\n"
    )
    _, _, err = script(text, options=("--verify", "--verify-seconds", "0.2"))
    assert "--verify-seconds N gives more" in err
