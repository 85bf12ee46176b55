"""Tensors that record the operations on them, and gradients, under PyTorch's names.

Invariant: importing this module imports no other; a name is imported from its module
when it is first used. Every public function of the operation table is here, under its
own name and under its other spellings.

    import gradcli as torch

    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()
    x.grad                      # tensor(4.)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "engine.tensor": "Tensor",
    "engine.devices": "get_default_device set_default_device",
    "engine.dtypes": "Size device dtype layout strided float16 float32 float64 int8 "
    "int16 int32 int64 uint8 get_default_dtype set_default_dtype",
    "engine.modes": "enable_grad is_grad_enabled inference_mode "
    "is_inference_mode_enabled",
    "autograd.grad_mode": "no_grad set_grad_enabled",
    "torch.creation": "tensor as_tensor asarray zeros ones full empty eye "
    "arange linspace logspace range tril_indices triu_indices "
    "zeros_like ones_like full_like empty_like from_numpy from_dlpack "
    "FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor CharTensor "
    "ByteTensor BoolTensor",
    "torch.draws": "Generator default_generator manual_seed seed initial_seed "
    "get_rng_state set_rng_state rand randn randint randperm rand_like randn_like "
    "normal bernoulli multinomial",
    "torch.queries": "is_tensor equal allclose numel is_floating_point "
    "promote_types result_type finfo iinfo "
    "broadcast_shapes where nonzero unique conj real imag is_complex isin "
    "searchsorted",
    "utils.saving": "save load",
    "autograd.transforms": "vmap",
    "lang.compiled": "compile",
    "pictures.shown": "graph",
    "answers.results": "grad jacobian check",
    "functions.torch_names": "install_as_torch dropout GradScaler amp autocast "
    "bfloat16 is_autocast_enabled distributed fx jit "
    "multiprocessing "
    "onnx quantization",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

_SPELLINGS = {
    "half": "float16", "float": "float32", "double": "float64",
    "short": "int16", "int": "int32", "long": "int64",
}  # fmt: skip
"""Names of dtypes, by PyTorch's second names for them."""

_CONSTANTS = {
    "inf": float("inf"), "nan": float("nan"), "newaxis": None,
    "pi": 3.141592653589793, "e": 2.718281828459045,
    "contiguous_format": "contiguous", "preserve_format": "preserve",
}  # fmt: skip

_MODULES = (
    "accelerator", "autograd", "backends", "cuda", "distributions", "func",
    "functional", "linalg", "nn", "ops", "optim", "random", "return_types", "special",
    "testing", "utils",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    found = _find(name)
    globals()[name] = found
    return found


def _find(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    import_module(f"{__name__}.torch")
    name = _SPELLINGS.get(name, name)
    if name == "bool":
        return import_module(f"{__name__}.engine.dtypes").bool_
    if name in _HOME:
        home = import_module(f"{__name__}.{_HOME[name]}")
        # A function that has the name of a room is the room, which can be called.
        return globals().get(name) or getattr(home, name)
    public = import_module(f"{__name__}.torch.public")
    if not (public.is_public(name) or public.changes_operand(name)):
        raise import_module(f"{__name__}.torch.absent").absent(
            __name__, name, __dir__()
        )
    return public.public(name)


def __dir__() -> list[str]:
    from .torch.public import names

    own = {"Tensor", "bool", *_HOME, *_SPELLINGS, *_CONSTANTS, *_MODULES}
    own.update(names())
    return sorted(own | {n for n in globals() if n.startswith("__")})
