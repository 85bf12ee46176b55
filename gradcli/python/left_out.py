"""What of PyTorch is left out on purpose: why, and what to write instead.

Invariant: a family is named by the beginning of its dotted names, without ``torch.``; a
part that ends in ``*`` stands for every ending.

    refusal("torch.jit.trace")
    # "gradcli has no torch.jit.trace; nothing is compiled to TorchScript: ..."
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_COMPLEX = "there are no complex numbers: compute with the real and imaginary parts"
_DENSE = "there are no sparse tensors: use dense ones"
_ONE_PROCESS = "everything runs in one process: use the module or function itself"
_PRECISION = (
    "numbers have one precision, which nothing lowers on the way: leave it out, or "
    "convert with .float() or .half()"
)
_QUANTISED = "there are no quantised numbers: use float32"
_SUBCLASS = "there are no subclasses of tensors with operations of their own"
_TIMES = (
    "it does not measure times: leave it out; python -m cProfile -m gradcli run "
    "SCRIPT.py does"
)
_TYPE = "there is no such type of numbers: use float32 or float16"
_UNMEASURED = "the memory of a GPU is not measured here: leave it out"

FAMILIES = {
    _COMPLEX: "fft stft istft complex* cfloat cdouble chalf polar view_as_complex "
    "view_as_real linalg.eig linalg.eigvals Tensor.cfloat Tensor.cdouble Tensor.stft "
    "Tensor.istft",
    _DENSE: "sparse sparse_* Tensor.to_sparse* Tensor.coalesce optim.SparseAdam",
    _ONE_PROCESS: "distributed multiprocessing nn.parallel "
    "nn.SyncBatchNorm utils.data.distributed",
    _PRECISION: "amp cuda.amp autocast GradScaler get_autocast* is_autocast*",
    _TYPE: "bfloat16 float8* Tensor.bfloat16 Module.bfloat16 nn.Module.bfloat16",
    _QUANTISED: "quantization ao quantize_* qint* quint* nn.quantized "
    "backends.quantized",
    _SUBCLASS: "utils.swap_tensors utils._python_dispatch overrides "
    "Tensor._make_wrapper_subclass Tensor._make_subclass",
    _TIMES: "profiler autograd.profiler utils.bottleneck",
    _UNMEASURED: "cuda.memory cuda.memory_* cuda.max_memory_* cuda.reset_peak_* "
    "cuda.mem_get_info",
    "memory has no type of numbers: untyped_storage() is a tensor's memory":
        "Tensor.storage",
    "nothing is compiled to TorchScript: leave it out, the function runs as it is":
        "jit",
    "programs are not traced: gradcli run --graph draws the graph of each backward()":
        "fx",
    "models are not exported: torch.save(model.state_dict(), FILE) writes numbers":
        "onnx export",
    "nothing is compiled: leave it out, the function runs as it is":
        "compiler _dynamo _inductor",
    "operations in C++ cannot be loaded: write them as an autograd.Function":
        "library ops.load_library utils.cpp_extension classes",
    "nothing is loaded from the network: save the numbers with "
    "safetensors.torch.save_file where PyTorch is, and torch.load reads them":
        "hub utils.model_zoo",
    "nothing is logged for TensorBoard: print the numbers": "utils.tensorboard",
    "weights are not pruned by a tool: multiply them by a mask in forward()":
        "nn.utils.prune",
    "weights are not computed from others by a tool: compute them in forward()":
        "nn.utils.parametrize nn.utils.parametrizations",
    "layers are given the sizes of their inputs: leave out Lazy, and name the size":
        "nn.Lazy* nn.UninitializedParameter nn.UninitializedBuffer",
    "PyTorch has removed it: torch.linalg.solve(A, B), the matrix first, gives the "
    "solution itself": "Tensor.solution",
    "PyTorch has removed it: torch.linalg.eigh(A, UPLO='U') takes its place": "symeig",
    "PyTorch has removed it: torch.linalg.lstsq(A, B).solution takes its place":
        "lstsq",
    "PyTorch has removed it: torch.linalg.matrix_rank takes its place": "matrix_rank",
}  # fmt: skip
"""The names of each family, by what is said of them."""

BEYOND = (
    "functorch masked signal *_window optim.Adafactor optim.Muon optim.swa_utils "
    "optim.lr_scheduler.CyclicLR optim.lr_scheduler.PolynomialLR "
    "distributions.Beta distributions.Dirichlet distributions.Exponential "
    "distributions.Gamma distributions.Laplace distributions.LogNormal "
    "distributions.MixtureSameFamily distributions.OneHotCategorical* "
    "distributions.Poisson distributions.StudentT distributions.register_kl "
    "utils.checkpoint.CheckpointPolicy utils.checkpoint.SelectiveCheckpointContext "
    "utils.checkpoint.create_selective_checkpoint_contexts "
    "utils.checkpoint.set_checkpoint_* utils.data.ChainDataset utils.data.StackDataset "
    "nn.AdaptiveLogSoftmaxWithLoss nn.AlphaDropout nn.Buffer nn.CTCLoss "
    "nn.ChannelShuffle nn.CircularPad* nn.CosineEmbeddingLoss nn.CrossMapLRN2d "
    "nn.FeatureAlphaDropout nn.Fractional* nn.LPPool* nn.LinearCrossEntropyLoss "
    "nn.MultiLabel* nn.MultiMarginLoss nn.TripletMarginWithDistanceLoss "
    "nn.functional.*_with_indices nn.functional.*alpha_dropout nn.functional.conv_tbc "
    "nn.functional.channel_shuffle nn.functional.cosine_embedding_loss "
    "nn.functional.ctc_loss nn.functional.fractional_* nn.functional.lp_pool* "
    "nn.functional.linear_cross_entropy nn.functional.multi_margin_loss "
    "nn.functional.multilabel_* nn.functional.triplet_margin_with_distance_loss "
    "nn.functional.upsample_* nn.init.dirac_ nn.utils.clip_grad_norm "
    "nn.utils.clip_grads_with_norm_ nn.utils.fuse_* nn.utils.get_total_norm "
    "nn.utils.parameters_to_vector nn.utils.skip_init nn.utils.vector_to_parameters "
    "nn.utils.rnn.invert_permutation nn.utils.rnn.*pack_sequence "
    "nn.utils.rnn.unpad_sequence"
)
"""Names outside of what gradcli is for, of which nothing else is said."""

_SAID = [(name, said) for said, names in FAMILIES.items() for name in names.split()]


def refusal(name: str) -> str | None:
    """Return the sentence about a dotted name that is left out on purpose; None: it is
    not."""
    parts = name.removeprefix("torch.").split(".")
    for known, said in [*_SAID, *((known, "") for known in BEYOND.split())]:
        depth = known.count(".") + 1
        if len(parts) >= depth and fnmatchcase(".".join(parts[:depth]), known):
            if said:
                return f"gradcli has no {name}; {said}"
            return f"{name} is not part of gradcli"
    return None
