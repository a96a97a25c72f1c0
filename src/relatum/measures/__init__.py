"""Measures: log-odds of pairs in bits, learned from data."""

from relatum.measures.bernoulli import BernoulliMeasure
from relatum.measures.bilinear import BilinearPairMeasure
from relatum.measures.logistic import LogisticMeasure
from relatum.measures.path import RegularizationPath, regularization_path
from relatum.measures.projection import DiscriminantProjection
from relatum.measures.record_batches import RecordBatches
from relatum.measures.sequences import EncodedSequences, encode_sequences, precedence_counts

__all__ = [
    "BernoulliMeasure",
    "BilinearPairMeasure",
    "DiscriminantProjection",
    "EncodedSequences",
    "LogisticMeasure",
    "RecordBatches",
    "RegularizationPath",
    "encode_sequences",
    "precedence_counts",
    "regularization_path",
]
