"""PyTorch's own samples of every operation that gradcli has, as function and as method.

Invariant: each sample gives PyTorch's value, first and second derivative, or it stands
in the table below with the reason; and what stands there still differs, so that no
entry outlives its reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from operator import attrgetter
from types import GetSetDescriptorType
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("expecttest", reason="PyTorch's samples need expecttest")

import torch

import gradcli
from tests.grouped import by_row

from .op_samples import Differs, compare

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.peers

DRAWN = "draws: each library has its own numbers, but for a seed that tests set"
NOT_WRITTEN = "memory that was not written to: there is no value to compare"
UNUSED = "no part of gradcli: of 20,415 public scripts fewer than three use it"

LEFT_OUT: dict[str, str] = {
    DRAWN: "bernoulli cauchy exponential geometric log_normal multinomial normal "
    "rand_like randint randint_like randn randn_like uniform pca_lowrank svd_lowrank "
    "nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d "
    "nn.functional.dropout3d nn.functional.feature_alpha_dropout "
    "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d "
    "nn.functional.multi_head_attention_forward nn.functional.rrelu "
    "nn.functional.scaled_dot_product_attention",
    NOT_WRITTEN: "empty empty_like empty_permuted empty_strided new_empty "
    "new_empty_strided",
    UNUSED: "addbmm addmv addr aminmax argwhere bucketize cholesky_inverse "
    "resize_ resize_as_ frexp linalg.multi_dot msort sgn nn.functional.max_unpool1d "
    "nn.functional.max_unpool2d nn.functional.max_unpool3d "
    "nn.functional.grid_sample grid_sampler_2d grid_sampler_3d "
    "special.chebyshev_polynomial_v special.chebyshev_polynomial_w "
    "special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u "
    "special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w "
    "unique_consecutive nn.functional.channel_shuffle "
    "nn.functional.cosine_embedding_loss nn.functional.ctc_loss "
    "nn.functional.linear_cross_entropy "
    "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss "
    "nn.functional.multilabel_soft_margin_loss "
    "nn.functional.triplet_margin_with_distance_loss nn.functional.upsample_bilinear "
    "nn.functional.upsample_nearest alias_copy as_strided_copy as_strided_scatter "
    "cartesian_prod conj_physical diagonal_copy diagonal_scatter expand_copy "
    "histc histogram histogramdd index_reduce isreal "
    "linalg.householder_product "
    "linalg.inv_ex linalg.lu_factor_ex linalg.solve_ex linalg.tensorinv "
    "linalg.tensorsolve linalg.vander narrow_copy nonzero_static ormqr permute_copy "
    "resolve_conj resolve_neg scalar_tensor scatter_reduce split_with_sizes_copy "
    "squeeze_copy sum_to_size t_copy transpose_copy unbind_copy "
    "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor gcd lcm unfold_copy block_diag combinations "
    "cummax cummin index_fill kthvalue "
    "logcumsumexp nn.functional.gaussian_nll_loss nn.functional.hardshrink "
    "nn.functional.hinge_embedding_loss nn.functional.pdist "
    "nn.functional.poisson_nll_loss nn.functional.softmin nn.functional.softshrink "
    "put take_along_dim unravel_index unsafe_chunk unsafe_split unsqueeze_copy "
    "view_copy",
    "complex numbers": "cdouble cfloat chalf complex imag linalg.eig linalg.eigvals "
    "polar view_as_complex view_as_real",
    "Fourier transforms, which are complex": "fft.fft fft.fft2 fft.fftn fft.fftshift "
    "fft.hfft fft.hfft2 fft.hfftn fft.ifft fft.ifft2 fft.ifftn fft.ifftshift "
    "fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft "
    "fft.rfft2 fft.rfftn istft stft",
    "sparse tensors": "sparse.mm sparse.sampled_addmm to_sparse",
    "a type that NumPy does not have": "bfloat16",
    "products of numbers of eight bits": "torch._scaled_mm torch._scaled_mm_v2",
    "parts of functions, under other names here": "_batch_norm_with_update "
    "_native_batch_norm_legit _upsample_bilinear2d_aa native_batch_norm "
    "native_group_norm native_layer_norm slice "
    "torch.ops.aten._efficient_attention_forward "
    "torch.ops.aten._flash_attention_forward torch.ops.aten._safe_softmax.default",
    "reverse rules called by hand": "_softmax_backward_data "
    "max_pool2d_with_indices_backward native_dropout_backward",
    "steps of PyTorch's compiler and of its data loading": "_chunk_cat _segment_reduce "
    "_unsafe_masked_index _unsafe_masked_index_put_accumulate hash_tensor",
    "programs for CUDA, compiled from text": "jiterator_2inputs_2outputs "
    "jiterator_4inputs_with_extra_args jiterator_binary "
    "jiterator_binary_return_by_ref jiterator_unary",
    "factors without a derivative, as LAPACK has them": "geqrf linalg.ldl_factor "
    "linalg.ldl_factor_ex linalg.ldl_solve",
    "shapes, not tensors": "broadcast_shapes",
    "outside of what gradcli is for": " ".join(
        op.name for op in op_db if op.name.startswith(("masked.", "signal."))
    ),
}
"""PyTorch's operations that are not compared, by the reason. Draws and functions of
shapes are there all the same, and tested elsewhere."""

WITH_REASON = {name: why for why, names in LEFT_OUT.items() for name in names.split()}


class Excepted(NamedTuple):
    """Samples that may differ: which, in what (the words that begin it), and why."""

    why: str
    which: Callable[[Any], bool]
    words: tuple[str, ...]


REFUSAL = (
    *("CallError", "KindError", "PositionError", "ShapeError", "ValueError"),
    "ValueRangeError",
)


def refused(why: str, which: Callable[[Any], bool]) -> Excepted:
    """Arguments that gradcli does not take, and says so."""
    return Excepted(why, which, REFUSAL)


FEW_DIGITS = Excepted(
    "PyTorch's own numbers have six digits where the function swings",
    lambda s: bool((s.input.abs() > 2).any()),
    ("value",),
)

OF_WEIGHTS = ("fweights", "aweights")

EXCEPTED: dict[str, tuple[Excepted, ...]] = {
    **{f"special.bessel_{name}": (FEW_DIGITS,) for name in ("j0", "j1", "y0", "y1")},
    "special.airy_ai": (FEW_DIGITS,),
    "linalg.lstsq": (
        refused("there is one driver, gelsy", lambda s: "driver" in s.kwargs),
    ),
    "linalg.norm": (
        Excepted(
            "the second derivative of a norm at 0 is 0; PyTorch has NaN",
            lambda s: not s.input.detach().count_nonzero(),
            ("second derivative",),
        ),
    ),
    "cov": (
        refused(
            "observations have no weights of their own",
            lambda s: any(w in s.kwargs for w in OF_WEIGHTS),
        ),
    ),
    "nn.functional.interpolate": (
        refused(
            "other filters are not offered",
            lambda s: (
                s.kwargs.get("mode") == "nearest-exact" or s.kwargs.get("antialias")
            ),
        ),
    ),
    "tensor_split": (
        refused(
            "positions are plain integers",
            lambda s: any(isinstance(each, torch.Tensor) for each in s.args),
        ),
    ),
    "gradient": (
        refused(
            "points of an even grid alone are compared, to the first order at its ends",
            lambda s: "edge_order" in s.kwargs or "spacing" in s.kwargs,
        ),
    ),
    "rsub": (
        refused("there is no factor of an operand", lambda s: "alpha" in s.kwargs),
    ),
    "nn.functional.batch_norm": (
        refused(
            "an input without a dimension of channels is refused",
            lambda s: s.input.dim() < 2,
        ),
    ),
    "nn.functional.hardsigmoid": (
        Excepted(
            "PyTorch multiplies by a sixth in single precision, 3e-8 off",
            lambda s: bool(s.input.numel()),
            ("first derivative",),
        ),
    ),
}
"""By operation, what gradcli refuses or means otherwise."""

ORDER: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "einsum": lambda f: lambda tensors, equation: f(equation, *tensors),
    "where": lambda f: lambda a, condition, b: f(condition, a, b),
    "nn.functional.embedding": lambda f: lambda w, at, **rest: f(at, w, **rest),
    "nn.functional.embedding_bag": lambda f: lambda w, at, **rest: f(at, w, **rest),
}
"""Samples whose arguments come in another order than the function's."""


OF_A_FACTOR = {"cholesky_solve", "triangular_solve"}
"""Operations outside of ``torch.linalg`` that read one triangle of an operand."""


VARIANTS: dict[tuple[str, str], Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    ("linalg.lstsq", "grad_oriented"): lambda f: lambda *a, **rest: f(*a, **rest)[:2],
    ("linalg.pinv", "singular"): lambda f: lambda a, b: f(a @ b.mT),
}
"""What PyTorch's samples call in place of the function itself."""
METHODS = ("item", "zero_")
"""Methods that PyTorch's samples call by a function of their own."""

ATTRIBUTES = ("T", "H", "mT")
"""Operations that a tensor has as attributes, without a call."""


class Form(NamedTuple):
    """One way to call an operation, in PyTorch and in gradcli."""

    op: Any
    kind: str
    theirs: Callable[..., Any]
    ours: Callable[..., Any]

    @property
    def ident(self) -> str:
        variant = f"/{self.op.variant_test_name}" if self.op.variant_test_name else ""
        return f"{self.op.name}{variant}-{self.kind}"

    def fits(self, sample: Any) -> bool:
        """Whether PyTorch takes the sample: in place a result must fit its place."""
        try:
            self.theirs(sample.input, *sample.args, **sample.kwargs)
        except RuntimeError:
            return False
        return True

    def samples(self) -> Iterator[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            type_ = type_of(self.op)
            found = list(
                self.op.sample_inputs(
                    "cpu",
                    type_,
                    requires_grad=self.op.supports_autograd and type_ is torch.float64,
                )
            )
        for sample in map(in_doubles, found):
            if self.kind == "function" or isinstance(sample.input, torch.Tensor):
                yield sample


def type_of(op: Any) -> Any:
    """The type of an operation's samples: doubles, or integers if it takes no floats;
    None where it takes neither, or nothing at all on the processor."""
    taken = op.supported_dtypes("cpu")
    return next((each for each in (torch.float64, torch.int64) if each in taken), None)


def in_doubles(sample: Any) -> Any:
    """The sample without weights in single precision, whose rounding would go into
    derivatives that are compared in double precision."""
    for name, value in sample.kwargs.items():
        if isinstance(value, torch.Tensor) and value.dtype is torch.float32:
            wide = value.detach().double()
            sample.kwargs[name] = wide.requires_grad_(value.requires_grad)
    return sample


def reached(root: Any, path: str) -> Any:
    """``root.nn.functional.relu``; None if there is no such thing to call."""
    for name in path.split("."):
        root = getattr(root, name, None)
    return root if callable(root) else None


def on_its_matrices(op: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """The function as PyTorch's own tests of derivatives call it: a matrix that is
    taken to be symmetric, or of which one triangle is read, is made so first."""
    if not op.name.startswith("linalg.") and op.name not in OF_A_FACTOR:
        return f
    return lambda *args, **kwargs: op.gradcheck_wrapper(f, *args, **kwargs)


def method(name: str) -> Callable[..., Any]:
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(x, name)
        return found(*args, **kwargs) if callable(found) else found

    return call


def on_copy(change: Callable[..., Any]) -> Callable[..., Any]:
    """The change of a copy, as a leaf that needs a gradient takes none."""
    return lambda x, *args, **kwargs: change(x.clone(), *args, **kwargs)


def made(op: Any, *functions: Callable[..., Any]) -> list[Callable[..., Any]]:
    return [on_its_matrices(op, f) for f in functions]


def forms_of(op: Any) -> Iterator[Form]:
    if op.name in ATTRIBUTES:
        yield Form(op, "attribute", op, method(op.name))
    for name in (op.name, *(alias.name for alias in op.aliases)):
        ours = reached(gradcli, name)
        if ours is not None and reached(torch, name) is not None:
            other = VARIANTS.get((op.name, op.variant_test_name), lambda f: f)
            ours = on_copy(ours) if name.endswith("_") else ours
            arranged = other(ORDER.get(op.name, lambda f: f)(ours))
            yield Form(op, "function", *made(op, op, arranged))
            break
    if op.method_variant is not None and hasattr(gradcli.Tensor, op.name):
        yield Form(op, "method", *made(op, op.method_variant, method(op.name)))
    elif op.name in METHODS:
        yield Form(op, "method", op, on_copy(method(op.name)))
    if isinstance(getattr(torch.Tensor, op.name, None), GetSetDescriptorType):
        yield Form(op, "attribute", op, method(op.name))
    changed = f"{op.name}_"
    if op.inplace_variant is not None and hasattr(gradcli.Tensor, changed):
        theirs, ours = on_copy(op.inplace_variant), on_copy(method(changed))
        yield Form(op, "in place", theirs, ours)


def forms() -> list[Form]:
    """Every operation of PyTorch's that is not left out, in doubles or integers."""
    return [
        form
        for op in op_db
        if op.name not in WITH_REASON and type_of(op) is not None
        for form in forms_of(op)
    ]


class Outcome(NamedTuple):
    """What became of one sample: what differed, if anything, and if it may."""

    differs: str | None
    excepted: Excepted | None
    order: int

    @property
    def fails(self) -> bool:
        """Whether it differs in what it is not excepted for."""
        if self.differs is None:
            return False
        return self.excepted is None or not self.differs.startswith(self.excepted.words)


def outcomes(form: Form) -> Iterator[Outcome]:
    rng = np.random.default_rng(0)
    known = EXCEPTED.get(form.op.name, ())
    for sample in form.samples():
        excepted = next((entry for entry in known if entry.which(sample)), None)
        order, differs = -1, None
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if form.kind == "in place" and not form.fits(sample):
                continue
            try:
                order = compare(form.theirs, form.ours, sample, rng)
            except Differs as difference:
                differs = str(difference)
            except Exception as error:
                differs = f"{type(error).__name__}: {error}"
        yield Outcome(differs, excepted, order)


FORMS = forms()
SHARE = 6
"""One operation of so many is compared in every run, the others at night."""


@by_row("form", FORMS, attrgetter("ident"), share=SHARE)
def test_an_operation_gives_pytorch_s_values_and_derivatives(form: Form) -> None:
    wrong = [f"#{i} {o.differs}" for i, o in enumerate(outcomes(form)) if o.fails]
    assert not wrong, "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXCEPTED)
def test_what_is_excepted_still_differs(name: str) -> None:
    mine = [form for form in FORMS if form.op.name == name]
    seen = {o.excepted for form in mine for o in outcomes(form) if o.differs}
    assert seen.issuperset(EXCEPTED[name])


def test_every_operation_is_compared_or_left_out_for_a_reason() -> None:
    compared = {form.op.name for form in FORMS}
    assert {op.name for op in op_db} == compared | WITH_REASON.keys()
    assert not compared & WITH_REASON.keys()
