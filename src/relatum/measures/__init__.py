"""Measures: log-odds of pairs in bits, learned from data."""

from relatum.measures.logistic import LogisticMeasure
from relatum.measures.path import RegularizationPath, regularization_path

__all__ = ["LogisticMeasure", "RegularizationPath", "regularization_path"]
