"""Measures: log-odds of pairs in bits, learned from data.

There are four: `logistic`, `bernoulli`, `bilinear`, and `diffusion`, which needs no labels;
`objective` holds what they minimise, `fit`
how the logistic one is fitted, and `record_batches` how tables larger than memory are read. This
room imports features and kernels, and knows nothing of feasible sets or solvers. Begin with
`objective`, then `logistic`.
"""

from relatum.measures.bernoulli import BernoulliMeasure
from relatum.measures.bilinear import BilinearPairMeasure
from relatum.measures.diffusion import DiffusionPairMeasure
from relatum.measures.element_pairs import ElementPairMeasure
from relatum.measures.logistic import LogisticMeasure
from relatum.measures.new_classes import ClassTransfer, choose_for_new_classes
from relatum.measures.objective import (
    LN2,
    bernoulli_divergence,
    bernoulli_regularizer,
    entropy,
    logistic_regularizer,
    pair_bits,
    sigmoid2,
)
from relatum.measures.path import RegularizationPath, regularization_path
from relatum.measures.projection import DiscriminantProjection
from relatum.measures.record_batches import RecordBatches
from relatum.measures.sequences import EncodedSequences, encode_sequences, precedence_counts
from relatum.measures.validation import Targets, all_or_nothing, is_whole, require_sizes

__all__ = [
    "LN2",
    "BernoulliMeasure",
    "BilinearPairMeasure",
    "ClassTransfer",
    "DiffusionPairMeasure",
    "DiscriminantProjection",
    "ElementPairMeasure",
    "EncodedSequences",
    "LogisticMeasure",
    "RecordBatches",
    "RegularizationPath",
    "Targets",
    "all_or_nothing",
    "bernoulli_divergence",
    "bernoulli_regularizer",
    "choose_for_new_classes",
    "encode_sequences",
    "entropy",
    "is_whole",
    "logistic_regularizer",
    "pair_bits",
    "precedence_counts",
    "regularization_path",
    "require_sizes",
    "sigmoid2",
]
