"""Rows that PyTorch has no function for, so that nothing is recorded of them."""

from __future__ import annotations

from typing import Final

OWN: Final = {
    "clone.at_least": "a lower bound of what cosine_similarity divides by",
    "copy_slices.positions": "an in-place change of a view, as its base sees it",
    "copy_slices.overlapping": "an in-place change of a view, as its base sees it",
    "index_put.positions": "an in-place change of a view, as its base sees it",
    "as_strided.positions": "a view named by the positions of its entries",
    "as_strided.backward": "a view named by the positions of its entries",
    "view.geometry": "strides and the place of the first entry, as numbers",
    "as_entries": "integers or a mask that index, from whatever the user wrote",
    "as_index": "integers that index, from whatever the user wrote",
    "as_index.beside": "integers that index, on the device of a tensor",
    "embedding.shares": "a part of embedding with a bound of the norm",
    "lstm.cell": "a step of an LSTM as one node, in all types",
    "as_type_of": "a cast to the type of another tensor",
    "view.fits": "whether a view of a shape is possible, as a value",
    "gamma": "the gamma function",
    "factorial": "the factorial",
    "binom.default": "the binomial coefficient",
    "airy_ai_prime": "the derivative of the Airy function",
    "erfi": "the imaginary error function",
    "expi": "the exponential integral",
    "Si": "the sine integral",
    "Ci": "the cosine integral",
    "Shi": "the hyperbolic sine integral",
    "Chi": "the hyperbolic cosine integral",
    "fresnels": "a Fresnel integral",
    "fresnelc": "a Fresnel integral",
    "lambertw": "Lambert's function",
    "polylog.order": "a polylogarithm",
    "li": "the logarithmic integral",
    "cbrt": "a cube root, of negative numbers too",
}
"""Rows that PyTorch has no function for, and what they are."""
