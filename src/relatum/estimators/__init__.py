"""Estimators: learn a measure and infer a relation in one scikit-learn object."""

from relatum.estimators.clustering import PartitionClustering
from relatum.estimators.maps import MapClassifier
from relatum.estimators.ranking import LinearRanker

__all__ = ["LinearRanker", "MapClassifier", "PartitionClustering"]
