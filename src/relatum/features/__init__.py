"""Features of elements and of pairs, and liftings of them: transformers of scikit-learn.

Numbers become 01-features (`binary`), features of two elements those of their pair (`pairs`), and
either are lifted, exactly or at random. This room imports kernels, errors and scikit-learn, and
knows nothing of measures or feasible sets. Begin with `pairs`, then `tensor_sketch`.
"""

from relatum.features.binary import BinaryFeatures
from relatum.features.checks import (
    UnfittedError,
    checked_count,
    checked_input,
    checked_labels,
    checked_seed,
    checked_switches,
    is_number,
    refuse_masked,
    require_finite,
    shown,
    told_of_input,
)
from relatum.features.monomials import RandomMonomials
from relatum.features.multilinear import MultilinearLifting
from relatum.features.pairs import (
    PairBatches,
    checked_pairs,
    count_pairs,
    pair_features,
    sample_pairs,
)
from relatum.features.polynomial import PolynomialLifting
from relatum.features.tensor_sketch import ClippingWarning, TensorSketch
from relatum.features.units import of_different_units

__all__ = [
    "BinaryFeatures",
    "ClippingWarning",
    "MultilinearLifting",
    "PairBatches",
    "PolynomialLifting",
    "RandomMonomials",
    "TensorSketch",
    "UnfittedError",
    "checked_count",
    "checked_input",
    "checked_labels",
    "checked_pairs",
    "checked_seed",
    "checked_switches",
    "count_pairs",
    "is_number",
    "of_different_units",
    "pair_features",
    "refuse_masked",
    "require_finite",
    "sample_pairs",
    "shown",
    "told_of_input",
]
