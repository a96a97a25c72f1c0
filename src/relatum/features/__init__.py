"""Features of elements and pairs, and liftings of them."""

from relatum.features.binary import BinaryFeatures
from relatum.features.monomials import RandomMonomials
from relatum.features.multilinear import MultilinearLifting
from relatum.features.pairs import PairBatches, pair_features, sample_pairs
from relatum.features.polynomial import PolynomialLifting
from relatum.features.tensor_sketch import ClippingWarning, TensorSketch

__all__ = [
    "BinaryFeatures",
    "ClippingWarning",
    "MultilinearLifting",
    "PairBatches",
    "PolynomialLifting",
    "RandomMonomials",
    "TensorSketch",
    "pair_features",
    "sample_pairs",
]
