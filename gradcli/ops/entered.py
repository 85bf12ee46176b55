"""The names that each family enters; a function stands for its own rows too,
and ``base.`` for all rows of a base. A family that is part of a module stands behind a
point: ``normalise.grouped``.

Written by ``python -m gradcli.stubs``, but for the names of families; of a new one the
key is entered by hand. `gradcli.ops.families` imports a module when one of its names is
asked for.
"""

NAMES = {
    "arithmetic": """
        add_ sub_ subtract_ rsub neg_ negative_ positive mul_ multiply_ div_ divide_
        true_divide_ floor_divide_ reciprocal_ remainder_ fmod_ pow_ power_ float_power
        square_ addcmul_ addcdiv_ lerp_
    """,
    "exponential": """
        exp_ exp2_ expm1_ log_ ln_ log2_ log10_ log1p_ sqrt_ cbrt_ rsqrt_ logaddexp_
        logaddexp2_ xlogy_ xlog1py_ log_to_base root ldexp_
    """,
    "trigonometric": """
        sin_ cos_ tan_ asin_ arcsin_ acos_ arccos_ atan_ arctan_ atan2_ arctan2_ hypot_
        sinh_ cosh_ tanh_ asinh_ arcsinh_ acosh_ arccosh_ atanh_ arctanh_ sinc_ deg2rad_
        rad2deg_ sec asec arcsec csc acsc arccsc cot acot arccot sech asech arcsech csch
        acsch arccsch coth acoth arccoth
    """,
    "special": """
        erf_ erfc_ erfinv_ ndtr erfcx_ log_ndtr_ ndtri_ lgamma_ gammaln_ digamma_ psi_
        polygamma_ mvlgamma_ multigammaln_ igamma_ gammainc_ igammac_ gammaincc_ zeta_
        logit_ entr_ nan_to_num_ nCr
    """,
    "special.bessel": """
        i0_ i1_ i0e_ i1e_ modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0
        bessel_j0 bessel_y0 modified_bessel_k0 scaled_modified_bessel_k0 bessel_j1
        bessel_y1 modified_bessel_k1 scaled_modified_bessel_k1 airy_ai airy_ai_prime
    """,
    "special.integrals": """
        erfi_ expi_ Ei_ li Si_ Ci_ Shi_ Chi_ fresnels_ fresnel_s_ fresnelc_ fresnel_c_
        lambertw_ LambertW_ polylog
    """,
    "polynomials": """
        chebyshev_polynomial_t_ shifted_chebyshev_polynomial_t_ chebyshev_polynomial_u_
        shifted_chebyshev_polynomial_u_ chebyshev_polynomial_v_
        shifted_chebyshev_polynomial_v_ chebyshev_polynomial_w_
        shifted_chebyshev_polynomial_w_ hermite_polynomial_h_ hermite_polynomial_he_
        laguerre_polynomial_l_ legendre_polynomial_p_
    """,
    "activation": """
        sigmoid_ expit_ logsigmoid_ log_sigmoid_ silu_ mish_ softplus_ gelu_ relu_
        leaky_relu_ rrelu elu_ selu celu_ hardtanh_ relu6 hardsigmoid_ hardswish_
        softshrink_ hardshrink_ threshold_ prelu_ softsign tanhshrink softmax
        log_softmax softmin logsumexp glu rrelu_with_noise.
    """,
    "compare": """
        abs_ absolute_ sign_ signbit copysign_ nextafter_ angle heaviside_ floor_ ceil_
        round_ trunc_ fix_ frac_ maximum_ minimum_ fmax_ fmin_ clamp_ clip_ clamp_min_
        clamp_max_ where eq_ ne_ not_equal_ lt_ less_ le_ less_equal_ gt_ greater_ ge_
        greater_equal_ logical_and_ logical_or_ logical_xor_ logical_not_ isnan isinf
        isfinite isposinf isneginf isclose
    """,
    "scan": """
        cumsum_ cumprod_ logcumsumexp cummax cummin
    """,
    "reduce": """
        sum mean nansum nanmean prod amax argmax max amin argmin min
    """,
    "stats": """
        var std var_mean std_mean median nanmedian mode all any count_nonzero
    """,
    "shape": """
        is_contiguous clone alias detach contiguous view reshape flatten unflatten ravel
        view_as reshape_as permute transpose swapaxes swapdims t numpy_T matrix_H mT mH
        adjoint movedim moveaxis squeeze unsqueeze transpose_. squeeze_. unsqueeze_.
    """,
    "norm": """
        norm linalg.vector_norm linalg.matrix_norm linalg.norm dist cdist pdist renorm_
        linalg_vector_norm.
    """,
    "products": """
        mm spmm mv dot vdot bmm matmul linalg.matmul addmm_ baddbmm_ outer ger linear
        kron tensordot inner linalg.vecdot vecdot bilinear
    """,
    "products.einsum": """
        einsum
    """,
    "linalg": """
        trace det linalg.det slogdet linalg.slogdet logdet inverse linalg.inv solve
        linalg.solve cholesky linalg.cholesky matrix_power linalg.matrix_power cross
        linalg.cross matrix_exp linalg.matrix_exp linalg_cross.
    """,
    "spectra": """
        linalg.svd linalg.svdvals svd linalg.eigh linalg.eigvalsh linalg_svd.
        linalg_eigh.
    """,
    "triangular": """
        linalg.solve_triangular triangular_solve cholesky_solve linalg_solve_triangular.
    """,
    "spectra.orthogonal": """
        linalg.qr qr linalg_qr.
    """,
    "triangular.triangles": """
        linalg.lu_factor lu linalg.lu lu_unpack linalg.lu_solve lu_solve
        linalg_lu_factor_ex. linalg_lu. linalg_lu_solve.
    """,
    "spectra.pseudoinverse": """
        linalg.pinv pinverse linalg.matrix_rank linalg.lstsq linalg_pinv.
        linalg_matrix_rank. linalg_lstsq.
    """,
    "linalg.equations": """
        linalg.cholesky_ex linalg.cond linalg_cholesky_ex.
    """,
    "stats.covariance": """
        cov corrcoef
    """,
    "join": """
        expand broadcast_to expand_as repeat tile atleast_1d atleast_2d atleast_3d cat
        concat concatenate stack hstack vstack row_stack dstack column_stack block_diag
    """,
    "index": """
        select as_entries narrow slice. index.
    """,
    "gather": """
        gather as_index scatter_ scatter_add_ index_select index_add_ take put_
        masked_fill_ masked_select bincount
    """,
    "stats.order": """
        topk kthvalue argsort sort
    """,
    "stats.quantile": """
        quantile nanquantile
    """,
    "differences": """
        diff trapezoid trapz cumulative_trapezoid gradient
    """,
    "join.split": """
        split_with_sizes unbind split chunk broadcast_tensors meshgrid combinations
    """,
    "arrange": """
        flip fliplr flipud roll rot90 tril_ triu_ diagonal diagonal_copy diag_embed diag
        diagflat constant_pad_nd unfold repeat_interleave
    """,
    "overwrite": """
        select_scatter slice_scatter index_copy_ index_fill_ index_put_ masked_scatter_
    """,
    "create": """
        zeros_like ones_like full_like new_full new_zeros new_ones as_type_of
    """,
    "loss": """
        mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy
        binary_cross_entropy_with_logits soft_margin_loss
    """,
    "loss.classes": """
        nll_loss cross_entropy kl_div poisson_nll_loss gaussian_nll_loss
        hinge_embedding_loss margin_ranking_loss cosine_similarity clone.at_least
    """,
    "normalise": """
        layer_norm batch_norm normalize weight_norm_interface.
    """,
    "lookup": """
        embedding one_hot
    """,
    "convolution": """
        convolution conv1d conv_transpose1d conv2d conv_transpose2d conv3d
        conv_transpose3d
    """,
    "convolution.columns": """
        im2col col2im
    """,
    "pooling": """
        max_pool1d avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d max_pool2d
        avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d max_pool3d avg_pool3d
        adaptive_avg_pool3d adaptive_max_pool3d
    """,
    "pooling.unpooling": """
        max_unpool1d max_unpool2d max_unpool3d
    """,
    "normalise.grouped": """
        group_norm
    """,
    "memory": """
        as_strided copy_slices. index_put.positions view.geometry copy_. zero_. fill_.
        to_copy.
    """,
    "borders": """
        pad reflection_pad1d. reflection_pad2d. reflection_pad3d. replication_pad1d.
        replication_pad2d. replication_pad3d.
    """,
    "resampling": """
        interpolate upsample_nearest1d. _upsample_nearest_exact1d. upsample_linear1d.
        upsample_nearest2d. _upsample_nearest_exact2d. upsample_bilinear2d.
        upsample_nearest3d. _upsample_nearest_exact3d. upsample_trilinear3d.
        upsample_bicubic2d. _upsample_bilinear2d_aa. _upsample_bicubic2d_aa.
    """,
    "shuffling": """
        pixel_shuffle pixel_unshuffle affine_grid_generator affine_grid
        local_response_norm
    """,
    "shuffling.sampling": """
        grid_sampler_2d grid_sampler_3d grid_sample
    """,
    "lookup.bags": """
        embedding_bag
    """,
}
"""Names of functions and of rows, other spellings among them; those of an
in-place form end in ``_``."""

INNER = """
    alias numpy_T matrix_H mT mH as_entries as_index diagonal_copy as_type_of
"""
"""Names without a dot that users are not offered."""
